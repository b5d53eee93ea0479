import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  authenticationOf,
  fieldPlaces,
  withAuthentication,
} from '../../../console/src/pages/apis/authentication/authentication.ts'
import { proofsIn } from '../../../console/src/pages/apis/authentication/authentication-methods.ts'
import { PROOFS, type Proof, schemeForm } from '../../../console/src/pages/apis/authentication/schemes.ts'
import { faultsByField } from '../../../console/src/parts/editors/openapi-place.ts'
import type { FormValues } from '../../../console/src/parts/forms/form-values.ts'
import { GRANT_CHOICES } from '../../../console/src/texts/grants.ts'
import { Fault } from '../../../src/errors/fault.ts'
import { toClassic } from '../../../src/model/apis/convert/convert.ts'
import { getAt } from '../../../src/model/apis/definition/tree.ts'
import { readApi } from '../../../src/model/apis/read/read.ts'
import { SCHEMES } from '../../../src/model/authentication/schemes.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { GRANTS } from '../../../src/model/oauth-clients/grants.ts'
import { classic, oas } from '../../worlds/model/api-samples.ts'

const SECRET = Buffer.alloc(32, 7).toString('base64')
const NOTHING: readonly JsonObject[] = [classic({ use_keyless: true }), oas({})]
const RUNS = process.env.GATEHOUSE_DEEP === '1' ? 2_000 : 100

const isOas = (definition: JsonObject) => 'openapi' in definition
const inClassicWords = (definition: JsonObject) => (isOas(definition) ? toClassic(definition).definition : definition)

/** The definition after the form was filled with these values and saved. */
function saved(definition: JsonObject, values: FormValues): JsonObject {
  const before = authenticationOf(inClassicWords(definition))
  return withAuthentication(definition, isOas(definition), before, { ...before, ...values }) as JsonObject
}

const read = (definition: JsonObject) =>
  readApi({ api_id: 'i', org_id: 'o', name: 'n', format: isOas(definition) ? 'oas' : 'classic', definition })

/** The least that a JSON Web Token needs. */
const JWT: FormValues = { jwtKeys: 'secret', jwtSecret: SECRET, jwtPolicies: ['p'] }

/** Schemes without a form: their definitions are edited as text. */
const WRITTEN: ReadonlySet<string> = new Set(['external'])

test('the console has a form for every scheme of the gateway, by the same names', () => {
  const names = PROOFS.map((proof) => {
    const { on, config, identity, declared } = schemeForm(proof)
    return { method: proof, on, config, identity, isDeclared: declared !== undefined }
  })
  const served = SCHEMES.filter(({ method }) => !WRITTEN.has(method))
  const expected = served.map(({ method, on, config, identity, declaration }) => ({
    ...{ method, on, config, identity, isDeclared: declaration !== undefined },
  }))
  assert.deepEqual(names, expected)
  for (const { method, declaration } of served)
    assert.ok(declaration?.matches((schemeForm(method as Proof).declared ?? {}) as JsonObject) !== false, method)
})

test('the form names grants as the authorization server does', () => {
  for (const { type, flow, oas } of GRANT_CHOICES) {
    const grant = GRANTS.find((each) => each.type === type)
    assert.deepEqual({ type, flow, oas }, { type: grant?.type, flow: grant?.flow?.name, oas: grant?.oas })
  }
})

test('each way to prove who calls is set up in both formats, and read back as it was typed', () => {
  const forms: readonly FormValues[] = [
    { method: 'token', tokenHeaderName: 'X-Key', tokenCertificate: true, strip: true },
    { method: 'token', tokenHeader: false, tokenQuery: true, tokenQueryName: 'key' },
    { method: 'oauth', flows: ['client_credentials'], refresh: true, scopes: 'read Read orders', accessLife: 60 },
    { method: 'oauth', flows: ['client_credentials'], resources: ['https://a.example/b', 'reports'] },
    { method: 'oauth', flows: ['authorization_code'], openRegistration: true, registrationPolicies: ['p'] },
    { method: 'basic', basicUncached: true },
    { method: 'basic', basicCache: 5, basicHeaderName: 'X-Login' },
    { method: 'hmac', hmacAlgorithms: ['hmac-sha512'], hmacSkew: 1000 },
    { method: 'jwt', ...JWT },
    {
      ...{ method: 'jwt', jwtSets: ['https://a.example/jwks 600', 'https://b.example/jwks'], jwtFamily: 'ecdsa' },
      ...{ jwtScopes: 'read p\nwrite q', jwtScopeClaim: 'scp', jwtPolicyClaim: 'pol', jwtClient: 'azp' },
      ...{ jwtIssuers: ['i'], jwtAudiences: ['a'], jwtSubjects: ['s'], jwtIdentity: 'email', jwtExpiresSkew: 3 },
    },
    { method: 'several', methods: ['token', 'basic'], tokenHeaderName: 'X-Key', identity: 'basic' },
    {
      ...{ method: 'several', methods: ['token', 'jwt', 'hmac'], mode: 'one', sets: ['key', 'jwt + hmac'], ...JWT },
      tokenHeaderName: 'X-Key',
    },
    { method: 'keyless', letIn: true, letInIds: ['a'.repeat(64)] },
  ]
  for (const values of forms) {
    const [left, right] = NOTHING.map((definition) => saved(definition, values))
    assert.deepEqual(read(left!).auth, read(right!).auth, JSON.stringify(values))
    for (const definition of [left!, right!]) {
      const shown = authenticationOf(inClassicWords(definition))
      for (const [name, value] of Object.entries(values)) assert.deepEqual(shown[name], value, name)
      assert.deepEqual(saved(definition, {}), definition, 'saving what is there changes nothing')
    }
  }
})

test('the document declares a key where callers find it', () => {
  const place = (values: FormValues) =>
    getAt(saved(oas({}), { method: 'token', ...values }), ['components', 'securitySchemes', 'authToken'])
  const query = { tokenHeader: false, tokenQuery: true, tokenQueryName: 'key' }
  assert.deepEqual(place(query), { type: 'apiKey', in: 'query', name: 'key' })
  assert.deepEqual(place({ tokenHeaderName: 'X-Key' }), { type: 'apiKey', in: 'header', name: 'X-Key' })
})

test('what is asked for is what the form says', () => {
  const values: FormValues = {
    ...{ method: 'several', methods: ['token', 'jwt', 'hmac'], mode: 'one', sets: ['key', 'jwt + hmac'], ...JWT },
    ...{ tokenHeaderName: 'X-Key', identity: 'hmac' },
  }
  for (const definition of NOTHING) {
    const { auth } = read(saved(definition, values))
    assert.deepEqual(
      auth?.alternatives?.map((group) => group.map(({ method }) => method)),
      [['token'], ['jwt', 'hmac']],
    )
    const each = read(saved(saved(definition, values), { sets: [] })).auth
    assert.deepEqual(
      each?.alternatives?.map((group) => group.map(({ method }) => method)),
      [['token'], ['jwt'], ['hmac']],
    )
    const all = read(saved(saved(definition, values), { mode: 'all' })).auth
    assert.deepEqual(
      all?.alternatives?.map((group) => group.map(({ method }) => method)),
      [['jwt', 'token', 'hmac']],
    )
    const one = read(saved(saved(definition, values), { method: 'basic' })).auth
    assert.deepEqual([one?.method, one?.alternatives], ['basic', undefined])
    assert.equal(read(saved(saved(definition, values), { method: 'keyless' })).auth, undefined)
  }
})

test('settings that the form does not show stay, and scopes of operations with them', () => {
  const document = oas({
    document: {
      components: { securitySchemes: { own: { type: 'apiKey', in: 'header', name: 'K', 'x-note': 1 } } },
      security: [{ own: ['read'] }],
    },
    server: { authentication: { enabled: true, securitySchemes: { own: { enabled: true, 'x-more': 2 } } } },
  })
  const changed = saved(document, { tokenHeaderName: 'K2' })
  assert.deepEqual(changed.security, [{ own: ['read'] }])
  const own = ['x-svc-api-gateway', 'server', 'authentication', 'securitySchemes', 'own']
  assert.equal(getAt(changed, [...own, 'x-more']), 2)
  assert.equal(getAt(changed, [...own, 'header', 'name']), 'K2')
  assert.deepEqual(saved(document, { method: 'keyless' }).components, document.components)
})

const word = fc.stringMatching(/^[A-Z][a-z]{1,6}$/)
const place = (proof: Proof) =>
  fc
    .record({ h: fc.boolean(), hn: word, q: fc.boolean(), qn: word, c: fc.boolean(), cn: word })
    .map(({ h, hn, q, qn, c, cn }) => ({
      ...{ [`${proof}Header`]: h, [`${proof}HeaderName`]: hn, [`${proof}Query`]: q, [`${proof}QueryName`]: qn },
      ...{ [`${proof}Cookie`]: c, [`${proof}CookieName`]: cn },
    }))
const form = fc
  .tuple(
    fc.uniqueArray(fc.constantFrom(...PROOFS), { minLength: 1 }),
    fc.tuple(...PROOFS.map(place)),
    fc.record({ mode: fc.constantFrom('all', 'one'), strip: fc.boolean(), pick: fc.nat(4), named: fc.boolean() }),
  )
  .map(([methods, places, { mode, strip, pick, named }]): FormValues => {
    const identity = named ? methods[pick % methods.length]! : ''
    const several: FormValues =
      methods.length === 1 ? { method: methods[0]! } : { method: 'several', methods, identity }
    return { ...Object.assign({}, ...places), ...JWT, ...several, mode, strip, sets: [] }
  })

test('whatever is set up, one form after the other, both formats serve the same', () => {
  fc.assert(
    fc.property(fc.array(form, { minLength: 1, maxLength: 3 }), (forms) => {
      const [left, right] = NOTHING.map((definition) => forms.reduce(saved, definition))
      assert.deepEqual(read(left!).auth, read(right!).auth)
      const last = forms.at(-1)!
      for (const definition of [left!, right!]) {
        const shown = authenticationOf(inClassicWords(definition))
        assert.deepEqual(proofsIn(shown), proofsIn(last))
        for (const proof of proofsIn(last))
          for (const where of ['Header', 'HeaderName', 'Query', 'QueryName', 'Cookie', 'CookieName'])
            assert.equal(shown[`${proof}${where}`], last[`${proof}${where}`], `${proof}${where}`)
      }
    }),
    { numRuns: RUNS },
  )
})

test('what the dashboard finds wrong is said at its field, in both formats', () => {
  const wrong: readonly (readonly [FormValues, string])[] = [
    [{ ...JWT, method: 'jwt', jwtSecret: Buffer.alloc(8).toString('base64') }, 'jwtSecret'],
    [{ method: 'jwt', jwtKeys: 'key', jwtKey: 'no key', jwtFamily: 'rsa', jwtPolicies: ['p'] }, 'jwtKey'],
    [{ method: 'jwt', jwtKeys: 'key', jwtKey: SECRET, jwtPolicies: ['p'] }, 'jwtFamily'],
    [{ ...JWT, method: 'jwt', jwtPolicies: [] }, 'jwtPolicies'],
    [{ method: 'jwt', jwtSets: ['ftp://a.example'], jwtPolicies: ['p'] }, 'jwtSets'],
    [{ method: 'hmac', hmacAlgorithms: ['md5'] }, 'hmacAlgorithms'],
    [{ method: 'basic', basicCache: 100_000 }, 'basicCache'],
    [{ method: 'token', tokenHeaderName: 'not a name' }, 'tokenHeaderName'],
    [{ ...JWT, method: 'several', methods: ['token', 'jwt'], identity: 'basic' }, 'identity'],
  ]
  for (const definition of NOTHING)
    for (const [values, field] of wrong) {
      const asked = saved(definition, values)
      const faults = faultsByField(refusalOf(asked), fieldPlaces(asked, isOas(asked), { jwtKeys: 'sets', ...values }))
      assert.deepEqual(
        Object.keys(faults),
        [field],
        `${isOas(asked) ? 'openapi' : 'classic'} ${JSON.stringify(values)}`,
      )
      assert.ok(faults[field]!.length > 4)
    }
})

function refusalOf(definition: JsonObject): string {
  try {
    read(definition)
  } catch (error) {
    if (error instanceof Fault) return error.message
    throw error
  }
  return assert.fail(`it is taken: ${JSON.stringify(definition)}`)
}
