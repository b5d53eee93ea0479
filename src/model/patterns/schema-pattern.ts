import { fault } from '../../errors/fault.ts'
import { BoundedExpression } from './bounded-expression.ts'
import { normalisedSchemaPattern } from './pattern.ts'

/** Longest expression that is compiled: its automaton is bounded by its bytes. */
const MAX_LENGTH = 4000
/** Most rounds of one repetition that only multiply the cost; with more the cost grows with the text. */
const FEW_ROUNDS = 8
/** Nesting of groups. */
const MAX_DEPTH = 50
const SURROGATE = /[\uD800-\uDFFF]/

/**
 * A `pattern` of JSON Schema: an expression of ECMA-262 with the flag `u`. Where the linear engine takes it, its work is linear in the
 * text; look-around, Unicode properties and long counted repetition run in V8's own engine, where their syntax bounds the work.
 */
export class SchemaPattern {
  /** The engine with bounded work; it takes characters beyond U+FFFF for two. */
  readonly #bounded: BoundedExpression | undefined
  readonly #source: string
  #native: Native | null | undefined

  /** @throws Fault `pattern_invalid` (400) when no engine takes it in bounded time */
  constructor(source: string) {
    if (source.length > MAX_LENGTH) throw fault('pattern_invalid', `longer than ${MAX_LENGTH} characters`)
    let refusal: unknown
    try {
      if (SURROGATE.test(source))
        throw fault('pattern_invalid', 'characters beyond U+FFFF need an expression without nested repetition')
      this.#bounded = new BoundedExpression(normalisedSchemaPattern(source))
    } catch (error) {
      refusal = error
    }
    this.#source = source
    if (this.#bounded === undefined && this.#asNative() === null) throw refusal
  }

  /** The highest cost of a text, in units of 2 ns. */
  workOf(text: string): number {
    const { length } = text
    if (this.#bounded !== undefined && !this.#isForNative(text)) return this.#bounded.workOf(length)
    const { factor, power } = this.#asNative()!.cost
    return length + (factor * length ** power) / 2
  }

  test(text: string): boolean {
    if (this.#bounded !== undefined && !this.#isForNative(text)) return this.#bounded.test(text)
    return this.#asNative()!.expression.test(text)
  }

  #isForNative(text: string): boolean {
    return SURROGATE.test(text) && this.#asNative() !== null
  }

  /** Most patterns never need it: it is compiled when it is first asked for. null = it has no bounds. */
  #asNative(): Native | null {
    if (this.#native !== undefined) return this.#native
    const expression = compiled(this.#source)
    const cost = expression && costOf(this.#source)
    this.#native = cost === undefined ? null : { expression: expression!, cost }
    return this.#native
  }
}

interface Native {
  readonly expression: RegExp
  readonly cost: Cost
}

function compiled(source: string): RegExp | undefined {
  for (const flag of ['u', '']) {
    try {
      return new RegExp(source, flag)
    } catch {
      // Many authors escape characters that `u` lets nobody escape.
    }
  }
  return undefined
}

/** The cost of matching a text at worst: `factor` times the length to the power of `power`. */
interface Cost {
  readonly factor: number
  readonly power: number
}

interface Part extends Cost {
  /** True when there is more than one way to match it. */
  readonly isChoice: boolean
}

/** Cost by the syntax; undefined where it may be more than a power of the length (one repetition in another, a back-reference). */
function costOf(source: string): Cost | undefined {
  let at = 0
  const skipClass = () => {
    while (at < source.length && source[at] !== ']') at += source[at] === '\\' ? 2 : 1
    at++
  }
  const readEscape = (): boolean => {
    const char = source[at++] ?? ''
    if (/[1-9k]/.test(char)) return false
    if ('pPu'.includes(char) && source[at] === '{') at = source.indexOf('}', at) + 1
    return true
  }
  let tops = 0
  const alternatives = (depth: number): Part | undefined => {
    if (depth > MAX_DEPTH) return undefined
    let whole: Part | undefined
    for (;;) {
      const one = sequence(depth)
      if (one === undefined) return undefined
      const { factor, power } = one
      whole = whole ? { factor: whole.factor + factor, power: Math.max(whole.power, power), isChoice: true } : one
      if (depth === 0) tops++
      if (source[at] !== '|') return whole
      at++
    }
  }
  const sequence = (depth: number): Part | undefined => {
    let factor = 0
    let power = 0
    let peak = 0
    let isChoice = false
    while (at < source.length && source[at] !== '|' && source[at] !== ')') {
      const char = source[at++]!
      let part: Part = { factor: 1, power: 0, isChoice: false }
      if (char === '[') skipClass()
      else if (char === '\\' && !readEscape()) return undefined
      else if (char === '(') {
        const looks = /^\?<?[=!]/.test(source.slice(at, at + 3))
        at += /^\?(?:<?[=!]|:|<[^>]*>)?/.exec(source.slice(at))?.[0].length ?? 0
        const inner = alternatives(depth + 1)
        if (inner === undefined || source[at++] !== ')') return undefined
        // Nothing goes back into what was looked at.
        if (looks) {
          peak = Math.max(peak, power + inner.power)
          factor += inner.factor
          continue
        }
        part = inner
      }
      const rounds = roundsAt(source, at)
      at += rounds?.length ?? 0
      const { least = 1, most = 1 } = rounds ?? {}
      if (most > 1 && part.isChoice) return undefined
      const ways = most - least + 1
      factor = (factor + part.factor * Math.max(least, 1)) * (ways <= FEW_ROUNDS ? ways : 1)
      power += part.power + (ways <= FEW_ROUNDS ? 0 : 1)
      isChoice ||= part.isChoice || ways > 1
    }
    return { factor, power: Math.max(power, peak), isChoice }
  }
  const whole = alternatives(0)
  if (whole === undefined || at !== source.length) return undefined
  // Without an anchor every character may be a start.
  const starts = source.startsWith('^') && tops === 1 ? 0 : 1
  return { factor: Math.max(whole.factor, 1), power: whole.power + starts }
}

function roundsAt(source: string, at: number): { least: number; most: number; length: number } | undefined {
  const sign = source[at]
  const lazy = (length: number) => (source[at + length] === '?' ? length + 1 : length)
  if (sign === '?') return { least: 0, most: 1, length: lazy(1) }
  if (sign === '*' || sign === '+') return { least: 0, most: Number.POSITIVE_INFINITY, length: lazy(1) }
  const counted = /^\{(\d+)(,?)(\d*)\}/.exec(source.slice(at, at + 30))
  if (counted === null) return undefined
  const [whole, least, comma, most] = counted
  const end = comma === '' ? least : most === '' ? Number.POSITIVE_INFINITY : most
  return { least: Number(least), most: Number(end), length: lazy(whole.length) }
}
