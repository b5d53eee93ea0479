import { fault } from '../errors/fault.ts'
import { compileNormalised, normalisedExpression, type Piece } from './pattern.ts'
import { encodedPath } from './readable-path.ts'

const PIECE = /\\.|(?:%[0-9a-f]{2})+|[[\]]|[\s"<>`]|[^\0-\x7f]/gisu
const BARE = /[A-Za-z0-9\-._~!$&'()*+,;=:@]/

/**
 * The pattern of a rewrite, for paths in normal form, whose groups go on to the upstream as they are: an escape stands for its character
 * where a path holds that bare, escapes are in upper case, and characters that no path holds bare are escapes.
 * @throws Fault `pattern_invalid` (400), which says what is wrong
 */
export function compileRewritePattern(pattern: string): RegExp {
  return compileNormalised(normalisedRewrite(pattern))
}

/** The same pattern in the subset that the linear engine takes. @throws Fault as `compileRewritePattern` */
export function normalisedRewrite(pattern: string): Piece {
  let depth = 0
  let negated = false
  const normal = pattern.replace(PIECE, (piece, at: number) => {
    if (piece.startsWith('\\')) return piece
    if (piece === '[' && depth === 0) {
      depth = 1
      negated = pattern[at + 1] === '^'
      return piece
    }
    if (piece === ']') depth = 0
    if (piece === '[' || piece === ']') return piece
    if (piece.startsWith('%'))
      return piece.replace(/%../g, (triplet) => (depth === 0 ? word(triplet) : member(triplet)))
    if (depth === 0) return `(?:${encodedPath(piece)})`
    if (negated && /[\s"<>`]/.test(piece)) return piece
    throw fault('pattern_invalid', `[${piece}]: paths hold this character escaped, so write it as (?:${piece}|...)`)
  })
  return normalisedExpression(normal)
}

function word(triplet: string): string {
  const character = String.fromCharCode(Number.parseInt(triplet.slice(1), 16))
  return BARE.test(character) ? character.replace(/[^A-Za-z0-9]/, '\\$&') : triplet.toUpperCase()
}

function member(triplet: string): string {
  const own = word(triplet)
  if (!own.startsWith('%')) return own
  throw fault('pattern_invalid', `[${triplet}]: a class holds single characters, so write it as (?:${triplet}|...)`)
}
