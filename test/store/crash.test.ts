import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { hashKey } from '../../src/model/secret.ts'
import { indexEntries } from '../../src/store/prepare.ts'
import { openReadable } from '../../src/store/sqlite/database.ts'
import { openStore, type SqliteStore } from '../../src/store/sqlite/open.ts'
import { temporaryFolder } from '../contract/adapters.ts'
import { startChild } from './child.ts'

// Two lanes of their own folder each, one a core.
const LANES = 2
const KILLS = process.env.GATEHOUSE_DEEP === '1' ? 250 : 26

/** What one lane was told over all its rounds. */
interface Acknowledged {
  readonly counters: Map<string, { round: number; n: number }>
  readonly revisions: Set<number>
  hits: number
  pairs: number
}

test(`${LANES * KILLS} processes killed at a random instant lose nothing that they had acknowledged`, async (t) => {
  const lanes = Array.from({ length: LANES }, async () => {
    const path = temporaryFolder(t)
    const acknowledged: Acknowledged = { counters: new Map(), revisions: new Set(), hits: 0, pairs: 0 }
    for (let round = 0; round < KILLS; round++) await killOnce(path, round, acknowledged)
    checkFile(join(path, 'gatehouse.db'), acknowledged)
    return acknowledged
  })
  const all = await Promise.all(lanes)
  const commits = all.reduce((sum, { revisions }) => sum + revisions.size, 0)
  t.diagnostic(`${commits} commits acknowledged`)
  assert.ok(commits > LANES * KILLS, 'the processes lived long enough to write')
})

async function killOnce(path: string, round: number, acknowledged: Acknowledged): Promise<void> {
  const child = startChild('crash-writer.ts', [path, String(round)])
  // Every fifth may be hit while it opens the store, all others while they write.
  if (round % 5 === 4) await wait(randomInt(400))
  else await child.line('ready').then(() => wait(randomInt(80)))
  child.process.kill('SIGKILL')
  await child.ended
  const pairs: string[] = []
  for (const line of child.lines) {
    const [what, name = '', ...numbers] = line.split(' ')
    if (what === 'counter') acknowledged.counters.set(name, { round: Number(numbers[0]), n: Number(numbers[1]) })
    if (what === 'pair') pairs.push(name)
    if (what === 'hits') acknowledged.hits += 2
    if (what === 'counter' || what === 'pair') addOnce(acknowledged.revisions, Number(numbers.at(-1)))
  }
  acknowledged.pairs += pairs.length
  // The lock of the dead process must not be in the way.
  const store = await openStore({ path })
  try {
    await checkStore(store, acknowledged, pairs)
  } finally {
    await store.close()
  }
}

function addOnce(revisions: Set<number>, revision: number): void {
  assert.ok(!revisions.has(revision), `revision ${revision} was given to two commits`)
  revisions.add(revision)
}

async function checkStore(store: SqliteStore, acknowledged: Acknowledged, pairs: readonly string[]): Promise<void> {
  const { documents, tokens, hits } = store
  for (const [name, { round, n }] of acknowledged.counters) {
    const body = (await documents.find('api', 'api_id', name))?.body as { round: number; n: number } | undefined
    assert.ok(body !== undefined, name)
    assert.ok(
      body.round > round || (body.round === round && body.n >= n),
      `${name}: ${body.round}/${body.n} after ${round}/${n}`,
    )
  }
  for (const key of pairs) {
    assert.ok(await documents.find('policy', 'org_policy', `o/${key}`), key)
    assert.ok(await tokens.getSession(hashKey(key)), key)
  }
  assert.ok(documents.revision() >= Math.max(0, ...acknowledged.revisions))
  const [sum] = await hits.sum({ fromHour: 0, toHour: 9, limit: 1 })
  assert.ok((sum?.count ?? 0) >= acknowledged.hits)
  assert.equal(sum?.total.buckets.at(-1), sum?.count)
  // Whatever was not acknowledged is there as a whole or not at all.
  const policies = await documents.list('policy', { limit: 0 })
  assert.equal(await tokens.countSessions({}), policies.total)
  assert.equal(await tokens.countSessions({ policyId: 'p', apiId: 'a', orgId: 'o' }), policies.total)
}

/** Looks at the tables themselves: the indexes fit the rows, and no revision is missing. */
function checkFile(file: string, acknowledged: Acknowledged): void {
  const db = openReadable(file)
  const number = (sql: string) => Object.values(db.prepare(sql).get()!)[0] as number
  try {
    assert.deepEqual(db.prepare('PRAGMA integrity_check').all(), [{ __proto__: null, integrity_check: 'ok' }])
    const revision = number('SELECT revision FROM store_state')
    assert.ok(revision >= acknowledged.revisions.size)
    assert.equal(number('SELECT count(DISTINCT revision) FROM audit WHERE revision > 0'), revision)
    assert.equal(number('SELECT count(*) FROM audit'), revision)
    const entries = db.prepare('SELECT name, value, slot FROM document_index WHERE kind = ? AND id = ?')
    let indexed = 0
    for (const { kind, id, body } of db.prepare('SELECT kind, id, body FROM document').all()) {
      const expected = indexEntries(String(kind), JSON.parse(String(body)))
      const found = entries.all(String(kind), String(id))
      indexed += found.length
      const text = (name: unknown, value: unknown, unique: boolean) => `${name}=${value} ${unique}`
      assert.deepEqual(
        found.map(({ name, value, slot }) => text(name, value, slot === '')).sort(),
        expected.map(({ name, value, unique }) => text(name, value, unique)).sort(),
      )
    }
    assert.equal(number('SELECT count(*) FROM document_index'), indexed)
    const sessions = number('SELECT count(*) FROM session')
    assert.ok(sessions >= acknowledged.pairs)
    assert.equal(number('SELECT count(*) FROM session_ref'), 4 * sessions)
    assert.equal(number('SELECT count(*) FROM session_ref r JOIN session s ON s.row = r.session'), 4 * sessions)
  } finally {
    db.close()
  }
}
