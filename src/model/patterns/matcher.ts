import { BoundedExpression } from './bounded-expression.ts'
import { normalisedPattern } from './pattern.ts'
import type { PatternPiece } from './pattern-reader.ts'
import { type PatternWork, spendPatternWork, WORK_OF_EXPRESSION } from './pattern-work.ts'

/**
 * A pattern as texts are compared with it: first with the literal parts that every matching text must hold, then, where the text holds
 * it, with the expression. A literal costs about 10 ns, an expression 60 ns and more, and 70 µs when it is first run.
 */
export class Matcher {
  /** The text must begin with it. */
  readonly prefix: string
  /** The text must hold it. */
  readonly part: string
  /** True when the pattern is the prefix and nothing else. */
  readonly exact: boolean
  readonly #expression: BoundedExpression
  /** The literal parts around its placeholders, where it is nothing else. */
  readonly #template: readonly string[] | undefined
  readonly #anchored: boolean

  /** @throws Fault `pattern_invalid` (400) */
  constructor(normalised: PatternPiece) {
    this.#expression = new BoundedExpression(normalised)
    const { prefix, part, exact } = literalsOf(normalised.text)
    this.prefix = prefix
    this.part = part
    this.exact = exact
    this.#anchored = normalised.text.startsWith('^')
    this.#template = templateOf(this.#anchored ? normalised.text.slice(1) : normalised.text)
  }

  /** @throws Fault `patterns_over_budget` (503) when the request has compared too much already */
  test(text: string, account: PatternWork): boolean {
    if (this.exact) {
      spendPatternWork(account, WORK_OF_LITERAL)
      return text === this.prefix
    }
    if (this.#template === undefined) return this.#mayMatch(text, account) && this.#expression.test(text)
    if (!this.#holdsLiterals(text, account)) return false
    spendPatternWork(account, text.length)
    return matchesTemplate(text, this.#template, this.#anchored)
  }

  /** Its match in a text. @throws Fault as `test` */
  exec(text: string, account: PatternWork): RegExpExecArray | null {
    return this.#mayMatch(text, account) ? this.#expression.exec(text) : null
  }

  /** Its first matches in a text, at most so many. @throws Fault as `test` */
  execAll(text: string, account: PatternWork, most: number): RegExpExecArray[] {
    const first = this.exec(text, account)
    if (first === null || most <= 1) return first === null ? [] : [first]
    spendPatternWork(account, most * this.#expression.workOf(text.length))
    return [...this.#expression.matches(text).take(most)]
  }

  #holdsLiterals(text: string, account: PatternWork): boolean {
    spendPatternWork(account, WORK_OF_LITERAL + (text.length >> 3))
    // `includes` takes 30 ns more.
    return text.startsWith(this.prefix) && (this.part === '' || text.indexOf(this.part) !== -1)
  }

  #mayMatch(text: string, account: PatternWork): boolean {
    if (!this.#holdsLiterals(text, account)) return false
    spendPatternWork(account, WORK_OF_EXPRESSION + this.#expression.workOf(text.length))
    return true
  }
}

/** The cost of finding that a text does not begin as it must; to search it costs an eighth of a unit for each character. */
const WORK_OF_LITERAL = 5

/**
 * The matcher of a pattern of paths; with `ignoreCase` of such that `foldLetters` has folded.
 * @throws Fault `pattern_invalid` (400) as `compilePattern`
 */
export function pathMatcher(text: string, ignoreCase = false): Matcher {
  return new Matcher(normalisedPattern(text, ignoreCase))
}

/** A placeholder as it is normalised. */
const PLACEHOLDER = '[^/]+'
/** Literal text, and placeholders that end where their segment does: each takes all that it can, so that there is one way to match. */
const TEMPLATE =
  /^(?:[^\\^$.*+?()[\]{}|]|\\[^A-Za-z0-9])+(?:\[\^\/\]\+(?:\\\/(?:[^\\^$.*+?()[\]{}|]|\\[^A-Za-z0-9])*|$))+$/

function templateOf(normalised: string): readonly string[] | undefined {
  if (!TEMPLATE.test(normalised)) return undefined
  return normalised.split(PLACEHOLDER).map((literal) => literal.replace(/\\(.)/gs, '$1'))
}

/** True where the parts follow one another with a segment between them: 30 ns, where an expression takes 60 ns to 2 µs. */
function matchesTemplate(text: string, parts: readonly string[], anchored: boolean): boolean {
  const first = parts[0]!
  let start = anchored ? (text.startsWith(first) ? 0 : -1) : text.indexOf(first)
  while (start !== -1) {
    if (follows(text, start + first.length, parts)) return true
    start = anchored ? -1 : text.indexOf(first, start + 1)
  }
  return false
}

function follows(text: string, from: number, parts: readonly string[]): boolean {
  let at = from
  for (let i = 1; i < parts.length; i++) {
    if (at >= text.length || text[at] === '/') return false
    const part = parts[i]!
    if (part === '') return true
    const end = text.indexOf('/', at)
    if (end === -1 || !text.startsWith(part, end)) return false
    at = end + part.length
  }
  return true
}

const OPERATOR = /[\\^$.*+?()[\]{}|]/

/** The parts outside groups, classes and repetitions of a pattern without alternatives. `normalised` escapes every other operator. */
function literalsOf(normalised: string): { readonly prefix: string; readonly part: string; readonly exact: boolean } {
  const none = { prefix: '', part: '', exact: false }
  const runs: string[] = []
  let run = ''
  let depth = 0
  let inClass = false
  const end = () => {
    if (run !== '') runs.push(run)
    run = ''
  }
  for (let at = 0; at < normalised.length; at++) {
    const char = normalised[at]!
    const escaped = char === '\\' ? normalised[++at]! : ''
    if (escaped !== '') {
      if (depth > 0 || inClass) continue
      if (/[A-Za-z]/.test(escaped)) end()
      else run += escaped
    } else if (inClass) inClass = char !== ']'
    else if (char === '|' && depth === 0) return none
    else if (OPERATOR.test(char)) {
      end()
      // How often a group repeats.
      if (char === '{') at = normalised.indexOf('}', at)
      if (char === '[') inClass = true
      if (char === '(') depth++
      if (char === ')') depth--
    } else if (depth === 0) run += char
  }
  end()
  const begins = normalised.startsWith('^') && runs.length > 0 && normalised.startsWith(escapedText(runs[0]!), 1)
  const prefix = begins ? runs[0]! : ''
  const exact = begins && normalised === `^${escapedText(prefix)}$`
  const part = runs.slice(begins ? 1 : 0).reduce((longest, each) => (each.length > longest.length ? each : longest), '')
  return { prefix, part, exact }
}

function escapedText(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}

const MAX_CACHED = 10_000
/** Module state: a cache of immutable values: matchers by their text. */
const compiled = new Map<string, Matcher | undefined>()

/** The pattern compiled once for all who use it; undefined when it does not compile, and so never matches. */
export function matcherFor(text: string, ignoreCase = false): Matcher | undefined {
  const key = ignoreCase ? `i ${text}` : `c ${text}`
  if (compiled.has(key)) return compiled.get(key)
  if (compiled.size >= MAX_CACHED) for (const oldest of compiled.keys()) if (compiled.delete(oldest)) break
  const made = matcherOrNone(text, ignoreCase)
  compiled.set(key, made)
  return made
}

function matcherOrNone(text: string, ignoreCase: boolean): Matcher | undefined {
  try {
    return pathMatcher(text, ignoreCase)
  } catch {
    return undefined
  }
}
