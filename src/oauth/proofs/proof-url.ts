// The characters that RFC 3986 allows, with an authority. `new URL` alone would forgive blanks, line feeds, backslashes and missing slashes.
const ABSOLUTE_URL = /^https?:\/\/[^/?#][!#-;=?-[\]_a-z~]*$/i
const PERCENT = /%[0-9A-Fa-f]{2}/g
const UNRESERVED = /[A-Za-z0-9._~-]/

/**
 * An address as RFC 9449 section 4.3 compares it: without query and fragment, scheme and host in lower case, no default port,
 * dot segments resolved (RFC 3986 sections 6.2.2 and 6.2.3), unreserved characters not encoded, the digits of other encodings in
 * upper case. undefined when it is no absolute http or https address.
 */
export function comparableUrl(text: string): string | undefined {
  if (!ABSOLUTE_URL.test(text) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') return undefined
  return `${url.protocol}//${url.host}${decodeUnreserved(escapeBare(url.pathname))}`
}

/** Clients sign what their URLs leave bare; the gateway knows it as escapes. */
function escapeBare(path: string): string {
  return path.replace(/[[\]{}|^`]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
}

function decodeUnreserved(path: string): string {
  if (!path.includes('%')) return path
  return path.replace(PERCENT, (triplet) => {
    const character = String.fromCharCode(Number.parseInt(triplet.slice(1), 16))
    return UNRESERVED.test(character) ? character : triplet.toUpperCase()
  })
}
