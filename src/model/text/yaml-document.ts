import { isAlias, isScalar, parseDocument, visit } from 'yaml'

/** Many aliases of large values make a small text an endless document. */
const MAX_ALIASES = 100

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
  visit(document, {
    Map(_, { items }) {
      const names = new Set<string>()
      for (const { key } of items) {
        const named = isAlias(key) ? key.resolve(document) : key
        if (!isScalar(named)) throw new YamlFault(lineAt(text, key), 'a name of a member must be a text')
        // 200 and "200" are one member of the object that it becomes.
        const name = String(named.value ?? '')
        if (names.has(name))
          throw new YamlFault(lineAt(text, key), `${JSON.stringify(name.slice(0, 100))} is given twice`)
        names.add(name)
      }
    },
  })
  return document.toJS({ maxAliasCount: MAX_ALIASES })
}

function lineAt(text: string, node: unknown): number {
  const start = (node as { range?: readonly number[] } | null)?.range?.[0] ?? 0
  return text.slice(0, start).split('\n').length
}
