import type { Api, AuthRules } from '../../../model/apis/definition/api.ts'
import type { CredentialPlace, SchemeRules } from '../../../model/authentication/scheme.ts'
import { SCHEMES, schemeOfRules } from '../../../model/authentication/schemes.ts'
import { FIELD, numberOfName } from '../../../wire/http1/fields.ts'
import {
  alternativesOf,
  placesOf,
  schemeReader,
  strippedPlaces,
  unique,
  withoutPlaces,
} from '../../authentication/credential-places.ts'
import { foldField } from '../../authentication/name-readings.ts'
import { CORS_FIELDS } from '../../server/cors-fields.ts'
import { type Exchange, type KnownCredentials, NO_CREDENTIALS, type Step } from '../../server/exchange.ts'
import { withoutCookie, withoutQuery } from './read-credential.ts'

/** The handling of a request's credentials: of fields with one spelling that the wire knows, `known` has the numbers. */
interface Verdict {
  readonly seen: KnownCredentials
  readonly known: readonly number[]
  readonly others: readonly CredentialPlace[]
}

function verdictOf(verified: readonly CredentialPlace[] | undefined, withheld: readonly CredentialPlace[]): Verdict {
  const known = withheld.filter(isKnownField)
  const forwarded = (verified ?? []).filter(({ name }) => !PROOFS.has(name))
  return {
    seen: { verified, withheld, forwarded },
    known: known.map(({ name }) => numberOfName(name)),
    others: withheld.filter((each) => !known.includes(each)),
  }
}

/** Fields that differ from request to request of one caller, whom the credential beside them tells. */
const PROOFS: ReadonlySet<string> = new Set(
  SCHEMES.flatMap(({ extraFields, ownFields = [] }) => [...extraFields, ...ownFields]),
)

function isKnownField({ in: kind, name }: CredentialPlace): boolean {
  return kind === 'header' && !name.includes('-') && numberOfName(name) !== FIELD.other
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
  return sharedStep('', auth, all, () => stepFor(auth, all))
}

function sharedStep(
  kind: string,
  auth: AuthRules | undefined,
  all: readonly CredentialPlace[],
  make: () => Step,
): Step {
  const schemes = auth && alternativesOf(auth).map((alternative) => alternative.map(shapeOf))
  const shape = JSON.stringify([kind, all, auth && strippedPlaces(auth), schemes])
  const known = STEPS.get(shape)
  if (known !== undefined) return known
  if (STEPS.size >= MOST_STEPS) STEPS.clear()
  const step = make()
  STEPS.set(shape, step)
  return step
}

/** Module state: a cache of immutable values: steps by what they are made from. APIs that look alike share one, which the CPU's caches then hold. */
const STEPS = new Map<string, Step>()
const MOST_STEPS = 1000

/** The scheme as a step uses it. */
const shapeOf = ({ method, header, query, cookie, certificate }: SchemeRules) => [
  ...[method, header ?? null, query ?? null, cookie ?? null],
  certificate === true,
]

function stepFor(auth: AuthRules | undefined, all: readonly CredentialPlace[]): Step {
  if (auth === undefined) {
    const verdict = verdictOf(undefined, all)
    return function dropUnverified(x) {
      take(x, verdict)
      return undefined
    }
  }
  const stripped = strippedPlaces(auth)
  const alternatives = alternativesOf(auth).map((schemes) => verdictsOf(schemes, all, stripped))
  const places = unique([...stripped, ...all])
  const unchecked = verdictOf(undefined, places)
  const withoutAuthorization = verdictOf(
    undefined,
    places.filter(({ key }) => key !== AUTHORIZATION),
  )
  const isForOthers = othersWords(auth)
  const asSent: Verdict = { seen: { ...NO_CREDENTIALS, forwarded: all }, known: [], others: [] }
  return function dropUnverified(x) {
    if (!x.skipAuthentication) take(x, alternatives[x.alternative]!(x))
    // No browser sends any with a preflight: nothing that another client sends with one was verified.
    else if (x.corsFields === CORS_FIELDS.both) take(x, unchecked)
    else if (stripped.length === 0) take(x, asSent)
    else take(x, isForOthers(x) ? withoutAuthorization : unchecked)
    return undefined
  }
}

/** The same where a request of another API is led on to an internal one, which asks for no credential: verified is what that API has verified. */
export function dropUnverifiedInside(api: Api): Step | undefined {
  const all = placesOf(api)
  if (all.length === 0) return undefined
  return sharedStep('inside', api.auth, all, () => stepInside(api.auth, all))
}

function stepInside(auth: AuthRules | undefined, all: readonly CredentialPlace[]): Step {
  const stripped = auth === undefined ? [] : strippedPlaces(auth)
  const isForOthers = auth === undefined ? () => false : othersWords(auth)
  return function dropUnverified(x) {
    const { verified } = x.credentials
    const withheld = unique([...stripped, ...withoutPlaces(all, verified ?? [])])
    const others = verified === undefined && isForOthers(x)
    take(x, verdictOf(verified, others ? withheld.filter(({ key }) => key !== AUTHORIZATION) : withheld))
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
    return verdictOf(verified, unique([...stripped, ...withoutPlaces(all, verified)]))
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
  const schemes = alternativesOf(auth).flat().map(schemeOfRules)
  const own = new Set(['', 'bearer', 'dpop', ...schemes.flatMap(({ word }) => word ?? [])])
  const takesAny = schemes.some(({ takesAnyWord }) => takesAnyWord)
  return ({ request }) => {
    const value = request.known(FIELD.authorization) ?? ''
    const word = value.slice(0, Math.max(0, value.indexOf(' '))).toLowerCase()
    return !own.has(word) && (!takesAny || NO_KEYS.has(word))
  }
}

function take(x: Exchange, { seen, known, others }: Verdict): void {
  x.credentials = x.credentials === NO_CREDENTIALS ? seen : joined(x.credentials, seen)
  for (let i = 0; i < known.length; i++) x.request.dropKnown(known[i]!)
  for (let i = 0; i < others.length; i++) drop(x, others[i]!)
}

/** The verified credentials of a request at the API that another one redirected it to. */
function joined(before: KnownCredentials, seen: KnownCredentials): KnownCredentials {
  return {
    verified: seen.verified,
    withheld: [...before.withheld, ...seen.withheld],
    forwarded: unique([...before.forwarded, ...seen.forwarded]),
  }
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

/** Adds a cookie (`name=value`) to those that are handed on. */
export function addCookie(x: Exchange, cookie: string): void {
  const { request } = x
  const before = request.keeps(FIELD.cookie) ? request.all('cookie').join('; ') : OWN_COOKIES.exec(x.requestExtra)?.[1]
  request.drop('cookie')
  x.requestExtra = x.requestExtra.replace(OWN_COOKIES, '')
  x.requestExtra += `Cookie: ${before === undefined ? '' : `${before}; `}${cookie}\r\n`
}

/**
 * Values of a header (lower case) of a request, without credentials that are not forwarded. Rules that build a part of a forwarded
 * request from a header read it here.
 */
export function openValues(x: Exchange, name: string): readonly string[] {
  const values = x.request.all(name)
  const { withheld } = x.credentials
  if (values.length === 0 || withheld.length === 0) return values
  if (name === 'cookie') {
    let cookies = values.join('; ')
    for (const each of withheld)
      if (each.in === 'cookie' || each.in === 'cookies')
        cookies = withoutCookie(cookies, each.name, each.in === 'cookies')
    return cookies === '' ? [] : [cookies]
  }
  const key = `header ${foldField(name)}`
  const isWithheld = withheld.some((each) =>
    each.in === 'headers' ? key.startsWith(`header ${foldField(each.name)}`) : each.key === key,
  )
  return isWithheld ? [] : values
}

/** The values at these places that are forwarded to the upstream, except the query and `Authorization`; '' = none. */
export function forwardedCredentials(x: Exchange): string {
  let text = ''
  for (const { in: kind, name } of x.credentials.forwarded) {
    if (kind === 'query' || name === 'authorization') continue
    const values = kind === 'headers' ? valuesBelow(x, name) : openValues(x, kind === 'header' ? name : 'cookie')
    if (values.length > 0) text += `${kind} ${name} ${JSON.stringify(values)}\n`
  }
  return text
}

function valuesBelow({ request }: Exchange, prefix: string): readonly string[] {
  return request.entries().flatMap(([name, value]) => (name.toLowerCase().startsWith(prefix) ? [value] : []))
}
