import { hash } from 'node:crypto'
import { type Fault, fault, prebuilt, toFault } from '../../errors/fault.ts'
import type { OAuthRules } from '../../model/oauth-clients/oauth-rules.ts'
import { equalSecrets } from '../../model/secrets/secret.ts'
import type { OAuthCall } from '../endpoints/parts.ts'
import { endpointUrl } from '../messages/endpoint-url.ts'
import { readPublicJwk } from '../signing-keys/jwk.ts'
import { flawOfTimes, readJwt, verifyJwt } from '../signing-keys/jwt.ts'
import { certificateThumbprint } from './mtls.ts'
import { consumeOnce, type ProofParts } from './replay.ts'

// The characters that RFC 3986 allows, with an authority. `new URL` alone would forgive blanks, line feeds, backslashes and missing slashes.
const ABSOLUTE_URL = /^https?:\/\/[^/?#][!#-;=?-[\]_a-z~]*$/i

const PERCENT = /%[0-9A-Fa-f]{2}/g

const UNRESERVED = /[A-Za-z0-9._~-]/

/** The binding of tokens: the thumbprint of a DPoP key and that of a certificate; '' = not bound that way. */
export type Binding = { readonly jkt: string; readonly x5t: string }

/** A request to a protected API with a bound token. */
export interface ProvedRequest {
  /** Values of all `DPoP` fields. */
  readonly proofs: readonly string[]
  readonly method: string
  /** As the client called it: scheme, host, path. A query does no harm. */
  readonly url: string
  readonly token: string
  /** Thumbprint of the key that the token is bound to. */
  readonly jkt: string
  /** Whose proofs these are; '' when not known. */
  readonly apiId?: string
}

/** A proof whose signature and claims hold. Whether it was used before is not known yet. */
interface Proof {
  readonly jkt: string
  readonly jti: string
  /** Unix milliseconds from which on it is too old. */
  readonly until: number
}

/** The subject of a proof. */
interface Expected {
  readonly method: string
  /** Any of these. */
  readonly urls: readonly string[]
  /** '' at the authorization server: there is no token yet. */
  readonly token: string
}

/** How far the `iat` of a proof may lie from now, before or after (RFC 9449 section 11.1). */
const WINDOW_MS = 60_000
const ID_LIMIT = 256

/**
 * The binding of the tokens of this call, by the rules of the API. A proof that is sent is checked (RFC 9449 section 4.3) and used up,
 * unless the API does not know DPoP: then it is ignored. Likewise the certificate of the connection (RFC 8705 section 3). Call it after
 * client authentication: it writes.
 * @throws Fault `oauth_invalid_proof` when the proof is not valid, was used before, or is missing where it is required,
 * `oauth_invalid_request` when the certificate is missing, `store_away`, `store_full`
 */
export async function readBinding(
  parts: ProofParts,
  call: OAuthCall,
  { dpop, mutualTls }: Pick<OAuthRules, 'dpop' | 'mutualTls'>,
): Promise<Binding> {
  const x5t = mutualTls === 'off' ? '' : certificateThumbprint(call.peerCertificate)
  if (mutualTls === 'required' && x5t === '') throw fault('oauth_invalid_request', 'a client certificate is required')
  const proofs = dpop === 'off' ? [] : call.headers('dpop')
  if (proofs.length > 0) return { jkt: await useProof(parts, call, proofs), x5t }
  if (dpop === 'required') throw fault('oauth_invalid_proof', 'a DPoP proof is required')
  return { jkt: '', x5t }
}

/**
 * Checks the proof that comes with a token bound to a DPoP key (RFC 9449 sections 4.3 and 7.1) and uses it up. Answers the
 * fault to refuse the request with: `token_proof_missing` without a proof or with that of another key, `token_proof_invalid`
 * for any other flaw and for a proof that was used before, `store_away` or `store_full` when that cannot be known.
 */
export async function checkTokenProof(
  parts: ProofParts,
  { proofs, method, url, token, jkt, apiId = '' }: ProvedRequest,
): Promise<Fault | undefined> {
  if (proofs.length === 0) return MISSING
  const proof = readProof(proofs, { method, urls: [url], token }, parts.clock.wall())
  if (typeof proof === 'string') return refusal(proof)
  if (!equalSecrets(proof.jkt, jkt)) return MISSING
  try {
    return (await consumeOnce(parts, onceOf(proof, apiId))) ? undefined : refusal(USED)
  } catch (error) {
    return toFault(error)
  }
}

const MISSING = prebuilt('token_proof_missing')
const USED = 'the proof was used before'

async function useProof(parts: ProofParts, call: OAuthCall, proofs: readonly string[]): Promise<string> {
  const url = endpointUrl(call.issuer, call.endpoint)
  // Endpoints answer with and without a slash at the end.
  const expected = { method: call.method, urls: [url, `${url}/`], token: '' }
  const proof = readProof(proofs, expected, parts.clock.wall())
  if (typeof proof === 'string') throw fault('oauth_invalid_proof', proof)
  if (!(await consumeOnce(parts, onceOf(proof, call.api.apiId)))) throw fault('oauth_invalid_proof', USED)
  return proof.jkt
}

function onceOf({ jkt, jti, until }: Proof, apiId: string) {
  return { owner: `dpop:${jkt}`, id: jti, apiId, until }
}

/** Checks all of a proof but whether it is new; answers what is wrong in words. The signature comes last: it costs most. */
function readProof(proofs: readonly string[], expected: Expected, now: number): Proof | string {
  if (proofs.length !== 1) return 'there must be one DPoP field'
  const jwt = readJwt(proofs[0]!, PROOF_TYPES)
  if (typeof jwt === 'string') return jwt
  const { jti, htm, htu, iat, ath } = jwt.claims
  if (typeof jti !== 'string' || jti === '' || jti.length > ID_LIMIT)
    return 'the jti of the proof is missing or malformed'
  if (htm !== expected.method) return 'the htm of the proof is not the method'
  if (typeof htu !== 'string' || !isOneOf(htu, expected.urls)) return 'the htu of the proof is not the address'
  if (typeof iat !== 'number') return 'the iat of the proof is missing or malformed'
  if (!(Math.abs(iat * 1000 - now) <= WINDOW_MS)) return 'the proof is too old or from the future'
  if (flawOfTimes(jwt.claims, now / 1000, WINDOW_MS / 1000) !== undefined)
    return 'the exp or nbf of the proof refuses it'
  if (expected.token !== '' && !isHashOf(ath, expected.token)) return 'the ath of the proof is not that of the token'
  const holder = readPublicJwk(jwt.header.jwk)
  if (holder === undefined) return 'the jwk of the proof is not a public key that we take'
  if (!verifyJwt(jwt, holder.key)) return 'the signature of the proof is wrong'
  return { jkt: holder.thumbprint, jti, until: Math.ceil(iat * 1000) + WINDOW_MS }
}

const PROOF_TYPES = ['dpop+jwt']

function isOneOf(htu: string, urls: readonly string[]): boolean {
  const given = comparableUrl(htu)
  return given !== undefined && urls.some((url) => given === url || given === comparableUrl(url))
}

function isHashOf(ath: unknown, token: string): boolean {
  return typeof ath === 'string' && equalSecrets(ath, hash('sha256', token, 'base64url'))
}

/** Module state: a cache of immutable values: refusals by their text, as many as there are in the code. */
const refusals = new Map<string, Fault>()

/** One fault for each flaw, made when it is first met: their texts are ours, so there are few. */
function refusal(flaw: string): Fault {
  const known = refusals.get(flaw)
  if (known !== undefined) return known
  const made = prebuilt('token_proof_invalid', flaw)
  refusals.set(flaw, made)
  return made
}

/**
 * An address as RFC 9449 section 4.3 compares it: without query and fragment, scheme and host in lower case, no default port,
 * dot segments resolved (RFC 3986 sections 6.2.2 and 6.2.3), unreserved characters not encoded, the digits of other encodings in
 * upper case. undefined when it is no absolute http or https address.
 */
function comparableUrl(text: string): string | undefined {
  if (!ABSOLUTE_URL.test(text) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') return undefined
  return `${url.protocol}//${url.host}${decodeUnreserved(escapeBare(url.pathname))}`
}

/** Clients sign what their URLs leave bare; the gateway knows it as escapes. */
function escapeBare(path: string): string {
  return path.replace(/[[\]{}|^`]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
}

function decodeUnreserved(path: string): string {
  if (!path.includes('%')) return path
  return path.replace(PERCENT, (triplet) => {
    const character = String.fromCharCode(Number.parseInt(triplet.slice(1), 16))
    return UNRESERVED.test(character) ? character : triplet.toUpperCase()
  })
}
