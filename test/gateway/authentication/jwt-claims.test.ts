import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { getAt } from '../../../src/model/apis/definition/tree.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { base64, claims, hsToken, jwtApi, jwtWorld, SECRET } from '../../worlds/gateway/jwt-fixtures.ts'

const RUNS = process.env.GATEHOUSE_DEEP === '1' ? 3_000 : 120

/** Where a definition reads policies and scopes: at a claim, or by a path. */
const PLACES = [
  { policy: 'pol', scope: 'scp' },
  { policy: 'auth.pol', scope: 'auth.scp' },
  { policy: 'https://example.org/pol', scope: 'realm.access.scp' },
]
const MAPPED: Readonly<Record<string, string>> = { read: 'p', wide: 'other', gone: 'nope' }

/** An OpenAPI definition of the same, whose members have other names. */
function oasApi(url: string, { policy, scope }: (typeof PLACES)[number]): JsonObject {
  const scopeToPolicyMapping = Object.entries(MAPPED).map(([name, policyId]) => ({ scope: name, policyId }))
  const token = {
    ...{ enabled: true, header: { enabled: true, name: 'Authorization' } },
    ...{ source: base64(SECRET), signingMethod: 'hmac', defaultPolicies: ['p'], policyFieldName: policy },
    scopes: { claimName: scope, scopeToPolicyMapping },
  }
  return {
    openapi: '3.0.3',
    info: { title: 'j', version: '1' },
    paths: {},
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } } },
    security: [{ token: [] }],
    'x-svc-api-gateway': {
      info: { id: 'j', name: 'j', state: { active: true } },
      upstream: { url },
      server: {
        listenPath: { value: '/j/', strip: true },
        authentication: { enabled: true, securitySchemes: { token } },
      },
    },
  }
}

function classicApiOf({ policy, scope }: (typeof PLACES)[number], older: boolean): JsonObject {
  const scopes = older
    ? { jwt_scope_claim_name: scope, jwt_scope_to_policy_mapping: MAPPED }
    : { scopes: { jwt: { scope_claim_name: scope, scope_to_policy: MAPPED } } }
  return { jwt_policy_field_name: policy, ...scopes }
}

/** Whether a token is let in, written from the rule: a claim that is there must give something, only what exists, and `p` must be among it. */
function isLetIn(policy: readonly unknown[], scope: readonly unknown[]): boolean {
  if (policy.length === 0 && scope.length === 0) return true
  const texts = (value: unknown): string[] => {
    const list = Array.isArray(value) ? value : [value]
    return list.filter((entry) => typeof entry === 'string' && entry.length > 0)
  }
  const named = policy.flatMap(texts)
  const words = scope.flatMap((value) => (typeof value === 'string' ? value.split(' ') : texts(value)))
  const mapped = words.filter((word) => Object.keys(MAPPED).includes(word)).map((word) => MAPPED[word])
  if (policy.length > 0 && named.length === 0) return false
  if (scope.length > 0 && mapped.length === 0) return false
  // A policy that does not exist gives nothing, and takes away what the others give.
  const all = [...named, ...mapped]
  return all.includes('p') && all.every((id) => id === 'p' || id === 'other')
}

function placed(name: string, value: unknown): JsonObject {
  if (name.includes('://')) return { [name]: value } as JsonObject
  return name.split('.').reduceRight<unknown>((inner, part) => ({ [part]: inner }), value) as JsonObject
}

function merged(a: JsonObject, b: JsonObject): JsonObject {
  const both = { ...a, ...b }
  for (const [name, value] of Object.entries(a))
    if (Object.hasOwn(b, name)) both[name] = merged(value as JsonObject, b[name] as JsonObject)
  return both
}

const word = fc.constantFrom(
  'p',
  'read',
  'wide',
  'gone',
  'other',
  'nope',
  'openid',
  '',
  ' ',
  '__proto__',
  'constructor',
)
const value = fc.oneof(
  word,
  fc.array(word, { maxLength: 3 }).map((words) => words.join(' ')),
  fc.array(fc.oneof(word, fc.constantFrom<unknown>(7, null, {}, ['p'], ['read'])), { maxLength: 3 }),
  fc.constantFrom<unknown>(null, 0, 1, true, false, [], {}, { p: 1 }, { read: 'p' }, ['read p'], '  '),
)
/** Absent, or there with a value. */
const claim = fc.oneof(
  fc.constant<unknown[]>([]),
  value.map((held): unknown[] => [held]),
)

for (const [index, place] of PLACES.entries())
  test(`property: an empty policy or scope claim at ${place.policy} and ${place.scope} is refused`, async (t) => {
    const { get } = await jwtWorld(t, (origin) =>
      index === 0 ? oasApi(origin.url, place) : jwtApi(origin, classicApiOf(place, index === 1)),
    )
    let user = 0
    await fc.assert(
      fc.asyncProperty(claim, claim, async (policy, scope) => {
        const held = merged(
          policy.length === 0 ? {} : placed(place.policy, policy[0]),
          scope.length === 0 ? {} : placed(place.scope, scope[0]),
        )
        const answer = await get(`Bearer ${hsToken(claims({ sub: `u${user++}`, ...held }))}`)
        assert.equal(answer.status, isLetIn(policy, scope) ? 200 : 403, `${JSON.stringify(held)} ${answer.text}`)
      }),
      { numRuns: RUNS },
    )
  })

describe('claims that are there and mean nothing', () => {
  test('are refused with 403 and the RFC 6750 error; without the claim the API’s policies apply', async (t) => {
    const { get } = await jwtWorld(t, (origin) => jwtApi(origin, classicApiOf(PLACES[1]!, false)))
    assert.equal((await get(`Bearer ${hsToken()}`)).status, 200)
    assert.equal((await get(`Bearer ${hsToken(claims({ auth: {} }))}`)).status, 200)
    for (const auth of [
      { scp: 'openid' },
      { scp: '' },
      { scp: [] },
      { scp: 5 },
      { pol: null },
      'read',
      null,
      7,
      ['read'],
    ]) {
      const answer = await get(`Bearer ${hsToken(claims({ auth } as JsonObject))}`)
      assert.equal(answer.status, 403, JSON.stringify(auth))
      assert.match(String(answer.headers['www-authenticate']), /^Bearer realm="oauth", error="insufficient_scope"/)
    }
  })

  test('are refused with 401 where they say who issued the token, for whom, and who calls', async (t) => {
    const { get } = await jwtWorld(t, (origin) =>
      jwtApi(origin, { jwt_identity_base_field: 'user', jwt_client_base_field: 'azp' }),
    )
    const status = async (more: JsonObject) => (await get(`Bearer ${hsToken(claims({ user: 'ann', ...more }))}`)).status
    assert.equal(await status({}), 200)
    assert.equal(await status({ user: 7 }), 200)
    assert.equal(await status({ azp: 'app', iss: 'https://idp.example', aud: ['a', 'b'] }), 200)
    for (const name of ['iss', 'aud', 'sub', 'azp', 'user'])
      for (const wrong of ['', null, {}, { a: 1 }, true, [1], [''], [null], [['a']], 1.5])
        assert.equal(await status({ [name]: wrong } as JsonObject), 401, `${name} ${JSON.stringify(wrong)}`)
  })
})

test('policies that do not exist are refused wherever the token names them, until they do', async (t) => {
  const { get, gate } = await jwtWorld(t, (origin) => jwtApi(origin, classicApiOf(PLACES[0]!, false)))
  const bearer = (more: JsonObject) => `Bearer ${hsToken(claims(more))}`
  const status = async (more: JsonObject) => (await get(bearer(more))).status
  for (const held of [
    { pol: 'zz' },
    { pol: ['p', 'zz'] },
    { pol: ['zz', 'p'] },
    { pol: 'zz', scp: 'read' },
    { scp: 'gone' },
    { scp: 'read gone' },
    { pol: 'p', scp: 'gone' },
  ])
    assert.equal(await status(held), 403, JSON.stringify(held))
  assert.equal(await status({ pol: ['p', 'slow'] }), 200)
  assert.equal((await gate.svc('DELETE', '/svc/policies/slow')).status, 200)
  assert.equal(await status({ pol: ['p', 'slow'] }), 403, 'a token that was good before')
  assert.equal(await status({ pol: 'p' }), 200)
})

describe('lists of claims', () => {
  /** Each row: what the scheme names, and in the order in which they count, the claims of policies and of scopes. */
  const LISTS: readonly { named: JsonObject; policies: string[]; scopes: string[] }[] = [
    { named: { basePolicyClaims: ['p1', 'p2'] }, policies: ['p1', 'p2'], scopes: ['scope'] },
    { named: { policyFieldName: 'p0', basePolicyClaims: ['p1'] }, policies: ['p0', 'p1'], scopes: ['scope'] },
    { named: { scopes: { claims: ['s1', 's2'] } }, policies: [], scopes: ['s1', 's2'] },
    { named: { scopes: { claimName: 's0', claims: ['s1'] } }, policies: [], scopes: ['s0', 's1'] },
  ]
  const VALUES: Readonly<Record<string, readonly [policy: unknown, scope: unknown]>> = {
    good: ['p', 'read'],
    nothing: ['', 'openid'],
    null: [null, null],
  }

  for (const { named, policies, scopes } of LISTS)
    test(`${JSON.stringify(named)}: the first claim that the token has counts, whatever it holds`, async (t) => {
      const { get } = await jwtWorld(t, (origin) => {
        const definition = oasApi(origin.url, PLACES[0]!)
        const place = ['x-svc-api-gateway', 'server', 'authentication', 'securitySchemes', 'token']
        const scheme = getAt(definition, place) as JsonObject
        delete scheme.policyFieldName
        const { scopeToPolicyMapping } = scheme.scopes as JsonObject
        Object.assign(scheme, named, { scopes: { ...(named.scopes as JsonObject), scopeToPolicyMapping } })
        return definition
      })
      const names = [...policies, ...scopes].slice(0, 2)
      const held = [undefined, ...Object.keys(VALUES)]
      for (const first of held)
        for (const second of held) {
          const sent: JsonObject = {}
          for (const [index, name] of names.entries()) {
            const value = [first, second][index]
            if (value !== undefined) sent[name] = VALUES[value]![policies.includes(name) ? 0 : 1] as JsonObject
          }
          const counts = [first, second].find((value) => value !== undefined)
          const status = (await get(`Bearer ${hsToken(claims(sent))}`)).status
          assert.equal(status, counts === undefined || counts === 'good' ? 200 : 403, JSON.stringify(sent))
        }
    })

  test('of who calls: the first present claim counts, then sub; an empty one is refused', async (t) => {
    const { get } = await jwtWorld(t, (origin) =>
      jwtApi(origin, {
        jwt_identity_base_field: 'user',
        jwt_subject_claims: ['mail', 'upn'],
        jwt_default_policies: ['slow'],
      }),
    )
    const status = async (more: JsonObject) => (await get(`Bearer ${hsToken(claims(more))}`)).status
    // The policy gives two calls to each caller: who is counted shows who was meant.
    assert.equal(await status({ user: 'a', mail: 'b' }), 200)
    assert.equal(await status({ mail: 'a', upn: 'b' }), 200)
    assert.equal(await status({ upn: 'a' }), 429)
    assert.equal(await status({ upn: 'b' }), 200)
    assert.equal(await status({ sub: 'b' }), 200)
    assert.equal(await status({ sub: 'b' }), 429)
    assert.equal(await status({ sub: 'c' }), 200)
    for (const more of [{ user: '', mail: 'c' }, { user: null, upn: 'c' }, { mail: {}, upn: 'c' }, { sub: undefined }])
      assert.equal(await status(more as JsonObject), 401, JSON.stringify(more))
  })
})

test('without a policy claim, a key that is called as the client of a token says its policy', async (t) => {
  const { get, gate, origin } = await jwtWorld(t, (from) =>
    jwtApi(from, {
      jwt_client_base_field: 'azp',
      jwt_default_policies: ['other'],
      scopes: { jwt: { scope_claim_name: 'scp', scope_to_policy: MAPPED } },
    }),
  )
  const client = 'client-of-the-issuer'
  const key = (policies: string[]) =>
    gate.svc('POST', `/svc/keys/${client}`, { apply_policies: policies, access_rights: {} })
  let user = 0
  const status = async (more: JsonObject) => {
    const sub = `u${user++}`
    return (await get(`Bearer ${hsToken(claims({ sub, ...more }))}`)).status
  }
  // The default gives no access to this API.
  for (const held of [{}, { azp: client }, { azp: 'nobody' }]) assert.equal(await status(held), 403)
  assert.equal((await key(['p', 'other'])).status, 200)
  assert.equal(await status({ azp: client }), 200)
  assert.equal(await status({ azp: client, scp: 'wide' }), 200, 'with those of its scopes')
  assert.equal(await status({ azp: client, scp: 'openid' }), 403)
  assert.equal(await status({ azp: 'nobody' }), 403)
  assert.equal(await status({}), 403)
  // An edit reaches tokens that were accepted before.
  const token = `Bearer ${hsToken(claims({ sub: 'ann', azp: client }))}`
  assert.equal((await get(token)).status, 200)
  assert.equal((await gate.svc('PUT', `/svc/keys/${client}`, { apply_policies: ['other', 'p'] })).status, 200)
  gate.clock.advance(1_000)
  assert.equal((await get(token)).status, 403)
  // A policy claim of the definition goes first, and then the client says nothing.
  const named = jwtApi(origin, {
    jwt_client_base_field: 'azp',
    jwt_policy_field_name: 'pol',
    jwt_default_policies: ['p'],
  })
  assert.equal((await gate.svc('PUT', '/svc/apis/j', named)).status, 200)
  assert.equal(await status({ azp: client }), 200)
  assert.equal(await status({ azp: client, pol: 'other' }), 403)
})
