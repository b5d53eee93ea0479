/** Which entries of lists a caller cannot ask for. */
export interface Hidden {
  /** Tools that cannot be called. */
  readonly isHiddenTool: (name: string) => boolean
  /** True where no prompt and no resource can be had. */
  readonly otherPrimitives: boolean
}

/** Lists of `prompts/list`, `resources/list` and `resources/templates/list`. */
const OTHER_LISTS: ReadonlySet<string> = new Set(['prompts', 'resources', 'resourceTemplates'])

const [QUOTE, COMMA, COLON, BACKSLASH] = [0x22, 0x2c, 0x3a, 0x5c]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

/** A piece of a text, its end excluded. */
interface Span {
  readonly from: number
  readonly to: number
}

interface Member extends Span {
  readonly name: string
}

/** A piece, and what replaces it. */
interface Edit extends Span {
  readonly made: string
}

/**
 * Messages of JSON-RPC without the entries of their lists that are hidden. `text` holds the bytes of a JSON text, one in each character
 * (latin1). All other bytes stay as they are: a reader and writer of JSON would round numbers. A text that is no JSON is answered as it is.
 */
export function hideFromLists(text: string, hidden: Hidden): string {
  // Without an escape a name of a list is spelled out.
  if (!/tools|prompts|resource|\\u/.test(text)) return text
  const edits: Edit[] = []
  const start = skipSpace(text, text.startsWith('\xef\xbb\xbf') ? 3 : 0)
  const isBatch = text.charCodeAt(start) === OPEN_LIST
  for (const message of isBatch ? elementsAt(text, start) : [{ from: start, to: text.length }])
    for (const result of membersAt(text, message.from).filter(({ name }) => name === 'result'))
      for (const list of membersAt(text, result.from)) {
        const edit = keptOf(text, list, hidden)
        if (edit !== undefined) edits.push(edit)
      }
  let made = ''
  let at = 0
  for (const edit of edits) {
    made += text.slice(at, edit.from) + edit.made
    at = edit.to
  }
  return edits.length === 0 ? text : made + text.slice(at)
}

/** The entries of a list that stay, where some go. */
function keptOf(text: string, list: Member, { isHiddenTool, otherPrimitives }: Hidden): Edit | undefined {
  const isOther = otherPrimitives && OTHER_LISTS.has(list.name)
  if (list.name !== 'tools' && !isOther) return undefined
  const entries = elementsAt(text, list.from)
  const kept = isOther ? [] : entries.filter((entry) => !isHiddenEntry(text, entry, isHiddenTool))
  if (kept.length === entries.length) return undefined
  const made = kept.map(({ from, to }) => text.slice(from, to)).join(',')
  return { from: entries[0]!.from, to: entries.at(-1)!.to, made }
}

/** By any name of it: readers differ in members that come twice. */
function isHiddenEntry(text: string, entry: Span, isHiddenTool: Hidden['isHiddenTool']): boolean {
  return membersAt(text, entry.from).some(({ name, from, to }) => {
    const tool = name === 'name' ? textAt(text, from, to) : undefined
    return tool !== undefined && isHiddenTool(tool)
  })
}

/** The string that is written there; undefined where there is none. */
function textAt(text: string, from: number, to: number): string | undefined {
  if (text.charCodeAt(from) !== QUOTE) return undefined
  try {
    return JSON.parse(Buffer.from(text.slice(from, to), 'latin1').toString()) as string
  } catch {
    return undefined
  }
}

/** Values of the members of the object that begins there; none where there is no object. */
function membersAt(text: string, start: number): Member[] {
  if (text.charCodeAt(start) !== OPEN_OBJECT) return []
  const members: Member[] = []
  for (let at = skipSpace(text, start + 1); text.charCodeAt(at) === QUOTE; ) {
    const nameEnd = endOfString(text, at)
    const colon = skipSpace(text, nameEnd)
    if (text.charCodeAt(colon) !== COLON) return members
    const from = skipSpace(text, colon + 1)
    const to = endOfValue(text, from)
    if (to === from) return members
    const name = textAt(text, at, nameEnd)
    if (name !== undefined) members.push({ name, from, to })
    const next = skipSpace(text, to)
    if (text.charCodeAt(next) !== COMMA) return members
    at = skipSpace(text, next + 1)
  }
  return members
}

/** The entries of the list that begins there; none where there is no list. */
function elementsAt(text: string, start: number): Span[] {
  if (text.charCodeAt(start) !== OPEN_LIST) return []
  const entries: Span[] = []
  for (let from = skipSpace(text, start + 1); ; ) {
    const to = endOfValue(text, from)
    if (to === from) return entries
    entries.push({ from, to })
    const next = skipSpace(text, to)
    if (text.charCodeAt(next) !== COMMA) return entries
    from = skipSpace(text, next + 1)
  }
}

/** The end of the value that begins there; `start` where none does. Values in it are skipped, not checked. */
function endOfValue(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (char === QUOTE) {
      at = endOfString(text, at) - 1
      if (depth === 0) return at + 1
    } else if (char === OPEN_LIST || char === OPEN_OBJECT) depth++
    else if (char === CLOSE_LIST || char === CLOSE_OBJECT) {
      if (depth === 0) return at
      if (--depth === 0) return at + 1
    } else if (depth === 0 && (char === COMMA || isSpace(char))) return at
  }
  return text.length
}

/** Behind the closing quote of the string that begins there. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (char === BACKSLASH) at++
    else if (char === QUOTE) return at + 1
  }
  return text.length
}

function skipSpace(text: string, start: number): number {
  let at = start
  while (at < text.length && isSpace(text.charCodeAt(at))) at++
  return at
}

const isSpace = (char: number) => char === 0x20 || char === 0x0a || char === 0x0d || char === 0x09
