import { FIELD_NAMES } from '../../../src/wire/http1/fields.ts'

/** How a parser read one request of a stream. */
export interface Reading {
  readonly method: string
  /** The request target as it was sent. */
  readonly target: string
  /** Path and query as rules see them. */
  readonly path: string
  readonly query: string
  /** Host in lower case without port. */
  readonly host: string
  /** Names as sent, values trimmed, in order. */
  readonly fields: readonly (readonly [string, string])[]
  readonly body: Buffer
  /** False while, or when, the end of the body did not come. */
  readonly complete: boolean
}

/** Fields that may be missing on our side: hop-by-hop ones and those that the wire rewrites. */
const OURS_TO_DROP = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'expect',
  'upgrade',
  'te',
  'trailer',
  'keep-alive',
  'proxy-connection',
  'proxy-authorization',
])

/**
 * Says in what our reading goes beyond or against the peer's; undefined when every request that we accepted was
 * accepted by the peer and read the same. Requests that only the peer accepted do not matter.
 */
export function difference(ours: readonly Reading[], theirs: readonly Reading[]): string | undefined {
  for (const [number, mine] of ours.entries()) {
    const other = theirs[number]
    if (other === undefined) return `request ${number} accepted by us alone`
    const found = unlike(mine, other)
    if (found !== undefined) return `request ${number}: ${found}`
    if (isUpgrade(other)) return undefined
  }
  return undefined
}

/** Node reads nothing behind a request to upgrade, though nobody took it up; there is nothing to compare then. */
function isUpgrade(request: Reading): boolean {
  return request.fields.some(([name]) => name.toLowerCase() === 'upgrade')
}

function unlike(mine: Reading, other: Reading): string | undefined {
  if (mine.method !== other.method) return `method ${mine.method}, not ${other.method}`
  if (mine.target !== other.target) return `target ${mine.target}, not ${other.target}`
  if (mine.path !== other.path && !eitherRoot(mine, other)) return `path ${mine.path}, not ${other.path}`
  if (mine.query !== other.query) return `query ${mine.query}, not ${other.query}`
  if (mine.host !== other.host) return `host ${mine.host}, not ${other.host}`
  const fields = unlikeFields(mine.fields, other.fields)
  if (fields !== undefined) return fields
  if (!mine.complete) return undefined
  if (!other.complete) return 'body complete for us alone'
  if (!mine.body.equals(other.body)) return `body ${mine.body.toString('hex')}, not ${other.body.toString('hex')}`
  return undefined
}

/** OPTIONS without a path asks about the server (RFC 9112 section 3.2.4); answering for its root does no harm. */
function eitherRoot(mine: Reading, other: Reading): boolean {
  return other.path === '*' && other.target !== '*' && mine.path === '/'
}

/** True for `Content_Length` and its like, which upstreams may take for a field that the gateway reads itself: those are hidden. */
function isOtherSpelling(name: string): boolean {
  const folded = name.toLowerCase().replaceAll(/[^a-z0-9]/g, '-')
  if (folded === name.toLowerCase()) return false
  return FIELD_NAMES.includes(folded) || folded.startsWith('x-forwarded-')
}

function unlikeFields(mine: Reading['fields'], theirs: Reading['fields']): string | undefined {
  const named = theirs.filter(([name]) => name.toLowerCase() === 'connection').flatMap(([, value]) => value.split(','))
  const dropped = new Set(named.map((name) => name.trim().toLowerCase()))
  let at = 0
  for (const [name, value] of theirs) {
    const own = mine[at]
    if (own !== undefined && own[0] === name && own[1] === value) {
      at++
      continue
    }
    if (OURS_TO_DROP.has(name.toLowerCase()) || dropped.has(name.toLowerCase()) || isOtherSpelling(name)) continue
    return `field ${JSON.stringify([name, value])} read as ${JSON.stringify(own)}`
  }
  return at === mine.length ? undefined : `field ${JSON.stringify(mine[at])} read by us alone`
}

/**
 * Path, query and host of a target as a second, slower reader of RFC 3986 section 6.2.2 understands them. OPTIONS without path
 * and query means the server as a whole (RFC 9112 section 3.2.4).
 */
export function understand(
  method: string,
  target: string,
  hostField: string,
): Pick<Reading, 'path' | 'query' | 'host'> {
  const absolute = /^https?:\/\/([^/?]*)(.*)$/i.exec(target)
  const authority = absolute?.[1] ?? hostField
  const rest = absolute?.[2] ?? target
  const mark = rest.indexOf('?')
  const rawPath = mark < 0 ? rest : rest.slice(0, mark)
  const whole = rest === '*' || (rest === '' && method === 'OPTIONS')
  return {
    path: whole ? '*' : normal(rawPath),
    // A lone `%` and bytes beyond ASCII are read as if they had been escaped.
    query:
      mark < 0
        ? ''
        : rest
            .slice(mark + 1)
            .replace(/%(?![0-9a-f]{2})|[^\0-\x7f]/gi, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`),
    host: authority.replace(/:\d*$/, '').toLowerCase(),
  }
}

function normal(path: string): string {
  const escaped = path.replace(/[^!-~]|[[\]{}|^`\\]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`)
  let text = escaped.replace(/%[0-9a-fA-F]{2}/g, (code) => {
    const decoded = String.fromCharCode(Number.parseInt(code.slice(1), 16))
    return /[A-Za-z0-9\-._~!$&'()*+,;=:@]/.test(decoded) ? decoded : code.toUpperCase()
  })
  if (!text.startsWith('/')) text = `/${text}`
  for (let last = ''; last !== text; ) {
    last = text
    text = text.replace(/\/{2,}/g, '/').replace(/\/\.(?=\/|$)/, '/')
  }
  for (let last = ''; last !== text; ) {
    last = text
    text = text.replace(/\/(?!\.\.(?:\/|$))[^/]+\/\.\.(?=\/|$)/, '/').replace(/\/{2,}/g, '/')
  }
  return text
}
