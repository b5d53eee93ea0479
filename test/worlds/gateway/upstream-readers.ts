// How upstreams name the variables that they make of a query, a Cookie field and fields: written from their sources, as an oracle.

type Read = readonly (readonly [name: string, value: string])[]
type Reader = (text: string) => Read

const bytes = (text: string) =>
  text
    .replaceAll('+', ' ')
    .replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))

/** System.Web/Util/HttpEncoder.cs of .NET Framework, `UrlDecode`; classic ASP decodes the same. */
const utf16 = (text: string) =>
  text
    .replaceAll('+', ' ')
    .replaceAll(/%u([0-9a-f]{4})|%([0-9a-f]{2})/gi, (_, unit?: string, byte?: string) =>
      String.fromCharCode(Number.parseInt(unit ?? byte!, 16)),
    )

function pairsOf(text: string, separator: RegExp, read: (text: string) => string): Read {
  return text.split(separator).flatMap((pair): Read => {
    const equals = pair.indexOf('=')
    return equals === -1 ? [] : [[read(pair.slice(0, equals)), read(pair.slice(equals + 1))]]
  })
}

/** main/php_variables.c, `php_register_variable_ex`: the name is a string of C, which a NUL ends. */
function phpName(name: string): string {
  const [text] = name.split('\0', 1)
  const bare = text!.replace(/^[ \t]+/, '')
  const bracket = bare.indexOf('[')
  if (bracket === -1 || bare.indexOf(']', bracket) === -1) return bare.replaceAll(/[ .[]/g, '_')
  return bare.slice(0, bracket).replaceAll(/[ .]/g, '_')
}
const php = (pairs: Read): Read => pairs.map(([name, value]) => [phpName(name), value])

/** lib/rack/query_parser.rb of Rack 2, `normalize_params`. */
const rack: Reader = (query) =>
  pairsOf(query, /[&;] */, bytes).flatMap(([name, value]) => {
    const [, key] = /^[[\]]*([^[\]]+)\]*/.exec(name) ?? []
    return key === undefined ? [] : [[key, value]]
  })

/** lib/parse.js of qs, `parseKeys`: the parent, or the first segment where there is none. */
const qs: Reader = (query) =>
  pairsOf(query, /&/, bytes).map(([name, value]) => {
    const segment = /\[([^[\]]*)\]/.exec(name)
    if (segment === null) return [name, value]
    return [segment.index > 0 ? name.slice(0, segment.index) : segment[1]!, value]
  })

/** ASP.NET: names in any letter case. `names` is in lower case. */
const anyCase = (pairs: Read): Read => pairs.map(([name, value]) => [name.toLowerCase(), value])

/** Lib/http/cookies.py of Python, `_CookiePattern`; it stops at what it does not know. */
const simpleCookie: Reader = (text) => {
  const key = String.raw`[\w!#%&'~_\`><@,:/$*+\-.^|)(?}{=]`
  const legal = `${key.slice(0, -1)}\\[\\]]`
  const pattern = new RegExp(`\\s*(${key}+?)(\\s*=\\s*("(?:[^\\\\"]|\\\\.)*"|${legal}*))?\\s*(\\s+|;|$)`, 'y')
  const read: [string, string][] = []
  for (let match = pattern.exec(text); match !== null && match[0] !== ''; match = pattern.exec(text))
    if (match[3] !== undefined) read.push([match[1]!, match[3]])
  return read
}

const cookies: Reader = (text) => pairsOf(text, /;/, (each) => each.trim())

const QUERY_READERS: Readonly<Record<string, Reader>> = {
  php: (query) => php(pairsOf(query, /&/, bytes)),
  rack,
  qs,
  'asp.net core': (query) => anyCase(pairsOf(query, /&/, bytes)),
  'asp.net': (query) => anyCase(pairsOf(query, /&/, utf16)),
}

const COOKIE_READERS: Readonly<Record<string, Reader>> = {
  php: (text) => php(cookies(text)),
  'old php': (text) => php(pairsOf(text, /;\s*/, bytes)),
  'rack 1': (text) => pairsOf(text, /[;,] */, bytes),
  'asp.net': (text) => anyCase(cookies(text)),
  simpleCookie,
}

/** The variable that lighttpd and Apache 2.2 make of a field name, and of `-` and `_` every CGI. */
export const variableOfField = (name: string) => `HTTP_${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`

/** Readers that find `value` under `name` (lower case) in a query, and in a Cookie field. */
export function readersOf(query: string, cookie: string, name: string, value: string): string[] {
  const finds = (readers: Readonly<Record<string, Reader>>, text: string) =>
    Object.entries(readers).flatMap(([reader, read]) =>
      read(text).some(([each, given]) => each === name && given.includes(value)) ? [reader] : [],
    )
  return [...finds(QUERY_READERS, query), ...finds(COOKIE_READERS, cookie)]
}
