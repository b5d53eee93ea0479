import { prebuilt } from '../../errors/fault.ts'

/** Code points of a category, script or complement are hundreds of ranges: they are written out, and parsed by the engine. */
const WEIGHT_OF_PROPERTY = 4000

/** A letter without regard to case is a class. */
const WEIGHT_OF_CASELESS = 10

/** Rounds that a pattern with properties can have before it is refused as too large. */
const MOST_ROUNDS_OF_PROPERTY = 20

const MOST_ROUNDS = 600

/**
 * Most work that one request may put into patterns and schemas, in all its checks together: operations, rights, limits by endpoint,
 * rewrites and their triggers, descriptions of bodies and parameters. The unit is 2 ns. An expression costs what it takes at worst
 * (`bounded-expression.ts`); a pattern whose literal parts the text lacks costs an eighth of the length alone. So a path of 100 characters
 * is compared with 1,500 expressions, or with a million literal ones. Keywords of schemas: `model/apis/check/schema-work.ts`.
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

/**
 * The cost of compiling an expression, at most, found without compiling it: its length, where it is written out as it is. In characters of an
 * ordinary expression, about 0.4 µs each.
 */
export function compileWeight(source: string): number {
  const properties = countOf(source, /\\[pP]/g)
  const caseless = /\(\?[msU]*i/.test(source) ? WEIGHT_OF_CASELESS : 1
  const rounds = roundsOf(source)
  const own = source.length * caseless + (rounds > 1 ? rounds * caseless : 0)
  return own + properties * WEIGHT_OF_PROPERTY * Math.min(rounds, MOST_ROUNDS_OF_PROPERTY) * Math.min(caseless, 2)
}

/** How often a part can be written out: all counted repetitions in each other. */
function roundsOf(source: string): number {
  let rounds = 1
  for (const [, least = '', most = ''] of source.matchAll(/\{(\d{1,9})(?:,(\d{0,9}))?\}/g)) {
    rounds *= Math.max(1, Number(least), Number(most))
    if (rounds > MOST_ROUNDS) return MOST_ROUNDS
  }
  return rounds
}

function countOf(text: string, what: RegExp): number {
  return text.match(what)?.length ?? 0
}
