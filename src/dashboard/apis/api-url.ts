import { Type } from 'typebox'
import { summaryOf } from '../../model/api/fill-ids.ts'
import type { ApiDocument } from '../../model/api.ts'
import type { Call } from '../call.ts'
import type { DashboardParts } from '../parts.ts'

export const UrlParts = Type.Object({ ApiURL: Type.String(), BasePath: Type.String(), Host: Type.String() })

/**
 * Where callers reach an API: its own domain, else the public address of the gateway, else the host that the caller reached the
 * dashboard by, at the gateway's port.
 */
export function apiUrl(
  { config }: DashboardParts,
  call: Pick<Call, 'header'>,
  document: ApiDocument,
): { ApiURL: string; BasePath: string; Host: string } {
  const { listenPath, domain } = summaryOf(document)
  const url = gatewayUrl(config.gateway, call.header('host') ?? '')
  if (domain !== '' && URL.canParse(`${url.protocol}//${domain}`))
    url.hostname = new URL(`${url.protocol}//${domain}`).hostname
  return { ApiURL: url.href.replace(/\/$/, '') + listenPath, BasePath: listenPath, Host: url.origin }
}

function gatewayUrl(gateway: DashboardParts['config']['gateway'], host: string): URL {
  if (gateway.public_url !== '') return new URL(gateway.public_url)
  const url = new URL('http://localhost')
  // The caller's own word, told to nobody else.
  if (/^[\w.:[\]-]{1,255}$/.test(host) && URL.canParse(`http://${host}`))
    url.hostname = new URL(`http://${host}`).hostname
  url.port = String(gateway.listen_port)
  return url
}
