import type { Api, AuthRules } from '../../model/api.ts'
import type { CredentialPlace, SchemeRules } from '../../model/scheme-rules.ts'
import { FIELD } from '../../wire/fields.ts'
import {
  alternativesOf,
  placesOf,
  schemeReader,
  strippedPlaces,
  unique,
  withoutPlaces,
} from '../auth/credential-places.ts'
import type { Exchange, Step } from '../exchange.ts'
import { withoutCookie, withoutQuery } from './read-credential.ts'

/** What of a request was verified, and what of it does not go on. */
interface Verdict {
  readonly verified: readonly CredentialPlace[]
  readonly withheld: readonly CredentialPlace[]
}

/**
 * Withholds from the upstream what a request has in the places of the API's methods and was not verified, and, where the API strips
 * credentials, what was. An upstream trusts what comes through the gateway. Where `ignoreAuthentication` opens an operation, the gateway
 * vouches for nobody and the upstream may check credentials itself: only what is to be stripped is withheld.
 */
export function dropUnverified(api: Api): Step | undefined {
  const { auth } = api
  const all = placesOf(api)
  if (all.length === 0) return undefined
  if (auth === undefined)
    return function dropUnverified(x) {
      withhold(x, all)
      return undefined
    }
  const stripped = strippedPlaces(auth)
  const alternatives = alternativesOf(auth).map((schemes) => verdictsOf(schemes, all, stripped))
  const unchecked = unique([...stripped, ...all])
  const withoutAuthorization = unchecked.filter(({ key }) => key !== AUTHORIZATION)
  const isForOthers = othersWords(auth)
  return function dropUnverified(x) {
    if (x.skipAuthentication) {
      x.verified = undefined
      if (stripped.length > 0) withhold(x, isForOthers(x) ? withoutAuthorization : unchecked)
      return undefined
    }
    const { verified, withheld } = alternatives[x.alternative]!(x)
    x.verified = verified
    if (withheld.length > 0) withhold(x, withheld)
    return undefined
  }
}

/** The same where a request of another API is led on to an internal one, which asks for no credential: verified is what that API has verified. */
export function dropUnverifiedInside(api: Api): Step | undefined {
  const all = placesOf(api)
  if (all.length === 0) return undefined
  const stripped = api.auth === undefined ? [] : strippedPlaces(api.auth)
  const isForOthers = api.auth === undefined ? () => false : othersWords(api.auth)
  return function dropUnverified(x) {
    const withheld = unique([...stripped, ...withoutPlaces(all, x.verified ?? [])])
    const others = x.verified === undefined && isForOthers(x)
    withhold(x, others ? withheld.filter(({ key }) => key !== AUTHORIZATION) : withheld)
    return undefined
  }
}

/** Verdicts on requests that met all of these schemes, by the credentials that they met them with; each made once. */
function verdictsOf(
  schemes: readonly SchemeRules[],
  all: readonly CredentialPlace[],
  stripped: readonly CredentialPlace[],
): (x: Exchange) => Verdict {
  const readers = schemes.map(schemeReader)
  const made = (chosen: readonly number[]): Verdict => {
    const verified = unique(readers.flatMap(({ choices }, i) => choices[chosen[i]!]!))
    return { verified, withheld: unique([...stripped, ...withoutPlaces(all, verified)]) }
  }
  if (readers.every(({ choices }) => choices.length === 1)) {
    const only = made(readers.map(() => 0))
    return () => only
  }
  const verdicts: Verdict[] = []
  return (x) => {
    let index = 0
    for (const { choices, chosen } of readers) index = index * choices.length + chosen(x)
    const verdict = verdicts[index] ?? made(readers.map(({ chosen }) => chosen(x)))
    verdicts[index] = verdict
    return verdict
  }
}

const AUTHORIZATION = 'header authorization'

/** Schemes of `Authorization` that no key begins with. */
const NO_KEYS: ReadonlySet<string> = new Set(['basic', 'digest', 'negotiate', 'ntlm', 'aws4-hmac-sha256'])

/**
 * Says whether `Authorization` holds a credential of a scheme that no method of the API reads. Where the API asks for none itself, that is
 * meant for the upstream, which then checks it.
 */
function othersWords(auth: AuthRules): (x: Exchange) => boolean {
  const methods = new Set(alternativesOf(auth).flatMap((schemes) => schemes.map(({ method }) => method)))
  const own = new Set(['', 'bearer', 'dpop'])
  if (methods.has('basic')) own.add('basic')
  if (methods.has('hmac')) own.add('signature')
  return ({ request }) => {
    const value = request.known(FIELD.authorization) ?? ''
    const word = value.slice(0, Math.max(0, value.indexOf(' '))).toLowerCase()
    return !own.has(word) && (!methods.has('token') || NO_KEYS.has(word))
  }
}

function withhold(x: Exchange, places: readonly CredentialPlace[]): void {
  x.withheld = x.withheld.length === 0 ? places : [...x.withheld, ...places]
  for (const each of places) drop(x, each)
}

function drop(x: Exchange, { in: kind, name }: CredentialPlace): void {
  if (kind === 'query') x.forwardQuery = withoutQuery(x.forwardQuery, name)
  else if (kind === 'header') x.request.drop(name)
  else if (kind === 'headers') x.request.dropPrefixed(name)
  else dropCookie(x, name, kind === 'cookies')
}

/** Cookies that are left of those of the client, where some were taken out before, are a line of `requestExtra`. */
const OWN_COOKIES = /^Cookie: ([^\r\n]*)\r\n/m

function dropCookie(x: Exchange, name: string, prefixed: boolean): void {
  const { request } = x
  const isWhole = request.keeps(FIELD.cookie)
  const before = isWhole ? request.all('cookie').join('; ') : OWN_COOKIES.exec(x.requestExtra)?.[1]
  if (before === undefined) return
  const kept = withoutCookie(before, name, prefixed)
  if (kept === before) return
  request.drop('cookie')
  x.requestExtra = x.requestExtra.replace(OWN_COOKIES, '')
  if (kept !== '') x.requestExtra += `Cookie: ${kept}\r\n`
}

/**
 * Values of a header (lower case) of a request, without those of credentials that its upstream does not get. Rules that make a part of what
 * goes on from a header read it here.
 */
export function openValues(x: Exchange, name: string): readonly string[] {
  const values = x.request.all(name)
  if (values.length === 0 || x.withheld.length === 0) return values
  if (name === 'cookie') {
    let cookies = values.join('; ')
    for (const each of x.withheld)
      if (each.in === 'cookie' || each.in === 'cookies')
        cookies = withoutCookie(cookies, each.name, each.in === 'cookies')
    return cookies === '' ? [] : [cookies]
  }
  const key = `header ${name.replaceAll('_', '-')}`
  const isWithheld = x.withheld.some((each) =>
    each.in === 'headers' ? key.startsWith(`header ${each.name}`) : each.key === key,
  )
  return isWithheld ? [] : values
}
