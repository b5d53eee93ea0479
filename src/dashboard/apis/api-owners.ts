import { readTombstone, TOMBSTONE } from '../../model/documents/tombstone.ts'
import { ownersOf } from '../../model/people/ownership.ts'
import type { Documents, Feed } from '../../store/ports/ports.ts'
import { DeletedPolicies } from '../policies/deleted-policies.ts'

interface Known {
  readonly apiId: string
  readonly orgId: string
  readonly owners: readonly string[]
}

/**
 * Owners of APIs, in memory: a policy, key or client is visible to users who see one of its APIs, and asking the store for each
 * of them would cost a read per API and row. Who owned deleted ones is known too. Follows the feed; an entry that changed is read again before
 * it is used.
 */
export class ApiOwners {
  readonly #documents: Documents
  readonly #byApi = new Map<string, Known>()
  readonly #byDocument = new Map<string, Known>()
  /** Of deleted ones, by organisation and `api_id`. */
  readonly #deleted = new Map<string, Known>()
  /** By storage id of the note: the key in `#deleted`. */
  readonly #deletedKeys = new Map<string, string>()
  readonly #deletedPolicies = new DeletedPolicies()
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
      for (const { kind, id } of changes)
        if (this.#started && (kind === 'api' || kind === TOMBSTONE)) this.#stale.add(`${kind} ${id}`)
    })
  }

  /** Owners of an API as they are filed (`u:`, `g:`, `*`), by `api_id`. */
  of(apiId: string): Known | undefined {
    return this.#byApi.get(apiId)
  }

  /** Who owned an API of an organisation that is deleted; undefined where there is one of this id now. */
  ofDeleted(orgId: string, apiId: string): Known | undefined {
    return this.#byApi.has(apiId) ? undefined : this.#deleted.get(keyOf(orgId, apiId))
  }

  /** The APIs that a deleted policy of an organisation was for, by either id. */
  apisOfDeletedPolicy(orgId: string, policyId: string): readonly string[] {
    return this.#deletedPolicies.of(orgId, policyId) ?? []
  }

  /** Ids of the APIs that pass. */
  ids(passes: (apiId: string) => boolean): string[] {
    return [...this.#byApi.keys()].filter(passes)
  }

  /** Ids of the deleted APIs that pass. */
  deletedIds(passes: (known: Known) => boolean): string[] {
    return [...this.#deleted.values()]
      .filter((known) => !this.#byApi.has(known.apiId) && passes(known))
      .map(({ apiId }) => apiId)
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
      this.#deleted.clear()
      this.#deletedKeys.clear()
      this.#deletedPolicies.clear()
      const missed = this.#missed
      for await (const batch of this.#documents.scan('api')) for (const { id, body } of batch) this.#put(id, body)
      for await (const batch of this.#documents.scan(TOMBSTONE))
        for (const { id, body } of batch) this.#putTombstone(id, body)
      this.#loaded = missed === this.#missed
    }
    const stale = this.#stale
    this.#stale = new Set()
    try {
      for (const named of stale) {
        const [kind, id] = named.split(' ') as ['api' | typeof TOMBSTONE, Parameters<Documents['get']>[1]]
        const found = await this.#documents.get(kind, id)
        if (kind === TOMBSTONE) this.#putTombstone(id, found?.body)
        else if (found === undefined) this.#drop(id)
        else this.#put(id, found.body)
        stale.delete(named)
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

  #putTombstone(noteId: string, body: Parameters<typeof ownersOf>[0] | undefined): void {
    this.#deletedPolicies.put(noteId, body)
    const before = this.#deletedKeys.get(noteId)
    if (before !== undefined) this.#deleted.delete(before)
    this.#deletedKeys.delete(noteId)
    const tombstone = body && readTombstone('api', body)
    if (body === undefined || tombstone === undefined) return
    const known = { apiId: tombstone.named, orgId: tombstone.org_id, owners: ownersOf(body) }
    const key = keyOf(known.orgId, known.apiId)
    this.#deletedKeys.set(noteId, key)
    this.#deleted.set(key, known)
  }

  #drop(id: string): void {
    const before = this.#byDocument.get(id)
    this.#byDocument.delete(id)
    if (before !== undefined && this.#byApi.get(before.apiId) === before) this.#byApi.delete(before.apiId)
  }
}

const keyOf = (orgId: string, apiId: string) => JSON.stringify([orgId, apiId])
