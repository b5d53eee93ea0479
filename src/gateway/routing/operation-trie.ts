import { type PatternWork, spendPatternWork } from '../../model/patterns/pattern-work.ts'
import { fits, type PathPattern, type SegmentWords } from './path-pattern.ts'
import { PersistentMap } from './persistent-map.ts'

/** A segment of placeholders and words. */
interface Mixed<T> {
  readonly words: SegmentWords
  readonly key: string
  readonly fixedLength: number
  readonly node: Node<T>
}

interface Node<T> {
  readonly literals: PersistentMap<Node<T>>
  readonly mixed: Map<string, Mixed<T>>
  /** The mixed segments, those with more fixed characters first; undefined until it is first walked. */
  ordered: readonly Mixed<T>[] | undefined
  template: Node<T> | undefined
  /** Of paths that end here, and of those with any tail. */
  readonly ends: T[]
  readonly tails: T[]
}

/**
 * Paths of operations by their segments. A walk meets those that fit a path in one order: segment by segment from the left, a fixed word
 * before a mixed segment (`{id}:cancel`), that before a placeholder alone, a tail (`/*`) last; of mixed segments the one with more fixed
 * characters first. It visits each node once at most.
 */
export class OperationTrie<T> {
  readonly #root: Node<T> = emptyNode()

  add({ segments, anyTail }: PathPattern, value: T): void {
    let node = this.#root
    for (const words of segments) node = childOf(node, words)
    const list = anyTail ? node.tails : node.ends
    list.push(value)
  }

  /** Shows every value whose path fits to `visit`, until it has answered true and those that fit equally well were shown. @throws Fault `patterns_over_budget` */
  walk(path: string, visit: (value: T) => boolean, account: PatternWork): void {
    walk(this.#root, path, 0, visit, account)
  }
}

function emptyNode<T>(): Node<T> {
  return {
    literals: new PersistentMap(),
    mixed: new Map(),
    ordered: undefined,
    template: undefined,
    ends: [],
    tails: [],
  }
}

function childOf<T>(node: Node<T>, words: SegmentWords): Node<T> {
  if (words.length === 1) {
    const known = node.literals.get(words[0]!)
    const child = known ?? emptyNode<T>()
    if (known === undefined) node.literals.put(words[0]!, child)
    return child
  }
  if (words.every((word) => word === '')) {
    node.template ??= emptyNode()
    return node.template
  }
  const key = words.join('{}')
  const known = node.mixed.get(key)
  if (known !== undefined) return known.node
  const child = emptyNode<T>()
  node.mixed.set(key, { words, key, fixedLength: words.join('').length, node: child })
  node.ordered = undefined
  return child
}

const byLength = <T>(a: Mixed<T>, b: Mixed<T>) => b.fixedLength - a.fixedLength || (a.key < b.key ? -1 : 1)

/** Work of comparing a segment with a mixed one, and with each of its words (`pattern-work.ts`). */
const WORK_OF_MIXED = 10

type Visit<T> = (value: T) => boolean

/** True when `visit` has ended the walk. `at` is the position of the slash before the next segment. */
function walk<T>(node: Node<T>, path: string, at: number, visit: Visit<T>, account: PatternWork): boolean {
  if (at >= path.length - 1) return shown(node.ends, visit) || shown(node.tails, visit)
  const end = segmentEnd(path, at)
  const literal = node.literals.find(path, at + 1, end)
  if (literal !== undefined && walk(literal, path, end, visit, account)) return true
  if (node.mixed.size > 0) {
    const fitting = fittingMixed(node, path.slice(at + 1, end), account)
    if (fitting !== NONE && walkMixed(fitting, path, end, visit, account)) return true
  }
  if (node.template !== undefined && walk(node.template, path, end, visit, account)) return true
  return shown(node.tails, visit)
}

/** The same from several nodes that fit a path equally well so far: what comes first among the ways from all of them is met first. */
function walkTied<T>(
  nodes: readonly Node<T>[],
  path: string,
  at: number,
  visit: Visit<T>,
  account: PatternWork,
): boolean {
  if (nodes.length < 2) return nodes.length === 1 && walk(nodes[0]!, path, at, visit, account)
  const tails = () =>
    shown(
      nodes.flatMap((node) => node.tails),
      visit,
    )
  if (at >= path.length - 1)
    return (
      shown(
        nodes.flatMap(({ ends }) => ends),
        visit,
      ) || tails()
    )
  const end = segmentEnd(path, at)
  const literals = nodes.flatMap((node) => node.literals.find(path, at + 1, end) ?? [])
  if (walkTied(literals, path, end, visit, account)) return true
  const segment = path.slice(at + 1, end)
  const mixed = nodes.flatMap((node) => fittingMixed(node, segment, account)).sort(byLength)
  if (walkMixed(mixed, path, end, visit, account)) return true
  const templates = nodes.flatMap(({ template }) => template ?? [])
  return walkTied(templates, path, end, visit, account) || tails()
}

/** Walks from mixed segments, in their order; those with equally many fixed characters are tied. */
function walkMixed<T>(
  mixed: readonly Mixed<T>[],
  path: string,
  end: number,
  visit: Visit<T>,
  account: PatternWork,
): boolean {
  for (let from = 0; from < mixed.length; ) {
    let to = from + 1
    while (to < mixed.length && mixed[to]!.fixedLength === mixed[from]!.fixedLength) to++
    const { node } = mixed[from]!
    const tied = to > from + 1
    if (
      tied
        ? walkTied(mixed.slice(from, to).map(nodeOf), path, end, visit, account)
        : walk(node, path, end, visit, account)
    )
      return true
    from = to
  }
  return false
}

const nodeOf = <T>({ node }: Mixed<T>): Node<T> => node

const NONE: readonly never[] = []

function fittingMixed<T>(node: Node<T>, segment: string, account: PatternWork): readonly Mixed<T>[] {
  node.ordered ??= [...node.mixed.values()].sort(byLength)
  const each = WORK_OF_MIXED + (segment.length >> 3)
  let found: Mixed<T>[] | undefined
  for (const mixed of node.ordered) {
    spendPatternWork(account, each + mixed.words.length)
    if (!fits(mixed.words, segment)) continue
    if (found === undefined) found = [mixed]
    else found.push(mixed)
  }
  return found ?? NONE
}

/** Shows all of these values. True when `visit` has ended the walk with one of them. */
function shown<T>(values: readonly T[], visit: Visit<T>): boolean {
  let ended = false
  for (let i = 0; i < values.length; i++) if (visit(values[i]!)) ended = true
  return ended
}

function segmentEnd(path: string, at: number): number {
  const slash = path.indexOf('/', at + 1)
  return slash === -1 ? path.length : slash
}
