import { prebuilt } from '../../../errors/fault.ts'
import type { Api } from '../../../model/apis/definition/api.ts'
import type { SchemeRules } from '../../../model/authentication/scheme.ts'
import { isBound, UNBOUND } from '../../../oauth/proofs/confirmation.ts'
import type { AuthParts } from '../../authentication/auth-parts.ts'
import type { AuthorityStore } from '../../authentication/authorities.ts'
import { admitBound, type BoundToken, requiresBinding } from '../../oauth/check-binding.ts'
import type { Exchange, Step, StepOutcome } from '../../server/exchange.ts'
import type { LiveSession } from '../../sessions/sessions.ts'
import { authenticateCertificate } from './authenticate-certificate.ts'
import { flawOfCertificate } from './check-certificate.ts'
import { readCredential } from './read-credential.ts'
import { credentialOf, schemeOf } from './read-token.ts'

const MISSING = prebuilt('credential_missing')
const REPEATED = prebuilt('credential_repeated')
const UNKNOWN = prebuilt('key_unknown')
const INACTIVE = prebuilt('key_inactive')
const EXPIRED = prebuilt('key_expired')

/**
 * Finds the session behind the request's key, or behind an access token of an API with the OAuth method (auth-token method). Waits
 * for the store only when it is not in memory, or for a proof that a token is bound to.
 */
export function authenticate(auth: SchemeRules, api: Api, parts: AuthParts): Step {
  const byKey = authenticateKey(auth, api, parts)
  return auth.certificate ? authenticateCertificate(auth, api, parts, byKey) : byKey
}

function authenticateKey(auth: SchemeRules, api: Api, { sessions, bindings }: AuthParts): Step {
  const { orgId } = api
  const bindsAll = requiresBinding(api)
  const accept = (x: Exchange, session: LiveSession | undefined, sent: string): StepOutcome | Promise<StepOutcome> => {
    if (session === undefined || session.unusable || !session.belongsTo(orgId)) return UNKNOWN
    if (session.evictAt !== 0 && session.evictAt <= x.wall) return UNKNOWN
    const { token } = session
    const word = schemeOf(sent)
    const confirmation = token?.confirmation ?? UNBOUND
    if (token?.audience !== undefined || word === 'dpop' || isBound(confirmation) || (token !== undefined && bindsAll))
      return prove(x, session, { own: token, confirmation, text: credentialOf(sent), word })
    x.session = session
    return undefined
  }
  const prove = (x: Exchange, session: LiveSession, token: BoundToken): StepOutcome | Promise<StepOutcome> => {
    const admit = () => {
      x.session = session
      return undefined
    }
    return admitBound(bindings, x, api, token, { dpop: 'off', admit })
  }
  return function authenticate(x) {
    if (x.skipAuthentication) return undefined
    const sent = readCredential(auth, x)
    if (sent === undefined) return REPEATED
    const credential = credentialOf(sent)
    if (credential === '') return MISSING
    const session = sessions.find(credential, x.snapshot!, x.wall)
    return session instanceof Promise ? session.then((late) => accept(x, late, sent)) : accept(x, session, sent)
  }
}

/** Refuses a key that was switched off, one whose life is over, then one that is bound to another certificate than that of the connection. */
export function checkState({ authorities, shared }: AuthParts): Step {
  return shared.get('checkState', () => checkStateWith(authorities))
}

function checkStateWith(authorities: AuthorityStore): Step {
  return function checkState(x) {
    const session = x.session
    if (session === undefined) return undefined
    if (session.inactive) return INACTIVE
    if (session.expiresAt !== 0 && session.expiresAt <= x.wall) return EXPIRED
    return session.certificates === undefined
      ? undefined
      : flawOfCertificate(x, session.certificates, x.chain!.api.orgId, authorities)
  }
}
