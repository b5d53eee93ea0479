import { ownersOf } from '../../model/people/ownership.ts'
import type { Documents, Feed } from '../../store/ports/ports.ts'

interface Known {
  readonly apiId: string
  readonly orgId: string
  readonly owners: readonly string[]
}

/**
 * Owners of APIs, in memory: a policy, key or client is visible to users who see one of its APIs, and asking the store for each
 * of them would cost a read per API and row. Follows the feed; an entry that changed is read again before it is used.
 */
export class ApiOwners {
  readonly #documents: Documents
  readonly #byApi = new Map<string, Known>()
  readonly #byDocument = new Map<string, Known>()
  #stale = new Set<string>()
  #loading: Promise<void> | undefined
  #loaded = false
  /** How often changes were made that nobody could name: what was read meanwhile may be the old state. */
  #missed = 0
  /** Nothing is kept, changes included, before the first query. */
  #started = false
  readonly #unsubscribe: () => void

  constructor(documents: Documents, feed: Feed) {
    this.#documents = documents
    this.#unsubscribe = feed.subscribe(({ changes, missed }) => {
      if (missed) {
        this.#missed++
        this.#loaded = false
      }
      for (const { kind, id } of changes) if (this.#started && kind === 'api') this.#stale.add(id)
    })
  }

  /** Owners of an API as they are filed (`u:`, `g:`, `*`), by `api_id`. */
  of(apiId: string): Known | undefined {
    return this.#byApi.get(apiId)
  }

  /** Ids of the APIs that pass. */
  ids(passes: (apiId: string) => boolean): string[] {
    return [...this.#byApi.keys()].filter(passes)
  }

  /** Resolves once every reported commit is applied. @throws Fault `store_away` */
  async fresh(): Promise<void> {
    this.#started = true
    while (!this.#loaded || this.#stale.size > 0 || this.#loading !== undefined) {
      this.#loading ??= this.#catchUp().finally(() => {
        this.#loading = undefined
      })
      await this.#loading
    }
  }

  close(): void {
    this.#unsubscribe()
  }

  async #catchUp(): Promise<void> {
    if (!this.#loaded) {
      this.#byApi.clear()
      this.#byDocument.clear()
      const missed = this.#missed
      for await (const batch of this.#documents.scan('api')) for (const { id, body } of batch) this.#put(id, body)
      this.#loaded = missed === this.#missed
    }
    const stale = this.#stale
    this.#stale = new Set()
    try {
      for (const id of stale) {
        const found = await this.#documents.get('api', id as Parameters<Documents['get']>[1])
        if (found === undefined) this.#drop(id)
        else this.#put(id, found.body)
        stale.delete(id)
      }
    } finally {
      for (const id of stale) this.#stale.add(id)
    }
  }

  #put(id: string, body: Parameters<typeof ownersOf>[0]): void {
    this.#drop(id)
    const known = { apiId: String(body.api_id), orgId: String(body.org_id ?? ''), owners: ownersOf(body) }
    this.#byApi.set(known.apiId, known)
    this.#byDocument.set(id, known)
  }

  #drop(id: string): void {
    const before = this.#byDocument.get(id)
    this.#byDocument.delete(id)
    if (before !== undefined && this.#byApi.get(before.apiId) === before) this.#byApi.delete(before.apiId)
  }
}
