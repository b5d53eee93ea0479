const SPACE = /[ \t\r\n]*/y
const STRING = /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*"/y
const WORD = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

/**
 * Where a text stops being JSON (RFC 8259): browsers report that differently, or not at all. The length of the text for one
 * that is whole, or that only ends too early.
 */
export function brokenAt(text: string): number {
  const open: ('}' | ']')[] = []
  let at = ending(SPACE, text, 0)!
  for (;;) {
    const isObject = text[at] === '{'
    if (isObject || text[at] === '[') {
      open.push(isObject ? '}' : ']')
      at = ending(SPACE, text, at + 1)!
      if (text[at] !== open.at(-1)) {
        if (!isObject) continue
        const value = behindName(text, at)
        if (!value.isWhole) return value.at
        at = value.at
        continue
      }
    } else {
      const end = ending(STRING, text, at) ?? ending(WORD, text, at)
      if (end === undefined) return at
      at = end
    }
    const next = behindValue(text, at, open)
    if (!next.isWhole) return next.at
    at = next.at
  }
}

interface Place {
  readonly at: number
  readonly isWhole: boolean
}

/** Where the next value begins, everything that ends here closed. Not whole: at what is wrong, or at the end. */
function behindValue(text: string, from: number, open: ('}' | ']')[]): Place {
  let at = ending(SPACE, text, from)!
  while (open.length > 0 && text[at] === open.at(-1)) {
    open.pop()
    at = ending(SPACE, text, at + 1)!
  }
  if (open.length === 0 || text[at] !== ',') return { at, isWhole: false }
  at = ending(SPACE, text, at + 1)!
  return open.at(-1) === '}' ? behindName(text, at) : { at, isWhole: true }
}

/** Where the value of a member begins. */
function behindName(text: string, from: number): Place {
  const name = ending(STRING, text, from)
  if (name === undefined) return { at: from, isWhole: false }
  const at = ending(SPACE, text, name)!
  if (text[at] !== ':') return { at, isWhole: false }
  return { at: ending(SPACE, text, at + 1)!, isWhole: true }
}

/** Where what fits here ends; undefined when nothing does. */
function ending(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : undefined
}
