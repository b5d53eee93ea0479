/** Added to the byte of an escape that stays one: a half of a surrogate pair, which no text in UTF-8 decodes to. */
const KEPT = 0xdc00
// With the flag `u` they are not found as halves of a pair.
const KEPT_ANY = /[\u{DC00}-\u{DC7F}]/gu
const KEPT_SLASH = /\u{DC2F}/gu
const KEPT_BACKSLASH = /\u{DC5C}/gu

/**
 * A path as a person reads it, which is the form that rules are compared in: escapes decoded as UTF-8. Encoded slashes, backslashes
 * and control characters stay distinct: each becomes a private character, which only the same escape produces.
 * Invalid escapes, and bytes that are not UTF-8, stay unchanged. Requests and definitions go through this one function.
 */
export function readablePath(path: string): string {
  if (!path.includes('%')) return path
  return path
    .replace(/%(?:[01][0-9A-F]|2F|5C|7F)/gi, (triplet) =>
      String.fromCharCode(KEPT + Number.parseInt(triplet.slice(1), 16)),
    )
    .replace(/(?:%[0-9A-F]{2})+/gi, decoded)
}

function decoded(escapes: string): string {
  try {
    return decodeURIComponent(escapes)
  } catch {
    return escapes.toUpperCase()
  }
}

/** A part of a readable path as the text that its sender meant. */
export function textOfReadable(part: string): string {
  return part.replace(KEPT_ANY, (kept) => String.fromCharCode(kept.charCodeAt(0) - KEPT))
}

const ONE_READING: readonly string[] = []

/**
 * The other paths that a readable path may be for its upstream: encoded slashes as slashes, backslashes as slashes too. None for a path
 * without either.
 */
export function otherReadings(readable: string): readonly string[] {
  if (readable.isWellFormed()) return ONE_READING
  const slashes = readable.replace(KEPT_SLASH, '/')
  const all = slashes.replace(KEPT_BACKSLASH, '/')
  const others = new Set([slashes, all].map((path) => path.replace(/\/{2,}/g, '/')))
  others.delete(readable)
  return [...others]
}

/** A readable path as a request spells it in normal form: characters that a path cannot hold bare (RFC 3986 section 3.3) as escapes. */
export function encodedPath(readable: string): string {
  return readable.replace(/[^A-Za-z0-9\-._~!$&'()*+,;=:@/]/gu, (character) => {
    const kept = character.charCodeAt(0) - KEPT
    if (character.isWellFormed()) return encodeURIComponent(character)
    return `%${kept.toString(16).padStart(2, '0').toUpperCase()}`
  })
}
