import { isAlias, isMap, isScalar, type Node, parseDocument, visit } from 'yaml'

/** Many aliases of large values make a small text an endless document. */
const MAX_ALIASES = 100
/** Of all anchors. The reader looks through all anchors and aliases for each. */
const MAX_ALIASES_TOGETHER = 1000

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
 * would choose different ones. @throws YamlFault, Error where aliases make it too large
 */
export function readYamlDocument(text: string): unknown {
  // `uniqueKeys` compares every key with every other: minutes for a map of 60,000. A silent reader would pass over further documents.
  const document = parseDocument(text, { version: '1.2', schema: 'core', uniqueKeys: false, logLevel: 'error' })
  const [first] = document.errors
  // Its further lines quote the document.
  if (first !== undefined) throw new YamlFault(first.linePos?.[0].line ?? 1, first.message.split('\n')[0] ?? '')
  const names = new Map<unknown, Set<string>>()
  // As far as the walk has come: an alias means the anchor before it (section 7.1).
  const anchors = new Map<string, Node>()
  let aliases = 0
  visit(document, {
    Node(_, node) {
      if (!isAlias(node)) {
        if (node.anchor !== undefined) anchors.set(node.anchor, node)
      } else if (++aliases > MAX_ALIASES_TOGETHER)
        throw new YamlFault(lineAt(text, node), `there are more than ${MAX_ALIASES_TOGETHER} aliases`)
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

function lineAt(text: string, node: unknown): number {
  const start = (node as { range?: readonly number[] } | null)?.range?.[0] ?? 0
  return text.slice(0, start).split('\n').length
}
