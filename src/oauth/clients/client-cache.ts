import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import { keyAtApi, keyByPolicy, type ServerApi } from '../../model/oauth-clients/oauth-registration.ts'
import type { Awaitable, Documents, Feed, FeedEvent, StoredDocument } from '../../store/ports/ports.ts'

const KIND = 'oauth_client'
const MOST = 20_000
const LONGEST_ID = 1024

/** The first of two that is found. While the store is away its copy may hold one of them only: then that one is the answer. */
async function firstFound<Found>(
  first: Promise<Found | undefined>,
  second: Promise<Found | undefined>,
): Promise<Found | undefined> {
  const [one, other] = await Promise.allSettled([first, second])
  const found = [one, other].find((each) => each.status === 'fulfilled' && each.value !== undefined)
  if (found?.status === 'fulfilled') return found.value
  for (const each of [one, other]) if (each.status === 'rejected') throw each.reason
  return undefined
}

interface Entry {
  /** undefined = there is none under this key. */
  readonly client: OAuthClient | undefined
  readonly documentId: string
  /** `#generation` when it was read. */
  readonly generation: number
}

/**
 * The clients that this node has used lately, by id and API; also the ids that nobody has, so that both take the same time. A change
 * of a client is in force with the commit that made it. Two generations of a map bound its size.
 */
export class ClientCache {
  readonly #documents: Documents
  readonly #most: number
  readonly #unsubscribe: () => void
  #young = new Map<string, Entry>()
  #old = new Map<string, Entry>()
  /** The keys of each document. */
  #keysOf = new Map<string, string[]>()
  /** Grows with every change of any client: what was read before it may be the old state. */
  #generation = 0

  /** `most` bounds how many keys stay in memory. */
  constructor(documents: Documents, feed: Feed, most = MOST) {
    this.#documents = documents
    this.#most = Math.max(2, most)
    this.#unsubscribe = feed.subscribe((event) => this.#onEvent(event))
  }

  /**
   * The registration of a client id at an API: of the API itself, else by a policy of the organisation; undefined when there is none.
   * Synchronous when it is known or the store answers so. @throws Fault `store_away`
   */
  find(clientId: string, { apiId, orgId }: ServerApi): Awaitable<OAuthClient | undefined> {
    if (clientId === '' || clientId.length > LONGEST_ID) return undefined
    const known = this.#known(keyAtApi(clientId, apiId))
    if (known?.client !== undefined) return known.client
    // Both are asked for in any case: how long it takes must not tell that there is one.
    const direct = this.#read(keyAtApi(clientId, apiId))
    const byPolicy = this.#read(keyByPolicy(clientId, orgId))
    if (!(direct instanceof Promise) && !(byPolicy instanceof Promise)) return direct ?? byPolicy
    return firstFound(Promise.resolve(direct), Promise.resolve(byPolicy))
  }

  /** Forgets everything and follows the store no longer. */
  close(): void {
    this.#unsubscribe()
    this.#clear()
  }

  #read(key: string): Awaitable<OAuthClient | undefined> {
    const known = this.#known(key)
    if (known !== undefined) return known.client
    const generation = this.#generation
    const found = this.#documents.find(KIND, 'registered', key)
    if (!(found instanceof Promise)) return this.#keep(key, found, generation)
    return found.then((late) => this.#keep(key, late, generation))
  }

  #known(key: string): Entry | undefined {
    const entry = this.#young.get(key) ?? this.#promoted(key)
    // Any change may have registered a client under a key that had none.
    const isOld = entry !== undefined && entry.client === undefined && entry.generation !== this.#generation
    return isOld ? undefined : entry
  }

  #promoted(key: string): Entry | undefined {
    const entry = this.#old.get(key)
    if (entry !== undefined) this.#add(key, entry)
    return entry
  }

  #keep(key: string, found: StoredDocument<'oauth_client'> | undefined, generation: number): OAuthClient | undefined {
    const client = found?.body
    if (generation === this.#generation) this.#add(key, { client, documentId: found?.id ?? '', generation })
    return client
  }

  #add(key: string, entry: Entry): void {
    if (this.#young.size >= this.#most / 2) {
      this.#old = this.#young
      this.#young = new Map()
      this.#keysOf = new Map()
      for (const [each, { documentId }] of this.#old) this.#file(each, documentId)
    }
    this.#young.set(key, entry)
    this.#file(key, entry.documentId)
  }

  #file(key: string, documentId: string): void {
    if (documentId === '') return
    const keys = this.#keysOf.get(documentId)
    if (keys === undefined) this.#keysOf.set(documentId, [key])
    else if (!keys.includes(key)) keys.push(key)
  }

  #onEvent({ changes, missed }: FeedEvent): void {
    if (missed) {
      this.#generation++
      this.#clear()
    }
    for (const { kind, id } of changes) {
      if (kind !== KIND) continue
      this.#generation++
      for (const key of this.#keysOf.get(id) ?? []) {
        this.#young.delete(key)
        this.#old.delete(key)
      }
      this.#keysOf.delete(id)
    }
  }

  #clear(): void {
    this.#young.clear()
    this.#old.clear()
    this.#keysOf.clear()
  }
}
