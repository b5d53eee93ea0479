import { type Fault, prebuilt } from '../errors/fault.ts'
import { pathExpression } from '../model/api/path-flaws.ts'
import type { OperationRule, PathMatching } from '../model/api.ts'
import { foldLetters } from '../model/fold-letters.ts'
import { pathMatcher } from '../model/matcher.ts'
import type { PatternWork } from '../model/pattern-work.ts'
import { otherReadings, readablePath } from '../model/readable-path.ts'
import type { CompiledOperation } from './exchange.ts'
import { clash, closedByGet, joined, restricted, stricter } from './join-operations.ts'
import { OperationTrie } from './operation-trie.ts'
import { PathPattern } from './path-pattern.ts'

/** A rule, and what it compiled to. */
export interface IndexedRule {
  readonly rule: OperationRule
  readonly operation: CompiledOperation
}

/** What a definition says of a method at a readable path; undefined = nothing. */
type Find = (method: string, path: string, account: PatternWork) => CompiledOperation | undefined

const UNCLEAR = prebuilt(
  'request_malformed',
  'with its encoded slashes decoded the path is another operation, with other changes to the request or its answer',
)

/**
 * Finds what a definition says of a request: of every path that its path may be for the upstream, and of the answers the stricter. A
 * request whose operations cannot be joined is refused.
 */
export function operationIndex(
  rules: readonly IndexedRule[],
  matching: PathMatching,
): (method: string, path: string, account: PatternWork) => CompiledOperation | Fault | undefined {
  const find = matching === 'openapi' ? findOne(rules) : findAll(rules, matching)
  return (method, path, account) => {
    const readable = readablePath(path)
    let operation = find(method, readable, account)
    if (readable === path) return operation
    for (const reading of otherReadings(readable)) {
      const other = find(method, reading, account)
      if (clash(operation, other)) return UNCLEAR
      operation = stricter(operation, other)
    }
    return operation
  }
}

/** What is said of the methods of a path. */
type Methods = Map<string, IndexedRule>

/** Paths of a definition that differ in letter case alone, if at all. */
interface PathItem {
  /** Each path as it is spelled, with all rules for it. */
  readonly spelled: { readonly path: PathPattern; readonly methods: Methods }[]
  /** The rules that ignore letter case: they speak of every other spelling. */
  readonly folded: Methods
}

/**
 * As OpenAPI matches (3.1 section 4.8.8.1): one operation serves a request, concrete paths go before templated ones. Where the path
 * that goes first lacks the method, the operation of a later one restricts the request and opens nothing.
 */
function findOne(rules: readonly IndexedRule[]): Find {
  const fold = rules.some(({ rule }) => rule.ignoreCase)
  const trie = new OperationTrie<PathItem>()
  for (const [path, item] of itemsOf(rules, fold)) trie.add(path, item)
  // Of the request that is looked for; one at a time.
  const sought = { method: '', path: '', found: undefined as CompiledOperation | undefined, lacking: false }
  const visit = (item: PathItem): boolean => {
    const methods = fold ? methodsAt(item, sought.path) : item.spelled[0]!.methods
    if (methods === undefined) return false
    const { method } = sought
    const entry = methods.get(method) ?? (method === 'HEAD' ? methods.get('GET') : undefined) ?? methods.get('')
    if (entry === undefined) sought.lacking = true
    sought.found = entry?.operation
    return entry !== undefined
  }
  const find = (method: string, path: string) => {
    sought.method = method
    sought.path = path
    sought.found = undefined
    sought.lacking = false
    trie.walk(fold ? foldLetters(path) : path, visit)
    const { found, lacking } = sought
    return found !== undefined && lacking ? restricted(found) : found
  }
  return (method, path) => (method === 'HEAD' ? closedByGet(find(method, path), find('GET', path)) : find(method, path))
}

function methodsAt({ spelled, folded }: PathItem, path: string): Methods | undefined {
  for (const each of spelled) if (each.path.matches(path)) return each.methods
  return folded.size === 0 ? undefined : folded
}

/** The items of a definition by their paths: with `fold`, those that differ in letter case alone are one. */
function itemsOf(rules: readonly IndexedRule[], fold: boolean): Iterable<[PathPattern, PathItem]> {
  const items = new Map<string, [PathPattern, PathItem]>()
  for (const each of rules) {
    const { ignoreCase, method } = each.rule
    const item = entryOf(
      items,
      new PathPattern(each.rule.path, fold),
      (): PathItem => ({ spelled: [], folded: new Map() }),
    )
    addRule(spellingOf(item, new PathPattern(each.rule.path, false)), method, each)
    if (ignoreCase) addRule(item.folded, method, each)
  }
  for (const [, { spelled, folded }] of items.values()) {
    for (const methods of [folded, ...spelled.map((each) => each.methods)]) joinAny(methods)
  }
  return items.values()
}

function entryOf<T>(entries: Map<string, [PathPattern, T]>, path: PathPattern, make: () => T): T {
  const shape = shapeOf(path)
  const known = entries.get(shape)
  if (known !== undefined) return known[1]
  const made = make()
  entries.set(shape, [path, made])
  return made
}

/** Paths that differ in the names of placeholders alone are one. */
const shapeOf = ({ segments, anyTail }: PathPattern) => JSON.stringify([segments, anyTail])

function spellingOf({ spelled }: PathItem, path: PathPattern): Methods {
  const known = spelled.find((each) => shapeOf(each.path) === shapeOf(path))
  if (known !== undefined) return known.methods
  const methods: Methods = new Map()
  spelled.push({ path, methods })
  return methods
}

function addRule(methods: Methods, method: string, rule: IndexedRule): void {
  const known = methods.get(method)
  methods.set(method, known === undefined ? rule : both(known, rule))
}

/** What is said of any method holds for each. */
function joinAny(methods: Methods): void {
  const any = methods.get('')
  if (any === undefined) return
  for (const [method, own] of methods) {
    if (own !== any) methods.set(method, { rule: own.rule, operation: joined(own.operation, any.operation) })
  }
}

/** Of two operations whose paths are not spelled the same the stricter counts. */
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
  return (method, path, account) => {
    sought.method = method
    each(path, visit, account)
    const { found } = sought
    if (found.length === 0) return undefined
    if (found.length > 1) found.sort(byOrder)
    const operation = found.map((entry) => entry.operation).reduce(joined)
    found.length = 0
    return operation
  }
}

type Visit = (entry: IndexedRule) => boolean
type Each = (path: string, visit: Visit, account: PatternWork) => void

function wholePaths(rules: readonly IndexedRule[]): Each {
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
    if (folds) folded.walk(foldLetters(path), visit)
  }
}

/** Paths as expressions: found anywhere in the path, or at its beginning. */
function expressions(rules: readonly IndexedRule[], matching: PathMatching): Each {
  const entries = rules.map((entry) => {
    const { path, ignoreCase } = entry.rule
    return { entry, ignoreCase, matcher: pathMatcher(pathExpression(path, matching), ignoreCase) }
  })
  const folds = rules.some(({ rule }) => rule.ignoreCase)
  return (path, visit, account) => {
    const folded = folds ? foldLetters(path) : path
    for (const { entry, ignoreCase, matcher } of entries)
      if (matcher.test(ignoreCase ? folded : path, account)) visit(entry)
  }
}
