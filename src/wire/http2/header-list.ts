import type { OutgoingHttpHeaders } from 'node:http2'

/** Fields that speak of one connection: they have no place in HTTP/2 (RFC 9113 section 8.2.2). */
const CONNECTION_SPECIFIC: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'te',
])

/**
 * Appends the `Name: value\r\n` lines of `text` from `at` on to a list of names (lower case) and values, up to an empty line or the end.
 * Answers the offset behind that line. `host` is left out: it is `:authority` here.
 */
export function addFields(list: string[], text: string, at: number): number {
  let from = at
  while (from < text.length) {
    const end = text.indexOf('\r\n', from)
    if (end === from) return end + 2
    const colon = text.indexOf(':', from)
    const name = text.slice(from, colon).toLowerCase()
    if (name !== 'host' && !CONNECTION_SPECIFIC.has(name)) list.push(name, trimmed(text, colon + 1, end))
    from = end + 2
  }
  return from
}

/** The value of a line, without the blanks around it; `trim` would also take the no-break space that latin1 has. */
function trimmed(text: string, start: number, end: number): string {
  let from = start
  let to = end
  while (from < to && isBlank(text.charCodeAt(from))) from++
  while (to > from && isBlank(text.charCodeAt(to - 1))) to--
  return text.slice(from, to)
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9
}

/** Trailer lines as an object, the form in which Node takes trailers. */
export function trailerObject(lines: string): OutgoingHttpHeaders {
  const list: string[] = []
  addFields(list, lines, 0)
  const trailers: Record<string, string | string[]> = Object.create(null)
  for (let i = 0; i < list.length; i += 2) {
    const name = list[i]!
    const known = trailers[name]
    trailers[name] = known === undefined ? list[i + 1]! : [known, list[i + 1]!].flat()
  }
  return trailers
}

/** Names and values as `name: value\r\n` lines, without pseudo-header fields, and without what frames or authenticates (RFC 9110 section 6.5.1). */
export function trailerLines(rawHeaders: readonly string[]): string {
  let lines = ''
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!
    if (!name.startsWith(':') && !NOT_TRAILING.has(name)) lines += `${name}: ${rawHeaders[i + 1]}\r\n`
  }
  return lines
}

const NOT_TRAILING: ReadonlySet<string> = new Set([
  ...CONNECTION_SPECIFIC,
  ...['host', 'content-length', 'expect', 'trailer', 'authorization', 'cookie', 'set-cookie', 'content-type'],
])
