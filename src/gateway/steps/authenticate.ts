import { prebuilt } from '../../errors/fault.ts'
import type { Api, AuthRules } from '../../model/api.ts'
import type { SchemeRules } from '../../model/scheme-rules.ts'
import { isBound, UNBOUND } from '../../oauth/confirmation.ts'
import { FIELD, isOneName, numberOfName } from '../../wire/fields.ts'
import type { Exchange, Outcome, Step } from '../exchange.ts'
import { admitBound, type BindingParts, type BoundToken, requiresBinding } from '../oauth/check-binding.ts'
import type { LiveSession, Sessions } from '../sessions.ts'
import { readCredential, withoutCookies, withoutQuery } from './read-credential.ts'
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
export function authenticate(auth: SchemeRules, api: Api, sessions: Sessions, parts: BindingParts): Step {
  const { orgId } = api
  const bindsAll = requiresBinding(api)
  const accept = (x: Exchange, session: LiveSession | undefined, sent: string): Outcome | Promise<Outcome> => {
    if (session === undefined || session.unusable || !session.belongsTo(orgId)) return UNKNOWN
    if (session.evictAt !== 0 && session.evictAt <= x.wall) return UNKNOWN
    const { token } = session
    const word = schemeOf(sent)
    const confirmation = token?.confirmation ?? UNBOUND
    if (word === 'dpop' || isBound(confirmation) || (token !== undefined && bindsAll))
      return prove(x, session, { confirmation, text: credentialOf(sent), word })
    x.session = session
    return undefined
  }
  const prove = (x: Exchange, session: LiveSession, token: BoundToken): Outcome | Promise<Outcome> => {
    const admit = () => {
      x.session = session
      return undefined
    }
    return admitBound(parts, x, api, token, { dpop: 'off', admit })
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

/**
 * Takes the credential out of what is handed on, from every place that any scheme of the API names: also where none is asked for, since
 * clients send it with every request. What `Authorization` holds of another scheme there is meant for the upstream.
 */
export function stripCredential(auth: AuthRules): Step | undefined {
  if (!auth.strip) return undefined
  const known = auth.stripHeaders.filter(isOneSpelling).map(numberOfName)
  const others = auth.stripHeaders.filter((name) => !isOneSpelling(name))
  const ownWords = authorizationWords(auth)
  return function stripCredential(x) {
    for (const number of known) {
      const isOthers = x.skipAuthentication && number === FIELD.authorization && !ownWords.has(wordBefore(x))
      if (!isOthers) x.request.dropKnown(number)
    }
    for (const name of others) x.request.dropSpellings(name)
    for (const name of auth.stripQueries) x.forwardQuery = withoutQuery(x.forwardQuery, name)
    if (auth.stripCookies.length > 0 && x.request.keeps(FIELD.cookie)) {
      const kept = withoutCookies(x.request.all('cookie').join('; '), auth.stripCookies)
      x.request.drop('cookie')
      if (kept !== '') x.requestExtra += `Cookie: ${kept}\r\n`
    }
    return undefined
  }
}

function isOneSpelling(name: string): boolean {
  return isOneName(numberOfName(name)) && !name.includes('-')
}

/** The words that credentials of the API's methods begin with in `Authorization`, in lower case; '' = none. */
function authorizationWords(auth: AuthRules): ReadonlySet<string> {
  const words = (auth.alternatives?.flat() ?? [auth]).map(({ method }) => {
    if (method === 'basic') return ['basic']
    return method === 'hmac' ? ['signature'] : ['bearer', 'dpop', '']
  })
  return new Set(words.flat())
}

function wordBefore(x: Exchange): string {
  const value = x.request.known(FIELD.authorization) ?? ''
  return value.slice(0, Math.max(0, value.indexOf(' '))).toLowerCase()
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
