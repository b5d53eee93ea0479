import { type Field, kindOfName, makeField } from './field.ts'

/** Names and values of RFC 7541 appendix A, from index 1 on. */
const ENTRIES: readonly (readonly [string, string])[] = [
  [':authority', ''],
  [':method', 'GET'],
  [':method', 'POST'],
  [':path', '/'],
  [':path', '/index.html'],
  [':scheme', 'http'],
  [':scheme', 'https'],
  ...['200', '204', '206', '304', '400', '404', '500'].map((status) => [':status', status] as const),
  ['accept-charset', ''],
  ['accept-encoding', 'gzip, deflate'],
  ...['accept-language', 'accept-ranges', 'accept', 'access-control-allow-origin', 'age', 'allow'].map(bare),
  ...['authorization', 'cache-control', 'content-disposition', 'content-encoding', 'content-language'].map(bare),
  ...['content-length', 'content-location', 'content-range', 'content-type', 'cookie', 'date', 'etag'].map(bare),
  ...['expect', 'expires', 'from', 'host', 'if-match', 'if-modified-since', 'if-none-match', 'if-range'].map(bare),
  ...['if-unmodified-since', 'last-modified', 'link', 'location', 'max-forwards', 'proxy-authenticate'].map(bare),
  ...['proxy-authorization', 'range', 'referer', 'refresh', 'retry-after', 'server', 'set-cookie'].map(bare),
  ...['strict-transport-security', 'transfer-encoding', 'user-agent', 'vary', 'via', 'www-authenticate'].map(bare),
]

function bare(name: string): readonly [string, string] {
  return [name, '']
}

/** Entries of the static table; index 0 is none. */
export const STATIC: readonly (Field | undefined)[] = [
  undefined,
  ...ENTRIES.map(([name, value]) => makeField(name, kindOfName(name), value)),
]

/** Number of its entries: the dynamic table begins behind them. */
export const STATIC_COUNT: number = ENTRIES.length

const BY_NAME: ReadonlyMap<string, number> = new Map(ENTRIES.map(([name], i) => [name, i + 1] as const).reverse())
const BY_FIELD: ReadonlyMap<string, number> = new Map(
  ENTRIES.map(([name, value], i) => [`${name}: ${value}`, i + 1] as const),
)

/** The lowest index with this name (lower case); 0 when there is none. */
export function staticIndexOfName(name: string): number {
  return BY_NAME.get(name) ?? 0
}

/** The index of this name with this very value; 0 when there is none. */
export function staticIndexOf(name: string, value: string): number {
  return BY_FIELD.get(`${name}: ${value}`) ?? 0
}
