import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DocumentId } from '../../../src/model/documents/ids.ts'
import { TOMBSTONE, type Tombstone, tombstoneBody, tombstoneId } from '../../../src/model/documents/tombstone.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { purgeTombstones } from '../../../src/publish/documents/purge-tombstones.ts'
import { forwardDocuments } from '../../../src/store/ports/forward-documents.ts'
import { defined, rights } from '../../worlds/base/definitions.ts'
import { openUndoWorld, type UndoWorld } from '../../worlds/dashboard/undo-world.ts'

const DAY_MS = 86_400_000
const FOR_EVER = { auditDays: 0, recordDays: 0 }

type Wanted = Partial<Tombstone> & Pick<Tombstone, 'noun' | 'named'>

/** Writes notes as deletions leave them; answers their storage ids. */
async function note({ store, orgId, clock }: UndoWorld, wanted: readonly Wanted[]): Promise<DocumentId[]> {
  const changes = wanted.map((each) => {
    const tombstone: Tombstone = { org_id: orgId, by: 'ann', at: clock.wall(), ...each }
    const id = tombstoneId(tombstone.noun, tombstone.org_id, tombstone.named)
    const body = JSON.parse(JSON.stringify(tombstoneBody(tombstone))) as JsonObject
    return { op: 'put', kind: TOMBSTONE, id, body } as const
  })
  await store.documents.commit(changes, undefined)
  return changes.map(({ id }) => id)
}

async function namesLeft({ store }: UndoWorld): Promise<string[]> {
  const { rows } = await store.documents.list(TOMBSTONE, { limit: 1000 })
  return rows.map(({ body }) => String(body.named)).toSorted()
}

const many = (count: number, noun: Tombstone['noun']): Wanted[] =>
  Array.from({ length: count }, (_, number) => ({ noun, named: `${noun}-${number}` }))

test('owners on whom something is based are kept whatever else is deleted', async (t) => {
  const w = await openUndoWorld(t, { env: { SVC_DB_ENABLEOWNERSHIP: 'true' } })
  const owner = await w.user({ IsAdmin: 'false', apis: 'write', policies: 'write', keys: 'write', hooks: 'write' })
  const stranger = await w.user({ IsAdmin: 'false', keys: 'write' })
  const send = async (method: string, path: string, body?: JsonObject) => {
    const answer = await w.call(method, path, { as: owner, body })
    assert.equal(answer.status, 200, answer.text)
    return answer.json as JsonObject
  }
  const keys: JsonObject[] = []
  for (const id of ['one', 'two', 'three']) {
    await send('POST', '/api/apis/oas', defined({ id, url: 'http://127.0.0.1:1', keyIn: 'Authorization' }))
    const policy = { id: `p-${id}`, name: id, rate: 1, per: 1, access_rights: rights(id) }
    await send('POST', '/api/portal/policies', policy)
    keys.push(await send('POST', '/api/keys', { apply_policies: [`p-${id}`] }))
    await send('DELETE', `/api/portal/policies/p-${id}`)
    await send('DELETE', `/api/apis/oas/${id}`)
  }
  w.clock.advance(1000)
  await note(w, [...many(5, 'hook'), ...many(5, 'api'), ...many(5, 'policy')])
  const purged = await purgeTombstones(w.store, { now: w.clock.wall(), ...FOR_EVER, most: 2 })
  // Of 5 hooks and 9 other ids (3 APIs with two ids each, 3 policies) two are left; of 10 owners who own nothing more two.
  assert.equal(purged, 14 - 2 + (10 - 2))
  for (const { key_hash: hash } of keys)
    assert.equal((await w.call('GET', `/api/keys/${hash}?hashed=1`, { as: stranger })).status, 401)
  const left = await namesLeft(w)
  for (const id of ['one', 'two', 'three']) assert.ok(left.includes(id) && left.includes(`p-${id}`), left.join())
})

test('notes of deleted organisations go by the longest of all retentions, and are not bounded', async (t) => {
  const w = await openUndoWorld(t)
  await note(w, [...many(5, 'organisation').map((each) => ({ ...each, org_id: '' })), ...many(1, 'hook')])
  const purge = (days: number, recordDays: number) =>
    purgeTombstones(w.store, { now: w.clock.wall() + days * DAY_MS, auditDays: 30, recordDays, most: 1 })
  assert.equal(await purge(29, 60), 0)
  assert.equal(await purge(31, 60), 1)
  assert.equal(await purge(59, 60), 0)
  assert.equal(await purge(9999, 0), 0)
  assert.equal(await purge(60, 60), 5)
})

test('notes of older versions get a date, and go when their time is over from then', async (t) => {
  const w = await openUndoWorld(t)
  const undated = { at: undefined, by: undefined } as unknown as Partial<Tombstone>
  await note(
    w,
    many(4, 'hook').map((each) => ({ ...each, ...undated })),
  )
  const at = (days: number, most = 100) =>
    purgeTombstones(w.store, { now: w.clock.wall() + days * DAY_MS, auditDays: 10, recordDays: 10, most })
  // Those beyond the bound are dated by this run, and forgotten by the next.
  assert.equal(await at(100, 3), 0)
  assert.equal((await namesLeft(w)).length, 4)
  assert.equal(await at(101, 3), 1)
  assert.equal(await at(109), 0)
  assert.equal(await at(110), 3)
})

test('one note that is written meanwhile keeps none of the others', async (t) => {
  const w = await openUndoWorld(t)
  const { store } = w
  const [first] = await note(w, many(300, 'hook'))
  let raced = false
  const documents = forwardDocuments(store.documents, {
    async commit(changes, entry) {
      if (!raced) {
        raced = true
        await note(w, [{ noun: 'hook', named: 'hook-0', at: w.clock.wall() + 99 * DAY_MS }])
      }
      return store.documents.commit(changes, entry)
    },
  })
  const rules = { now: w.clock.wall() + 31 * DAY_MS, auditDays: 30, recordDays: 0 }
  const id = tombstoneId('hook', w.orgId, 'hook-0')
  assert.equal(id, first)
  assert.equal(await purgeTombstones({ documents, tokens: store.tokens }, rules), 299)
  assert.deepEqual(await namesLeft(w), ['hook-0'])
})

test('looking for what is based on notes leaves turns to others', async (t) => {
  const w = await openUndoWorld(t)
  await note(w, many(12, 'api'))
  let turns = 0
  let counts = true
  const count = () => {
    turns++
    if (counts) setImmediate(count)
  }
  const during: number[] = []
  const tokens: Pick<typeof w.store.tokens, 'listSessions'> = {
    listSessions(query) {
      during.push(turns)
      // Longer than a slice of work.
      const until = performance.now() + 10
      while (performance.now() < until);
      return w.store.tokens.listSessions(query)
    },
  }
  setImmediate(count)
  await purgeTombstones(
    { documents: w.store.documents, tokens },
    { now: w.clock.wall() + 31 * DAY_MS, auditDays: 30, recordDays: 0 },
  )
  counts = false
  assert.equal(during.length, 12)
  for (const [number, turn] of during.entries()) if (number > 0) assert.ok(turn > during[number - 1]!, during.join())
})
