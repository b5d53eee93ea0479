import { isUp } from '../../model/nodes/node.ts'
import { listNodes } from '../../publish/nodes/node-status.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from './parts.ts'

/**
 * Where callers reach the gateway: its public address, else the host that the caller reached the dashboard by, at the gateway's
 * port: that of the settings, or where they leave it open, that of a node which is up.
 */
export async function gatewayUrl(parts: DashboardParts, call: Pick<Call, 'header'>): Promise<URL> {
  const { gateway } = parts.config
  if (gateway.public_url !== '') return new URL(gateway.public_url)
  const { tls } = gateway
  const url = new URL(tls.enabled ? 'https://localhost' : 'http://localhost')
  const host = call.header('host') ?? ''
  // The caller's own text, shown to no other user.
  if (/^[\w.:[\]-]{1,255}$/.test(host) && URL.canParse(`http://${host}`))
    url.hostname = new URL(`http://${host}`).hostname
  const port = tls.enabled ? tls.listen_port : gateway.listen_port
  url.port = String(port === 0 ? await foundPort(parts) : port)
  return url
}

/** 0 when no node tells one. */
async function foundPort(parts: DashboardParts): Promise<number> {
  const now = parts.clock.wall()
  const nodes = await listNodes(parts)
  return nodes.find((node) => isUp(node, now) && !node.management && node.port !== undefined)?.port ?? 0
}
