import { type Fault, prebuilt } from '../../../errors/fault.ts'
import type { JsonObject } from '../../../model/json/json.ts'
import { type CompactJwt, readCompact } from '../../../oauth/signing-keys/jwt.ts'
import { challenged } from '../../oauth/challenge.ts'
import type { Exchange } from '../../server/exchange.ts'

/** Longest token, in characters: as long as the head of a request allows. */
export const TOKEN_LIMIT = 16_384
/** Kinds of tokens that speak for a caller (RFC 8725 section 3.11, RFC 9068): proofs and notices of logout do not. */
const TYPES = ['', 'jwt', 'at+jwt']

/** A token taken apart; its signature is not verified. */
export interface ReadJwt extends CompactJwt {
  readonly alg: string
  /** '' = none. */
  readonly kid: string
}

/** Takes a JSON Web Token apart. Answers in words why it is none that can be verified. */
export function readSignedJwt(text: string): ReadJwt | string {
  const jwt = readCompact(text, TOKEN_LIMIT, TYPES)
  if (typeof jwt === 'string') return jwt
  const { alg, kid = '' } = jwt.header
  if (typeof alg !== 'string' || typeof kid !== 'string') return 'the header of the token is malformed'
  return { ...jwt, alg, kid }
}

/** The values of a token for variables: its claims, and the members of its header that no claim hides. */
export function claimsAndHeader({ header, claims }: ReadJwt): JsonObject {
  return { ...header, ...claims }
}

/** Module state: a cache of immutable values: refusals by their reason, as many as there are sentences in the code. */
const refusals = new Map<string, Fault>()

/** Refuses a token, with the challenge of bearer tokens; the reason goes to the log. */
export function refusedJwt(x: Exchange, reason: string): Fault {
  let fault = refusals.get(reason)
  if (fault === undefined) {
    fault = prebuilt('token_unknown', reason)
    refusals.set(reason, fault)
  }
  return challenged(x, fault, 'bearer', 'off')
}
