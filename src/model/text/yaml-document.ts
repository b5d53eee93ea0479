import { CORE_SCHEMA, defineMappingTag, load, mapTag, YAMLException } from 'js-yaml'

/** Of lists and maps within each other, as in JSON. */
const MAX_DEPTH = 100
/** An alias is a second place of one value. */
const MAX_ALIASES = 1000
/** Of characters that may begin or end a value. A description of 13 MB has 800,000, its sentences included. */
const MAX_MARKS = 1_500_000
/** Values with all that their aliases repeat: many aliases of large values make a small text an endless document. */
const MAX_VALUES = 1_000_000

/** A fault of a YAML text, with the line where it is. */
export class YamlFault extends Error {
  readonly line: number

  constructor(line: number, reason: string) {
    super(reason)
    this.line = line
  }
}

/** Maps are objects. Two spellings of one name are one member of an object, and readers of the text would choose different ones. */
const OBJECT = defineMappingTag<Record<string, unknown>>(mapTag.tagName, {
  create: () => ({}),
  identify: () => false,
  // Judged where the pair is added, by its name.
  has: () => false,
  keys: Object.keys,
  get: (object, name) => object[String(name)],
  addPair(object, key, value) {
    if (typeof key === 'object' && key !== null) return 'a name of a member must be a text'
    const name = String(key ?? '')
    if (Object.hasOwn(object, name)) return `${JSON.stringify(name.slice(0, 100))} is given twice`
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
    return ''
  },
})
const SCHEMA = CORE_SCHEMA.withTags(OBJECT)

/**
 * The value of a YAML text of one document (YAML 1.2.2, core schema), in time and memory that grow with its length. A member that is given twice
 * is a fault, as it is in JSON. @throws YamlFault, also where it is nested too deeply or its aliases make it too large
 */
export function readYamlDocument(text: string): unknown {
  checkMarks(text)
  try {
    const value = load(text, { schema: SCHEMA, maxDepth: MAX_DEPTH, maxAliases: MAX_ALIASES })
    checkSize(value)
    return value
  } catch (error) {
    // Its further lines quote the document.
    if (error instanceof YAMLException) throw new YamlFault((error.mark?.line ?? 0) + 1, error.reason)
    throw error
  }
}

/** @throws YamlFault for a text of so many values that to read it would take a gigabyte; in one look, before anything is made of it */
function checkMarks(text: string): void {
  let marks = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code > 63 ? BRACKETS.has(code) : code === 10 || code === 44 || (INDICATORS.has(code) && isBlank(text, at + 1)))
      marks++
    if (marks > MAX_MARKS)
      throw new YamlFault(lineAt(text, at), `it holds more than ${MAX_MARKS} lines and values: send it as JSON`)
  }
}

/** `[`, `]`, `{` and `}`. */
const BRACKETS: ReadonlySet<number> = new Set([91, 93, 123, 125])
/** `-`, `:` and `?`, which count in front of a blank. */
const INDICATORS: ReadonlySet<number> = new Set([45, 58, 63])
const isBlank = (text: string, at: number) => at >= text.length || text.charCodeAt(at) <= 32

function lineAt(text: string, offset: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line++
  return line
}

/** @throws YamlFault for a value that holds itself, or more values than are read when each alias is written out */
function checkSize(root: unknown): void {
  const sizes = new Map<object, number>()
  const sizeOf = (value: unknown): number => {
    if (typeof value !== 'object' || value === null) return 1
    const known = sizes.get(value)
    if (known === -1) throw new YamlFault(1, 'an alias names a list or map that it is part of')
    if (known !== undefined) return known
    sizes.set(value, -1)
    let size = 1
    for (const member of Object.values(value)) size += sizeOf(member)
    if (size > MAX_VALUES)
      throw new YamlFault(1, `it holds more than ${MAX_VALUES} values, with those that aliases repeat`)
    sizes.set(value, size)
    return size
  }
  sizeOf(root)
}
