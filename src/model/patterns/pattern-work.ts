import { prebuilt } from '../../errors/fault.ts'

/**
 * Most work that one request may put into patterns and schemas, in all its checks together: operations, rights, limits by endpoint,
 * rewrites and their triggers, descriptions of bodies and parameters. The unit is 2 ns. An expression costs what it takes at worst
 * (`bounded-expression.ts`); a pattern whose literal parts the text lacks costs an eighth of the length alone. So a path of 100 characters
 * is compared with 1,500 expressions, or with a million literal ones. Keywords of schemas: `api/schema-work.ts`.
 */
export const MOST_PATTERN_WORK = 20_000_000
/** The further cost of an expression: it is compiled at its first run, and again when the engine has dropped it (about 70 µs). */
export const WORK_OF_EXPRESSION = 10_000

/** Nothing is served that was not compared with all that it must be. */
export const TOO_MUCH_WORK = prebuilt('patterns_over_budget')

/** The work of a request so far: the request itself, or a separate account without a request. */
export interface PatternWork {
  patternWork: number
}

/** A separate account. */
export function newPatternWork(): PatternWork {
  return { patternWork: 0 }
}

/** @throws Fault `patterns_over_budget` (503), so that nothing is served that was not compared with all that it must be */
export function spendPatternWork(account: PatternWork, work: number): void {
  account.patternWork += work
  if (account.patternWork > MOST_PATTERN_WORK) throw TOO_MUCH_WORK
}
