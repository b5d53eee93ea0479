import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { DocumentId } from '../../../src/model/documents/ids.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import type { Answer } from '../base/client.ts'
import type { KeyWorld } from '../dashboard/key-world.ts'
import { assertSound, DEVELOPERS } from './developer-world.ts'
import { REQUESTS } from './portal-requests-world.ts'

/** A key of the model, with the keys that it replaced and that are still valid. */
export interface ModelKey {
  policies: string[]
  formers: { hash: string; until: number }[]
}

export interface ModelDeveloper {
  readonly id: string
  readonly keys: Map<string, ModelKey>
  /** Client id to policy. */
  readonly apps: Map<string, string>
}

/** The expected state. */
export interface Model {
  readonly developers: ModelDeveloper[]
  readonly policies: Set<string>
  /** Requests that wait for approval. */
  waiting: { readonly id: string; readonly developer: string; readonly policies: readonly string[] }[]
  /** Emails of all that were made, so that none comes twice. */
  made: number
}

/** Policies by name: those of an OAuth API begin with `o`. */
export const NAMES = ['a', 'b', 'c', 'd', 'o1', 'o2'] as const
export const isOAuth = (name: string) => name.startsWith('o')
const sessionOf = (policies: readonly string[]) => ({ apply_policies: [...policies], alias: 'changed' })

/** One step: what is done, and what the model says must come of it. */
export type Step = (model: Model, world: KeyWorld) => Promise<void>

/** A step as fast-check runs it: after each the store is looked through. */
export class Stepped implements fc.AsyncCommand<Model, KeyWorld> {
  readonly text: string
  readonly step: Step

  constructor(text: string, step: Step) {
    this.text = text
    this.step = step
  }

  check = () => true
  run = async (model: Model, world: KeyWorld) => {
    await this.step(model, world)
    await assertSound(world.store)
  }

  toString = () => this.text
  /** The report of a counterexample. */
  readonly [fc.toStringMethod] = () => this.text
}

export const call = (world: KeyWorld, method: string, path: string, body?: unknown): Promise<Answer> =>
  world.call(method, path, { as: world.root, ...(body !== undefined && { body }) })

/** The answer, which must have this status. */
export function expected(answer: Answer, status: number): JsonObject {
  assert.equal(answer.status, status, answer.text)
  return answer.json as JsonObject
}

const subscribed = ({ keys }: ModelDeveloper) => new Set([...keys.values()].flatMap(({ policies }) => policies))

/** Whether these policies can be given to a developer by a key, or by an app. */
export function sortFor(
  model: Model,
  developer: ModelDeveloper,
  policies: readonly string[],
  own: readonly string[] = [],
) {
  if (policies.length === 0 || policies.some((name) => !model.policies.has(name))) return undefined
  if (policies.every(isOAuth)) return policies.length === 1 ? 'oauth' : undefined
  if (policies.some(isOAuth)) return undefined
  const held = subscribed(developer)
  return policies.some((name) => held.has(name) && !own.includes(name)) ? undefined : 'key'
}

export const index = fc.nat({ max: 5 })
export const some = fc.uniqueArray(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 })
export const pick = <T>(list: readonly T[], at: number): T | undefined => list[at % Math.max(1, list.length)]
const keyAt = (model: Model, [d, k]: readonly [number, number]) => {
  const developer = pick(model.developers, d)
  const hash = developer && pick([...developer.keys.keys()], k)
  return developer && hash !== undefined ? { developer, hash, key: developer.keys.get(hash)! } : undefined
}

const addDeveloper = fc.constant(
  new Stepped('developer', async (model, world) => {
    const made = expected(await call(world, 'POST', DEVELOPERS, { email: `d${model.made++}@example.test` }), 200)
    model.developers.push({ id: String(made.Message), keys: new Map(), apps: new Map() })
  }),
)

const deleteDeveloper = index.map(
  (d) =>
    new Stepped(`delete developer ${d}`, async (model, world) => {
      const developer = pick(model.developers, d)
      if (developer === undefined) return
      expected(await call(world, 'DELETE', `${DEVELOPERS}/${developer.id}`), 200)
      forget(model, developer)
    }),
)

/** Without the developer, and what waits for it. */
export function forget(model: Model, developer: ModelDeveloper): void {
  model.developers.splice(model.developers.indexOf(developer), 1)
  model.waiting = model.waiting.filter((request) => request.developer !== developer.id)
}

const policyStep = (name: string) =>
  new Stepped(`policy ${name}`, async (model, world) => {
    if (model.policies.has(name)) return
    await world.policy(name, [isOAuth(name) ? 'shop' : 'orders'])
    model.policies.add(name)
  })

const addPolicy = fc.constantFrom(...NAMES).map(policyStep)

const deletePolicy = fc.constantFrom(...NAMES).map(
  (name) =>
    new Stepped(`delete policy ${name}`, async (model, world) => {
      const answer = await call(world, 'DELETE', `/api/portal/policies/${name}`)
      expected(answer, model.policies.delete(name) ? 200 : 404)
      for (const { keys, apps } of model.developers) {
        for (const [hash, key] of keys) {
          if (!key.policies.includes(name)) continue
          key.policies = key.policies.filter((each) => each !== name)
          if (key.policies.length === 0) keys.delete(hash)
        }
        for (const [id, policy] of apps) if (policy === name) apps.delete(id)
      }
    }),
)

const addAccess = fc.tuple(index, some, fc.constantFrom('keys', 'subscriptions', 'request')).map(
  ([d, policies, via]) =>
    new Stepped(`add ${policies} to ${d} by ${via}`, async (model, world) => {
      const developer = pick(model.developers, d)
      if (developer === undefined) return
      const sort = sortFor(model, developer, policies)
      const status = sort === undefined ? 400 : 200
      const body = { apply_policies: policies, oauth_info: { redirect_uri: 'https://app.test/cb' } }
      const made =
        via === 'request'
          ? expected(await call(world, 'POST', REQUESTS, { ...body, by_user: developer.id }), status).Meta
          : expected(await call(world, 'POST', `${DEVELOPERS}/${developer.id}/${via}`, body), status)
      if (sort === undefined) return
      give(developer, (made ?? {}) as JsonObject, policies)
      if (via === 'request') dropWaiting(model, developer, policies)
    }),
)

const sorted = (policies: readonly string[]) => [...policies].sort().join()

/** Without the request that waits for these policies, which is returned: a request without approval approves it in its place. */
export function dropWaiting(model: Model, developer: ModelDeveloper, policies: readonly string[]) {
  const same = model.waiting.find(
    (request) => request.developer === developer.id && sorted(request.policies) === sorted(policies),
  )
  model.waiting = model.waiting.filter((each) => each !== same)
  return same
}

/** The developer has what an answer says. */
export function give(developer: ModelDeveloper, access: JsonObject, policies: readonly string[]): void {
  if (access.RawKey === undefined) developer.apps.set(String(access.client_id), policies[0]!)
  else developer.keys.set(hashKey(String(access.RawKey)).toString('hex'), { policies: [...policies], formers: [] })
}

const changeKey = fc.tuple(fc.tuple(index, index), some, fc.constantFrom('portal', 'keys')).map(
  ([at, policies, via]) =>
    new Stepped(`change ${at} to ${policies} by ${via}`, async (model, world) => {
      const found = keyAt(model, at)
      if (found === undefined) return
      const { developer, hash, key } = found
      const good = sortFor(model, developer, policies, key.policies) === 'key'
      // The calls of keys return their input; here the input is what may be.
      if (via === 'keys' && !good) return
      const path = via === 'keys' ? `/api/keys/${hash}?hashed=1` : `${DEVELOPERS}/${developer.id}/keys/${hash}`
      expected(await call(world, 'PUT', path, sessionOf(policies)), good ? 200 : 400)
      if (good) key.policies = [...policies]
    }),
)

const revokeKey = fc.tuple(fc.tuple(index, index), fc.constantFrom('portal', 'deprecated', 'keys')).map(
  ([at, via]) =>
    new Stepped(`revoke ${at} by ${via}`, async (model, world) => {
      const found = keyAt(model, at)
      if (found === undefined) return
      const { developer, hash, key } = found
      const path = {
        portal: `${DEVELOPERS}/${developer.id}/keys/${hash}`,
        deprecated: `${DEVELOPERS}/key/${key.policies[0]}/${hash}/${developer.id}`,
        keys: `/api/keys/${hash}?hashed=1`,
      }[via]!
      expected(await call(world, 'DELETE', path), 200)
      developer.keys.delete(hash)
    }),
)

const rotateKey = fc.tuple(fc.tuple(index, index), fc.constantFrom(0, 50, 150)).map(
  ([at, overlap]) =>
    new Stepped(`rotate ${at} with ${overlap}`, async (model, world) => {
      const found = keyAt(model, at)
      if (found === undefined) return
      const { developer, hash, key } = found
      const path = `${DEVELOPERS}/${developer.id}/keys/${hash}/rotate`
      const made = expected(await call(world, 'POST', path, { overlap_seconds: overlap }), 200)
      const until = Math.ceil(world.clock.wall() / 1000) * 1000 + overlap * 1000
      const older = [{ hash, until }, ...key.formers].map((each) => ({ ...each, until: Math.min(each.until, until) }))
      const formers = overlap === 0 ? [] : older.filter((each) => each.until > world.clock.wall()).slice(0, 4)
      // It has the position of the old one.
      const keys = [...developer.keys].map(([each, held]) =>
        each === hash ? ([String(made.key_id), { policies: key.policies, formers }] as const) : ([each, held] as const),
      )
      developer.keys.clear()
      for (const [each, held] of keys) developer.keys.set(each, held)
    }),
)

const deleteApp = fc.tuple(index, index, fc.constantFrom('portal', 'clients')).map(
  ([d, a, via]) =>
    new Stepped(`delete app ${d}/${a} by ${via}`, async (model, world) => {
      const developer = pick(model.developers, d)
      const id = developer && pick([...developer.apps.keys()], a)
      if (developer === undefined || id === undefined) return
      const path = via === 'portal' ? `${DEVELOPERS}/oauth/${id}` : `/api/apis/oauth/shop/${id}`
      expected(await call(world, 'DELETE', path), 200)
      developer.apps.delete(id)
    }),
)

const wait = fc.constantFrom(20, 60, 200).map(
  (seconds) =>
    new Stepped(`wait ${seconds} s`, async (model, world) => {
      world.clock.advance(seconds * 1000)
      for (const { keys } of model.developers)
        for (const key of keys.values()) key.formers = key.formers.filter(({ until }) => until > world.clock.wall())
    }),
)

/** Everything that can happen, the additions more often. */
export const steps: fc.Arbitrary<fc.AsyncCommand<Model, KeyWorld>>[] = [
  ...[addAccess, addAccess, addAccess, addAccess, addAccess, addAccess],
  ...[changeKey, changeKey, rotateKey, rotateKey, rotateKey, revokeKey, deleteApp],
  ...[addDeveloper, deleteDeveloper, addPolicy, addPolicy, deletePolicy, wait],
]

/** Two developers and all policies, to begin with. */
export async function begin(world: KeyWorld): Promise<Model> {
  const model: Model = { developers: [], policies: new Set(), waiting: [], made: 0 }
  const first = [...fc.sample(addDeveloper, 2), ...NAMES.map(policyStep)]
  for (const step of first) await step.run(model, world)
  return model
}

/** The store holds what the model says, no more and no less. */
export async function assertModel(model: Model, world: KeyWorld): Promise<void> {
  const { store } = world
  const page = expected(await call(world, 'GET', `${DEVELOPERS}?p=-1`), 200)
  const records = new Map((page.Data as JsonObject[]).map((record) => [String(record.id), record]))
  assert.deepEqual([...records.keys()].sort(), model.developers.map(({ id }) => id).sort())
  let keys = 0
  for (const { id, keys: held, apps } of model.developers) {
    const record = records.get(id)!
    assert.deepEqual(record.keys, Object.fromEntries([...held].map(([hash, { policies }]) => [hash, policies])))
    const listed = record.oauth_clients as { [policy: string]: JsonObject[] }
    const clients = Object.entries(listed).flatMap(([policy, list]) => list.map((app) => [app.client_id, policy]))
    assert.deepEqual(new Map(clients as [string, string][]), new Map(apps))
    const shown = expected(await call(world, 'GET', `${DEVELOPERS}/${id}/keys?p=-1`), 200).Data as JsonObject[]
    const all = [...held].flatMap(([hash, { formers }]) => [hash, ...formers.map((former) => former.hash)])
    assert.deepEqual(
      shown.map(({ key_id }) => key_id),
      all,
    )
    keys += all.length
  }
  assert.equal(await store.tokens.countSessions({ orgId: world.orgId }), keys)
  for (const name of NAMES) {
    const holders = model.developers.filter(
      (developer) => subscribed(developer).has(name) || [...developer.apps.values()].includes(name),
    )
    const { total } = await store.documents.list('developer', {
      where: { org_policy: `${world.orgId}/${name}` },
      limit: 1,
    })
    assert.equal(total, holders.length, `developers of ${name}`)
  }
  const waiting = expected(await call(world, 'GET', `${REQUESTS}?approved=false&p=-1`), 200).Data as JsonObject[]
  assert.deepEqual(waiting.map(({ id }) => id).sort(), model.waiting.map(({ id }) => id).sort())
  const organisation = await store.documents.get('organisation', world.orgId as DocumentId)
  assert.equal(organisation!.body.developer_count ?? 0, model.developers.length)
}
