import { Fault } from '../../../errors/fault.ts'
import { unmatchablePattern, unmatchableRewrite } from '../../patterns/pattern-reach.ts'
import { readablePath } from '../../patterns/readable-path.ts'
import { readRewriteTarget } from '../../patterns/rewrite-target.ts'
import { type Api, isContaining, type OperationRule, type PathMatching } from '../definition/api.ts'
import { definedSegments, unmatchablePath } from '../definition/defined-path.ts'
import type { RewriteRule } from '../definition/operation.ts'
import { domainFault } from '../definition/territory.ts'
import type { Flaw, TreePath } from '../definition/tree.ts'
import { isEmptyRule } from '../read/read-rules.ts'

/** The expression of a path that is found at the beginning of a path, at its end, or anywhere in it. */
export function pathExpression(path: string, matching: PathMatching): string {
  if (isContaining(matching)) {
    const expression = templated(path)
    // Where it has alternatives only the first and the last are anchored: so the incumbent joins texts.
    const start = (matching === 'begins' || matching === 'whole') && path.startsWith('/') ? '^' : ''
    return start + expression + ((matching === 'ends' || matching === 'whole') && !path.endsWith('$') ? '$' : '')
  }
  if (matching !== 'prefix') return path
  // A group is needed for alternatives alone, and hides what is literal.
  return path.includes('|') ? `^(?:${path})` : `^${path}`
}

/**
 * In balanced braces is a placeholder, whatever they hold, and between slashes a star is one, but not the second of two that share a slash, which
 * is any tail: so the incumbent reads them.
 */
function templated(path: string): string {
  const [opened, closed] = [path.split('{').length, path.split('}').length]
  const braced = opened > 1 && opened === closed ? withoutNames(path) : path
  if (braced.includes('/*/*')) return braced.replaceAll('/*/', SEGMENT).replaceAll('/*', '/.*')
  return braced.replace(/\/\*(?=\/)/g, '/{_}')
}

/** A placeholder without a name. */
const SEGMENT = '/{_}/'

/** As `/(?<!\\[pPx])\{[^}]+\}/g` replaced by `{_}`, in time that grows with the length: the expression looks for the end once for each brace. */
function withoutNames(path: string): string {
  const pieces: string[] = []
  let done = 0
  for (let at = path.indexOf('{'); at !== -1; at = path.indexOf('{', Math.max(at + 1, done))) {
    if (/\\[pPx]/.test(path.slice(Math.max(0, at - 2), at))) continue
    const end = path.indexOf('}', at)
    if (end === -1) break
    if (end === at + 1) continue
    pieces.push(path.slice(done, at), '{_}')
    done = end + 1
  }
  return pieces.join('') + path.slice(done)
}

/**
 * Where a definition names a path that no request can have, leads to one, or means fewer requests than it would match: its rules would never be met,
 * or open more than they say. Operations that nothing is said
 * of are not looked at: documents of others may hold paths with a query. `carries`: it is a document that carries lists of its classic days,
 * whose paths are expressions.
 */
export function pathFlaws(read: Api, carries = false): Flaw[] {
  const { format, rules, versioning, domain } = read
  const api: Api = carries && isContaining(read.pathMatching) ? { ...read, format: 'classic' } : read
  const versions = ['version_data', 'versions']
  const flaws: Flaw[] = []
  const unreached = domainFault(domain)
  if (unreached !== undefined) flaws.push({ at: ['domain'], reason: unreached })
  if (format === 'oas') flaws.push(...rulesFlaws(api, rules.operations, ['paths']))
  if (format === 'classic') flaws.push(...rulesFlaws(api, rules.operations, [...versions, 'Default']))
  for (const [name, { operations }] of Object.entries(versioning?.inline ?? {}))
    flaws.push(...rulesFlaws(api, operations, [...versions, name]))
  if (versioning?.location !== 'url') return flaws
  const names = [...Object.keys(versioning.apis), ...Object.keys(versioning.inline)]
  for (const name of new Set(names)) {
    if (name === versioning.default || isSegment(name)) continue
    flaws.push({
      at: ['versions', name],
      reason: 'is no segment of a path, so no request can name it (write it decoded)',
    })
  }
  return flaws
}

function isSegment(name: string): boolean {
  return (
    !/[/\\]/.test(name) &&
    readablePath(name) === name &&
    unmatchablePath(`/${encodeURIComponent(name.toWellFormed())}`, false) === undefined &&
    definedSegments(name)?.length === 1
  )
}

function rulesFlaws(api: Api, operations: readonly OperationRule[], at: TreePath): Flaw[] {
  return operations.flatMap((rule) => {
    if (isEmptyRule(rule)) return []
    const reasons = [pathFault(rule.path, api), rule.rewrite && rewriteFault(rule.rewrite)]
    return reasons.flatMap((reason) => (reason === undefined ? [] : [{ at: [...at, rule.path], reason }]))
  })
}

/** As routers write it: `{id:[0-9]+}`. A template of OpenAPI has a name alone. */
const PATTERN_IN_PLACEHOLDER = /\{[^{}/]*:/

/** Why no rule can be given to a path of an OpenAPI document; undefined where one can. */
export function unruledPath(path: string): string | undefined {
  return pathFault(path, { format: 'oas', pathMatching: 'openapi' })
}

function pathFault(
  path: string,
  { format, pathMatching = 'exact', allowEncodedSlashes }: Pick<Api, 'format' | 'pathMatching' | 'allowEncodedSlashes'>,
): string | undefined {
  // A path of an OpenAPI document is none that its author would write as an expression.
  const isExpression = format === 'classic' && isContaining(pathMatching)
  const reason = unmatchablePath(isExpression ? withoutOperators(path) : path, allowEncodedSlashes === true)
  if (reason !== undefined) return reason
  if (pathMatching === 'openapi' || pathMatching === 'exact')
    return format === 'oas' && PATTERN_IN_PLACEHOLDER.test(path)
      ? 'has a placeholder with a pattern, which would take any segment (write {name}, and check the parameter with validateRequest)'
      : undefined
  // Dots are any characters to an expression, which is hardly what is meant.
  if (path.split('/').some((segment) => /^\.{1,2}$/.test(readablePath(segment))))
    return `holds "." or ".." as a segment, which no path of a request has (pathMatching is "${pathMatching}")`
  try {
    return unmatchablePattern(pathExpression(path, pathMatching))
  } catch (error) {
    if (error instanceof Fault) return error.message
    throw error
  }
}

/** The path without what means something else in an expression: `?`, escaped characters and classes (`\\d`), flags and the beginning of the text. */
function withoutOperators(path: string): string {
  const bare = path.replace(/^\(\?[imsU-]+\)/, '')
  return bare.replace(/\\[^%]|^\^/gs, (found) => (found === '^' ? '' : 'x')).replaceAll('?', '')
}

function rewriteFault({ pattern, rewriteTo, triggers }: RewriteRule): string | undefined {
  const reason = unmatchableRewrite(pattern)
  if (reason !== undefined) return `has a rewrite whose pattern ${reason}`
  const target = [rewriteTo, ...triggers.map((trigger) => trigger.rewriteTo)].find(isRefusedTarget)
  return target === undefined
    ? undefined
    : `is rewritten to ${target}, whose dot segments or "%" without two hexadecimal digits are refused in every request`
}

/** True for a target that produces a refused path for some values of its variables. */
function isRefusedTarget(text: string): boolean {
  const target = readRewriteTarget(text)
  if (text === '' || typeof target === 'string') return false
  const path = target.pieces
    .map((piece) => (typeof piece === 'string' ? piece : '41'))
    .join('')
    .split('?', 1)[0]!
  return /(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i.test(path) || unmatchablePath(path, true) !== undefined
}
