import {
  isShared,
  type SharedHosts,
  type Territory,
  territoriesOverlap,
} from '../../model/apis/definition/territory.ts'
import { foldPath } from '../../model/text/fold.ts'

/** The owner of a territory: an API of an organisation. */
export interface TerritoryOwner {
  readonly orgId: string
  readonly territory: Territory
}

/** A gateway has one for each API: most have no children and one holder, and a map takes 170 bytes when it is empty. */
interface Node<T> {
  /** By folded word; undefined = none. */
  literals: Map<string, Node<T>> | undefined
  /** With any patterns. */
  placeholder: Node<T> | undefined
  holders: readonly T[]
  /** Of the holders here and below. */
  readonly orgs: OrgCounts
}

/** How many holders each organisation has. */
class OrgCounts {
  #first = ''
  #count = 0
  /** Of the other organisations. */
  #others: Map<string, number> | undefined

  /** One of the organisations that have holders; undefined where nobody has. */
  get any(): string | undefined {
    return this.#count > 0 ? this.#first : undefined
  }

  /** True when no other organisation has holders. */
  isOnly(orgId: string): boolean {
    return this.#count === 0 || (this.#first === orgId && this.#others === undefined)
  }

  add(orgId: string): void {
    if (this.#count === 0) this.#first = orgId
    if (this.#first === orgId) this.#count++
    else {
      this.#others ??= new Map()
      this.#others.set(orgId, (this.#others.get(orgId) ?? 0) + 1)
    }
  }

  remove(orgId: string): void {
    if (orgId === this.#first) this.#count--
    else if (this.#others?.get(orgId) === 1) this.#others.delete(orgId)
    else this.#others?.set(orgId, this.#others.get(orgId)! - 1)
    if (this.#others?.size === 0) this.#others = undefined
    if (this.#count > 0 || this.#others === undefined) return
    const [[first, count] = ['', 0]] = this.#others
    this.#first = first
    this.#count = count
    this.#others.delete(first)
    if (this.#others.size === 0) this.#others = undefined
  }
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
    const way = this.#way(holder)
    for (const { orgs } of way) orgs.add(holder.orgId)
    const last = way.at(-1)!
    last.holders = last.holders.length === 0 ? [holder] : [...last.holders, holder]
  }

  delete(holder: T): void {
    if (!this.#held.delete(holder)) return
    const way = this.#way(holder)
    const last = way.at(-1)!
    last.holders = last.holders.length === 1 ? NOBODY : last.holders.filter((each) => each !== holder)
    for (const { orgs } of way) orgs.remove(holder.orgId)
    prune(way, holder.territory)
    if (way[0]!.orgs.any !== undefined) return
    this.#domains.delete(holder.territory.domain)
    this.#shared.delete(holder.territory.domain)
  }

  /** Whose a domain is; undefined where it is shared, and where nobody has it. */
  ownerOf(domain: string): string | undefined {
    if (isShared(domain, this.#hosts)) return undefined
    return this.#domains.get(domain)?.orgs.any
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

const NOBODY: readonly never[] = []

function emptyNode<T>(): Node<T> {
  return { literals: undefined, placeholder: undefined, holders: NOBODY, orgs: new OrgCounts() }
}

function below<T>(node: Node<T>, segment: Territory['segments'][number]): Node<T> {
  if (typeof segment !== 'string') {
    node.placeholder ??= emptyNode()
    return node.placeholder
  }
  const word = foldPath(segment)
  const known = node.literals?.get(word)
  if (known !== undefined) return known
  const made = emptyNode<T>()
  node.literals ??= new Map()
  node.literals.set(word, made)
  return made
}

/** Removes unused nodes at the end of a path. */
function prune<T>(way: readonly Node<T>[], { segments }: Territory): void {
  for (let i = segments.length - 1; i >= 0; i--) {
    if (way[i + 1]!.orgs.any !== undefined) return
    const segment = segments[i]!
    if (typeof segment === 'string') way[i]!.literals?.delete(foldPath(segment))
    else way[i]!.placeholder = undefined
  }
}

/** True when nobody but this organisation is here or below. */
function isOwn({ orgs }: Node<unknown>, orgId: string): boolean {
  return orgs.isOnly(orgId)
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
  const { literals } = node
  const children = typeof segment === 'string' ? [literals?.get(foldPath(segment))] : (literals?.values() ?? [])
  for (const child of children) if (child !== undefined) search(child, wanted, at + 1, take)
}

function eachForeign<T extends TerritoryOwner>(node: Node<T>, orgId: string, take: (holder: T) => void): void {
  if (isOwn(node, orgId)) return
  for (const holder of node.holders) take(holder)
  if (node.placeholder !== undefined) eachForeign(node.placeholder, orgId, take)
  for (const child of node.literals?.values() ?? []) eachForeign(child, orgId, take)
}
