import { type JsonBounds, shapeFlaw } from '../../model/json/json-body.ts'

/** Deepest nesting of a body that is checked. */
const MAX_DEPTH = 64
/** Of bodies of at most 1 MiB, which anybody may send: a name that was not seen before costs the gateway's thread two microseconds. */
const TRAFFIC: JsonBounds = { depth: MAX_DEPTH, values: Number.POSITIVE_INFINITY, names: 20_000 }

/**
 * Reads a JSON body of traffic: at most 64 levels deep, with some 20,000 different names of members, none named twice in an object.
 * Otherwise the reason, in words that follow "the body"; no reason for what is no JSON.
 */
export function readTrafficJson(text: string): { readonly value: unknown } | { readonly reason: string | undefined } {
  const reason = shapeFlaw(text, TRAFFIC)
  if (reason !== undefined) return { reason }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { reason: undefined }
  }
  const flaw = jsonFlaw(text)
  return flaw === undefined ? { value } : { reason: flaw }
}

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

/** Position after the string that begins at `at`. */
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
