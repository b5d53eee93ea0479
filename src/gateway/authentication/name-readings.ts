import { foldFieldName } from '../../wire/http1/chars.ts'

// Upstreams do not agree on which name a parameter, a cookie or a field has. What any of them reads as the name of a credential or a version
// counts as that name, so that nothing reaches an upstream under another spelling.

/** A name as all of its readings are compared, for parameters and cookies: `isNamed`. */
export function foldName(name: string): string {
  return UNUSUAL.test(name) ? root(name) : name.toLowerCase()
}

/** The same for fields. */
export const foldField = foldFieldName

/**
 * True where some upstream reads the name of a parameter or cookie (decoded) as one whose `foldName` is `folded`: PHP takes blanks before it
 * away, makes `_` of `.`, of other blanks and of a `[` without end, and cuts at `[`; Rack and qs take brackets around it away; ASP.NET
 * ignores letter case and decodes `%u0069`.
 */
export function isNamed(given: string, folded: string): boolean {
  if (!UNUSUAL.test(given)) return given.toLowerCase() === folded
  return root(given) === folded || underscored(given) === folded
}

/** `isNamed` for a beginning of the name. */
export function startsNamed(given: string, folded: string): boolean {
  return foldName(given).startsWith(folded) || underscored(given).startsWith(folded)
}

const UNUSUAL = /[\s.[\]]/

/** `id` of `[id]`, `id[]`, `id[a][b]`, `id]`. */
function root(name: string): string {
  const bare = name.replace(/^[\s[\]]+/, '')
  const end = bare.search(/[[\]]/)
  return underscored(end === -1 ? bare : bare.slice(0, end))
}

function underscored(name: string): string {
  return name
    .trimStart()
    .replaceAll(/[\s.[]/g, '_')
    .toLowerCase()
}

/**
 * How often some upstream finds a cookie of this name (`foldName`) in a part of a Cookie field between two `;` (`matches`: what counts as the name): Python's SimpleCookie also
 * ends a cookie at a blank, Rack 1, Tomcat and ASP.NET Core at a comma, and some decode names.
 */
export function cookiesNamed(part: string, folded: string, matches: typeof isNamed = isNamed): number {
  const text = part.trim()
  const equals = text.indexOf('=')
  const name = equals === -1 ? text : text.slice(0, equals).trimEnd()
  const isIt = matches(decodedName(name), folded)
  if (equals === -1 || !SEPARATOR.test(text)) return isIt ? 1 : 0
  return (isIt && SEPARATOR.test(name) ? 1 : 0) + namesWithin(text, equals, (each) => matches(each, folded))
}

const SEPARATOR = /[\s,]/

/** How many names match that begin a text or follow a blank or comma. SimpleCookie allows blanks before the `=`; quotes mean nothing to others. */
function namesWithin(text: string, firstEquals: number, matches: (name: string) => boolean): number {
  let count = 0
  let from = 0
  for (let equals = firstEquals; equals !== -1; equals = text.indexOf('=', from)) {
    const before = text.slice(from, equals).trimEnd()
    let start = before.length
    while (start > 0 && !SEPARATOR.test(before[start - 1]!)) start--
    const isName = start > 0 || from === 0
    if (isName && matches(decodedName(before.slice(start)))) count++
    from = equals + 1
  }
  return count
}

/** How often some upstream finds a parameter of this name (`foldName`) in a part of a query between two `&`. */
export function parametersNamed(pair: string, folded: string): number {
  let count = startsWithParameter(pair, folded) ? 1 : 0
  for (let at = behindSemicolon(pair, folded); at !== -1; at = behindSemicolon(pair, folded, at + 1)) count++
  return count
}

/** True where a part of a query begins with a parameter of this name (`foldName`), also for parsers that end one at `;`. */
export function startsWithParameter(pair: string, folded: string): boolean {
  const equals = pair.indexOf('=')
  const name = equals === -1 ? pair : pair.slice(0, equals)
  if (isNamed(decodedName(name), folded)) return true
  const semicolon = name.indexOf(';')
  return semicolon !== -1 && isNamed(decodedName(name.slice(0, semicolon)), folded)
}

/** Where in a pair, from `from` on and behind a `;`, another parameter of this name begins, as old parsers read it; -1 where none does. */
export function behindSemicolon(pair: string, folded: string, from = 0): number {
  let at = pair.indexOf(';', from)
  while (at !== -1) {
    const next = pair.indexOf(';', at + 1)
    const [name = ''] = pair.slice(at + 1, next === -1 ? pair.length : next).split('=', 1)
    if (isNamed(decodedName(name), folded)) return at
    at = next
  }
  return -1
}

/**
 * Percent-decoded; of escapes that are not UTF-8 each is a byte, since the rest of such a name is read all the same. `%u0069` is a UTF-16
 * unit to ASP and ASP.NET; its `%` may have been escaped, as bytes are that a query has bare.
 */
function decodedName(sent: string): string {
  const name = decoded(sent)
  // PHP's names end at a NUL.
  const end = name.indexOf('\0')
  return end === -1 ? name : name.slice(0, end)
}

function decoded(sent: string): string {
  // Bytes that were sent bare.
  const text = /^[\0-\xff]*[\x80-\xff]/.test(sent) ? Buffer.from(sent, 'latin1').toString('utf8') : sent
  if (!text.includes('%') && !text.includes('+')) return text
  return text.replaceAll('+', ' ').replaceAll(/%(?:25)?u[0-9a-f]{4}|(?:%(?!25u)[0-9a-f]{2})+/gi, (escapes) => {
    if (UTF16_UNIT.test(escapes)) return String.fromCharCode(Number.parseInt(escapes.slice(-4), 16))
    try {
      return decodeURIComponent(escapes)
    } catch {
      return Buffer.from(escapes.replaceAll('%', ''), 'hex').toString('latin1')
    }
  })
}

const UTF16_UNIT = /u/i
