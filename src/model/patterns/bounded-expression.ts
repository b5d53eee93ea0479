import { compileNormalised, MAX_BACKTRACKED_CHOICES, widthOf } from './pattern.ts'
import type { PatternPiece } from './pattern-reader.ts'

/** Work of the linear engine: 300 ns for each text, and 16 ns for each part that looks at a character. In units of 2 ns. */
const WORK_OF_TEXT = 150
const WORK_OF_PART = 8
/**
 * Most steps, at worst, that the backtracking engine is given (20 µs). It is 25 times faster on ordinary texts, but V8's own bound of
 * 50,000 backtracks is no bound: each may look at the whole text again, which took 86 ms for `a*a*b` and 5,000 characters.
 */
const MOST_BACKTRACKED = 10_000

/** An expression that takes bounded time for each text: the engine is chosen by what each would cost at worst. */
export class BoundedExpression {
  readonly #piece: PatternPiece
  readonly #width: number
  /** How often a character may be looked at again: with the power of the text's length. */
  readonly #power: number
  #fast: RegExp | undefined
  #linear: RegExp | undefined

  /** @throws Fault `pattern_invalid` (400) */
  constructor(piece: PatternPiece) {
    this.#piece = piece
    const { anchored, choices, size } = piece
    this.#width = 1 + (anchored ? widthOf(piece) : size)
    this.#power = choices > MAX_BACKTRACKED_CHOICES ? Number.POSITIVE_INFINITY : choices + (anchored ? 0 : 1)
    // Says at once when it does not compile.
    if (this.#power === Number.POSITIVE_INFINITY) this.#linear = compileNormalised(piece)
    else this.#fast = compileNormalised(piece)
  }

  /** The highest cost of a text of so many characters, in units of 2 ns. */
  workOf(length: number): number {
    const backtracked = this.#backtracked(length)
    if (backtracked <= MOST_BACKTRACKED) return length + backtracked
    return WORK_OF_TEXT + WORK_OF_PART * length * this.#width
  }

  test(text: string): boolean {
    return this.#for(text.length).test(text)
  }

  exec(text: string): RegExpExecArray | null {
    return this.#for(text.length).exec(text)
  }

  /** Its matches, each of which is looked for when it is asked for: that may look at the whole text again. */
  matches(text: string): IteratorObject<RegExpExecArray> {
    const { source, flags } = this.#for(text.length)
    return new RegExp(source, `${flags}g`)[Symbol.matchAll](text)
  }

  #backtracked(length: number): number {
    return (this.#width * length ** this.#power) / 2
  }

  #for(length: number): RegExp {
    if (this.#fast !== undefined && this.#backtracked(length) <= MOST_BACKTRACKED) return this.#fast
    this.#linear ??= compileNormalised({ ...this.#piece, choices: Number.POSITIVE_INFINITY })
    return this.#linear
  }
}
