import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newDocumentId } from '../../../src/model/documents/ids.ts'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import type { Change } from '../../../src/store/ports/ports.ts'
import { openPostgresStore } from '../../../src/store/postgres/connection/open.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { emptyDatabase } from '../../worlds/servers/postgres.ts'
import { startPooler } from '../../worlds/servers/transaction-pooler.ts'

const row = { body: {}, orgId: 'o', apiIds: ['a'], policyIds: [], clientId: '', evictAt: 0 }

test('everything works behind a transaction pooler, except the listener, which bypasses it', async (t) => {
  const direct = new URL(await emptyDatabase())
  const folder = direct.searchParams.get('host')!
  const pooler = await startPooler(`${folder}/.s.PGSQL.5432`, direct.pathname.slice(1), 3)
  t.after(() => pooler.close())
  const url = `postgres://gatehouse@127.0.0.1:${pooler.port}${direct.pathname}`
  const open = async () => {
    const store = await openPostgresStore({ url, listenUrl: direct.href, patienceMs: 1_000 })
    t.after(() => store.close())
    return store
  }
  const [one, two] = await Promise.all([open(), open()])
  const heard: number[] = []
  two.feed.subscribe(({ revision }) => heard.push(revision))
  const write = async (n: number) => {
    const id = newDocumentId()
    const changes: Change[] = [
      { op: 'put', kind: 'api', id, body: { api_id: `${n}`, name: `name ${n}` }, ifRevision: 0 },
      { op: 'putSession', hash: hashKey(`${n}`), row, ifAbsent: true },
    ]
    await (n % 2 === 0 ? one : two).documents.commit(changes, {
      ...{ actor: 'a', action: 'b', orgId: 'o', at: n, detail: {} },
    })
    assert.equal((await one.documents.find('api', 'api_id', `${n}`))?.id, id)
    assert.ok(await two.tokens.getSession(hashKey(`${n}`)))
  }
  await Promise.all(Array.from({ length: 60 }, (_, n) => write(n)))
  await assert.rejects(
    one.documents.commit([{ op: 'put', kind: 'api', id: newDocumentId(), body: { api_id: '7' } }], undefined),
    { code: 'already_exists' },
  )
  assert.equal((await one.documents.list('api', { order: 'name', limit: 10 })).total, 60)
  const scanned: number[] = []
  for await (const batch of one.audit.scan({})) scanned.push(...batch.map(({ at }) => at))
  assert.deepEqual(
    scanned,
    Array.from({ length: 60 }, (_, n) => 59 - n),
  )
  await eventually('all are heard of', () => heard.length === 60)
  assert.equal(one.listening && two.listening, true)
  assert.ok(pooler.moves() > 30, 'transactions went to many connections')
})
