import { Type } from 'typebox'
import type { ApiDocument } from '../../model/apis/definition/api.ts'
import { summaryOf, tagsOf } from '../../model/apis/definition/fill-ids.ts'
import { loadsHere } from '../../model/nodes/node.ts'
import { encodedPath, readablePath } from '../../model/patterns/readable-path.ts'
import { trimTrailing } from '../../model/text/trim-trailing.ts'
import type { Call } from '../routes/call.ts'
import { gatewayUrl } from '../server/gateway-url.ts'
import type { DashboardParts } from '../server/parts.ts'

export const UrlParts = Type.Object({ ApiURL: Type.String(), BasePath: Type.String(), Host: Type.String() })

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
): Promise<{ ApiURL: string; BasePath: string; Host: string }> {
  const { listenPath } = summaryOf(document)
  const url = atDomain(await gatewayUrl(parts, call), document)
  return { ApiURL: withPath(url, listenPath), BasePath: listenPath, Host: url.origin }
}

/**
 * Where callers reach an API: at each gateway of the settings that loads it by its tags; where they list none, at the one there is.
 * Empty when there are gateways and none loads it.
 */
export async function apiUrls(
  parts: DashboardParts,
  call: Pick<Call, 'header'>,
  document: ApiDocument,
): Promise<string[]> {
  const edges = edgesOf(parts)
  if (edges.length === 0) return [(await apiUrl(parts, call, document)).ApiURL]
  const { listenPath } = summaryOf(document)
  const api = { tags: tagsOf(document) }
  return edges
    .filter(({ tags }) => loadsHere(api, { segmented: tags.length > 0, tags }))
    .map(({ endpoint }) => withPath(atDomain(new URL(endpoint), document), listenPath))
}

function atDomain(url: URL, document: ApiDocument): URL {
  const { domain } = summaryOf(document)
  if (domain !== '' && URL.canParse(`${url.protocol}//${domain}`))
    url.hostname = new URL(`${url.protocol}//${domain}`).hostname
  return url
}

const withPath = (url: URL, listenPath: string) => url.href.replace(/\/$/, '') + encodedPath(readablePath(listenPath))
