import { normalisedExpression } from '../../patterns/pattern.ts'

const MAX_LENGTH = 200
const MAX_REPEATS = 3

/**
 * True for a regular expression that does not compile, is long, or could take more than linear time by nesting:
 * a repeated group that itself repeats or branches, a back-reference, a look-around.
 * Patterns run on what anybody sends, so one slow pattern would hold up every request of the node.
 */
export function isRiskyPattern(source: string): boolean {
  if (source.length > MAX_LENGTH || !compiles(source)) return true
  const groups: boolean[] = [] // per open group: whether it repeats or branches inside
  let repeats = 0
  for (let at = 0; at < source.length; at++) {
    const char = source[at]!
    if (char === '\\') {
      if (/[1-9k]/.test(source[at + 1] ?? '')) return true
      at++
      continue
    }
    if (char === '[') {
      at = classEnd(source, at)
      continue
    }
    if (char === '(') {
      if (/^\(\?(?:=|!|<=|<!)/.test(source.slice(at, at + 4))) return true
      groups.push(false)
      if (source[at + 1] === '?') at++ // a mark of the group, not a repeat
      continue
    }
    if (char === '|' || isRepeat(source, at)) {
      if (groups.length > 0) groups[groups.length - 1] = true
      if (char !== '|' && char !== '?') repeats++
      continue
    }
    if (char !== ')') continue
    const inner = groups.pop() ?? false
    if (inner && isRepeat(source, at + 1) && source[at + 1] !== '?') return true
    if (inner && groups.length > 0) groups[groups.length - 1] = true
  }
  // Neighbouring repeats make a polynomial; its degree is at most the number of them.
  return repeats > MAX_REPEATS
}

function compiles(source: string): boolean {
  try {
    compileSafePattern(source)
    return true
  } catch {
    return false
  }
}

/**
 * The expression of a pattern that is not risky, in the syntax of RE2 where it has that. It is searched, or with `whole` compared with all of
 * a text. @throws SyntaxError
 */
export function compileSafePattern(source: string, { whole = false, ignoreCase = false } = {}): RegExp {
  const text = inNativeSyntax(source)
  return new RegExp(whole ? `^(?:${text})$` : text, ignoreCase ? 'i' : '')
}

function inNativeSyntax(source: string): string {
  try {
    return normalisedExpression(source).text
  } catch {
    return source
  }
}

/** `{3}` is no choice and costs nothing; all others leave more than one way to match. */
function isRepeat(source: string, at: number): boolean {
  const char = source[at]
  return char === '*' || char === '+' || char === '?' || (char === '{' && /^\{\d+,\d*\}/.test(source.slice(at)))
}

/** Position of the bracket that ends a character class. */
function classEnd(source: string, from: number): number {
  let at = from + 1
  while (at < source.length && source[at] !== ']') at += source[at] === '\\' ? 2 : 1
  return at
}
