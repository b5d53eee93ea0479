/** Deepest nesting of a body that is checked. */
const MAX_DEPTH = 64

const QUOTE = 34
const BACKSLASH = 92

/**
 * Tells what is wrong with a JSON text that `JSON.parse` has taken: nesting beyond 64 levels, or an object that names a member twice,
 * which the upstream may read differently than we do (RFC 8259 section 4). undefined = nothing.
 */
export function jsonFlaw(text: string): string | undefined {
  /** Names met in each open object; undefined for a list. */
  const open: (Set<string> | undefined)[] = []
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      const end = stringEnd(text, at)
      const names = open.at(-1)
      if (names !== undefined && isName(text, end)) {
        const raw = text.slice(at, end)
        const name = raw.includes('\\') ? (JSON.parse(raw) as string) : raw.slice(1, -1)
        if (names.has(name)) return 'names a member twice'
        names.add(name)
      }
      at = end - 1
    } else if (code === 123 || code === 91) {
      if (open.length === MAX_DEPTH) return `is nested deeper than ${MAX_DEPTH} levels`
      open.push(code === 123 ? new Set() : undefined)
    } else if (code === 125 || code === 93) open.pop()
  }
  return undefined
}

/** Where the text goes on behind the string that begins at `at`. */
function stringEnd(text: string, at: number): number {
  let next = at + 1
  while (text.charCodeAt(next) !== QUOTE) next += text.charCodeAt(next) === BACKSLASH ? 2 : 1
  return next + 1
}

/** Names are what a colon follows. */
function isName(text: string, at: number): boolean {
  let next = at
  while (text.charCodeAt(next) <= 32) next++
  return text[next] === ':'
}
