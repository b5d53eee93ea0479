import { prebuilt } from '../errors/fault.ts'

/**
 * Most work that one check of a request may put into its patterns. The unit is a character of the path looked at by one part of an
 * expression, which bounds what the linear engine does (2 ns each). A pattern whose literal parts the path lacks costs the length of the
 * path alone. So a path of 100 characters is compared with 1,500 expressions of 30 parts, or with 200,000 literal ones.
 */
export const MOST_PATTERN_WORK = 20_000_000
/** What an expression costs besides: it is compiled when it is first run, and again when the engine has dropped it (about 70 µs). */
export const WORK_OF_EXPRESSION = 10_000

const TOO_MUCH = prebuilt('patterns_over_budget')

/** One check runs at a time: none of them waits. */
let left = MOST_PATTERN_WORK

/** Begins a check: of the rights, of the limits by endpoint, of the operations, of a rewrite. */
export function beginPatternWork(): void {
  left = MOST_PATTERN_WORK
}

/** @throws Fault `patterns_over_budget` (503), so that nothing is served that was not compared with all that it must be */
export function spendPatternWork(work: number): void {
  left -= work
  if (left < 0) throw TOO_MUCH
}

/** How much the check has spent so far. */
export function spentPatternWork(): number {
  return MOST_PATTERN_WORK - left
}
