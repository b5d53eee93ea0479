import type { Answer } from '../base/client.ts'
import type { Side } from './sides.ts'

/** A request that must be refused, or change nothing. */
export interface Case {
  readonly what: string
  /**
   * Our answer: status, `error`, `active`, scheme of `WWW-Authenticate`, where a browser is sent, and `cacheable` where `Cache-Control`
   * does not forbid storing it.
   */
  readonly ours: string
  readonly run: (side: Side) => Promise<Answer>
  /** The peer's answer, where it differs. */
  readonly peer?: string
  /** Why we do not answer the same. */
  readonly why?: string
}

// Why we do not answer as the peer does.
export const NOT_FOUND =
  'RFC 9110 section 15.5.6: the resource is there, the method is not allowed; the peer has no route'
export const CLIENT_MISSING = 'RFC 6749 section 5.2: "no client authentication included" is invalid_client'
export const CLIENT_FAILED =
  'RFC 6749 section 5.2: a scheme that is not supported and a secret that is not there are invalid_client'
export const CHALLENGED =
  'RFC 9110 section 15.5.2: every 401 carries a challenge; the peer answers only the scheme that was tried'
export const ASSERTION = 'RFC 7521 section 4.2.1: an assertion that is not valid is invalid_client'
export const NOT_ALLOWED = 'RFC 6749 section 5.2: a grant that the client may not use is unauthorized_client'
export const AS_IT_STANDS =
  'RFC 6749 section 2.3.1: many clients do not encode the secret, so it is taken as it stands too'
export const ANY_TEXT = 'RFC 7617 section 2.1: Basic carries any text; it is just not the secret'
export const REPEATED =
  'RFC 6749 section 2.3: what repeats the same credentials is no second method; other ones fail (5.2)'
export const ENCODED = 'RFC 6749 appendix B: a form that cannot be decoded is malformed; the peer guesses'
export const UTF8_ONLY = 'RFC 6749 appendix B: parameters are UTF-8; the peer reads others as UTF-8'
export const JSON_TOO = 'RFC 6749 section 3.2 has forms; clients of older gateways send JSON, so it is read too'
export const ONCE = 'RFC 6749 section 3.2: parameters must not be included more than once, unknown ones too'
export const SCOPE_REFUSED =
  'RFC 6749 section 3.3: a server may ignore or refuse an unknown scope; less than asked for is a surprise'
export const REDIRECT_BOUND = 'RFC 6749 section 4.1.3: required when the authorization request had it'
export const VERIFIER_FAILS = 'RFC 7636 section 4.6: a verifier that does not fit is invalid_grant, whatever its length'
export const NO_STORE = 'RFC 6749 section 5.1: we forbid to keep any answer that had credentials in its request'
export const FOREIGN_TOKEN =
  'RFC 7009 section 2.1: a token that was not issued to the client is refused, and the client informed of the error'
export const PROOF_INVALID = 'RFC 9449 section 5: a proof that is not valid is invalid_dpop_proof'
export const PAR_URI = 'RFC 9126 section 2.1: request_uri must not be there; section 2.3 has invalid_request for that'
export const REDIRECT_NAME = 'RFC 6749 section 4.1.2.1 has no name for it that is not registered for another endpoint'
export const NO_REDIRECT =
  'RFC 9700 section 4.11.2: a browser is sent nowhere before the request names one client and one address'
export const FRAGMENT = 'RFC 9700 section 2.1.2: nothing of the implicit grant is served, fragments neither'
export const MODE = 'RFC 6749 section 4.1.2.1: a parameter with a value that is not valid is invalid_request'
