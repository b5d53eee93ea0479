/** Fields (lower case) that frame a message or belong to one connection (RFC 9110 section 7.6.1, RFC 9112 section 6). */
export const WIRE_FIELDS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** True for a field that frames a message or belongs to one connection, in any spelling: other software reads `Transfer_Encoding` as `Transfer-Encoding`. */
export function isWireField(name: string): boolean {
  return WIRE_FIELDS.has(name.toLowerCase().replaceAll(/[^a-z0-9]/g, '-'))
}

/** True for those and for Host: the fields of a message that nobody but the gateway writes. */
export function isGatewayField(name: string): boolean {
  return isWireField(name) || name.toLowerCase() === 'host'
}
