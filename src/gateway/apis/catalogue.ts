import { toFault } from '../../errors/fault.ts'
import type { Api, ApiDocument } from '../../model/apis/definition/api.ts'
import { requestedTerritory } from '../../model/apis/definition/requested-territory.ts'
import {
  isSelective,
  isShared,
  pathsOverlap,
  type SharedHosts,
  type Territory,
  territoryOf,
} from '../../model/apis/definition/territory.ts'
import { readingApi, readingNewApi } from '../../model/apis/read/read.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { loadsHere, type NodeShard } from '../../model/nodes/node.ts'
import { ownersOf } from '../../model/people/ownership.ts'
import { inOnePiece } from '../../model/text/intern.ts'
import { atOnce, type PausedWork } from '../../model/threads/paused-work.ts'
import { PersistentMap } from '../routing/persistent-map.ts'
import { type PathSegment, placeKey, Router, routeSegments } from '../routing/router.ts'
import { TerritoryIndex } from '../routing/territory-index.ts'
import type { Territories } from '../server/exchange.ts'
import { type Compiled, type CompileParts, compileApi, type GatewayCompileParts } from './compile.ts'
import { IdleEntries } from './idle-entries.ts'
import { idleRules } from './idle-rules.ts'
import { SharedSteps } from './shared-steps.ts'
import type { ApiState } from './snapshot.ts'

/** One stored or filed API, as far as this node got with it. */
interface Entry {
  readonly source: string
  readonly apiId: string
  readonly name: string
  readonly orgId: string
  /** Who owns it, in words that can be compared. */
  readonly owners: string
  /** Of two organisations that want the same requests, the one whose text is the lesser has them: files first, then the older. */
  rank: string
  api: Api | undefined
  segments: readonly PathSegment[]
  territory: Territory
  compiled: Compiled | undefined
  state: ApiState['state']
  reason: string
  revision: number
  /** Which of all sources it was that came. */
  order: number
}

/** A definition as it is loaded. */
export interface Definition {
  readonly source: string
  readonly document: ApiDocument
  readonly revision: number
  /** Since when it wants its listen path (RFC 3339); '' = nobody knows. */
  readonly since: string
  /** Since when it is active there. */
  readonly activeSince: string
}

/** A definition that was read and compiled, and is not taken yet. */
export interface ReadDefinition {
  readonly entry: Entry
}

/**
 * The APIs of this node: reads definitions, compiles changed ones, and reports the state of each.
 * Written by one caller at a time; published objects (`router`, `apis`) never change afterwards.
 */
export class ApiCatalogue implements Territories {
  readonly #parts: CompileParts
  readonly #shard: NodeShard
  readonly #entries = new Map<string, Entry>()
  /** Who is served under each `api_id`. */
  readonly #ids = new Map<string, Entry>()
  /** Who answers at each place. */
  readonly #places = new Map<string, Entry>()
  /** Whose requests are whose, those of APIs that are switched off or do not compile among them. */
  readonly #territories: TerritoryIndex<Entry>
  readonly #hosts: SharedHosts
  #displaced: Entry[] = []
  readonly #idle = new IdleEntries<Entry>()
  /** How many sources there have been. */
  #sources = 0
  /** True while the router is not built yet. */
  #filling = true
  router = new Router()
  apis = new PersistentMap<Compiled['served']>()

  constructor(parts: GatewayCompileParts, shard: NodeShard, hosts: SharedHosts = new Set()) {
    this.#parts = { ...parts, shared: new SharedSteps() }
    this.#shard = shard
    this.#hosts = hosts
    this.#territories = new TerritoryIndex(hosts)
  }

  /** APIs that lost their listen path to another one since the last call. */
  takeDisplaced(): ApiState[] {
    const states = this.#displaced.filter(({ state }) => state === 'taken').map(stateOf)
    this.#displaced = []
    return states
  }

  /** The state of each API on this node, in no particular order. */
  states(): ApiState[] {
    return [...this.#entries.values()].map(stateOf)
  }

  /** The API from a source, as far as this node got with it. */
  entryOf(source: string): Pick<Entry, 'state' | 'reason' | 'api'> | undefined {
    return this.#entries.get(source)
  }

  /** An API by its id, in any state: also one that is inactive or served elsewhere. */
  findApi(apiId: string): Api | undefined {
    const served = this.#ids.get(apiId)
    if (served !== undefined) return served.api
    for (const entry of this.#entries.values()) if (entry.apiId === apiId && entry.api !== undefined) return entry.api
    return undefined
  }

  isHeldByOthers({ apiId, orgId, domain }: Api, host: string, path: string): boolean {
    const segments = path.split('/').filter((segment) => segment !== '')
    const owners = this.#ids.get(apiId)?.owners
    const isOthers = (entry: Entry) => {
      if (entry.orgId !== orgId) return true
      if (entry.apiId === apiId) return false
      const { territory } = entry
      if (entry.state !== 'loaded' && typeof territory.segments[0] === 'string') return true
      if (entry.owners === owners || !isSelective(territory) || territory.segments.length > segments.length)
        return false
      return pathsOverlap(territory, { domain, segments, ignoreCase: false })
    }
    const isHeldAt = (at: string) =>
      this.#territories
        .foreignTo({ orgId: NOBODY, territory: { domain: at, segments, ignoreCase: false } })
        .some(isOthers)
    return isHeldAt(domain) || (host !== domain && isHeldAt(host))
  }

  get loaded(): number {
    return this.apis.size
  }

  get failed(): number {
    let count = 0
    for (const { state } of this.#entries.values())
      if (state === 'failed' || state === 'stale' || state === 'taken') count++
    return count
  }

  /** Revision of the definition from this source that was taken over last and is in force; undefined when there is none. */
  revisionOf(source: string): number | undefined {
    const entry = this.#entries.get(source)
    return entry?.state === 'stale' ? undefined : entry?.revision
  }

  sources(prefix: string): string[] {
    return [...this.#entries.keys()].filter((source) => source.startsWith(prefix))
  }

  /**
   * Takes many definitions at once and builds the router once: for start-up.
   * Definitions that do not compile are noted and do not stop the others.
   */
  fill(definitions: readonly Definition[]): void {
    const entries = definitions.map(({ source, document, revision, since, activeSince }) => ({
      entry: atOnce(this.#read(source, document, revision, since)),
      turn: rankOf(source, activeSince || since),
    }))
    // An organisation's own APIs in the order in which they became active; those of others differ by their rank.
    for (const { entry } of entries.sort((a, b) => (a.turn < b.turn ? -1 : 1))) {
      this.#register(entry)
      // Compiled first: one that cannot be served holds no place.
      this.#compile(entry)
      if (entry.compiled === undefined) this.#hold(entry)
      else if (!this.#claim(entry)) this.#letGo(entry)
    }
    const routes = [...this.#places.values()].map((entry) => this.#route(entry))
    this.router = Router.of(routes, this.#territories.owners())
    this.#filling = false
    if (this.#displaced.length > 0) this.#retryTaken()
    const apis = new PersistentMap<Compiled['served']>()
    for (const entry of this.#entries.values())
      if (entry.compiled !== undefined) apis.put(entry.apiId, entry.compiled.served)
    this.apis = apis
  }

  /**
   * Takes one new or changed definition. One that cannot be served leaves the last good one in place. `since`: as `place_since` of a
   * stored API.
   */
  put(source: string, document: ApiDocument, revision: number, since = ''): ApiState {
    return this.take(atOnce(this.reading({ source, document, revision, since })))
  }

  /** Reads and compiles a definition, in parts; nothing changes until it is taken. */
  *reading({ source, document, revision, since }: Omit<Definition, 'activeSince'>): PausedWork<ReadDefinition> {
    const entry = yield* this.#read(source, document, revision, since)
    yield
    this.#compile(entry)
    return { entry }
  }

  /** Takes a definition that was read. One that cannot be served leaves the last good one in place. */
  take({ entry }: ReadDefinition): ApiState {
    const { source } = entry
    const before = this.#entries.get(source)
    if (entry.state === 'failed' && before?.compiled !== undefined) {
      before.state = 'stale'
      before.reason = entry.reason
      return stateOf(before)
    }
    if (before !== undefined) this.#forget(before, entry)
    this.#register(entry)
    if (entry.compiled !== undefined) this.#serve(entry, before)
    else this.#hold(entry)
    if (before !== undefined || this.#displaced.length > 0) this.#retryTaken()
    if (before !== undefined && before.apiId !== entry.apiId) this.#dropMetrics(before.apiId)
    return stateOf(entry)
  }

  /** Notes that this source cannot be read. Its previous definition stays in service. */
  refuse(source: string, name: string, reason: string): void {
    const before = this.#entries.get(source)
    if (before === undefined) {
      const entry = newEntry(source, { api_id: '', name, org_id: '' }, 0, '')
      this.#register(entry)
      entry.state = 'failed'
      entry.reason = reason
      return
    }
    before.state = before.compiled === undefined ? 'failed' : 'stale'
    before.reason = reason
  }

  /** Takes an API out. */
  remove(source: string): void {
    const entry = this.#entries.get(source)
    if (entry === undefined) return
    this.#forget(entry, undefined)
    this.#entries.delete(source)
    this.#idle.delete(entry)
    this.#retryTaken()
    this.#dropMetrics(entry.apiId)
  }

  close(): void {
    for (const { compiled } of this.#entries.values()) compiled?.close()
  }

  *#read(source: string, document: ApiDocument, revision: number, since: string): PausedWork<Entry> {
    const entry = newEntry(source, document, revision, rankOf(source, since))
    try {
      // Nothing has looked at a file before.
      const api = yield* source.startsWith('file:') ? readingNewApi(document) : readingApi(document)
      yield
      if (api.active) entry.reason = yield* idleRules(api, document)
      entry.segments = routeSegments(api.listenPath, api.ignoreCase)
      entry.territory = territoryOf(api)
      entry.api = api
      // A switched off API of an older version of this program does not say since when it wants its place.
      if (!api.active && since === '') entry.rank = rankOf(source, LAST)
      if (!api.active) entry.state = 'inactive'
      else if (!loadsHere(api, this.#shard)) entry.state = 'elsewhere'
    } catch (error) {
      fail(entry, error)
      entry.territory = requestedTerritory(document) ?? NOWHERE
    }
    return entry
  }

  #compile(entry: Entry): void {
    if (entry.compiled !== undefined || entry.state !== 'loaded') return
    try {
      entry.compiled = compileApi(entry.api!, this.#parts)
    } catch (error) {
      fail(entry, error)
    }
  }

  #place(entry: Entry): string {
    const { domain, ignoreCase } = entry.api!
    return placeKey(domain, entry.segments, ignoreCase)
  }

  #route(entry: Entry) {
    const { domain, ignoreCase } = entry.api!
    return { domain, ignoreCase, segments: entry.segments, served: entry.compiled!.served }
  }

  /** Takes id and place for an entry; false when another one has either. */
  #claim(entry: Entry): boolean {
    const reason = this.#holderOf(entry)
    if (reason !== undefined) {
      entry.state = 'taken'
      entry.reason = reason
      return false
    }
    const namesake = this.#ids.get(entry.apiId)
    if (namesake !== undefined && namesake !== entry) this.#displace(namesake, idReason(namesake, entry))
    this.#ids.set(entry.apiId, entry)
    if (entry.api!.internal) return true
    for (const younger of this.#territories.foreignTo(entry))
      this.#displace(younger, overlapReason(younger, entry, this.#hosts))
    this.#occupy(entry)
    this.#places.set(this.#place(entry), entry)
    return true
  }

  /** Keeps other organisations from receiving what an API would that is not served itself. */
  #hold(entry: Entry): void {
    const { api, territory, state } = entry
    if (territory === NOWHERE || api?.internal === true || state === 'elsewhere' || state === 'taken') return
    const others = this.#territories.foreignTo(entry)
    if (others.some(({ rank }) => rank < entry.rank)) return
    for (const younger of others) this.#displace(younger, overlapReason(younger, entry, this.#hosts))
    this.#occupy(entry)
  }

  #occupy(entry: Entry): void {
    this.#territories.add(entry)
    this.#settleOwner(entry)
  }

  #vacate(entry: Entry): void {
    if (!this.#territories.has(entry)) return
    this.#territories.delete(entry)
    this.#settleOwner(entry)
  }

  #settleOwner({ territory: { domain } }: Entry): void {
    if (domain !== '' && !this.#filling) this.router = this.router.withOwner(domain, this.#territories.ownerOf(domain))
  }

  /** Takes an API of another organisation out of service for one that was there before it. */
  #displace(younger: Entry, reason: string): void {
    const { compiled } = younger
    this.#forget(younger, undefined)
    younger.compiled = undefined
    this.#idle.add(younger)
    if (compiled === undefined) return
    younger.state = 'taken'
    younger.reason = reason
    this.#displaced.push(younger)
  }

  /** Who has the id or the place that an entry wants, in words; undefined when both are free. */
  #holderOf(entry: Entry): string | undefined {
    const same = this.#ids.get(entry.apiId)
    if (same !== undefined && same !== entry && !precedes(entry, same)) return idReason(entry, same)
    if (entry.api!.internal) return undefined
    const older = this.#territories.foreignTo(entry).find(({ rank }) => rank < entry.rank)
    if (older !== undefined) return overlapReason(entry, older, this.#hosts)
    const holder = this.#places.get(this.#place(entry))
    if (holder === undefined || holder === entry || holder.orgId !== entry.orgId) return undefined
    return `listen path ${entry.api!.listenPath} is held by ${describeHolder(entry, holder, `API ${holder.apiId}`)}`
  }

  #serve(entry: Entry, before: Entry | undefined): void {
    const api = entry.api!
    if (!this.#claim(entry)) {
      this.#letGo(entry)
      if (!this.#places.has(this.#place(entry)))
        this.router = this.router.without(api.domain, entry.segments, api.ignoreCase)
      if (before !== undefined) this.#dropFromApis(before.apiId)
      return
    }
    // `forget` has not removed the route of `before`, since ours replaces it.
    if (!api.internal) this.router = this.router.with(this.#route(entry))
    const isRenamed = before !== undefined && before.apiId !== entry.apiId
    const apis = isRenamed ? this.apis.without(before.apiId) : this.apis
    this.apis = apis.with(entry.apiId, entry.compiled!.served)
  }

  /** Removes an entry. Its route stays when `next` has the same place, so that no request fails between the two. */
  #forget(entry: Entry, next: Entry | undefined): void {
    entry.compiled?.close()
    this.#vacate(entry)
    if (entry.api === undefined || entry.compiled === undefined) return
    if (this.#ids.get(entry.apiId) === entry) this.#ids.delete(entry.apiId)
    const key = this.#place(entry)
    if (this.#places.get(key) === entry) {
      this.#places.delete(key)
      const replaced = next?.compiled !== undefined && !next.api!.internal && this.#place(next) === key
      if (!replaced) this.router = this.router.without(entry.api.domain, entry.segments, entry.api.ignoreCase)
    }
    if (next?.compiled === undefined) this.#dropFromApis(entry.apiId)
  }

  #dropFromApis(apiId: string): void {
    if (!this.apis.has(apiId) || this.#ids.has(apiId)) return
    this.apis = this.apis.without(apiId)
  }

  /** The counters of an API are dropped with it, unless another definition has its ID by now. */
  #dropMetrics(apiId: string): void {
    if (!this.#ids.has(apiId)) this.#parts.metrics.drop(apiId)
  }

  /** An id or a place may have become free for an API that waited for it. */
  #retryTaken(): void {
    this.#idle.each((entry) => this.#retry(entry))
  }

  #retry(entry: Entry): void {
    if (!this.#territories.has(entry)) this.#hold(entry)
    if (entry.state !== 'taken' || this.#holderOf(entry) !== undefined) return
    entry.state = 'loaded'
    entry.reason = ''
    this.#compile(entry)
    if (entry.compiled !== undefined) this.#serve(entry, undefined)
  }

  #register(entry: Entry): void {
    const before = this.#entries.get(entry.source)
    entry.order = before?.order ?? ++this.#sources
    this.#entries.set(entry.source, entry)
    if (before !== undefined) this.#idle.delete(before)
    this.#idle.add(entry)
  }

  #letGo(entry: Entry): void {
    entry.compiled?.close()
    entry.compiled = undefined
    this.#idle.add(entry)
  }
}

function newEntry(
  source: string,
  document: Pick<ApiDocument, 'api_id' | 'name' | 'org_id'>,
  revision: number,
  rank: string,
): Entry {
  const { api_id: apiId, name, org_id: orgId } = document
  // A stored document names them beside its definition.
  const owners = ownersOf(document as JsonObject)
    .sort()
    .join(' ')
  return {
    ...{ source, apiId, name, orgId, owners, rank },
    api: undefined,
    segments: [],
    territory: NOWHERE,
    compiled: undefined,
    state: 'loaded',
    reason: '',
    revision,
    order: 0,
  }
}

/** No organisation: everybody is foreign to it. */
const NOBODY = '\0'
const NOWHERE: Territory = { domain: '', segments: [], ignoreCase: false }
/** Behind every date. */
const LAST = '~'

/** Files in the folder of definitions are written by the operator of the gateway. */
function rankOf(source: string, since: string): string {
  return inOnePiece(source.startsWith('file:') ? `0 ${source}` : `1 ${since} ${source}`)
}

/** True when an API of another organisation makes way. */
function precedes(entry: Entry, other: Entry): boolean {
  return entry.orgId !== other.orgId && entry.rank < other.rank
}

function idReason(entry: Entry, same: Entry): string {
  return `api_id ${entry.apiId} is held by ${describeHolder(entry, same, describeSource(same.source))}`
}

function overlapReason(younger: Entry, { territory }: Entry, hosts: SharedHosts): string {
  const { listenPath = '', domain = younger.territory.domain } = younger.api ?? {}
  if (!isShared(domain, hosts)) return `the domain ${domain} is used by another organisation`
  const at = domain === territory.domain ? '' : ` at ${domain || territory.domain}`
  return `listen path ${listenPath} overlaps a listen path of another organisation${at}`
}

/** Organisations learn nothing of each other. */
function describeHolder(entry: Entry, holder: Entry, words: string): string {
  if (entry.api?.orgId !== holder.api?.orgId) return 'an API of another organisation'
  return `${words} (${holder.name})`
}

function describeSource(source: string): string {
  return source.startsWith('file:') ? `the file ${source.slice('file:'.length)}` : 'a stored API'
}

function stateOf({ apiId, name, state, reason, revision }: Entry): ApiState {
  return { apiId, name, state, reason, revision }
}

function fail(entry: Entry, error: unknown): void {
  entry.state = 'failed'
  entry.reason = toFault(error).message
}
