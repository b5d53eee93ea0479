import { isAlias, isMap, isScalar, Lexer, type Node, parseDocument, visit } from 'yaml'

/** Many aliases of large values make a small text an endless document. */
const MAX_ALIASES = 100
/** Of all anchors. The reader looks through all anchors and aliases for each. */
const MAX_ALIASES_TOGETHER = 1000
/** Of lists and maps in brackets: the reader recurses into each. */
const MAX_DEPTH = 100
/**
 * The reader makes a tree of all tokens, of 300 bytes each, in 2 µs each: more would take more than 250 MB. A line of a usual description has
 * eight, so these are 3 to 4 MB. The product that definitions come from takes 1 MB.
 */
const MAX_TOKENS = 750_000
/** A list or map in brackets takes as much as three others. */
const TOKENS_OF_BRACKET = 3

/** A fault of a YAML text, with the line where it is. */
export class YamlFault extends Error {
  readonly line: number

  constructor(line: number, reason: string) {
    super(reason)
    this.line = line
  }
}

/**
 * The value of a YAML text of one document (YAML 1.2.2, core schema). A member that is given twice is a fault, as it is in JSON: readers
 * would choose different ones. @throws YamlFault, also where it is larger than what is read; Error where aliases make it too large
 */
export function readYamlDocument(text: string): unknown {
  checkTokens(text)
  // `uniqueKeys` compares every key with every other: minutes for a map of 60,000. A silent reader would pass over further documents.
  const document = parseDocument(text, { version: '1.2', schema: 'core', uniqueKeys: false, logLevel: 'error' })
  const [first] = document.errors
  // Its further lines quote the document.
  if (first !== undefined) throw new YamlFault(first.linePos?.[0].line ?? 1, first.message.split('\n')[0] ?? '')
  const names = new Map<unknown, Set<string>>()
  // As far as the walk has come: an alias means the anchor before it (section 7.1).
  const anchors = new Map<string, Node>()
  visit(document, {
    Node(_, node) {
      if (!isAlias(node) && node.anchor !== undefined) anchors.set(node.anchor, node)
    },
    Pair(_, { key }, path) {
      const map = path.at(-1)
      if (!isMap(map)) return
      const named = isAlias(key) ? anchors.get(key.source) : key
      if (!isScalar(named)) throw new YamlFault(lineAt(text, key), 'a name of a member must be a text')
      // 200 and "200" are one member of the object that it becomes.
      const name = String(named.value ?? '')
      const known = names.get(map) ?? new Set()
      names.set(map, known)
      if (known.has(name))
        throw new YamlFault(lineAt(text, key), `${JSON.stringify(name.slice(0, 100))} is given twice`)
      known.add(name)
    },
  })
  return document.toJS({ maxAliasCount: MAX_ALIASES })
}

/** Tokens that the lexer adds: they take no character of the text. */
const MARKS = '\x02\x18\x1f'
/** The mark in front of a scalar without quotes, which may begin like anything else. */
const SCALAR = '\x1f'

/** Judges the size of a text by its tokens, one after the other: a tree of a hostile one would take a gigabyte. @throws YamlFault */
function checkTokens(text: string): void {
  let [count, aliases, depth, offset, isScalar] = [0, 0, 0, 0, false]
  const refuse = (reason: string) => {
    throw new YamlFault(lineOf(text, offset), reason)
  }
  for (const token of new Lexer().lex(text)) {
    const first = isScalar ? '' : token[0]!
    isScalar = first === SCALAR
    const opens = first === '[' || first === '{'
    count += opens ? TOKENS_OF_BRACKET : 1
    if (count > MAX_TOKENS)
      refuse(`there are more than ${MAX_TOKENS} tokens in it: send a document as large as this as JSON`)
    if (first === '*' && ++aliases > MAX_ALIASES_TOGETHER) refuse(`there are more than ${MAX_ALIASES_TOGETHER} aliases`)
    if (opens && ++depth > MAX_DEPTH) refuse(`it is nested deeper than ${MAX_DEPTH} levels`)
    if (first === ']' || first === '}') depth--
    if (first === '' || !MARKS.includes(first)) offset += token.length
  }
}

function lineAt(text: string, node: unknown): number {
  return lineOf(text, (node as { range?: readonly number[] } | null)?.range?.[0] ?? 0)
}

function lineOf(text: string, offset: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line++
  return line
}
