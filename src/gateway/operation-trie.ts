import { fits, type PathPattern, type SegmentWords } from './path-pattern.ts'
import { Words } from './words.ts'

interface Mixed<T> {
  readonly words: SegmentWords
  readonly node: Node<T>
}

interface Node<T> {
  readonly literals: Words<Node<T>>
  /** Segments of placeholders and words, those with more fixed characters first. */
  readonly mixed: Mixed<T>[]
  template: Node<T> | undefined
  /** Of paths that end here, and of those that go on with any tail. */
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

  /** Shows every value whose path fits to `visit`, until it answers true. */
  walk(path: string, visit: (value: T) => boolean): void {
    walk(this.#root, path, 0, visit)
  }
}

function emptyNode<T>(): Node<T> {
  return { literals: new Words(), mixed: [], template: undefined, ends: [], tails: [] }
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
  const known = node.mixed.find((each) => each.words.join('{}') === key)
  if (known !== undefined) return known.node
  const child = emptyNode<T>()
  node.mixed.push({ words, node: child })
  node.mixed.sort(
    (a, b) => fixedLength(b.words) - fixedLength(a.words) || compare(a.words.join('{}'), b.words.join('{}')),
  )
  return child
}

const fixedLength = (words: SegmentWords) => words.join('').length
const compare = (a: string, b: string) => (a < b ? -1 : Number(a > b))

/** True when `visit` has ended the walk. `at` is the position of the slash before the next segment. */
function walk<T>(node: Node<T>, path: string, at: number, visit: (value: T) => boolean): boolean {
  if (at >= path.length - 1) return node.ends.some(visit) || node.tails.some(visit)
  const slash = path.indexOf('/', at + 1)
  const end = slash === -1 ? path.length : slash
  const literal = node.literals.find(path, at + 1, end)
  if (literal !== undefined && walk(literal, path, end, visit)) return true
  if (node.mixed.length > 0) {
    const segment = path.slice(at + 1, end)
    for (const { words, node: child } of node.mixed)
      if (fits(words, segment) && walk(child, path, end, visit)) return true
  }
  if (node.template !== undefined && walk(node.template, path, end, visit)) return true
  return node.tails.some(visit)
}
