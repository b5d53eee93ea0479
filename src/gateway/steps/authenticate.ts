import { prebuilt } from '../../errors/fault.ts'
import type { AuthRules } from '../../model/api.ts'
import type { Exchange, Outcome, Step } from '../exchange.ts'
import type { LiveSession, Sessions } from '../sessions.ts'
import { readCredential, withoutBearer, withoutCookies, withoutQuery } from './read-credential.ts'

const MISSING = prebuilt('credential_missing')
const UNKNOWN = prebuilt('key_unknown')
const INACTIVE = prebuilt('key_inactive')
const EXPIRED = prebuilt('key_expired')

/** Finds the session behind the request's key (auth-token method). Waits for the store only when the key is not in memory. */
export function authenticate(auth: AuthRules, orgId: string, sessions: Sessions): Step {
  const accept = (x: Exchange, session: LiveSession | undefined): Outcome => {
    if (session === undefined || session.unusable || !session.belongsTo(orgId)) return UNKNOWN
    if (session.evictAt !== 0 && session.evictAt <= x.wall) return UNKNOWN
    x.session = session
    return undefined
  }
  return function authenticate(x) {
    if (x.skipAuthentication) return undefined
    const credential = withoutBearer(readCredential(auth, x))
    if (credential === '') return MISSING
    const session = sessions.find(credential, x.snapshot!)
    return session instanceof Promise ? session.then((late) => accept(x, late)) : accept(x, session)
  }
}

/** Takes the credential out of what is handed on, from every place that any scheme of the API names. */
export function stripCredential(auth: AuthRules): Step | undefined {
  if (!auth.strip) return undefined
  return function stripCredential(x) {
    // A path that is let in without authentication may carry credentials that are meant for the upstream.
    if (x.skipAuthentication) return undefined
    for (const name of auth.stripHeaders) x.request.drop(name)
    for (const name of auth.stripQueries) x.forwardQuery = withoutQuery(x.forwardQuery, name)
    if (auth.stripCookies.length > 0) {
      const kept = withoutCookies(x.request.all('cookie').join('; '), auth.stripCookies)
      x.request.drop('cookie')
      if (kept !== '') x.requestExtra += `Cookie: ${kept}\r\n`
    }
    return undefined
  }
}

/** Refuses a key that was switched off, then one whose life is over. */
export function checkState(): Step {
  return function checkState(x) {
    const session = x.session
    if (session === undefined) return undefined
    if (session.inactive) return INACTIVE
    return session.expiresAt !== 0 && session.expiresAt <= x.wall ? EXPIRED : undefined
  }
}
