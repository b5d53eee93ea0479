import { CLASS, TOKEN, VALUE } from '../http1/chars.ts'
import { isBlank } from '../http1/scan.ts'

/** The kinds of fields that HTTP/2 treats differently. */
export const KIND = {
  ordinary: 0,
  method: 1,
  scheme: 2,
  authority: 3,
  path: 4,
  status: 5,
  protocol: 6,
  host: 7,
  cookie: 8,
  contentLength: 9,
  /** Not allowed in HTTP/2 messages (RFC 9113 sections 8.2 and 8.3). */
  malformed: 10,
} as const

/** One field as it was decoded. Entries of tables are such, so that a field that is repeated is looked at once. */
export interface Field {
  readonly name: string
  readonly value: string
  /** A KIND. */
  readonly kind: number
  /** The KIND of the name alone. */
  readonly nameKind: number
  /** Its size for the table (RFC 7541 section 4.1). */
  readonly size: number
  /** As HTTP/1.1 words it: `name: value` and CRLF. */
  readonly line: string
}

/** Size of an entry besides its bytes (RFC 7541 section 4.1). */
export const ENTRY_OVERHEAD_BYTES = 32

/** Fields that speak of one connection (RFC 9113 section 8.2.2). */
export const CONNECTION_SPECIFIC: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
])

const KINDS: ReadonlyMap<string, number> = new Map<string, number>([
  [':method', KIND.method],
  [':scheme', KIND.scheme],
  [':authority', KIND.authority],
  [':path', KIND.path],
  [':status', KIND.status],
  [':protocol', KIND.protocol],
  ['host', KIND.host],
  ['cookie', KIND.cookie],
  ['content-length', KIND.contentLength],
  ...[...CONNECTION_SPECIFIC].map((name) => [name, KIND.malformed] as const),
])

/** The KIND of a name, in latin1: `malformed` unless it is a token in lower case, or a pseudo-header field that is known. */
export function kindOfName(name: string): number {
  const known = KINDS.get(name)
  if (known !== undefined) return known
  if (name === '') return KIND.malformed
  for (let i = 0; i < name.length; i++) {
    const code = name.charCodeAt(i)
    if ((CLASS[code]! & TOKEN) === 0 || (code >= 65 && code <= 90)) return KIND.malformed
  }
  return KIND.ordinary
}

/** True for a KIND of pseudo-header fields (RFC 9113 section 8.3). */
export function isPseudo(kind: number): boolean {
  return kind >= KIND.method && kind <= KIND.protocol
}

/** A field of a name whose KIND is known already. */
export function makeField(name: string, nameKind: number, value: string): Field {
  return {
    name,
    value,
    kind: isValue(value) && !(name === 'te' && value !== 'trailers') ? nameKind : KIND.malformed,
    nameKind,
    size: name.length + value.length + ENTRY_OVERHEAD_BYTES,
    line: `${name}: ${value}\r\n`,
  }
}

/** Without line ends and controls, and without blanks around it (RFC 9113 section 8.2.1). */
function isValue(value: string): boolean {
  const { length } = value
  if (length === 0) return true
  if (isBlank(value.charCodeAt(0)) || isBlank(value.charCodeAt(length - 1))) return false
  for (let i = 0; i < length; i++) if ((CLASS[value.charCodeAt(i)]! & VALUE) === 0) return false
  return true
}
