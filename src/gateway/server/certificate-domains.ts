import type { Api } from '../../model/apis/definition/api.ts'

/** The parts of an API that decide whether its clients are asked for a certificate. */
export type CertificateAskingApi = Pick<
  Api,
  'orgId' | 'domain' | 'internal' | 'auth' | 'oauth' | 'clientCertificates' | 'cors'
>

const TAKES_TOKENS: ReadonlySet<string> = new Set(['token', 'oauth'])
/** Tokens of other issuers. */
const OF_OTHERS: ReadonlySet<string> = new Set(['jwt', 'external'])

/** Where handshakes ask for a client certificate. It is never required there: steps of the APIs decide. */
export interface AskedDomains {
  /** Custom domains, lower case. */
  readonly domains: ReadonlySet<string>
  /** True at names that are no custom domain. */
  readonly elsewhere: boolean
  /** True for clients that name no server (SNI): their request may be for any API. */
  readonly nameless: boolean
}

/**
 * Decides where to ask from all that judges a certificate: allow lists, certificates as keys, OAuth with bound tokens, keys' APIs of an
 * organisation that issues such tokens, and tokens of other issuers, which may be bound by them. The latter two not at APIs with CORS:
 * these are called by browsers, which may ask people for a certificate, and whose tokens are not bound to one. An API without a custom
 * domain, and an internal one, asks at all domains of its organisation too: it answers there.
 */
export function askedDomains(apis: Iterable<CertificateAskingApi>): AskedDomains {
  const all = [...apis]
  const issuing = new Set(all.filter(bindsTokens).map(({ orgId }) => orgId))
  const asking = all.filter((api) => asks(api, issuing))
  const inner = orgsOf(asking.filter(({ internal }) => internal))
  const everywhere = orgsOf(asking.filter(({ internal, domain }) => internal || domain === ''))
  const outer = all.filter(({ internal }) => !internal)
  const named = outer.filter((api) => asks(api, issuing) || (api.domain === '' ? inner : everywhere).has(api.orgId))
  return {
    domains: new Set(named.map(({ domain }) => domain).filter((domain) => domain !== '')),
    elsewhere: named.some(({ domain }) => domain === ''),
    nameless: named.length > 0,
  }
}

function orgsOf(apis: readonly CertificateAskingApi[]): ReadonlySet<string> {
  return new Set(apis.map(({ orgId }) => orgId))
}

function bindsTokens({ oauth }: CertificateAskingApi): boolean {
  return (oauth?.mutualTls ?? 'off') !== 'off'
}

function asks(api: CertificateAskingApi, issuing: ReadonlySet<string>): boolean {
  const { auth, clientCertificates, orgId } = api
  if (clientCertificates !== undefined || bindsTokens(api)) return true
  const schemes = auth === undefined ? [] : (auth.alternatives?.flat() ?? [auth])
  if (schemes.some(({ certificate }) => certificate === true)) return true
  if (api.cors !== undefined) return false
  return schemes.some(({ method }) => OF_OTHERS.has(method) || (TAKES_TOKENS.has(method) && issuing.has(orgId)))
}
