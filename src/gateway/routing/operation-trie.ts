import { type PatternWork, spendPatternWork } from '../../model/patterns/pattern-work.ts'
import { fits, type PathPattern, type SegmentWords } from './path-pattern.ts'
import { SegmentMap } from './segment-map.ts'

/** A segment of placeholders and words. */
interface Mixed<T> {
  readonly words: SegmentWords
  readonly key: string
  readonly fixedLength: number
  readonly node: Node<T>
}

interface Node<T> {
  readonly literals: SegmentMap<Node<T>>
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
 * before a mixed segment (`{id}:cancel`), that before a placeholder alone, a tail (`/*`) last. It visits each node once at most.
 */
export class OperationTrie<T> {
  readonly #root: Node<T> = emptyNode()

  add({ segments, anyTail }: PathPattern, value: T): void {
    let node = this.#root
    for (const words of segments) node = childOf(node, words)
    const list = anyTail ? node.tails : node.ends
    list.push(value)
  }

  /** Shows every value whose path fits to `visit`, until it answers true. @throws Fault `patterns_over_budget` */
  walk(path: string, visit: (value: T) => boolean, account: PatternWork): void {
    walk(this.#root, path, 0, visit, account)
  }
}

function emptyNode<T>(): Node<T> {
  return { literals: new SegmentMap(), mixed: new Map(), ordered: undefined, template: undefined, ends: [], tails: [] }
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

/** True when `visit` has ended the walk. `at` is the position of the slash before the next segment. */
function walk<T>(node: Node<T>, path: string, at: number, visit: (value: T) => boolean, account: PatternWork): boolean {
  if (at >= path.length - 1) return node.ends.some(visit) || node.tails.some(visit)
  const slash = path.indexOf('/', at + 1)
  const end = slash === -1 ? path.length : slash
  const literal = node.literals.find(path, at + 1, end)
  if (literal !== undefined && walk(literal, path, end, visit, account)) return true
  if (node.mixed.size > 0) {
    node.ordered ??= [...node.mixed.values()].sort(byLength)
    const segment = path.slice(at + 1, end)
    const each = WORK_OF_MIXED + (segment.length >> 3)
    for (const { words, node: child } of node.ordered) {
      spendPatternWork(account, each + words.length)
      if (fits(words, segment) && walk(child, path, end, visit, account)) return true
    }
  }
  if (node.template !== undefined && walk(node.template, path, end, visit, account)) return true
  return node.tails.some(visit)
}
