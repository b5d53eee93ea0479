import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Fault } from '../../../src/errors/fault.ts'
import { policyKey } from '../../../src/gateway/apis/snapshot.ts'
import type { Snapshot } from '../../../src/gateway/server/exchange.ts'
import { SharedMerges } from '../../../src/gateway/sessions/shared-merges.ts'
import { newDocumentId } from '../../../src/model/documents/ids.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { counterIdOf } from '../../../src/model/keys/key.ts'
import type { OAuthClient } from '../../../src/model/oauth-clients/oauth-client.ts'
import { newPatternWork } from '../../../src/model/patterns/pattern-work.ts'
import type { Merged } from '../../../src/model/policies/merge-policies.ts'
import type { Policy, Session } from '../../../src/model/sessions/session.ts'
import { compileAccess, type SessionAccess } from '../../../src/model/sessions/session-access.ts'
import { sessionAtUse } from '../../../src/model/sessions/token-session.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { sessionBody } from '../../../src/oauth/tokens/token-session.ts'
import { createKey, updateKey } from '../../../src/publish/keys/keys.ts'
import { sessionView } from '../../../src/publish/sessions/quotas.ts'
import { MemoryCounters } from '../../../src/store/memory/counters.ts'
import type { SessionRow } from '../../../src/store/ports/ports.ts'
import { openParts, type Stored } from '../../worlds/publish/stored.ts'

const RUNS = process.env.GATEHOUSE_DEEP === '1' ? 3000 : 150
const APIS = ['a', 'b', 'c'] as const
const POLICIES = ['p0', 'p1', 'p2'] as const
const PROBES = APIS.flatMap((apiId) =>
  ['GET', 'POST'].flatMap((method) => ['/x', '/y/7', '/z'].map((path) => ({ apiId, method, path }))),
)

const someNumbers = fc.record(
  {
    rate: fc.constantFrom(-1, 0, 1, 2, 5),
    per: fc.constantFrom(0, 10),
    quota_max: fc.constantFrom(-1, 0, 1, 3, 8),
    // One period for all: of two quotas with different ones neither is simply the narrower.
    quota_renewal_rate: fc.constant(60),
    throttle_interval: fc.constantFrom(-1, 0, 2),
    throttle_retry_limit: fc.constantFrom(-1, 0, 3),
    max_query_depth: fc.constantFrom(-1, 0, 4),
  },
  { requiredKeys: ['quota_renewal_rate'] },
)
const someUrls = fc.array(
  fc.record({
    url: fc.constantFrom('/x', '/y/{id}', '^/z$'),
    methods: fc.subarray(['GET', 'POST'], { minLength: 1 }),
  }),
  { maxLength: 2 },
)
const someRight = (api_id: string) =>
  fc.record(
    {
      api_id: fc.constant(api_id),
      api_name: fc.constantFrom('', 'name'),
      versions: fc.subarray(['Default', 'v2']),
      allowed_urls: fc.option(someUrls, { nil: null }),
      limit: fc.option(someNumbers, { nil: null }),
      allowance_scope: fc.constantFrom('', 'together'),
      disable_introspection: fc.boolean(),
    },
    { requiredKeys: ['api_id'] },
  )
const someRights = fc
  .subarray([...APIS], { minLength: 1 })
  .chain((ids) => fc.tuple(...ids.map(someRight)))
  .map((list) => Object.fromEntries(list.map((right) => [right.api_id, right])))
const someTexts = fc.subarray(['t1', 't2'])
const someData = fc.dictionary(fc.constantFrom('m', 'n', 'rate'), fc.constantFrom(0, 1, '', 'text', null, false))
const somePolicy = fc
  .record(
    {
      access_rights: someRights,
      tags: someTexts,
      meta_data: someData,
      is_inactive: fc.boolean(),
      hmac_enabled: fc.boolean(),
      key_expires_in: fc.constantFrom(0, 100),
      post_expiry_action: fc.constantFrom('', 'delete', 'retain'),
      partitions: fc.record(
        { acl: fc.boolean(), quota: fc.boolean(), rate_limit: fc.boolean(), complexity: fc.boolean() },
        { requiredKeys: [] },
      ),
    },
    { requiredKeys: ['access_rights'] },
  )
  .chain((policy) => someNumbers.map((numbers) => ({ ...policy, ...numbers })))

const someRules = fc
  .record(
    {
      access_rights: someRights,
      tags: fc.option(someTexts, { nil: null }),
      meta_data: fc.option(someData, { nil: null }),
      is_inactive: fc.boolean(),
      alias: fc.constantFrom('', 'ann'),
      apply_policies: fc.uniqueArray(fc.constantFrom(...POLICIES), { maxLength: 2 }),
      own_note: fc.constantFrom('x', null),
    },
    { requiredKeys: [] },
  )
  .chain((rules) => someNumbers.map((numbers): JsonObject => ({ ...rules, ...numbers }) as JsonObject))

/** A key of any kind, or a token: of a client with or without policies, narrowed or not. */
const someCase = fc.record({
  policies: fc.array(somePolicy, { minLength: 3, maxLength: 3 }),
  rules: someRules,
  kind: fc.constantFrom<'key' | 'token'>('key', 'token'),
  clientPolicies: fc.uniqueArray(fc.constantFrom(...POLICIES), { maxLength: 2 }),
  narrowed: fc.boolean(),
})
type Case = typeof someCase extends fc.Arbitrary<infer C> ? C : never

const HASH = Buffer.alloc(32, 5)

interface Scene {
  readonly parts: Stored
  readonly client: OAuthClient
  readonly policies: ReadonlyMap<string, Policy>
}

/** Stores a case; undefined where nothing like it can be. */
async function stage({ policies, rules, kind, clientPolicies, narrowed }: Case): Promise<Scene | undefined> {
  const parts = openParts()
  const named = new Map(POLICIES.map((id, index) => [id, { ...policies[index], id, org_id: 'o' } as Policy]))
  const put = (what: 'policy' | 'oauth_client', body: JsonObject) =>
    parts.documents.commit([{ op: 'put', kind: what, id: newDocumentId(), body, ifRevision: 0 }], undefined)
  for (const policy of named.values()) await put('policy', policy as unknown as JsonObject)
  const client = {
    ...{ client_id: 'app', org_id: 'o', secrets: [], redirect_uris: [], api_ids: ['a'], registered_by_policy: '' },
    ...{ policies: clientPolicies, metadata: { m: 'of the client' }, description: '', auth_method: 'any' },
    ...{ token_lifetime: 0, epoch: 'e', date_created: '' },
  } as const satisfies OAuthClient
  await put('oauth_client', client as unknown as JsonObject)
  const body = kind === 'key' ? { ...rules, org_id: 'o' } : tokenOf(client, named, narrowed ? rules : undefined)
  if (body === undefined) return undefined
  const row = { body, orgId: 'o', apiIds: [], policyIds: [], clientId: kind === 'key' ? '' : 'app', evictAt: 0 }
  await parts.documents.commit([{ op: 'putSession', hash: HASH, row }], undefined)
  return { parts, client, policies: named }
}

function tokenOf(
  client: OAuthClient,
  policies: ReadonlyMap<string, Policy>,
  rules: JsonObject | undefined,
): JsonObject | undefined {
  const list = client.policies.map((id) => policies.get(id))
  try {
    const body = sessionBody(client, list, { keyRules: rules, standsAlone: true })
    const facts = {
      api_id: 'a',
      epoch: 'e',
      policies: [...client.policies],
      scope: '',
      family: 'f',
      issued_at: 1,
      username: '',
    }
    return { ...body, org_id: 'o', oauth_client_id: 'app', expires: 4_000_000_000, counter_id: 'f', oauth_token: facts }
  } catch (error) {
    if (error instanceof Fault) return undefined
    throw error
  }
}

/** The effective session that the gateway derives from the stored one. */
function merged({ client, policies }: Scene, body: JsonObject): Merged | Fault {
  const session = body.oauth_token === undefined ? (body as unknown as Session) : sessionAtUse(body, client)
  const all = new Map([...policies].map(([id, policy]) => [policyKey('o', id), policy]))
  const snapshot = { apis: new Map(), policies: all, policyGeneration: 1 } as unknown as Snapshot
  return new SharedMerges().merge(session, 'o', snapshot).merged
}

const stored = async ({ parts }: Scene) => (await parts.tokens.getSession(HASH))!
const read = ({ parts }: Scene, { body }: SessionRow) => sessionView(parts, body, 'o', counterIdOf(body, 'hash'))

/** Without what every write notes. */
function lasting({ version: _version, ...row }: SessionRow & { version?: number }): JsonObject {
  const { last_updated: _at, date_created: _made, org_id: _org, ...body } = row.body
  return body
}

async function refusedOr<T>(run: () => Promise<T>): Promise<T | undefined> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof Fault) return undefined
    throw error
  }
}

test('a key or token that is read and sent back is stored as before', async () => {
  let stayed = 0
  await fc.assert(
    fc.asyncProperty(someCase, fc.boolean(), async (given, hasAlias) => {
      const scene = await stage(given)
      fc.pre(scene !== undefined)
      const before = await stored(scene)
      const shown = await read(scene, before)
      const sent = JSON.parse(JSON.stringify(hasAlias ? { ...shown, alias: 'renamed' } : shown))
      const change = { row: before, session: sent, keepQuota: true, actor: 'test' }
      // A session that cannot be used cannot be saved either.
      if ((await refusedOr(() => updateKey(scene.parts, change))) === undefined) return
      stayed++
      const after = await stored(scene)
      const alias = hasAlias ? { alias: 'renamed' } : {}
      // Null counts as absent: sending it back leaves it out.
      assert.deepEqual(withoutNulls(lasting(after)), { ...withoutNulls(lasting(before)), ...alias })
      assert.deepEqual(
        { ...withoutNulls(await read(scene, after)), last_updated: '', date_created: '' },
        { ...withoutNulls(shown), ...alias, last_updated: '', date_created: '' },
      )
    }),
    { numRuns: RUNS },
  )
  assert.ok(stayed > RUNS / 3, `only ${stayed} could be saved`)
})

test('a read shows upper bounds of the access in force, exact where possible', async () => {
  await fc.assert(
    fc.asyncProperty(someCase, async (given) => {
      const scene = await stage(given)
      fc.pre(scene !== undefined)
      const row = await stored(scene)
      const inForce = merged(scene, row.body)
      fc.pre(!(inForce instanceof Fault))
      const { access_rights = {}, tags = [], meta_data = {}, is_inactive = false, ...top } = await read(scene, row)
      const isApplied = inForce.policyIds.length > 0 || [...inForce.rights.values()].some((right) => right.narrowedBy)
      const { rate = 0, per = 0, quota_max = 0, quota_renewal_rate = 0 } = isApplied ? {} : top
      // The same as a key that has nothing but what is listed there.
      const said = { access_rights, tags, meta_data, is_inactive, rate, per, quota_max, quota_renewal_rate }
      if (inForce.rights.size === 0) return assert.deepEqual(access_rights, {})
      const alone = merged(scene, said as JsonObject)
      assert.ok(!(alone instanceof Fault))
      assert.deepEqual([...alone.rights.keys()].sort(), [...inForce.rights.keys()].sort())
      assert.equal(alone.isInactive, inForce.isInactive)
      assert.deepEqual(alone.metaData, inForce.metaData)
      assert.deepEqual([...alone.tags].sort(), [...inForce.tags].sort())
      for (const { apiId, method, path } of PROBES) {
        const here: SessionAccess | undefined = compileAccess(alone, apiId, 'who')
        const there: SessionAccess | undefined = compileAccess(inForce, apiId, 'who')
        if (here === undefined || there === undefined) continue
        assert.deepEqual(here.versions, there.versions)
        const right = inForce.rights.get(apiId)!
        const isOneList = [right, right.narrowedBy].filter((each) => (each?.allowedUrls.length ?? 0) > 0).length < 2
        if (isOneList)
          assert.equal(
            here.allows(method, path, newPatternWork()),
            there.allows(method, path, newPatternWork()),
            `${method} ${apiId} ${path}`,
          )
        else if (there.allows(method, path, newPatternWork()))
          assert.ok(here.allows(method, path, newPatternWork()), `${method} ${apiId} ${path}`)
        assert.equal(callsAtOnce(here, method, path), callsAtOnce(there, method, path), `calls of ${apiId}`)
      }
    }),
    { numRuns: RUNS },
  )
})

const MOST_CALLS = 12

/** How many calls are let through before the first is refused. */
function callsAtOnce(grant: SessionAccess, method: string, path: string): number {
  const clock = new FakeClock()
  const counters = new MemoryCounters(clock)
  const now = { wall: clock.wallMs, mono: clock.monoMs }
  for (let calls = 0; calls < MOST_CALLS; calls++)
    if (counters.take(grant.limitsFor(method, path, newPatternWork()), now) !== -1) return calls
  return MOST_CALLS
}

test('one number that is changed is changed, and nothing else', async () => {
  const parts = openParts()
  const quotaOnly = {
    ...{ id: 'q', org_id: '', quota_max: 50, quota_renewal_rate: 60, partitions: { quota: true } },
    access_rights: { a: { api_id: 'a' } },
  }
  await parts.documents.commit(
    [{ op: 'put', kind: 'policy', id: newDocumentId(), body: quotaOnly, ifRevision: 0 }],
    undefined,
  )
  const access_rights = { a: { api_id: 'a', versions: ['Default'] }, b: { api_id: 'b', versions: ['Default'] } }
  const session = { apply_policies: ['q'], access_rights, rate: 10, per: 1, meta_data: { x: 1 } }
  const key = 'a key of at least sixteen'.replaceAll(' ', '-')
  const made = await createKey(parts, { key, session, keepQuota: true, actor: 'test' })
  const row = async () => (await parts.tokens.getSession(Buffer.from(made.keyHash, 'hex')))!
  const shown = await sessionView(parts, (await row()).body, '', made.keyHash)
  const rights = shown.access_rights as Record<string, { limit: JsonObject }>
  // Both share the rate of the key: sent back as a number of each, it would count for each alone.
  assert.equal(rights.b!.limit.rate, 10)
  const sent = { ...shown, access_rights: { ...rights, a: { ...rights.a, limit: { ...rights.a!.limit, rate: 4 } } } }
  await updateKey(parts, { row: await row(), session: sent as JsonObject, keepQuota: true, actor: 'test' })
  const { body } = await row()
  assert.deepEqual(body.access_rights, { ...access_rights, a: { ...access_rights.a, limit: { rate: 4, per: 1 } } })
  assert.deepEqual([body.rate, body.per, body.quota_max], [10, 1, undefined])
  // As a custom key that is there already it goes the same way.
  await createKey(parts, { key, session: shown, keepQuota: true, actor: 'test' })
  assert.equal((await row()).body.quota_max, undefined)
})

const withoutNulls = (value: JsonObject): JsonObject =>
  JSON.parse(JSON.stringify(value, (_name, member: unknown) => (member === null ? undefined : member)))
