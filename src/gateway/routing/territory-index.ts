import {
  isShared,
  type SharedHosts,
  type Territory,
  territoriesOverlap,
} from '../../model/apis/definition/territory.ts'
import { foldPath } from '../../model/text/fold-letters.ts'

/** The owner of a territory: an API of an organisation. */
export interface TerritoryOwner {
  readonly orgId: string
  readonly territory: Territory
}

interface Node<T> {
  /** By folded word. */
  readonly literals: Map<string, Node<T>>
  /** With any patterns. */
  placeholder: Node<T> | undefined
  readonly holders: Set<T>
  /** How many holders of each organisation are here and below. */
  readonly orgs: Map<string, number>
}

/**
 * Finds the holders of other organisations whose territory overlaps a given one, without a look at those elsewhere: what is at or below
 * a listen path, and above it, is on or under one way through a tree of segments.
 */
export class TerritoryIndex<T extends TerritoryOwner> {
  readonly #domains = new Map<string, Node<T>>()
  /** Those of the domains that no organisation owns, but for ''. */
  readonly #shared = new Set<string>()
  readonly #held = new Set<T>()
  readonly #hosts: SharedHosts

  constructor(hosts: SharedHosts) {
    this.#hosts = hosts
  }

  has(holder: T): boolean {
    return this.#held.has(holder)
  }

  add(holder: T): void {
    this.#held.add(holder)
    const { domain } = holder.territory
    if (!this.#domains.has(domain)) this.#domains.set(domain, emptyNode())
    if (domain !== '' && isShared(domain, this.#hosts)) this.#shared.add(domain)
    for (const node of this.#way(holder)) node.orgs.set(holder.orgId, (node.orgs.get(holder.orgId) ?? 0) + 1)
    this.#way(holder).at(-1)!.holders.add(holder)
  }

  delete(holder: T): void {
    if (!this.#held.delete(holder)) return
    const way = this.#way(holder)
    way.at(-1)!.holders.delete(holder)
    for (const { orgs } of way) {
      const left = orgs.get(holder.orgId)! - 1
      if (left === 0) orgs.delete(holder.orgId)
      else orgs.set(holder.orgId, left)
    }
    prune(way, holder.territory)
    if (way[0]!.orgs.size > 0) return
    this.#domains.delete(holder.territory.domain)
    this.#shared.delete(holder.territory.domain)
  }

  /** Whose a domain is; undefined where it is shared, and where nobody has it. */
  ownerOf(domain: string): string | undefined {
    if (isShared(domain, this.#hosts)) return undefined
    const [owner] = this.#domains.get(domain)?.orgs.keys() ?? []
    return owner
  }

  /** The owners of all domains that have one. */
  owners(): ReadonlyMap<string, string> {
    const owners = new Map<string, string>()
    for (const domain of this.#domains.keys()) {
      const owner = this.ownerOf(domain)
      if (owner !== undefined) owners.set(domain, owner)
    }
    return owners
  }

  /** Holders of other organisations that a request could reach as well as this one. */
  foreignTo(wanted: TerritoryOwner): T[] {
    const found: T[] = []
    const { domain } = wanted.territory
    const take = (holder: T) => {
      if (holder.orgId !== wanted.orgId && territoriesOverlap(wanted.territory, holder.territory, this.#hosts))
        found.push(holder)
    }
    if (!isShared(domain, this.#hosts)) {
      const root = this.#domains.get(domain)
      if (root !== undefined) eachForeign(root, wanted.orgId, take)
      return found
    }
    for (const each of domain === '' ? ['', ...this.#shared] : ['', domain]) {
      const root = this.#domains.get(each)
      if (root !== undefined) search(root, wanted, 0, take)
    }
    return found
  }

  /** The nodes from the root of its domain to where a holder is. */
  #way({ territory }: T): Node<T>[] {
    const way = [this.#domains.get(territory.domain)!]
    for (const segment of territory.segments) way.push(below(way.at(-1)!, segment))
    return way
  }
}

function emptyNode<T>(): Node<T> {
  return { literals: new Map(), placeholder: undefined, holders: new Set(), orgs: new Map() }
}

function below<T>(node: Node<T>, segment: Territory['segments'][number]): Node<T> {
  if (typeof segment !== 'string') {
    node.placeholder ??= emptyNode()
    return node.placeholder
  }
  const word = foldPath(segment)
  const known = node.literals.get(word)
  if (known !== undefined) return known
  const made = emptyNode<T>()
  node.literals.set(word, made)
  return made
}

/** Removes unused nodes at the end of a path. */
function prune<T>(way: readonly Node<T>[], { segments }: Territory): void {
  for (let i = segments.length - 1; i >= 0; i--) {
    if (way[i + 1]!.orgs.size > 0) return
    const segment = segments[i]!
    if (typeof segment === 'string') way[i]!.literals.delete(foldPath(segment))
    else way[i]!.placeholder = undefined
  }
}

/** True when nobody but this organisation is here or below. */
function isOwn({ orgs }: Node<unknown>, orgId: string): boolean {
  return orgs.size === 0 || (orgs.size === 1 && orgs.has(orgId))
}

function search<T extends TerritoryOwner>(
  node: Node<T>,
  wanted: TerritoryOwner,
  at: number,
  take: (holder: T) => void,
): void {
  if (isOwn(node, wanted.orgId)) return
  const { segments } = wanted.territory
  if (at === segments.length) {
    eachForeign(node, wanted.orgId, take)
    return
  }
  for (const holder of node.holders) take(holder)
  if (node.placeholder !== undefined) search(node.placeholder, wanted, at + 1, take)
  const segment = segments[at]!
  const children = typeof segment === 'string' ? [node.literals.get(foldPath(segment))] : node.literals.values()
  for (const child of children) if (child !== undefined) search(child, wanted, at + 1, take)
}

function eachForeign<T extends TerritoryOwner>(node: Node<T>, orgId: string, take: (holder: T) => void): void {
  if (isOwn(node, orgId)) return
  for (const holder of node.holders) take(holder)
  if (node.placeholder !== undefined) eachForeign(node.placeholder, orgId, take)
  for (const child of node.literals.values()) eachForeign(child, orgId, take)
}
