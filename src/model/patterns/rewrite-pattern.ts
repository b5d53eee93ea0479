import { compileNormalised, normalisedRewrite } from './pattern.ts'

/**
 * The pattern of a rewrite, for paths in normal form, whose groups are forwarded unchanged: an escape means its character
 * where paths contain it bare, escapes are in upper case, and characters that are never bare in paths are escapes.
 * @throws Fault `pattern_invalid` (400) which says what is wrong
 */
export function compileRewritePattern(pattern: string): RegExp {
  return compileNormalised(normalisedRewrite(pattern))
}
