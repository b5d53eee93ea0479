import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import type { Awaitable, Documents, Feed, FeedEvent, StoredDocument } from '../../store/ports/ports.ts'

const KIND = 'oauth_client'
const MOST = 20_000
const LONGEST_ID = 1024

interface Entry {
  /** undefined = there is none of this id. */
  readonly client: OAuthClient | undefined
  readonly documentId: string
}

/**
 * The clients that this node has used lately, by id; also the ids that nobody has, so that both take the same time. A change
 * of a client is in force with the commit that made it. Two generations of a map bound its size.
 */
export class ClientCache {
  readonly #documents: Documents
  readonly #most: number
  readonly #unsubscribe: () => void
  #young = new Map<string, Entry>()
  #old = new Map<string, Entry>()
  #idOf = new Map<string, string>()
  /** Grows with every change of any client: what was read before it may be the old state. */
  #generation = 0

  /** `most` bounds how many ids stay in memory. */
  constructor(documents: Documents, feed: Feed, most = MOST) {
    this.#documents = documents
    this.#most = Math.max(2, most)
    this.#unsubscribe = feed.subscribe((event) => this.#onEvent(event))
  }

  /** The client of this id; undefined when there is none. At once when it is known or the store answers at once. @throws Fault `store_away` */
  find(clientId: string): Awaitable<OAuthClient | undefined> {
    const known = this.#young.get(clientId) ?? this.#promoted(clientId)
    if (known !== undefined) return known.client
    if (clientId === '' || clientId.length > LONGEST_ID) return undefined
    const generation = this.#generation
    const found = this.#documents.find(KIND, 'client_id', clientId)
    if (!(found instanceof Promise)) return this.#keep(clientId, found, generation)
    return found.then((late) => this.#keep(clientId, late, generation))
  }

  /** Forgets everything and follows the store no longer. */
  close(): void {
    this.#unsubscribe()
    this.#clear()
  }

  #promoted(clientId: string): Entry | undefined {
    const entry = this.#old.get(clientId)
    if (entry !== undefined) this.#add(clientId, entry)
    return entry
  }

  #keep(
    clientId: string,
    found: StoredDocument<'oauth_client'> | undefined,
    generation: number,
  ): OAuthClient | undefined {
    const client = found?.body
    if (generation === this.#generation) this.#add(clientId, { client, documentId: found?.id ?? '' })
    return client
  }

  #add(clientId: string, entry: Entry): void {
    if (this.#young.size >= this.#most / 2) {
      this.#old = this.#young
      this.#young = new Map()
      this.#idOf = new Map([...this.#old].map(([id, { documentId }]) => [documentId, id]))
    }
    this.#young.set(clientId, entry)
    if (entry.documentId !== '') this.#idOf.set(entry.documentId, clientId)
  }

  #onEvent({ changes, missed }: FeedEvent): void {
    if (missed) {
      this.#generation++
      this.#clear()
    }
    for (const { kind, id } of changes) {
      if (kind !== KIND) continue
      this.#generation++
      const clientId = this.#idOf.get(id)
      // Not known here: it may be a new one, whose id was asked for before.
      if (clientId === undefined) this.#clear()
      else {
        this.#young.delete(clientId)
        this.#old.delete(clientId)
        this.#idOf.delete(id)
      }
    }
  }

  #clear(): void {
    this.#young.clear()
    this.#old.clear()
    this.#idOf.clear()
  }
}
