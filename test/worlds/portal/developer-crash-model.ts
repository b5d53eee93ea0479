import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import type { SqliteStore } from '../../../src/store/sqlite/connection/open.ts'
import { type Answer, call as send } from '../base/client.ts'
import type { KeyWorld } from '../dashboard/key-world.ts'
import {
  call,
  expected,
  forget,
  index,
  type Model,
  type ModelDeveloper,
  pick,
  Stepped,
  some,
} from './developer-model.ts'
import { assertSound, DEVELOPERS } from './developer-world.ts'
import { REQUESTS } from './portal-requests-world.ts'

const DEEDS = ['key', 'key', 'request', 'revoke', 'approve', 'delete'] as const
type Deed = (typeof DEEDS)[number]

/** A call that may be answered by 503. */
function attempt({ port, root }: KeyWorld, method: string, path: string, body?: unknown): Promise<Answer> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  return send(port, path, { method, headers: { authorization: root.key }, ...sent })
}

/** Something to be done with a developer; undefined where there is nothing to do it with. */
function deedOf(
  model: Model,
  world: KeyWorld,
  developer: ModelDeveloper,
  deed: Deed,
  policies: readonly string[],
): (() => Promise<Answer>) | undefined {
  const at = `${DEVELOPERS}/${developer.id}`
  const wish = { apply_policies: policies, oauth_info: { redirect_uri: 'https://app.test/cb' } }
  const hash = [...developer.keys.keys()][0]
  const request = model.waiting.find((each) => each.developer === developer.id)
  switch (deed) {
    case 'key':
      return () => attempt(world, 'POST', `${at}/keys`, wish)
    case 'request':
      return () => attempt(world, 'POST', REQUESTS, { ...wish, by_user: developer.id })
    case 'revoke':
      return hash === undefined ? undefined : () => attempt(world, 'DELETE', `${at}/keys/${hash}`)
    case 'approve':
      return request === undefined ? undefined : () => attempt(world, 'PUT', `${REQUESTS}/approve/${request.id}`)
    case 'delete':
      return () => attempt(world, 'DELETE', at)
  }
}

/** Records by id, as text. */
async function records(world: KeyWorld): Promise<Map<string, string>> {
  const page = expected(await call(world, 'GET', `${DEVELOPERS}?p=-1`), 200).Data as JsonObject[]
  return new Map(page.map((record) => [String(record.id), JSON.stringify(record)]))
}

/**
 * The writer dies while something is done with one developer: it is done or not, wholly; what was answered is done; nobody else's
 * record changes. The model then continues from the actual state.
 */
export const crash: fc.Arbitrary<fc.AsyncCommand<Model, KeyWorld>> = fc
  .tuple(index, fc.constantFrom<Deed>(...DEEDS), some, fc.oneof(fc.constant('commit' as const), fc.nat({ max: 30 })))
  .map(
    ([d, deed, policies, when]) =>
      new Stepped(`crash at ${when} of ${deed} ${policies} for ${d}`, async (model, world) => {
        const developer = pick(model.developers, d)
        const begin = developer && deedOf(model, world, developer, deed, policies)
        if (developer === undefined || begin === undefined) return
        const before = await records(world)
        // Of a world over a store with a separate writer.
        const answer = await crashed(world.store as SqliteStore, begin, when)
        await assertSound(world.store)
        const after = await records(world)
        for (const [id, record] of before) if (id !== developer.id) assert.equal(after.get(id), record)
        if (answer.status === 200) assertDone(deed, answer, after.get(developer.id))
        else assert.ok([400, 503].includes(answer.status), answer.text)
        await takeOver(model, world, developer, after.get(developer.id))
      }),
  )

/** `when`: at a turn of this thread, or as soon as something of it is durable: what is not in that commit must not be missed. */
async function crashed(store: SqliteStore, begin: () => Promise<Answer>, when: number | 'commit'): Promise<Answer> {
  let stopped: Promise<void> | undefined
  const forget = store.feed.subscribe(() => {
    if (when === 'commit') stopped ??= store.stopWriter()
  })
  const doing = begin()
  if (typeof when === 'number') for (let turn = 0; turn < when; turn++) await nextTurn()
  if (typeof when === 'number') stopped = store.stopWriter()
  const answer = await doing
  forget()
  if (stopped === undefined) return answer
  await stopped
  await store.startWriter()
  return answer
}

function assertDone(deed: Deed, { json }: Answer, record: string | undefined): void {
  if (deed === 'delete') assert.equal(record, undefined)
  if (deed === 'delete' || deed === 'revoke') return
  const access = (deed === 'request' ? (json as JsonObject).Meta : json) as JsonObject
  const name = access.RawKey === undefined ? access.client_id : hashKey(String(access.RawKey)).toString('hex')
  assert.ok(record?.includes(`"${name}"`), `${deed} was answered and is not there`)
}

/** The model says of one developer what the store says. */
async function takeOver(
  model: Model,
  world: KeyWorld,
  developer: ModelDeveloper,
  record: string | undefined,
): Promise<void> {
  if (record === undefined) return forget(model, developer)
  const { keys, oauth_clients } = JSON.parse(record) as {
    keys: Record<string, string[]>
    oauth_clients: Record<string, { client_id: string }[]>
  }
  for (const hash of developer.keys.keys()) if (keys[hash] === undefined) developer.keys.delete(hash)
  for (const [hash, policies] of Object.entries(keys))
    if (!developer.keys.has(hash)) developer.keys.set(hash, { policies, formers: [] })
  developer.apps.clear()
  for (const [policy, apps] of Object.entries(oauth_clients))
    for (const { client_id } of apps) developer.apps.set(client_id, policy)
  const waiting = expected(await call(world, 'GET', `${REQUESTS}?approved=false&p=-1`), 200).Data as JsonObject[]
  const ids = new Set(waiting.map(({ id }) => id))
  model.waiting = model.waiting.filter((request) => request.developer !== developer.id || ids.has(request.id))
}
