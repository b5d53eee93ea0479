import type { Api, AuthRules } from '../../model/apis/definition/api.ts'
import type { CredentialPlace, SchemeRules } from '../../model/authentication/scheme.ts'
import { schemeOfRules } from '../../model/authentication/schemes.ts'
import type { Exchange } from '../server/exchange.ts'
import { headerValue, readBare, singleParameter } from '../steps/authentication/read-credential.ts'
import { foldField, foldName } from './name-readings.ts'

/** How the fields begin in which proxies hand on a client certificate: RFC 9440, Envoy, Traefik, nginx and Apache, AWS, Azure. */
export const CERTIFICATE_FIELDS = [
  'client-cert',
  'x-client-cert',
  'x-forwarded-client-cert',
  'x-forwarded-tls-client-cert',
  'ssl-client-',
  'x-ssl-client-',
  'x-amzn-mtls-clientcert',
  'x-arr-clientcert',
]

/** Which credential of a scheme a request was identified by. */
export interface SchemeReader {
  /** For each credential that the scheme takes, its place and what belongs to it. */
  readonly choices: readonly (readonly CredentialPlace[])[]
  /** Index of the choice that a request has, once the scheme is met. */
  chosen(x: Exchange): number
}

/** Schemes by alternative: one of these must be met in full. */
export function alternativesOf(auth: AuthRules): readonly (readonly SchemeRules[])[] {
  return auth.alternatives ?? [[auth]]
}

/** Reads again from which of its places the valid credential of a scheme came: only one of them can hold any. */
export function schemeReader(scheme: SchemeRules): SchemeReader {
  const { header: name, query, cookie } = scheme
  const { extraFields, ownFields } = schemeOfRules(scheme)
  const extra = extraFields.map(header)
  const choices: (readonly CredentialPlace[])[] = []
  if (name !== undefined) choices.push([header(name), ...extra])
  const inQuery = query === undefined ? -1 : choices.push([place('query', query), ...extra]) - 1
  const inCookie = cookie === undefined ? -1 : choices.push([place('cookie', cookie), ...extra]) - 1
  const otherwise = choices.length
  if (ownFields !== undefined) choices.push([...ownFields.map(header), ...extra])
  // A certificate is in no field.
  else if (scheme.certificate || otherwise === 0) choices.push([])
  if (choices.length === 1) return { choices, chosen: () => 0 }
  const withoutQuery = { ...scheme, query: undefined }
  return {
    choices,
    chosen(x) {
      if (name !== undefined && headerValue(scheme, x) !== '') return 0
      if (query !== undefined && x.hasQuery && singleParameter(x.query, query) !== '') return inQuery
      return cookie !== undefined && readBare(withoutQuery, x) !== '' ? inCookie : otherwise
    },
  }
}

/** Every place of an API's schemes, and the fields of client certificates where it asks for one; each once. */
export function placesOf(api: Api): readonly CredentialPlace[] {
  const schemes = api.auth === undefined ? [] : alternativesOf(api.auth).flat()
  const places = schemes.flatMap((scheme) => schemeReader(scheme).choices.flat())
  const asks = api.clientCertificates !== undefined || schemes.some(({ certificate }) => certificate === true)
  const byCertificate = asks || (api.oauth !== undefined && api.oauth.mutualTls !== 'off')
  return unique([...places, ...(byCertificate ? CERTIFICATE_FIELDS.map((name) => place('headers', name)) : [])])
}

/** The places from which an API that strips credentials removes them. */
export function strippedPlaces(auth: AuthRules): readonly CredentialPlace[] {
  if (!auth.strip) return []
  const own = alternativesOf(auth).flatMap((schemes) =>
    schemes.flatMap((scheme) => schemeOfRules(scheme).ownFields ?? []),
  )
  return unique([
    ...[...auth.stripHeaders, ...own].map(header),
    ...auth.stripQueries.map((name) => place('query', name)),
    ...auth.stripCookies.map((name) => place('cookies', name)),
  ])
}

/** Those of `places` that are not among `verified`, whatever their spelling. */
export function withoutPlaces(
  places: readonly CredentialPlace[],
  verified: readonly CredentialPlace[],
): readonly CredentialPlace[] {
  return places.filter(({ key }) => !verified.some((each) => each.key === key))
}

/** Each place once. */
export function unique(places: readonly CredentialPlace[]): readonly CredentialPlace[] {
  return [...new Map(places.map((each) => [each.key, each])).values()]
}

function place(kind: CredentialPlace['in'], name: string): CredentialPlace {
  const fold = kind.startsWith('header') ? foldField : foldName
  return { in: kind, name, key: `${kind} ${fold(name)}` }
}

function header(name: string): CredentialPlace {
  return place('header', name)
}
