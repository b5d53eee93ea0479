/** Code points of a category, script or complement are hundreds of ranges: they are written out, and parsed by the engine. */
const WEIGHT_OF_PROPERTY = 4000
/** A letter without regard to case is a class. */
const WEIGHT_OF_CASELESS = 10
/** Rounds that a pattern with properties can have before it is refused as too large. */
const MOST_ROUNDS_OF_PROPERTY = 20
const MOST_ROUNDS = 600

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
