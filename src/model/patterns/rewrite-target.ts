import { compileNormalised, normalisedRewrite } from './pattern.ts'
import { asksForSecret, readVariables, type VariablePiece } from './variables.ts'

/** A part of a rewritten path: a text as it is, a variable, a group of the pattern, or a find of a trigger. */
export type RewritePiece =
  | VariablePiece
  | { readonly group: number }
  /** `found` is the name of the rule, and the index of the value where one is asked for; group 0 = all of what matched. */
  | { readonly trigger: number; readonly found: string; readonly group: number }

/** Where a rewrite leads. */
export interface RewriteTarget {
  /** `https://host:port`; '' = the upstream of the API. */
  readonly origin: string
  /** Id of the API that takes over, or `self`; '' = none. */
  readonly api: string
  /** True = the request names the API that takes over: its id is what the pieces make before their first slash. */
  readonly namesApi: boolean
  /** Path and query; begins with `/`, unless `namesApi`. */
  readonly pieces: readonly RewritePiece[]
  /** True = its first slash was not written. */
  readonly relative: boolean
}

const ADDRESS = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)(.*)$/is
/** Groups, and finds of triggers, whose rules may have names with hyphens. */
const PIECE =
  /\$(\d{1,2})|\$[a-z][a-z0-9]*_context\.trigger-(\d{1,3})-((?:\w+-)*?\w*[A-Za-z_]\w*(?:-\d{1,3})?)(?:-(\d{1,2}))?(?![\w-])/g
/** Characters of a path and query (RFC 3986 sections 3.3 and 3.4). */
const LITERAL = /^[A-Za-z0-9\-._~!$&'()*+,;=:@/?%]*$/
/** The options that the incumbent reads from the query of such an address. */
const LOOP_OPTION = /[?&](?:method|loop_limit|check_limits)=/

/** Takes a target apart. Answers the reason in words that follow "the target" when it is none that we serve. */
export function readRewriteTarget(text: string): RewriteTarget | string {
  const address = ADDRESS.exec(text)
  const scheme = address?.[1]?.toLowerCase() ?? ''
  const isInner = scheme.startsWith('svc')
  const authority = address?.[2] ?? ''
  const rest = address === null ? text : (address[3] ?? '')
  const namesApi = isInner && authority.includes('$')
  if (authority.includes('$') && !namesApi) return 'must name its host as it is'
  if (!['', 'http', 'https', 'svc'].includes(scheme)) return 'must be a path, or an address of http, https or svc'
  if (scheme !== '' && authority === '') return 'must name a host'
  if (isInner && LOOP_OPTION.test(rest)) return 'must not set method, loop_limit or check_limits'
  if (scheme.startsWith('http') && URL.parse(`${scheme}://${authority}`)?.host !== authority.toLowerCase())
    return 'must name a plain host and port'
  const relative = !rest.startsWith('/')
  const path = relative ? `/${rest}` : rest
  const pieces = piecesOf(namesApi ? `${authority}${path}` : path)
  if (typeof pieces === 'string') return pieces
  if (isInner) return { origin: '', api: namesApi ? '' : authority, namesApi, pieces, relative }
  return { origin: scheme === '' ? '' : `${scheme}://${authority}`, api: '', namesApi, pieces, relative }
}

function piecesOf(text: string): RewritePiece[] | string {
  const pieces: RewritePiece[] = []
  let from = 0
  const between = (literal: string): string | undefined => {
    if (asksForSecret(literal)) return 'asks for a secret of a store ($secret_...), which the gateway does not read'
    pieces.push(...readVariables(literal))
    return undefined
  }
  for (const match of text.matchAll(PIECE)) {
    const unknown = between(text.slice(from, match.index))
    if (unknown !== undefined) return unknown
    pieces.push(pieceOf(match))
    from = match.index + match[0].length
  }
  const unknown = between(text.slice(from))
  if (unknown !== undefined) return unknown
  for (const piece of pieces) {
    if (typeof piece !== 'string') continue
    if (!LITERAL.test(piece)) return 'must hold only characters of a path and query'
  }
  return pieces
}

function pieceOf([, group, trigger, found = '', inner]: RegExpExecArray): RewritePiece {
  if (group !== undefined) return { group: Number(group) }
  return { trigger: Number(trigger), found, group: inner === undefined ? 0 : Number(inner) + 1 }
}

/**
 * The pattern of a rewrite, for paths in normal form, whose groups are forwarded unchanged: an escape means its character
 * where paths contain it bare, escapes are in upper case, and characters that are never bare in paths are escapes.
 * @throws Fault `pattern_invalid` (400) which says what is wrong
 */
export function compileRewritePattern(pattern: string): RegExp {
  return compileNormalised(normalisedRewrite(pattern))
}
