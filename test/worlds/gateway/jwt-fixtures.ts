import assert from 'node:assert/strict'
import { createHmac, createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import type { TestContext } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import type { Answer } from '../base/client.ts'
import { startTestGateway, type TestGateway } from '../base/harness.ts'
import { type Origin, startOrigin } from '../servers/origin.ts'
import { classicApi, rightsOn } from './admin-fixtures.ts'

/** Time of the tests' clock, in seconds. */
export const NOW_S = 1_700_000_000
export const SECRET = Buffer.alloc(64, 's')

/** An issuer of tokens. */
export interface Signer {
  readonly alg: string
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
  /** Public, with `kid` and `alg`. */
  readonly jwk: JsonObject
  readonly pem: string
}

export function signer(alg: string, kid: string): Signer {
  const pair = keyPair(alg)
  const jwk = { ...(pair.publicKey.export({ format: 'jwk' }) as JsonObject), kid, alg }
  return { alg, ...pair, jwk, pem: pair.publicKey.export({ type: 'spki', format: 'pem' }).toString() }
}

const CURVES: Readonly<Record<string, string>> = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' }

function keyPair(alg: string): { publicKey: KeyObject; privateKey: KeyObject } {
  if (alg === 'EdDSA' || alg === 'Ed25519') return generateKeyPairSync('ed25519')
  if (alg === 'Ed448') return generateKeyPairSync('ed448')
  const namedCurve = CURVES[alg]
  return namedCurve === undefined
    ? generateKeyPairSync('rsa', { modulusLength: 2048 })
    : generateKeyPairSync('ec', { namedCurve })
}

export const base64 = (text: string | Uint8Array): string => Buffer.from(text).toString('base64')
const part = (value: unknown): string =>
  Buffer.from(value instanceof Uint8Array ? value : typeof value === 'string' ? value : JSON.stringify(value)).toString(
    'base64url',
  )

/** The claims of a token that is good, with these in their place. */
export function claims(more: JsonObject = {}): JsonObject {
  return { sub: 'ann', iat: NOW_S - 10, exp: NOW_S + 600, ...more }
}

/** A token by hand: nothing about it need be right. `signature` makes the last part of what comes before it. */
export function compact(header: unknown, payload: unknown, signature: (signed: Buffer) => Uint8Array): string {
  const signed = `${part(header)}.${part(payload)}`
  return `${signed}.${Buffer.from(signature(Buffer.from(signed))).toString('base64url')}`
}

export const hs =
  (secret: Uint8Array, hash = 'sha256') =>
  (signed: Buffer) =>
    createHmac(hash, secret).update(signed).digest()

/** A token of HS256 with the secret that the tests share. */
export function hsToken(payload: JsonObject = claims(), header: JsonObject = { alg: 'HS256', typ: 'JWT' }): string {
  return compact(header, payload, hs(SECRET))
}

/** Signs as ES256 does, with any header. */
export const es =
  (key: KeyObject, hash = 'sha256', dsaEncoding: 'ieee-p1363' | 'der' = 'ieee-p1363') =>
  (signed: Buffer) =>
    sign(hash, signed, { key: createPrivateKey(key.export({ type: 'pkcs8', format: 'pem' }) as string), dsaEncoding })

/** A classic definition that takes tokens; by default of the shared secret, under the policy `p`. */
export function jwtApi(origin: Origin, more: JsonObject = {}): JsonObject {
  return classicApi('J', '/j/', {
    ...{ api_id: 'j', use_keyless: false, enable_jwt: true },
    ...{ jwt_signing_method: 'hmac', jwt_source: base64(SECRET), jwt_default_policies: ['p'] },
    proxy: { listen_path: '/j/', target_url: origin.url, strip_listen_path: true },
    ...more,
  })
}

/** The same that takes tokens of a key set, or of a public key. */
export function keyedApi(
  origin: Origin,
  jwt_source: string,
  jwt_signing_method = '',
  more: JsonObject = {},
): JsonObject {
  return jwtApi(origin, { jwt_source, jwt_signing_method, ...more })
}

export interface JwtWorld {
  readonly gate: TestGateway
  readonly origin: Origin
  /** Calls the API with this credential in `Authorization`. */
  get(token: string, path?: string): Promise<Answer>
  /** Publishes a definition. */
  publish(definition: JsonObject): Promise<Answer>
  /** Replaces the definition of `j`. */
  change(definition: JsonObject): Promise<void>
}

/** A gateway with the policies `p` (rights on `j`), `slow` (the same, two calls a minute) and `other` (rights elsewhere). */
export async function jwtWorld(t: TestContext, define?: (origin: Origin) => JsonObject): Promise<JwtWorld> {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gate = await startTestGateway({ env: { SVC_WEBHOOKS_ALLOWPRIVATE: 'true' } })
  t.after(() => gate.close())
  const publish = (definition: JsonObject) =>
    gate.svc('POST', 'openapi' in definition ? '/svc/apis/oas' : '/svc/apis', definition)
  assert.equal((await publish(classicApi('E', '/e/', { api_id: 'e' }))).status, 200)
  const made = await publish(define === undefined ? jwtApi(origin) : define(origin))
  assert.equal(made.status, 200, made.text)
  for (const [id, more] of Object.entries({ p: {}, slow: { rate: 2, per: 60 }, other: {} })) {
    const policy = { id, active: true, access_rights: rightsOn(id === 'other' ? 'e' : 'j'), ...more }
    assert.equal((await gate.svc('POST', '/svc/policies', policy)).status, 200)
  }
  return {
    gate,
    origin,
    publish,
    async change(definition) {
      const changed = await gate.svc('PUT', '/svc/apis/j', definition)
      assert.equal(changed.status, 200, changed.text)
    },
    get: (token, path = '/j/x') => gate.call(path, { headers: token === '' ? {} : { authorization: token } }),
  }
}
