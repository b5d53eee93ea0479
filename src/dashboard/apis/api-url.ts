import { Type } from 'typebox'
import type { ApiDocument } from '../../model/apis/definition/api.ts'
import { summaryOf, tagsOf } from '../../model/apis/definition/fill-ids.ts'
import { urlPath } from '../../model/apis/definition/issuer.ts'
import { addressesOf, addressOf } from '../../model/nodes/addresses.ts'
import { trimTrailing } from '../../model/text/trim-trailing.ts'
import { addressesFor } from '../../publish/nodes/addresses.ts'
import type { Call } from '../routes/call.ts'
import { gatewayUrl } from '../server/gateway-url.ts'
import type { DashboardParts } from '../server/parts.ts'

const Warnings = Type.Optional(Type.Array(Type.String(), { description: 'Why an address is a guess.' }))

export const UrlParts = Type.Object(
  {
    ApiURL: Type.String({ description: 'URL under which callers reach the API.' }),
    BasePath: Type.String({ description: 'Listen path of the API.' }),
    Host: Type.String({ description: 'Scheme, host and port of the gateway.' }),
    warnings: Warnings,
  },
  { title: 'ApiUrl' },
)

export const UrlList = Type.Object(
  {
    urls: Type.Array(Type.String(), {
      description: 'URLs under which callers reach the API: one for each gateway that loads it.',
    }),
    warnings: Warnings,
  },
  { title: 'ApiUrlList' },
)

/** A gateway of `dashboard.edge_endpoints`. */
export interface Edge {
  readonly name: string
  /** Without a slash at its end. */
  readonly endpoint: string
  /** Empty for one that loads every API. */
  readonly tags: readonly string[]
}

/** The gateways that the settings list, in their order. */
export function edgesOf({ config }: Pick<DashboardParts, 'config'>): Edge[] {
  return config.dashboard.edge_endpoints.map(({ name, endpoint, tags = [] }) => ({
    ...{ name, tags },
    endpoint: trimTrailing(endpoint, '/'),
  }))
}

/** Where callers reach an API: at its own domain, else where they reach the gateway. */
export async function apiUrl(
  parts: DashboardParts,
  call: Pick<Call, 'header'>,
  document: ApiDocument,
): Promise<{ ApiURL: string; BasePath: string; Host: string; warnings?: string[] }> {
  const { listenPath, domain } = summaryOf(document)
  const addresses = await addressesFor(parts, { tags: tagsOf(document) })
  const known = addressOf({ domain, tags: tagsOf(document) }, addresses)
  const address = known ?? (await guessedAddress(parts, call, domain))
  const url = { ApiURL: address + urlPath(listenPath), BasePath: listenPath, Host: new URL(address).origin }
  return known === undefined ? { ...url, warnings: [ADDRESS_UNKNOWN] } : url
}

/**
 * Where callers reach an API: at each gateway of the settings that loads it by its tags; where they list none, at the one there is.
 * The first one is the issuer of its authorization server, but for the last slash. Empty when there are gateways and none loads it.
 */
export async function apiUrls(
  parts: DashboardParts,
  call: Pick<Call, 'header'>,
  document: ApiDocument,
): Promise<{ urls: string[]; warnings?: string[] }> {
  const { listenPath, domain } = summaryOf(document)
  const tags = tagsOf(document)
  const addresses = await addressesFor(parts, { tags })
  const known = addressesOf({ domain, tags }, addresses)
  const withPath = (address: string) => address + urlPath(listenPath)
  if (known.length > 0) return { urls: known.map(withPath) }
  if (addresses.edges.length > 0) return { urls: [] }
  return { urls: [withPath(await guessedAddress(parts, call, domain))], warnings: [ADDRESS_UNKNOWN] }
}

/** The warning where a dashboard has to guess an address. */
const ADDRESS_UNKNOWN =
  'The address under which clients reach this API is not known: set gateway.public_url, here or at its gateways'

/** By the host that the caller reached the dashboard by. */
async function guessedAddress(parts: DashboardParts, call: Pick<Call, 'header'>, domain: string): Promise<string> {
  const url = await gatewayUrl(parts, call)
  if (domain !== '' && URL.canParse(`${url.protocol}//${domain}`))
    url.hostname = new URL(`${url.protocol}//${domain}`).hostname
  return trimTrailing(url.href, '/')
}
