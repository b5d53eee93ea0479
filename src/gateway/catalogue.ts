import { toFault } from '../errors/fault.ts'
import { readApi, readNewApi } from '../model/api/read.ts'
import type { Api, ApiDocument } from '../model/api.ts'
import { loadsHere, type NodeShard } from '../model/node.ts'
import { type Compiled, type CompileParts, compileApi } from './compile.ts'
import { placeKey } from './placement.ts'
import { routeSegments } from './route-segments.ts'
import { type PathSegment, Router } from './router.ts'
import type { ApiState } from './snapshot.ts'

/** One stored or filed API, as far as this node got with it. */
interface Entry {
  readonly source: string
  readonly apiId: string
  readonly name: string
  api: Api | undefined
  segments: readonly PathSegment[]
  compiled: Compiled | undefined
  state: ApiState['state']
  reason: string
  revision: number
}

/**
 * The APIs of this node: reads definitions, compiles what changed, and says of each how it stands.
 * Written by one caller at a time; what it hands out (`router`, `apis`) is never changed afterwards.
 */
export class ApiCatalogue {
  readonly #parts: CompileParts
  readonly #shard: NodeShard
  readonly #entries = new Map<string, Entry>()
  /** Who is served under each `api_id`. */
  readonly #ids = new Map<string, Entry>()
  /** Who answers at each place. */
  readonly #places = new Map<string, Entry>()
  router = new Router()
  apis: ReadonlyMap<string, Compiled['served']> = new Map()

  constructor(parts: CompileParts, shard: NodeShard) {
    this.#parts = parts
    this.#shard = shard
  }

  /** How each API stands here, in no particular order. */
  states(): ApiState[] {
    return [...this.#entries.values()].map(({ apiId, name, state, reason, revision }) => ({
      apiId,
      name,
      state,
      reason,
      revision,
    }))
  }

  /** An API by its id, whatever its state: also one that is switched off or served elsewhere. */
  findApi(apiId: string): Api | undefined {
    const served = this.#ids.get(apiId)
    if (served !== undefined) return served.api
    for (const entry of this.#entries.values()) if (entry.apiId === apiId && entry.api !== undefined) return entry.api
    return undefined
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
   * Takes many definitions at once and builds the router in one go: for the start.
   * Definitions that do not compile are noted and stop nothing else.
   */
  fill(definitions: readonly { source: string; document: ApiDocument; revision: number }[]): void {
    for (const { source, document, revision } of definitions) {
      const entry = this.#read(source, document, revision)
      this.#entries.set(source, entry)
      // Compiled first: one that cannot be served holds no place.
      this.#compile(entry)
      if (entry.compiled !== undefined && !this.#claim(entry)) letGo(entry)
    }
    this.router = Router.of([...this.#places.values()].map((entry) => this.#route(entry)))
    const apis = new Map<string, Compiled['served']>()
    for (const entry of this.#entries.values())
      if (entry.compiled !== undefined) apis.set(entry.apiId, entry.compiled.served)
    this.apis = apis
  }

  /** Takes one new or changed definition. One that cannot be served leaves the last good one in place. */
  put(source: string, document: ApiDocument, revision: number): ApiState {
    const before = this.#entries.get(source)
    const entry = this.#read(source, document, revision)
    if (entry.state === 'loaded') this.#compile(entry)
    if (entry.state === 'failed' && before?.compiled !== undefined) {
      before.state = 'stale'
      before.reason = entry.reason
      return stateOf(before)
    }
    if (before !== undefined) this.#forget(before, entry)
    this.#entries.set(source, entry)
    if (entry.compiled !== undefined) this.#serve(entry, before)
    if (before !== undefined) this.#retryTaken()
    if (before !== undefined && before.apiId !== entry.apiId) this.#dropMetrics(before.apiId)
    return stateOf(entry)
  }

  /** Notes that what stands at this source cannot be read at all. The definition before it stays in service. */
  refuse(source: string, name: string, reason: string): void {
    const before = this.#entries.get(source)
    if (before === undefined) {
      const entry = newEntry(source, { api_id: '', name }, 0)
      this.#entries.set(source, entry)
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
    this.#retryTaken()
    this.#dropMetrics(entry.apiId)
  }

  close(): void {
    for (const { compiled } of this.#entries.values()) compiled?.close()
  }

  #read(source: string, document: ApiDocument, revision: number): Entry {
    const entry = newEntry(source, document, revision)
    try {
      // Nothing has looked at a file before.
      const api = source.startsWith('file:') ? readNewApi(document) : readApi(document)
      entry.api = api
      entry.segments = routeSegments(api.listenPath)
      if (!api.active) entry.state = 'inactive'
      else if (!loadsHere(api, this.#shard)) entry.state = 'elsewhere'
    } catch (error) {
      fail(entry, error)
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
    this.#ids.set(entry.apiId, entry)
    if (!entry.api!.internal) this.#places.set(this.#place(entry), entry)
    return true
  }

  /** Who has the id or the place that an entry wants, in words; undefined when both are free. */
  #holderOf(entry: Entry): string | undefined {
    const same = this.#ids.get(entry.apiId)
    if (same !== undefined && same !== entry)
      return `api_id ${entry.apiId} is held by ${describeHolder(entry, same, describeSource(same.source))}`
    if (entry.api!.internal) return undefined
    const holder = this.#places.get(this.#place(entry))
    if (holder === undefined || holder === entry) return undefined
    return `listen path ${entry.api!.listenPath} is held by ${describeHolder(entry, holder, `API ${holder.apiId}`)}`
  }

  #serve(entry: Entry, before: Entry | undefined): void {
    const api = entry.api!
    if (!this.#claim(entry)) {
      letGo(entry)
      if (!this.#places.has(this.#place(entry)))
        this.router = this.router.without(api.domain, entry.segments, api.ignoreCase)
      if (before !== undefined) this.#dropFromApis(before.apiId)
      return
    }
    // `before` is told apart by `forget`, which left its route in place when ours replaces it.
    if (!api.internal) this.router = this.router.with(this.#route(entry))
    const apis = new Map(this.apis)
    if (before !== undefined && before.apiId !== entry.apiId) apis.delete(before.apiId)
    apis.set(entry.apiId, entry.compiled!.served)
    this.apis = apis
  }

  /** Lets go of an entry. Its route stays when `next` stands at the same place, so that no request falls between the two. */
  #forget(entry: Entry, next: Entry | undefined): void {
    entry.compiled?.close()
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
    const apis = new Map(this.apis)
    apis.delete(apiId)
    this.apis = apis
  }

  /** What is counted of an API is let go of with it, unless another definition has its id by now. */
  #dropMetrics(apiId: string): void {
    if (!this.#ids.has(apiId)) this.#parts.metrics.drop(apiId)
  }

  /** An id or a place may have become free for an API that waited for it. */
  #retryTaken(): void {
    for (const entry of this.#entries.values()) {
      if (entry.state !== 'taken' || this.#holderOf(entry) !== undefined) continue
      entry.state = 'loaded'
      entry.reason = ''
      this.#compile(entry)
      if (entry.compiled !== undefined) this.#serve(entry, undefined)
    }
  }
}

function newEntry(source: string, { api_id, name }: Pick<ApiDocument, 'api_id' | 'name'>, revision: number): Entry {
  return {
    source,
    apiId: api_id,
    name,
    api: undefined,
    segments: [],
    compiled: undefined,
    state: 'loaded',
    reason: '',
    revision,
  }
}

/** Organisations learn nothing of each other. */
function describeHolder(entry: Entry, holder: Entry, words: string): string {
  if (entry.api?.orgId !== holder.api?.orgId) return 'an API of another organisation'
  return `${words} (${holder.name})`
}

function describeSource(source: string): string {
  return source.startsWith('file:') ? `the file ${source.slice('file:'.length)}` : 'a stored API'
}

function letGo(entry: Entry): void {
  entry.compiled?.close()
  entry.compiled = undefined
}

function stateOf({ apiId, name, state, reason, revision }: Entry): ApiState {
  return { apiId, name, state, reason, revision }
}

function fail(entry: Entry, error: unknown): void {
  entry.state = 'failed'
  entry.reason = toFault(error).message
}
