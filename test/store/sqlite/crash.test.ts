import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import { unpackBodies } from '../../../src/store/prepare/audited.ts'
import { indexEntries } from '../../../src/store/prepare/prepare.ts'
import { openReadable } from '../../../src/store/sqlite/connection/database.ts'
import { openStore, type SqliteStore } from '../../../src/store/sqlite/connection/open.ts'
import { temporaryFolder } from '../../contract/adapters.ts'
import { startChild } from '../../worlds/store/child.ts'

// Two lanes with separate folders, one per core.
const LANES = 2
const KILLS = process.env.GATEHOUSE_DEEP === '1' ? 100 : 5

/** The index entries of a session of the process: its organisation, two APIs, a policy, and twice as a key. */
const REFS = 6

/** Requests in one call of `samples` of the process. */
const SAMPLES = 50

/** The acknowledgements of one lane over all its rounds. */
interface Acknowledged {
  readonly counters: Map<string, { round: number; n: number }>
  readonly revisions: Set<number>
  hits: number
  samples: number
  pairs: number
}

test(`${LANES * KILLS} processes killed at a random instant lose nothing that they had acknowledged`, async (t) => {
  const lanes = Array.from({ length: LANES }, async () => {
    const path = temporaryFolder(t)
    const acknowledged: Acknowledged = { counters: new Map(), revisions: new Set(), hits: 0, samples: 0, pairs: 0 }
    for (let round = 0; round < KILLS; round++) await killOnce(path, round, acknowledged)
    checkFile(join(path, 'gatehouse.db'), acknowledged)
    return acknowledged
  })
  const all = await Promise.all(lanes)
  assert.ok(all.every(({ samples }) => samples > 0))
  const commits = all.reduce((sum, { revisions }) => sum + revisions.size, 0)
  t.diagnostic(`${commits} commits acknowledged`)
  assert.ok(commits > (LANES * KILLS) / 2, 'the processes lived long enough to write')
})

async function killOnce(path: string, round: number, acknowledged: Acknowledged): Promise<void> {
  const child = startChild('crash-writer.ts', [path, String(round)])
  // Every fifth may be hit while it opens the store, another before its first commit, all others while they write.
  if (round % 5 === 4) await wait(randomInt(400))
  else await child.line(round % 5 === 3 ? 'ready' : 'pair').then(() => wait(randomInt(80)))
  child.process.kill('SIGKILL')
  await child.ended
  const pairs: string[] = []
  for (const line of child.lines) {
    const [what, name = '', ...numbers] = line.split(' ')
    if (what === 'counter') acknowledged.counters.set(name, { round: Number(numbers[0]), n: Number(numbers[1]) })
    if (what === 'pair') pairs.push(name)
    if (what === 'hits') acknowledged.hits += 2
    if (what === 'samples') acknowledged.samples += SAMPLES
    if (what === 'counter' || what === 'pair') addOnce(acknowledged.revisions, Number(numbers.at(-1)))
  }
  acknowledged.pairs += pairs.length
  // The lock of the dead process must not be in the way.
  const store = await openStore({ path })
  try {
    await checkStore(store, acknowledged, pairs)
    await checkSamples(store, acknowledged, round + 1)
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
  // An unacknowledged write is there as a whole or not at all.
  const policies = await documents.list('policy', { limit: 0 })
  assert.equal(await tokens.countSessions({}), policies.total)
  assert.equal(await tokens.countSessions({ policyId: 'p', apiId: 'a', orgId: 'o' }), policies.total)
}

/** Each process may have had one call without a response; anything else above the acknowledged sum was counted twice. */
async function checkSamples({ hits }: SqliteStore, acknowledged: Acknowledged, rounds: number): Promise<void> {
  const rows = await hits.sum({ fromHour: 20, toHour: 20, by: ['keyHash'], limit: 1000 })
  const sum = rows.reduce((all, { count }) => all + count, 0)
  assert.ok(sum >= acknowledged.samples, `${sum} of ${acknowledged.samples} samples`)
  assert.ok(sum <= acknowledged.samples + rounds * SAMPLES, `${sum} of ${acknowledged.samples} samples`)
  assert.ok(rows.every(({ count }) => count * SAMPLES === sum))
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
    assert.equal(number('SELECT count(*) FROM session_ref'), REFS * sessions)
    assert.equal(number('SELECT count(*) FROM session_ref r JOIN session s ON s.row = r.session'), REFS * sessions)
    checkAudit(db)
  } finally {
    db.close()
  }
}

/** Every change was recorded with what it found and wrote, and the last one of each document is what is there. */
function checkAudit(db: DatabaseSync): void {
  const changes =
    db.prepare(`SELECT a.revision, c.kind, c.id, c.bodies FROM audit a JOIN audit_change c ON c.audit = a.row
    ORDER BY a.row`)
  const last = new Map<string, { revision: unknown; after: JsonObject | null }>()
  let recorded = 0
  for (const { revision, kind, id, bodies } of changes.all()) {
    const { before, after } = unpackBodies(bodies as Uint8Array)!
    assert.deepEqual(before, last.get(`${kind} ${id}`)?.after ?? null)
    last.set(`${kind} ${id}`, { revision, after })
    recorded++
  }
  assert.equal(Object.values(db.prepare('SELECT count(*) FROM audit_change').get()!)[0], recorded)
  const stored = db.prepare('SELECT kind, id, revision, body FROM document').all()
  for (const { kind, id, revision, body } of stored) {
    assert.deepEqual(last.get(`${kind} ${id}`), { revision, after: JSON.parse(String(body)) })
  }
  const sessions = db.prepare('SELECT hash, body FROM session').all()
  for (const { hash, body } of sessions) {
    const change = last.get(`session ${Buffer.from(hash as Uint8Array).toString('hex')}`)
    assert.deepEqual(change?.after, JSON.parse(String(body)))
  }
  assert.equal(last.size, stored.length + sessions.length)
}
