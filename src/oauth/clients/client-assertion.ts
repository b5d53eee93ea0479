import { fault } from '../../errors/fault.ts'
import { isObject, type JsonObject } from '../../model/json/json.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import type { OAuthCall } from '../endpoints/parts.ts'
import { endpointUrl } from '../messages/endpoint-url.ts'
import { consumeOnce, type ProofParts } from '../proofs/replay.ts'
import { type PublicKey, readPublicJwk } from '../signing-keys/jwk.ts'
import { fitsAlgorithm, flawOfTimes, type Jwt, readJwt, verifyJwt } from '../signing-keys/jwt.ts'

/** `client_assertion_type` of assertions that we take (RFC 7523 section 2.2). */
export const JWT_BEARER = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

const ID_LIMIT = 256
const KEYS_LIMIT = 32
const CLOCK_SKEW_S = 60
// Assertions are made for one request; their ids are remembered until they end.
const LIFETIME_LIMIT_S = 600
const TYPES = ['', 'jwt', 'client-authentication+jwt']

/**
 * Checks the assertion by which a client of `private_key_jwt` proves who it is (RFC 7523 section 3) and uses it up: signed with
 * a key of the client's own set, made by it and about it, for this authorization server, valid now and for at most ten minutes,
 * never seen before. Sets that are fetched from an address (`jwks_uri`) are not served.
 * @throws Fault `oauth_invalid_client`, `store_away`, `store_full`
 */
export async function verifyAssertion(
  parts: ProofParts,
  call: OAuthCall,
  client: OAuthClient,
  assertion: string,
): Promise<void> {
  const jwt = readJwt(assertion, TYPES)
  if (typeof jwt === 'string') throw refused(jwt)
  const flaw = flawOfClaims(jwt, call, client.client_id, parts.clock.wall() / 1000) ?? flawOfSignature(jwt, client)
  if (flaw !== undefined) throw refused(flaw)
  const { jti, exp } = jwt.claims as { jti: string; exp: number }
  const until = Math.ceil((exp + CLOCK_SKEW_S) * 1000)
  const first = await consumeOnce(parts, { owner: `client:${client.client_id}`, id: jti, apiId: call.api.apiId, until })
  if (!first) throw refused('the assertion was used before')
}

function refused(flaw: string) {
  return fault('oauth_invalid_client', flaw)
}

function flawOfClaims({ claims }: Jwt, call: OAuthCall, clientId: string, nowS: number): string | undefined {
  const { iss, sub, aud, jti, exp } = claims
  if (iss !== clientId || sub !== clientId) return 'iss and sub of the assertion are not the client'
  if (!isForUs(aud, call)) return 'the aud of the assertion is not this authorization server'
  if (typeof jti !== 'string' || jti === '' || jti.length > ID_LIMIT) return 'the jti of the assertion is missing'
  if (typeof exp !== 'number') return 'the exp of the assertion is missing'
  if (exp > nowS + LIFETIME_LIMIT_S + CLOCK_SKEW_S) return 'the assertion lives too long'
  const flaw = flawOfTimes(claims, nowS, CLOCK_SKEW_S)
  return flaw === undefined ? undefined : `the times of the assertion are wrong: ${flaw}`
}

/** Every audience must be us (RFC 7523 section 3): one that is also for others could be used by them. */
function isForUs(aud: unknown, { issuer, endpoint }: OAuthCall): boolean {
  const ours = [issuer, endpointUrl(issuer, 'token'), endpointUrl(issuer, endpoint)]
  const named: unknown[] = Array.isArray(aud) ? aud : [aud]
  return named.length > 0 && named.every((entry) => typeof entry === 'string' && ours.includes(entry))
}

function flawOfSignature(jwt: Jwt, client: OAuthClient): string | undefined {
  const fitting = keysFor(jwt, client.jwks)
  if (fitting.length === 0) return 'the client has no key that the assertion names'
  if (fitting.length > 1) return 'the assertion must name one of the keys of the client'
  return verifyJwt(jwt, fitting[0]!.key) ? undefined : 'the signature of the assertion is wrong'
}

/** The keys of a set that an assertion can have been signed with: by `kid` where it names one, by type and use in any case. */
function keysFor({ header, algorithm }: Jwt, jwks: JsonObject | undefined): PublicKey[] {
  const listed = Array.isArray(jwks?.keys) ? jwks.keys.slice(0, KEYS_LIMIT) : []
  return listed.flatMap((jwk) => {
    if (!isObject(jwk) || (header.kid !== undefined && jwk.kid !== header.kid)) return []
    if (jwk.use !== undefined && jwk.use !== 'sig') return []
    if (jwk.alg !== undefined && jwk.alg !== algorithm) return []
    if (Array.isArray(jwk.key_ops) && !jwk.key_ops.includes('verify')) return []
    const key = readPublicJwk(jwk)
    return key !== undefined && fitsAlgorithm(key.key, algorithm) ? [key] : []
  })
}
