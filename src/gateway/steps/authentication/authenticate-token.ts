import { type Fault, prebuilt } from '../../../errors/fault.ts'
import type { SchemeRules } from '../../../model/authentication/scheme.ts'
import type { OAuthApi } from '../../../oauth/endpoints/parts.ts'
import { isBound } from '../../../oauth/proofs/confirmation.ts'
import type { AuthParts } from '../../authentication/auth-parts.ts'
import { challenged, type SchemeWord } from '../../oauth/challenge.ts'
import { admitBound, type BoundToken, requiresBinding } from '../../oauth/check-binding.ts'
import type { Exchange, Step, StepOutcome } from '../../server/exchange.ts'
import type { LiveSession } from '../../sessions/sessions.ts'
import { type PresentedToken, readToken } from './read-token.ts'

const MISSING = prebuilt('token_missing')
const MALFORMED = prebuilt('token_malformed')
const REPEATED = prebuilt('credential_repeated')
const UNKNOWN = prebuilt('token_unknown')
const CLIENT_GONE = prebuilt('token_client_gone')
const EXPIRED = prebuilt('token_expired')
const NO_RIGHTS = prebuilt('api_not_in_rights')

/**
 * Finds the access token of the request and the session behind it (OAuth method): a token of a client that is registered at this
 * API and has not revoked it since, not expired, and used by its holder. A key is not a token.
 * Waits for the store only when the token is not in memory, or for a proof to be used up.
 */
export function authenticateToken(auth: SchemeRules, api: OAuthApi, { sessions, bindings }: AuthParts): Step {
  const { dpop } = api.oauth
  const bindsAll = requiresBinding(api)
  const refuse = (x: Exchange, refusal: Fault, word: SchemeWord) => challenged(x, refusal, word, dpop)

  const accept = (
    x: Exchange,
    session: LiveSession | undefined,
    presented: PresentedToken,
  ): StepOutcome | Promise<StepOutcome> => {
    const refusal = flawOf(x, session, api)
    if (refusal === NO_RIGHTS) return refusal
    if (refusal !== undefined) return refuse(x, refusal, presented.word)
    const own = session!.token!
    const { audience, confirmation } = own
    if (audience !== undefined || bindsAll || isBound(confirmation) || presented.word === 'dpop')
      return prove(x, session!, { own, confirmation, ...presented })
    x.session = session
    return undefined
  }

  const prove = (x: Exchange, session: LiveSession, token: BoundToken): StepOutcome | Promise<StepOutcome> => {
    const admit = () => {
      x.session = session
      return undefined
    }
    return admitBound(bindings, x, api, token, { dpop, admit })
  }

  return function authenticateToken(x) {
    if (x.skipAuthentication) return undefined
    const presented = readToken(auth, x)
    if (presented === 'missing') return refuse(x, MISSING, '')
    if (presented === 'malformed') return refuse(x, MALFORMED, '')
    if (presented === 'repeated') return refuse(x, REPEATED, '')
    const session = sessions.find(presented.text, x.snapshot!, x.wall)
    return session instanceof Promise
      ? session.then((late) => accept(x, late, presented))
      : accept(x, session, presented)
  }
}

/** Why a session is no token that may be used at this API now; undefined when it is. */
function flawOf(x: Exchange, session: LiveSession | undefined, api: OAuthApi): Fault | undefined {
  if (session === undefined || !session.belongsTo(api.orgId)) return UNKNOWN
  if (session.evictAt !== 0 && session.evictAt <= x.wall) return UNKNOWN
  const { token } = session
  if (token?.client === undefined) return CLIENT_GONE
  if (session.expiresAt !== 0 && session.expiresAt <= x.wall) return EXPIRED
  // A client that hears 401 gets another token, which would have no more access (RFC 6750 section 3.1).
  if (session.unusable) return NO_RIGHTS
  if (session.isRegisteredAt(api, x.snapshot!)) return undefined
  return token.client.registered_by_policy !== '' && token.issuer.apiId === api.apiId ? NO_RIGHTS : CLIENT_GONE
}
