import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Fault } from '../../../src/errors/fault.ts'
import { readApi } from '../../../src/model/apis/read/read.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { classic } from '../../worlds/model/api-samples.ts'

/** Declared schemes, and the method that serves each; `m` cannot be served. */
const DECLARED: Readonly<Record<string, JsonObject>> = {
  k: { type: 'apiKey', in: 'header', name: 'X-Key' },
  j: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
  b: { type: 'http', scheme: 'basic' },
  m: { type: 'mutualTLS' },
}
const NAMES: Readonly<Record<string, string>> = { token: 'k', jwt: 'j', basic: 'b' }
const SETTINGS: Readonly<Record<string, JsonObject>> = {
  j: {
    header: { enabled: true, name: 'X-Jwt' },
    source: Buffer.from('a secret of at least 32 bytes, for tokens').toString('base64'),
    signingMethod: 'hmac',
    defaultPolicies: ['p'],
  },
}

type Groups = readonly (readonly string[])[]

interface Drawn {
  readonly enabled: readonly string[]
  readonly compliant: boolean
  readonly security: Groups
  readonly own: Groups | undefined
}

const groups = fc.array(fc.uniqueArray(fc.constantFrom('k', 'j', 'b', 'm'), { maxLength: 3 }), { maxLength: 3 })
const drawn: fc.Arbitrary<Drawn> = fc.record({
  enabled: fc.uniqueArray(fc.constantFrom('k', 'j', 'b'), { minLength: 1, maxLength: 3 }),
  compliant: fc.boolean(),
  security: groups,
  own: fc.option(groups, { nil: undefined }),
})

const securityOf = (each: Groups) => each.map((group) => Object.fromEntries(group.map((name) => [name, []])))

function documentOf({ enabled, compliant, security, own }: Drawn): JsonObject {
  const securitySchemes = Object.fromEntries(enabled.map((name) => [name, { enabled: true, ...SETTINGS[name] }]))
  const get = { responses: {}, ...(own !== undefined && { security: securityOf(own) }) }
  return {
    openapi: '3.0.3',
    info: { title: 's', version: '1' },
    paths: { '/adm': { get } },
    components: { securitySchemes: DECLARED },
    security: securityOf(security),
    'x-svc-api-gateway': {
      info: { id: 's', name: 's', state: { active: true } },
      upstream: { url: 'http://127.0.0.1:9' },
      server: {
        listenPath: { value: '/s/', strip: true },
        authentication: { enabled: true, securitySchemes, ...(compliant && { securityProcessingMode: 'compliant' }) },
      },
    },
  }
}

/** The sets of schemes with one of which a request is let in; the reason of the refusal when the definition is refused. */
function served(definition: JsonObject, format: 'oas' | 'classic' = 'oas'): Groups | string {
  try {
    const { auth } = readApi({ api_id: 's', org_id: 'o', name: 's', format, definition })
    return (auth!.alternatives ?? [[auth!]]).map((group) => group.map(({ method }) => NAMES[method]!))
  } catch (error) {
    assert.ok(error instanceof Fault, String(error))
    return error.message
  }
}

/** The oracle: what OpenAPI says of a `security` list (one group is met in full; none asks for nothing). */
const meets = (proofs: readonly string[], asked: Groups) =>
  asked.length === 0 || asked.some((group) => group.every((name) => proofs.includes(name)))

test('property: nobody is let in with less than a document asks for', () => {
  let taken = 0
  fc.assert(
    fc.property(drawn, (each) => {
      const accepted = served(documentOf(each))
      if (typeof accepted === 'string') return
      taken++
      const partly = (each.own ?? []).some((group) => group.some((name) => each.enabled.includes(name)))
      for (const proofs of accepted) {
        assert.ok(meets(proofs, each.security), `${proofs} for ${JSON.stringify(each)}`)
        // Without choice, what an operation asks of other schemes alone is met by those of the API.
        if (each.compliant || partly) {
          const asked = each.compliant ? (each.own ?? []) : (each.own ?? []).map((group) => group.filter(isNamed(each)))
          assert.ok(meets(proofs, asked), `operation: ${proofs} for ${JSON.stringify(each)}`)
        }
      }
    }),
    { numRuns: 2000 },
  )
  assert.ok(taken > 50, `${taken} were taken`)
})

/** Groups of an operation that name no enabled scheme are as if it were not there. */
const isNamed = ({ own, enabled }: Drawn) => {
  const mixed = (own ?? []).some(
    (group) => group.some((name) => enabled.includes(name)) && !group.every((name) => enabled.includes(name)),
  )
  return (name: string) => mixed || enabled.includes(name)
}

test('property: a document that asks for what is enabled is taken', () => {
  const enabled = fc.uniqueArray(fc.constantFrom('k', 'j', 'b'), { minLength: 1, maxLength: 3 })
  fc.assert(
    fc.property(enabled, fc.boolean(), (names, compliant) => {
      const each = { enabled: names, security: compliant ? names.map((name) => [name]) : [names] }
      assert.notEqual(typeof served(documentOf({ ...each, compliant, own: undefined })), 'string')
      assert.notEqual(typeof served(documentOf({ ...each, compliant, own: each.security })), 'string')
      assert.notEqual(typeof served(documentOf({ ...each, compliant, own: [] })), 'string')
      if (!compliant) assert.notEqual(typeof served(documentOf({ ...each, compliant, own: [['m']] })), 'string')
    }),
  )
})

test('the refusal names the scheme that would not be asked for', () => {
  const k = { enabled: ['k'], own: undefined }
  for (const compliant of [false, true]) {
    assert.match(String(served(documentOf({ ...k, compliant, security: [['k', 'm']] }))), /^security\[0\]\.m: /)
    assert.match(String(served(documentOf({ ...k, compliant, security: [['k', 'j']] }))), /^security\[0\]\.j: /)
    assert.deepEqual(served(documentOf({ ...k, compliant, security: [['k', 'm'], ['k']] })), [['k']])
    const operation = documentOf({ ...k, compliant, security: [['k']], own: [['k', 'm']] })
    assert.match(String(served(operation)), /^paths\["\/adm"\]\.get\.security\[0\]\.m: /)
  }
  const choice = { enabled: ['k', 'j'], compliant: true, security: [['k'], ['j']] }
  assert.match(
    String(served(documentOf({ ...choice, own: [['j']] }))),
    /get\.security\[0\]\.j: must let in what the API/,
  )
  assert.match(String(served(documentOf({ ...choice, own: [['m']] }))), /get\.security\[0\]\.m: names a scheme/)
})

test('a group of a classic definition with a method that is off is refused too', () => {
  const with_ = (security_requirements: string[][]) =>
    classic({
      use_keyless: false,
      use_standard_auth: true,
      security_processing_mode: 'compliant',
      security_requirements,
    })
  assert.match(String(served(with_([['authToken', 'jwt']]), 'classic')), /^security_requirements\[0\]\.jwt: names/)
  assert.deepEqual(served(with_([['authToken', 'jwt'], ['authToken']]), 'classic'), [['k']])
})
