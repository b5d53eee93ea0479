import type { Json } from './json.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a

/**
 * Tells whether a JSON text that `JSON.parse` has read as `value` names a member of some object twice: the parser keeps the last one,
 * others the first (RFC 8259 section 4). Linear in the length of the text.
 */
export function repeatsMember(text: string, value: Json): boolean {
  return colonsIn(text) !== membersOf(value)
}

/** Colons outside of strings: one for each member that the text names. */
function colonsIn(text: string): number {
  let colons = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === COLON) colons++
    else if (code === QUOTE) {
      at++
      for (let inside = text.charCodeAt(at); inside !== QUOTE && at < text.length; inside = text.charCodeAt(at))
        at += inside === BACKSLASH ? 2 : 1
    }
  }
  return colons
}

/** Without recursion: texts may nest deeper than the stack. */
function membersOf(root: Json): number {
  const open: Json[] = [root]
  let members = 0
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value !== 'object' || value === null) continue
    const held = Object.values(value) as Json[]
    if (!Array.isArray(value)) members += held.length
    for (const entry of held) if (typeof entry === 'object' && entry !== null) open.push(entry)
  }
  return members
}
