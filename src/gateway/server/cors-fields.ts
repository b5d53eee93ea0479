/** Whose `Access-Control-*` fields an answer has. */
export const CORS_FIELDS = {
  /** CORS is off: those of the upstream, or of a mock. */
  upstream: 0,
  gateway: 1,
  /** The upstream answers the preflight of an origin that is allowed: the gateway names the origin, the upstream methods and headers. */
  both: 2,
} as const

/** Fields (lower case) that say which origin may read an answer, and what of it. */
export const ORIGIN_FIELDS = [
  'access-control-allow-origin',
  'access-control-allow-credentials',
  'access-control-expose-headers',
]

const CORS_LINE = /^access-control-[^\r\n]*\r\n/gim

/** `Name: value\r\n` lines without those of CORS. */
export function withoutCorsLines(lines: string): string {
  return lines.replace(CORS_LINE, '')
}

/** Lines that the rules of CORS give an answer. */
const OWN_LINE = /^(?:access-control-[^\r\n]*|vary: (?:origin|access-control-request-[a-z]+))\r\n/gim

/** `lines` as a later layer made them of those `before`: with CORS on, its lines and what it varies with stay as they were. */
export function keepingCors(corsFields: number, before: string, lines: string): string {
  if (corsFields === CORS_FIELDS.upstream) return lines
  return lines.replace(OWN_LINE, '') + (before.match(OWN_LINE) ?? []).join('')
}
