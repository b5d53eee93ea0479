import { CORE_SCHEMA, defineMappingTag, load, mapTag, mergeTag, YAMLException } from 'js-yaml'

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

const twice = (name: string) => `${JSON.stringify(name.slice(0, 100))} is given twice`

/** The name of a member; that of `null` is empty. */
const nameOf = (key: unknown): string => String(key ?? '')

/**
 * Maps are objects, and `<<` gives them the members of others that they have not, as in YAML 1.1. Two spellings of one name are one member of an
 * object, and readers of the text would choose different ones. `known` gets each name that an object has already.
 */
function schemaOf(known: (name: string) => void) {
  /** Names that came by `<<`: the reader compares with them as texts only, and `200` is a number. */
  const merged = new WeakMap<object, Set<string>>()
  let isMerging = false
  const object = defineMappingTag<Record<string, unknown>>(mapTag.tagName, {
    create: () => ({}),
    identify: () => false,
    has(made, key) {
      if (!Object.hasOwn(made, nameOf(key))) return false
      if (typeof key !== 'string' && merged.get(made)?.has(nameOf(key))) return false
      known(nameOf(key))
      return true
    },
    keys: Object.keys,
    get(made, key) {
      isMerging = true
      return made[nameOf(key)]
    },
    addPair(made, key, value) {
      if (typeof key === 'object' && key !== null) return 'a name of a member must be a text'
      const name = nameOf(key)
      if (isMerging) merged.set(made, (merged.get(made) ?? new Set()).add(name))
      else if (Object.hasOwn(made, name) && !merged.get(made)?.delete(name)) return twice(name)
      isMerging = false
      Object.defineProperty(made, name, { value, enumerable: true, configurable: true, writable: true })
      return ''
    },
  })
  return CORE_SCHEMA.withTags(object, mergeTag)
}

/**
 * The value of a YAML text of one document (YAML 1.2.2, core schema), in time and memory that grow with its length. A member that is given twice
 * is a fault, as it is in JSON. @throws YamlFault, also where it is nested too deeply or its aliases make it too large
 */
export function readYamlDocument(text: string): unknown {
  checkMarks(text)
  let latest = ''
  const schema = schemaOf((name) => {
    latest = name
  })
  try {
    const value = load(text, { schema, maxDepth: MAX_DEPTH, maxAliases: MAX_ALIASES })
    checkSize(value)
    return value
  } catch (error) {
    // Its further lines quote the document.
    if (error instanceof YAMLException) {
      const isTwice = error.reason === 'duplicated mapping key'
      const reason = isTwice ? twice(latest) : error.reason
      throw new YamlFault((error.mark?.line ?? 0) + 1, reason)
    }
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

interface Measure {
  /** Values, those of aliases each time. */
  readonly size: number
  /** Lists and maps within each other. */
  readonly depth: number
}

const SCALAR: Measure = { size: 1, depth: 0 }

/**
 * @throws YamlFault for what JSON cannot hold: a value that is part of itself, `.inf` and `.nan`; and for more values or depth than are read
 * when each alias is written out
 */
function checkSize(root: unknown): void {
  const measures = new Map<object, Measure | undefined>()
  const measure = (value: unknown, name: string, around: number): Measure => {
    if (typeof value === 'number' && !Number.isFinite(value))
      throw new YamlFault(1, `${JSON.stringify(name.slice(0, 100))} must be a finite number: JSON has no other`)
    if (typeof value !== 'object' || value === null) return SCALAR
    const known = measures.get(value)
    if (known !== undefined) return known
    if (measures.has(value)) throw new YamlFault(1, 'an alias names a list or map that it is part of')
    measures.set(value, undefined)
    let [size, depth] = [1, 0]
    // Names that are whole numbers come first: what they alias may not have been measured.
    if (around < MAX_DEPTH)
      for (const [key, member] of Object.entries(value)) {
        const inner = measure(member, key, around + 1)
        size += inner.size
        depth = Math.max(depth, inner.depth)
      }
    if (size > MAX_VALUES)
      throw new YamlFault(1, `it holds more than ${MAX_VALUES} values, with those that aliases repeat`)
    if (around >= MAX_DEPTH || depth >= MAX_DEPTH)
      throw new YamlFault(1, `it is nested more than ${MAX_DEPTH} deep, with what aliases repeat`)
    const made = { size, depth: depth + 1 }
    measures.set(value, made)
    return made
  }
  measure(root, '', 0)
}
