import { Type } from 'typebox'
import { summaryOf } from '../../model/api/fill-ids.ts'
import type { ApiDocument } from '../../model/api.ts'
import type { Call } from '../call.ts'
import { gatewayUrl } from '../gateway-url.ts'
import type { DashboardParts } from '../parts.ts'

export const UrlParts = Type.Object({ ApiURL: Type.String(), BasePath: Type.String(), Host: Type.String() })

/** Where callers reach an API: at its own domain, else where they reach the gateway. */
export async function apiUrl(
  parts: DashboardParts,
  call: Pick<Call, 'header'>,
  document: ApiDocument,
): Promise<{ ApiURL: string; BasePath: string; Host: string }> {
  const { listenPath, domain } = summaryOf(document)
  const url = await gatewayUrl(parts, call)
  if (domain !== '' && URL.canParse(`${url.protocol}//${domain}`))
    url.hostname = new URL(`${url.protocol}//${domain}`).hostname
  return { ApiURL: url.href.replace(/\/$/, '') + listenPath, BasePath: listenPath, Host: url.origin }
}
