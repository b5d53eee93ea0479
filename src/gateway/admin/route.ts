import { fault } from '../../errors/fault.ts'
import type { Awaitable } from '../../store/ports/ports.ts'
import type { AdminAnswer } from './answer.ts'
import type { AdminRequest } from './request.ts'

/** One call of the administration API. */
export interface AdminRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below the prefix, `/keys/{key}`: a placeholder is one whole segment. */
  readonly path: string
  /** True for a GET that acts: HEAD, which must change nothing, is refused. */
  readonly acts?: true
  readonly run: (request: AdminRequest) => Awaitable<AdminAnswer>
}

/** The routes of a path by method, and the segments of its placeholders, as sent. */
export interface AdminRouteMatch {
  readonly methods: ReadonlyMap<string, AdminRoute>
  readonly names: readonly string[]
  readonly values: readonly string[]
}

interface Node {
  readonly words: Map<string, Node>
  any: Node | undefined
  readonly methods: Map<string, AdminRoute>
  /** Names of the placeholders on the way here. */
  names: readonly string[]
}

const newNode = (): Node => ({ words: new Map(), any: undefined, methods: new Map(), names: [] })

/** The routes of a table as a tree of segments. A word beats a placeholder. */
export class RouteTree {
  readonly #root = newNode()

  constructor(routes: readonly AdminRoute[]) {
    for (const route of routes) this.#add(route)
  }

  /** Finds the routes of a path below the prefix, `/keys/abc` or `/keys/abc/`; undefined when there are none. */
  find(path: string): AdminRouteMatch | undefined {
    let node: Node | undefined = this.#root
    const values: string[] = []
    for (const segment of segmentsOf(path)) {
      const next: Node | undefined = node.words.get(segment)
      if (next === undefined) values.push(segment)
      node = next ?? node.any
      if (node === undefined) return undefined
    }
    if (node.methods.size === 0) return undefined
    return { methods: node.methods, names: node.names, values }
  }

  #add(route: AdminRoute): void {
    let node = this.#root
    const names: string[] = []
    for (const segment of segmentsOf(route.path)) {
      if (segment.startsWith('{')) {
        names.push(segment.slice(1, -1))
        node.any ??= newNode()
        node = node.any
        continue
      }
      let next = node.words.get(segment)
      if (next === undefined) {
        next = newNode()
        node.words.set(segment, next)
      }
      node = next
    }
    if (node.methods.size > 0 && node.names.join() !== names.join())
      throw fault('internal', `${route.path}: one path, two names for its parts`)
    node.names = names
    node.methods.set(route.method, route)
  }
}

function segmentsOf(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '')
}
