import type { Api } from '../apis/definition/api.ts'
import { toDocumentId } from '../documents/ids.ts'
import { isObject, type JsonObject } from '../json/json.ts'
import { trimTrailing } from '../text/trim-trailing.ts'
import { loadsHere } from './node.ts'

/** A gateway that callers reach, and the tags of the APIs that it loads: without any it loads every API. */
interface EdgeAddress {
  readonly endpoint: string
  readonly tags?: readonly string[] | undefined
}

/** Where callers reach the gateways of an installation. */
export interface Addresses {
  /** `gateway.public_url`; '' = not set. */
  readonly publicUrl: string
  /** `dashboard.edge_endpoints`, in their order. */
  readonly edges: readonly EdgeAddress[]
}

/** The settings that tell addresses. The whole configuration fits. */
export interface AddressSettings {
  readonly gateway: { readonly public_url?: string }
  readonly dashboard?: { readonly edge_endpoints?: readonly EdgeAddress[] }
}

type PlacedApi = Pick<Api, 'domain' | 'tags'>

/** The addresses that settings name. */
export function addressesIn({ gateway, dashboard }: AddressSettings): Addresses {
  return { publicUrl: gateway.public_url ?? '', edges: dashboard?.edge_endpoints ?? [] }
}

/**
 * The address under which clients reach an API, without a slash at the end: its own domain, else the first edge endpoint that
 * loads it by tag, else the public URL. A domain takes scheme and port from the other two. undefined = the settings do not tell it.
 */
export function addressOf(api: PlacedApi, addresses: Addresses): string | undefined {
  return addressesOf(api, addresses)[0]
}

/** As `addressOf`, at every edge endpoint that loads the API; the first is the one that its issuer names. */
export function addressesOf(api: PlacedApi, { publicUrl, edges }: Addresses): string[] {
  const serving = edges.filter(({ tags = [] }) => loadsHere(api, { segmented: tags.length > 0, tags }))
  const bases = serving.length > 0 ? serving.map(({ endpoint }) => endpoint) : publicUrl === '' ? [] : [publicUrl]
  return [...new Set(bases.map((base) => atDomain(new URL(base), api.domain)))]
}

/** The kind of the one document in which a dashboard stores addresses, for gateways without such settings. */
export const ADDRESSES_KIND = 'addresses'
export const ADDRESSES_ID = toDocumentId('0'.repeat(24))

/** The addresses of that document; none where it is missing. */
export function readAddresses(body: JsonObject | undefined): Addresses {
  const { public_url: publicUrl, edge_endpoints: edges } = body ?? {}
  const list = Array.isArray(edges) ? edges.filter(isObject) : []
  return {
    publicUrl: String(publicUrl ?? ''),
    edges: list.map(({ endpoint, tags }) => ({
      endpoint: String(endpoint),
      tags: Array.isArray(tags) ? tags.map(String) : [],
    })),
  }
}

/** The addresses of the own settings; where these name none, the stored ones. */
export function joinedAddresses(own: Addresses, stored: Addresses): Addresses {
  return {
    publicUrl: own.publicUrl || stored.publicUrl,
    edges: own.edges.length > 0 ? own.edges : stored.edges,
  }
}

/** In the one spelling that every role gives: host in lower case, no default port. */
function atDomain(base: URL, domain: string): string {
  if (domain === '') return base.origin + trimTrailing(base.pathname, '/')
  return `${base.protocol}//${domain}${base.port === '' ? '' : `:${base.port}`}`
}
