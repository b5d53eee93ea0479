import type { OperationRule, PathMatching } from '../model/api.ts'
import { compilePattern } from '../model/pattern.ts'
import { otherReadings, readablePath } from '../model/readable-path.ts'
import type { CompiledOperation } from './exchange.ts'
import { joined, restricted, stricter } from './join-operations.ts'
import { OperationTrie } from './operation-trie.ts'
import { PathPattern } from './path-pattern.ts'

/** A rule, and what it compiled to. */
export interface IndexedRule {
  readonly rule: OperationRule
  readonly operation: CompiledOperation
}

/** What a definition says of a method at a readable path; undefined = nothing. */
type Find = (method: string, path: string) => CompiledOperation | undefined

/** Finds what a definition says of a request: of every path that its path may be for the upstream, and of the answers the stricter. */
export function operationIndex(rules: readonly IndexedRule[], matching: PathMatching): Find {
  const find = matching === 'openapi' ? findOne(rules) : findAll(rules, matching)
  return (method, path) => {
    const readable = readablePath(path)
    const operation = find(method, readable)
    if (readable === path) return operation
    return otherReadings(readable).reduce((strict, reading) => stricter(strict, find(method, reading)), operation)
  }
}

/** One path of a definition, with all that it says of its methods. */
interface PathItem {
  readonly path: PathPattern
  ignoreCase: boolean
  readonly methods: Map<string, IndexedRule>
}

/**
 * As OpenAPI matches (3.1 section 4.8.8.1): one operation serves a request, concrete paths go before templated ones. Where the path
 * that goes first lacks the method, the operation of a later one restricts the request and opens nothing.
 */
function findOne(rules: readonly IndexedRule[]): Find {
  const fold = rules.some(({ rule }) => rule.ignoreCase)
  const trie = new OperationTrie<PathItem>()
  // Of paths that differ in letter case alone, one that heeds it goes first.
  const items = [...itemsOf(rules)].sort(([, a], [, b]) => Number(a.ignoreCase) - Number(b.ignoreCase))
  for (const [path, item] of items) trie.add(new PathPattern(path, fold), item)
  // Of the request that is looked for; one at a time.
  const sought = { method: '', path: '', found: undefined as CompiledOperation | undefined, lacking: false }
  const visit = (item: PathItem): boolean => {
    if (fold && !item.ignoreCase && !item.path.matches(sought.path)) return false
    const { methods } = item
    const { method } = sought
    const entry = methods.get(method) ?? (method === 'HEAD' ? methods.get('GET') : undefined) ?? methods.get('')
    if (entry === undefined) sought.lacking = true
    sought.found = entry?.operation
    return entry !== undefined
  }
  return (method, path) => {
    sought.method = method
    sought.path = path
    sought.found = undefined
    sought.lacking = false
    trie.walk(fold ? path.toLowerCase() : path, visit)
    const { found, lacking } = sought
    return found !== undefined && lacking ? restricted(found) : found
  }
}

/** Paths that differ in the names of placeholders alone are one, and of two operations there the stricter counts. */
function itemsOf(rules: readonly IndexedRule[]): Map<string, PathItem> {
  const byShape = new Map<string, PathItem>()
  const items = new Map<string, PathItem>()
  for (const each of rules) {
    const path = new PathPattern(each.rule.path, false)
    const shape = JSON.stringify([path.segments, path.anyTail])
    let item = byShape.get(shape)
    if (item === undefined) {
      item = { path, ignoreCase: false, methods: new Map() }
      byShape.set(shape, item)
      items.set(each.rule.path, item)
    }
    if (each.rule.ignoreCase) item.ignoreCase = true
    const known = item.methods.get(each.rule.method)
    item.methods.set(each.rule.method, known === undefined ? each : both(known, each))
  }
  for (const { methods } of items.values()) {
    const any = methods.get('')
    if (any === undefined) continue
    for (const [method, own] of methods) {
      if (own !== any) methods.set(method, { rule: own.rule, operation: joined(own.operation, any.operation) })
    }
  }
  return items
}

function both(known: IndexedRule, other: IndexedRule): IndexedRule {
  const join = known.rule.path === other.rule.path ? joined : stricter
  return { rule: known.rule, operation: join(known.operation, other.operation)! }
}

/** As lists match: all entries that fit are joined, in their order. An entry for GET speaks of HEAD too, behind those for HEAD. */
function findAll(rules: readonly IndexedRule[], matching: PathMatching): Find {
  const each = matching === 'exact' ? wholePaths(rules) : expressions(rules, matching)
  const sought = { method: '', found: [] as IndexedRule[] }
  const visit = (entry: IndexedRule): boolean => {
    const { method } = entry.rule
    if (method === '' || method === sought.method || (sought.method === 'HEAD' && method === 'GET'))
      sought.found.push(entry)
    return false
  }
  const order = new Map(rules.map((entry, index) => [entry, index]))
  const byOrder = (a: IndexedRule, b: IndexedRule) => last(a) - last(b) || order.get(a)! - order.get(b)!
  const last = (entry: IndexedRule) => Number(sought.method === 'HEAD' && entry.rule.method === 'GET')
  return (method, path) => {
    sought.method = method
    each(path, visit)
    const { found } = sought
    if (found.length === 0) return undefined
    if (found.length > 1) found.sort(byOrder)
    const operation = found.map((entry) => entry.operation).reduce(joined)
    found.length = 0
    return operation
  }
}

type Visit = (entry: IndexedRule) => boolean

function wholePaths(rules: readonly IndexedRule[]): (path: string, visit: Visit) => void {
  const exact = new OperationTrie<IndexedRule>()
  const folded = new OperationTrie<IndexedRule>()
  for (const entry of rules) {
    const { path, ignoreCase } = entry.rule
    const trie = ignoreCase ? folded : exact
    trie.add(new PathPattern(path, ignoreCase), entry)
  }
  const folds = rules.some(({ rule }) => rule.ignoreCase)
  return (path, visit) => {
    exact.walk(path, visit)
    if (folds) folded.walk(path.toLowerCase(), visit)
  }
}

/** Paths as expressions: found anywhere in the path, or at its beginning. */
function expressions(rules: readonly IndexedRule[], matching: PathMatching): (path: string, visit: Visit) => void {
  const entries = rules.map((entry) => {
    const { path, ignoreCase } = entry.rule
    const text = ignoreCase ? lowerCase(path) : path
    return { entry, ignoreCase, expression: compilePattern(matching === 'prefix' ? `^(?:${text})` : text) }
  })
  return (path, visit) => {
    const lower = path.toLowerCase()
    for (const { entry, ignoreCase, expression } of entries)
      if (expression.test(ignoreCase ? lower : path)) visit(entry)
  }
}

/** Classes such as `\D` mean something else in lower case. */
function lowerCase(pattern: string): string {
  return pattern.replace(/\\.|[^\\]/gs, (piece) => (piece.startsWith('\\') ? piece : piece.toLowerCase()))
}
