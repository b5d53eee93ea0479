import { parsePathTemplate, placeholderExpression } from '../../model/apis/definition/template.ts'
import { encodedPath, readablePath } from '../../model/patterns/readable-path.ts'
import { foldPath } from '../../model/text/fold.ts'
import type { RouteMatch, Routes, ServedApi } from '../server/exchange.ts'
import { PersistentMap } from './persistent-map.ts'

/** A piece of a listen path: a fixed word, or a placeholder with the pattern that it must match in full. */
export type PathSegment = string | { readonly pattern: RegExp | undefined; readonly source: string }

interface Node {
  readonly literals: PersistentMap<Node>
  readonly placeholders: readonly {
    readonly pattern: RegExp | undefined
    readonly source: string
    readonly node: Node
  }[]
  readonly served: ServedApi | undefined
}

const EMPTY: Node = { literals: new PersistentMap(), placeholders: [], served: undefined }

export interface RouteEntry {
  /** Lower case; '' answers on every host. */
  readonly domain: string
  readonly segments: readonly PathSegment[]
  readonly ignoreCase: boolean
  readonly served: ServedApi
}

/**
 * Finds the API of a request by host and path: at segment borders, longest listen path first, a fixed word before a placeholder,
 * an API with the request's domain before one for every host. At a domain that an organisation owns, no other one answers.
 * Immutable: `with` and `without` answer a new router that shares all nodes off the changed path, so that requests in flight
 * keep the old one.
 */
export class Router implements Routes {
  readonly #hosts: ReadonlyMap<string, Node>
  /** Tries of APIs that ignore case, keyed and searched with letters folded. */
  readonly #folded: ReadonlyMap<string, Node>
  /** Organisations by the domain that they own. */
  readonly #owners: ReadonlyMap<string, string>
  /** True when some API answers on one host only. */
  readonly #named: boolean

  constructor(
    hosts: ReadonlyMap<string, Node> = new Map(),
    folded: ReadonlyMap<string, Node> = new Map(),
    owners: ReadonlyMap<string, string> = new Map(),
  ) {
    this.#hosts = hosts
    this.#folded = folded
    this.#owners = owners
    this.#named = [...hosts.keys(), ...folded.keys(), ...owners.keys()].some((domain) => domain !== '')
  }

  /** Builds a router from nothing, without a copy per entry. Entries must not collide. */
  static of(entries: Iterable<RouteEntry>, owners: ReadonlyMap<string, string> = new Map()): Router {
    const hosts = new Map<string, Node>()
    const folded = new Map<string, Node>()
    for (const entry of entries) {
      const map = entry.ignoreCase ? folded : hosts
      map.set(entry.domain, grow(map.get(entry.domain), keyed(entry), 0, entry.served))
    }
    return new Router(hosts, folded, owners)
  }

  /** The API at exactly this place, if any. */
  at(domain: string, segments: readonly PathSegment[], ignoreCase: boolean): ServedApi | undefined {
    let node = (ignoreCase ? this.#folded : this.#hosts).get(domain)
    for (const segment of keyed({ segments, ignoreCase })) {
      if (node === undefined) return undefined
      node =
        typeof segment === 'string'
          ? node.literals.get(segment)
          : node.placeholders.find((child) => child.source === segment.source)?.node
    }
    return node?.served
  }

  with(entry: RouteEntry): Router {
    return this.#replaced(entry.domain, keyed(entry), entry.ignoreCase, entry.served)
  }

  without(domain: string, segments: readonly PathSegment[], ignoreCase: boolean): Router {
    return this.#replaced(domain, keyed({ segments, ignoreCase }), ignoreCase, undefined)
  }

  /** Says which organisation owns a domain; undefined = none does. */
  withOwner(domain: string, orgId: string | undefined): Router {
    if (this.#owners.get(domain) === orgId) return this
    const owners = new Map(this.#owners)
    if (orgId === undefined) owners.delete(domain)
    else owners.set(domain, orgId)
    return new Router(this.#hosts, this.#folded, owners)
  }

  /** The organisation that owns the domain of a request; undefined = none does. */
  ownerOf(host: string): string | undefined {
    return this.#owners.get(withoutLastDot(host))
  }

  /** Writes where the path leads into `match`; `served` is undefined when nothing answers there. */
  find(host: string, path: string, match: RouteMatch): void {
    match.served = undefined
    match.restAt = 0
    if (this.#named && host !== '' && this.#findNamed(withoutLastDot(host), path, match)) return
    this.#findAt('', path, match)
  }

  /** Looks at the APIs of a domain. True when that settles it: no other organisation answers at a domain that one owns. */
  #findNamed(host: string, path: string, match: RouteMatch): boolean {
    this.#findAt(host, path, match)
    if (match.served !== undefined) return true
    const owner = this.#owners.get(host)
    if (owner === undefined) return false
    this.#findAt('', path, match)
    if (orgOf(match) === owner) return true
    match.served = undefined
    match.restAt = 0
    return true
  }

  #findAt(domain: string, path: string, match: RouteMatch): void {
    descend(this.#hosts.get(domain), path, match)
    if (match.served !== undefined || this.#folded.size === 0) return
    const folded = foldPath(path)
    descend(this.#folded.get(domain), folded, match)
    if (folded.length !== path.length || path.includes('%')) match.restAt = sameSlash(folded, match.restAt, path)
  }

  #replaced(
    domain: string,
    segments: readonly PathSegment[],
    ignoreCase: boolean,
    served: ServedApi | undefined,
  ): Router {
    const from = ignoreCase ? this.#folded : this.#hosts
    const root = replace(from.get(domain) ?? EMPTY, segments, 0, served)
    const map = new Map(from)
    if (isBare(root)) map.delete(domain)
    else map.set(domain, root)
    const [hosts, folded] = ignoreCase ? [this.#hosts, map] : [map, this.#folded]
    return new Router(hosts, folded, this.#owners)
  }
}

function keyed(entry: Pick<RouteEntry, 'segments' | 'ignoreCase'>): readonly PathSegment[] {
  if (!entry.ignoreCase) return entry.segments
  return entry.segments.map((segment) => (typeof segment === 'string' ? foldPath(segment) : segment))
}

/** Position in `other` of the slash that is in `path` at `at`; the end stays the end. Both have the same number of slashes. */
function sameSlash(path: string, at: number, other: string): number {
  if (at === path.length) return other.length
  let same = 0
  for (let slash = 0; slash < at; slash = path.indexOf('/', slash + 1)) same = other.indexOf('/', same + 1)
  return same
}

const orgOf = ({ served }: RouteMatch) => served?.api.orgId

/** A name with a dot at its end is the same name (RFC 1034 section 3.1). */
function withoutLastDot(host: string): string {
  return host.charCodeAt(host.length - 1) === DOT ? host.slice(0, -1) : host
}

const DOT = 46

function isBare(node: Node): boolean {
  return node.served === undefined && node.literals.size === 0 && node.placeholders.length === 0
}

/** Copies the nodes on the path only. Nodes that nothing needs any more go. */
function replace(node: Node, segments: readonly PathSegment[], at: number, served: ServedApi | undefined): Node {
  if (at === segments.length) return { ...node, served }
  const segment = segments[at]!
  if (typeof segment === 'string') {
    const child = replace(node.literals.get(segment) ?? EMPTY, segments, at + 1, served)
    return { ...node, literals: isBare(child) ? node.literals.without(segment) : node.literals.with(segment, child) }
  }
  const known = node.placeholders.find((child) => child.source === segment.source)
  const child = replace(known?.node ?? EMPTY, segments, at + 1, served)
  const others = node.placeholders.filter((other) => other !== known)
  return { ...node, placeholders: isBare(child) ? others : sortPlaceholders([...others, { ...segment, node: child }]) }
}

/** Placeholders with a pattern are tried before those that take anything. */
function sortPlaceholders(list: Node['placeholders'][number][]): Node['placeholders'] {
  return list.sort((a, b) => Number(b.pattern !== undefined) - Number(a.pattern !== undefined))
}

/** As `replace`, but fills the maps of the node under construction instead of copying them. */
function grow(node: Node | undefined, segments: readonly PathSegment[], at: number, served: ServedApi): Node {
  // The end of most listen paths: it has no map of its own.
  const base = node ?? EMPTY
  if (at === segments.length) return { ...base, served }
  const segment = segments[at]!
  if (typeof segment === 'string') {
    const child = grow(base.literals.get(segment), segments, at + 1, served)
    if (base.literals !== EMPTY.literals) {
      base.literals.put(segment, child)
      return base
    }
    return { ...base, literals: new PersistentMap<Node>().put(segment, child) }
  }
  const known = base.placeholders.find((child) => child.source === segment.source)
  const child = { ...segment, node: grow(known?.node, segments, at + 1, served) }
  return { ...base, placeholders: sortPlaceholders([...base.placeholders.filter((other) => other !== known), child]) }
}

/** Follows fixed words without a copy; leaves for `explore` where a placeholder comes into play. */
function descend(root: Node | undefined, path: string, match: RouteMatch): void {
  let node = root
  let at = 0 // index of the `/` before the next segment
  while (node !== undefined) {
    if (node.placeholders.length > 0) {
      explore(node, path, at, match)
      return
    }
    if (node.served !== undefined) {
      match.served = node.served
      match.restAt = at
    }
    if (at >= path.length - 1 || node.literals.size === 0) return
    const slash = path.indexOf('/', at + 1)
    const end = slash === -1 ? path.length : slash
    node = node.literals.find(path, at + 1, end)
    at = end
  }
}

/** Looks into every branch that fits; the longest match wins, a fixed word before a placeholder. */
function explore(node: Node, path: string, at: number, match: RouteMatch): void {
  if (node.served !== undefined && (match.served === undefined || at > match.restAt)) {
    match.served = node.served
    match.restAt = at
  }
  if (at >= path.length - 1) return
  const end = path.indexOf('/', at + 1)
  const next = end === -1 ? path.length : end
  const segment = path.slice(at + 1, next)
  const literal = node.literals.get(segment)
  if (literal !== undefined) explore(literal, path, next, match)
  for (const child of node.placeholders) {
    if (child.pattern === undefined || child.pattern.test(readablePath(segment))) explore(child.node, path, next, match)
  }
}

/** A listen path as the router stores it: placeholders with their pattern anchored, words in the normal form of requests. */
export function routeSegments(listenPath: string, ignoreCase: boolean): PathSegment[] {
  return parsePathTemplate(listenPath).map((segment) => {
    if (typeof segment === 'string') return encodedPath(segment)
    const source = segment.pattern ?? ''
    return { source, pattern: source === '' ? undefined : placeholderExpression(source, ignoreCase) }
  })
}

/** The place that an API answers at, as one text: two APIs with equal places collide. */
export function placeKey(domain: string, segments: readonly PathSegment[], ignoreCase: boolean): string {
  const path = segments
    .map((segment) =>
      typeof segment === 'string' ? (ignoreCase ? foldPath(segment) : segment) : `{${segment.source}}`,
    )
    .join('/')
  return `${domain} ${path}${ignoreCase ? ' i' : ''}`
}
