import { type Fault, prebuilt } from '../../errors/fault.ts'
import { pathExpression } from '../../model/apis/check/path-flaws.ts'
import { isContaining, type OperationRule, type PathMatching } from '../../model/apis/definition/api.ts'
import { pathMatcher } from '../../model/patterns/matcher.ts'
import { type PatternWork, spendPatternWork } from '../../model/patterns/pattern-work.ts'
import { otherReadings, readablePath } from '../../model/patterns/readable-path.ts'
import { foldLetters } from '../../model/text/fold.ts'
import type { CompiledOperation } from '../server/exchange.ts'
import { ExpressionIndex } from './expression-index.ts'
import { clash, closedByGet, joined, joinedAll, restricted, stricter } from './join-operations.ts'
import { OperationTrie } from './operation-trie.ts'
import { PathPattern } from './path-pattern.ts'

/** A rule, and what it compiled to. */
export interface IndexedRule {
  readonly rule: OperationRule
  readonly operation: CompiledOperation
}

/** The settings of a method at a readable path, which begins with so many characters of a listen path; undefined = none. */
type Find = (method: string, path: string, account: PatternWork, listened: number) => CompiledOperation | undefined

const UNCLEAR = prebuilt(
  'request_malformed',
  'with its encoded slashes decoded the path is another operation, with other changes to the request or its answer',
)

/**
 * Finds what a definition says of a request: of every path that its path may be for the upstream, and of the answers the stricter. A
 * request whose operations cannot be joined is refused. The path may hold the listen path, which has so many characters.
 */
export function operationIndex(
  rules: readonly IndexedRule[],
  matching: PathMatching,
): (method: string, path: string, account: PatternWork, listened?: number) => CompiledOperation | Fault | undefined {
  const find = matching === 'openapi' ? findOne(rules) : findAll(rules, matching)
  return (method, path, account, listened = 0) => {
    const readable = readablePath(path)
    const start = listened === 0 || readable === path ? listened : readablePath(path.slice(0, listened)).length
    let operation = find(method, readable, account, start)
    if (readable === path) return operation
    for (const reading of otherReadings(readable)) {
      const other = find(method, reading, account, start)
      if (clash(operation, other)) return UNCLEAR
      operation = stricter(operation, other)
    }
    return operation
  }
}

/** The settings of a path's methods. */
type Methods = Map<string, IndexedRule>

/** Paths of a definition that differ in letter case alone, if at all. */
interface PathItem {
  /** Each path as it is spelled, with all rules for it. */
  readonly spelled: { readonly path: PathPattern; readonly methods: Methods }[]
  /** The rules that ignore letter case: they speak of every other spelling. */
  readonly folded: Methods
}

/**
 * As OpenAPI matches (3.1 section 4.8.8.1): one operation serves a request, concrete paths go before templated ones. OpenAPI leaves the
 * choice between paths such as `/a{x}` and `/{x}a` open: of those the stricter operation serves it. Where the path that goes first
 * lacks the method, the operation of a later one restricts the request and opens nothing.
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
    if (entry === undefined) return false
    // Of paths that fit equally well the stricter operation counts.
    sought.found = sought.found === undefined ? entry.operation : stricter(sought.found, entry.operation)
    return true
  }
  const find = (method: string, path: string, account: PatternWork) => {
    sought.method = method
    sought.path = path
    sought.found = undefined
    sought.lacking = false
    trie.walk(fold ? foldLetters(path) : path, visit, account)
    const { found, lacking } = sought
    return found !== undefined && lacking ? restricted(found) : found
  }
  return (method, path, account) =>
    method === 'HEAD'
      ? closedByGet(find(method, path, account), find('GET', path, account))
      : find(method, path, account)
}

function methodsAt({ spelled, folded }: PathItem, path: string): Methods | undefined {
  for (const each of spelled) if (each.path.matches(path)) return each.methods
  return folded.size === 0 ? undefined : folded
}

/** The rules of an item by method, as they are met. */
type Lists = Map<string, IndexedRule[]>

interface DraftItem {
  readonly pattern: PathPattern
  readonly spelled: Map<string, { readonly path: PathPattern; readonly lists: Lists }>
  readonly folded: Lists
}

/** The items of a definition by their paths: with `fold`, those that differ in letter case alone are one. */
function itemsOf(rules: readonly IndexedRule[], fold: boolean): [PathPattern, PathItem][] {
  const items = new Map<string, DraftItem>()
  for (const each of rules) {
    const { ignoreCase, method } = each.rule
    const pattern = new PathPattern(each.rule.path, fold)
    const item = entryOf(items, shapeOf(pattern), () => ({ pattern, spelled: new Map(), folded: new Map() }))
    const path = new PathPattern(each.rule.path, false)
    const { lists } = entryOf(item.spelled, shapeOf(path), () => ({ path, lists: new Map() as Lists }))
    entryOf<IndexedRule[]>(lists, method, () => []).push(each)
    if (ignoreCase) entryOf<IndexedRule[]>(item.folded, method, () => []).push(each)
  }
  return [...items.values()].map(({ pattern, spelled, folded }) => [
    pattern,
    {
      spelled: [...spelled.values()].map(({ path, lists }) => ({ path, methods: methodsOf(lists) })),
      folded: methodsOf(folded),
    },
  ])
}

function entryOf<T>(entries: Map<string, T>, key: string, make: () => T): T {
  const known = entries.get(key)
  if (known !== undefined) return known
  const made = make()
  entries.set(key, made)
  return made
}

/** Paths that differ in the names of placeholders alone are one. */
const shapeOf = ({ segments, anyTail }: PathPattern) => JSON.stringify([segments, anyTail])

function methodsOf(lists: Lists): Methods {
  const methods: Methods = new Map()
  for (const [method, list] of lists) methods.set(method, { rule: list[0]!.rule, operation: strictest(list) })
  joinAny(methods)
  return methods
}

/** Of operations whose paths are not spelled the same the stricter counts. */
function strictest(list: readonly IndexedRule[]): CompiledOperation {
  const byPath = new Map<string, CompiledOperation[]>()
  for (const { rule, operation } of list) entryOf<CompiledOperation[]>(byPath, rule.path, () => []).push(operation)
  let operations = [...byPath.values()].map(joinedAll)
  // By twos: each operation is copied as often as their number can be halved.
  while (operations.length > 1) {
    const half: CompiledOperation[] = []
    for (let i = 0; i < operations.length; i += 2)
      half.push(i + 1 < operations.length ? stricter(operations[i], operations[i + 1])! : operations[i]!)
    operations = half
  }
  return operations[0]!
}

/** Settings of any method apply to each. */
function joinAny(methods: Methods): void {
  const any = methods.get('')
  if (any === undefined) return
  for (const [method, own] of methods) {
    if (own !== any) methods.set(method, { rule: own.rule, operation: joined(own.operation, any.operation) })
  }
}

/** Work of joining an operation with others (`pattern-work.ts`). */
const WORK_OF_JOINED = 100

/** Most joins that are remembered for a definition. */
const MOST_JOINS = 1000

/** The join of the entries on the way to it. */
interface Join {
  operation: CompiledOperation | undefined
  readonly next: Map<IndexedRule, Join>
}

/** Joins lists of entries, each once. */
function joins(): (found: readonly IndexedRule[]) => CompiledOperation {
  let root: Join = { operation: undefined, next: new Map() }
  let count = 0
  return (found) => {
    if (found.length === 1) return found[0]!.operation
    if (count > MOST_JOINS) {
      root = { operation: undefined, next: new Map() }
      count = 0
    }
    let join = root
    for (const entry of found) {
      let next = join.next.get(entry)
      if (next === undefined) {
        next = { operation: undefined, next: new Map() }
        join.next.set(entry, next)
        count++
      }
      join = next
    }
    join.operation ??= joinedAll(found.map((entry) => entry.operation))
    return join.operation
  }
}

/** As lists match: all entries that fit are joined, in their order. An entry for GET speaks of HEAD too, behind those for HEAD. */
function findAll(rules: readonly IndexedRule[], matching: PathMatching): Find {
  const each = matching === 'exact' ? wholePaths(rules) : expressions(rules, matching)
  const join = joins()
  const sought = { method: '', found: [] as IndexedRule[] }
  const visit = (entry: IndexedRule): boolean => {
    if (speaksOf(entry, sought.method)) sought.found.push(entry)
    return false
  }
  const order = new Map(rules.map((entry, index) => [entry, index]))
  const byOrder = (a: IndexedRule, b: IndexedRule) => last(a) - last(b) || order.get(a)! - order.get(b)!
  const last = (entry: IndexedRule) => Number(sought.method === 'HEAD' && entry.rule.method === 'GET')
  return (method, path, account, listened) => {
    sought.method = method
    // Entries of a request that was refused on the way are not those of the next.
    sought.found.length = 0
    each(method, path, visit, account, listened)
    const { found } = sought
    if (found.length === 0) return undefined
    if (found.length > 1) found.sort(byOrder)
    spendPatternWork(account, found.length * WORK_OF_JOINED)
    return join(found)
  }
}

function speaksOf({ rule }: IndexedRule, method: string): boolean {
  return rule.method === '' || rule.method === method || (method === 'HEAD' && rule.method === 'GET')
}

type Visit = (entry: IndexedRule) => boolean
type Each = (method: string, path: string, visit: Visit, account: PatternWork, listened: number) => void

function wholePaths(rules: readonly IndexedRule[]): Each {
  const exact = new OperationTrie<IndexedRule>()
  const folded = new OperationTrie<IndexedRule>()
  for (const entry of rules) {
    const { path, ignoreCase } = entry.rule
    const trie = ignoreCase ? folded : exact
    trie.add(new PathPattern(path, ignoreCase), entry)
  }
  const folds = rules.some(({ rule }) => rule.ignoreCase)
  return (_method, path, visit, account) => {
    exact.walk(path, visit, account)
    if (folds) folded.walk(foldLetters(path), visit, account)
  }
}

/** Paths as expressions: found anywhere in the path, or at its beginning. One that names the beginning is looked for below the listen path too. */
function expressions(rules: readonly IndexedRule[], matching: PathMatching): Each {
  const begins = matching === 'begins' || matching === 'whole'
  const namesStart = ({ rule: { path } }: IndexedRule) => path.includes('^') || (begins && path.startsWith('/'))
  const anchored = isContaining(matching) ? rules.filter(namesStart) : []
  const whole = expressionsIn(rules, matching)
  if (anchored.length === 0) return whole
  const below = expressionsIn(anchored, matching)
  return (method, path, visit, account, listened) => {
    const met = new Set<IndexedRule>()
    const once = (entry: IndexedRule) => !met.has(entry) && met.add(entry) !== undefined && visit(entry)
    whole(method, path, once, account, listened)
    if (listened > 0) below(method, path.slice(listened) || '/', once, account, listened)
  }
}

function expressionsIn(rules: readonly IndexedRule[], matching: PathMatching): Each {
  const all = rules.map((entry) => {
    const { path, ignoreCase } = entry.rule
    return { entry, ignoreCase, matcher: pathMatcher(pathExpression(path, matching), ignoreCase) }
  })
  const folds = rules.some(({ rule }) => rule.ignoreCase)
  const indexOf = (method: string, fold: boolean) =>
    new ExpressionIndex(all.filter(({ entry, ignoreCase }) => ignoreCase === fold && speaksOf(entry, method)))
  const methods = new Set(['', 'HEAD', ...rules.map(({ rule }) => rule.method)])
  const byMethod = new Map(
    [...methods].map((method) => [
      method,
      { exact: indexOf(method, false), folded: folds ? indexOf(method, true) : undefined },
    ]),
  )
  return (method, path, visit, account) => {
    const { exact, folded } = byMethod.get(method) ?? byMethod.get('')!
    exact.walk(path, visit, account)
    folded?.walk(foldLetters(path), visit, account)
  }
}
