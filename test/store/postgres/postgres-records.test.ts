import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../../src/model/logs/log.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import { openPostgresStore } from '../../../src/store/postgres/connection/open.ts'
import { freshDatabase, runSql } from '../../worlds/servers/postgres.ts'

const RECORDS = 3_000

test('how many records match is counted in an index, not in the records', async (t) => {
  const url = await freshDatabase()
  const { counters } = openMemoryStore()
  const store = await openPostgresStore({ url, log: silentLog, counters })
  t.after(() => store.close())
  const one = (at: number) => ({
    ...{ at, orgId: at % 3 === 0 ? 'p' : 'o', apiId: `a${at % 5}`, status: at % 10 === 0 ? 500 : 200, method: 'GET' },
    ...{ keyHash: '', clientId: '', tags: '', path: `/${at}`, requestId: `r${at}`, fields: { text: 'x'.repeat(200) } },
  })
  for (let at = 0; at < RECORDS; at += 500)
    await store.records.append(Array.from({ length: 500 }, (_, i) => one(at + i)))
  await runSql(url, 'VACUUM ANALYZE record')
  const filters = ["org_id = 'o'", "org_id = 'o' AND status >= 400", "org_id = 'o' AND api_id = ANY(ARRAY['a1'])"]
  for (const filter of filters) {
    const plan = await runSql<Record<string, string>>(
      url,
      `EXPLAIN SELECT count(*) AS n FROM record WHERE ${filter} AND at_ms >= 0::bigint AND at_ms < 9999::bigint`,
    )
    assert.match(plan.map((row) => row['QUERY PLAN']).join('\n'), /Index Only Scan using record\w*_at_ms_number_org_id/)
  }
  const { rows, total } = await store.records.list({ orgId: 'o', errors: true, limit: 2 })
  assert.equal(total, RECORDS / 10 - RECORDS / 30)
  assert.deepEqual(
    rows.map(({ at }) => at),
    [2990, 2980],
  )
})
