import { createHash } from 'node:crypto'
import { fault } from '../../errors/fault.ts'
import {
  PUBLIC_KEY_ALGORITHMS,
  pickKeys,
  readKeySet,
  type VerifyKey,
  verifySignature,
} from '../../model/authentication/jwt-key.ts'
import type { JsonObject } from '../../model/json/json.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import type { OAuthCall, OAuthParts } from '../endpoints/parts.ts'
import { endpointUrl } from '../messages/endpoint-url.ts'
import { consumeOnce, type ProofParts } from '../proofs/replay.ts'
import { type CompactJwt, flawOfTimes, JWT_LIMIT, readCompact } from '../signing-keys/jwt.ts'

/** `client_assertion_type` of assertions that we take (RFC 7523 section 2.2). */
export const JWT_BEARER = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

const ID_LIMIT = 256
const CLOCK_SKEW_S = 60
/** Values of `typ` that an assertion may have, lower case. */
export const ASSERTION_TYPES: readonly string[] = ['', 'jwt', 'client-authentication+jwt']

/**
 * Checks the assertion by which a client of `private_key_jwt` proves who it is (RFC 7523 section 3) and uses it up: signed with
 * a key of the client's own set (`jwks`, or what its `jwks_uri` answers), made by it and about it, for this authorization server, valid now
 * and for at most an hour (a setting), never seen before.
 * @throws Fault `oauth_assertion_refused`, `store_away`, `store_full`
 */
export async function verifyAssertion(
  parts: ProofParts & Pick<OAuthParts, 'config' | 'clientKeySets'>,
  call: OAuthCall,
  client: OAuthClient,
  assertion: string,
): Promise<void> {
  const jwt = readCompact(assertion, JWT_LIMIT, ASSERTION_TYPES)
  if (typeof jwt === 'string') throw refused(jwt)
  const nowS = parts.clock.wall() / 1000
  const longestS = parts.config.gateway.oauth_assertion_expire
  const flaw =
    flawOfClaims(jwt, call, client.client_id, { nowS, longestS }) ?? (await flawOfSignature(parts, jwt, client))
  if (flaw !== undefined) throw refused(flaw)
  const { jti = idOf(jwt), exp } = jwt.claims as { jti?: string; exp: number }
  const until = Math.ceil((exp + CLOCK_SKEW_S) * 1000)
  const first = await consumeOnce(parts, { owner: `client:${client.client_id}`, id: jti, apiId: call.api.apiId, until })
  if (!first) throw refused('the assertion was used before')
}

function refused(flaw: string) {
  return fault('oauth_assertion_refused', flaw)
}

function flawOfClaims(
  { claims }: CompactJwt,
  call: OAuthCall,
  clientId: string,
  { nowS, longestS }: { readonly nowS: number; readonly longestS: number },
): string | undefined {
  const { iss, sub, aud, jti, exp } = claims
  if (iss !== clientId || sub !== clientId) return 'iss and sub of the assertion are not the client'
  if (!isForUs(aud, call)) return 'the aud of the assertion is not this authorization server'
  if (jti !== undefined && !(typeof jti === 'string' && jti !== '' && jti.length <= ID_LIMIT))
    return 'the jti of the assertion is malformed'
  if (typeof exp !== 'number') return 'the exp of the assertion is missing'
  if (exp > nowS + longestS + CLOCK_SKEW_S)
    return `the assertion lives longer than ${longestS} s (gateway.oauth_assertion_expire)`
  const flaw = flawOfTimes(claims, nowS, CLOCK_SKEW_S)
  return flaw === undefined ? undefined : `the times of the assertion are wrong: ${flaw}`
}

/** One of the audiences must be us (RFC 7523 section 3), by the issuer with or without a last slash, or an endpoint. */
function isForUs(aud: unknown, { issuer, endpoint }: OAuthCall): boolean {
  const ours = [issuer, `${issuer}/`, endpointUrl(issuer, 'token'), endpointUrl(issuer, endpoint)]
  const named: unknown[] = Array.isArray(aud) ? aud : [aud]
  return named.some((entry) => typeof entry === 'string' && ours.includes(entry))
}

async function flawOfSignature(
  { clientKeySets }: Pick<OAuthParts, 'clientKeySets'>,
  jwt: CompactJwt,
  { jwks, jwks_uri: address, org_id: orgId }: OAuthClient,
): Promise<string | undefined> {
  const { alg, kid = '' } = jwt.header
  if (typeof alg !== 'string' || !PUBLIC_KEY_ALGORITHMS.includes(alg)) return 'the alg of the assertion is not allowed'
  if (typeof kid !== 'string') return NO_KEY
  const fitting =
    address === undefined
      ? pickKeys(keysOf(jwks), kid, alg)
      : await clientKeySets?.(address, orgId).candidates(kid, alg)
  if (fitting === undefined) return 'the key set of the client (jwks_uri) cannot be read'
  if (fitting.length === 0) return NO_KEY
  const isRight = fitting.some((key) => verifySignature(key, alg, jwt.signed, jwt.signature))
  return isRight ? undefined : 'the signature of the assertion is wrong'
}

const NO_KEY = 'the client has no key that the assertion names'

/** Module state: a cache of immutable values: the keys of sets. */
const keysOfSets = new WeakMap<JsonObject, readonly VerifyKey[]>()

function keysOf(jwks: JsonObject | undefined): readonly VerifyKey[] {
  if (jwks === undefined) return []
  const known = keysOfSets.get(jwks)
  if (known !== undefined) return known
  const keys = readKeySet(jwks, '') ?? []
  keysOfSets.set(jwks, keys)
  return keys
}

/**
 * The id under which an assertion without `jti` is used up: all of it, but for the half of an ECDSA signature that anyone can replace by
 * another one that is good too.
 */
function idOf({ header, signed, signature }: CompactJwt): string {
  const isMalleable = String(header.alg).startsWith('ES')
  const fixed = isMalleable ? signature.subarray(0, signature.length / 2) : signature
  return `sha256 ${createHash('sha256').update(signed).update(fixed).digest('base64url')}`
}
