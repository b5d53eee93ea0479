import { TOMBSTONE } from '../../model/documents/tombstone.ts'
import { policyApisOf } from '../../model/policies/policy-body.ts'
import type { Documents, Feed } from '../../store/ports/ports.ts'
import type { Visibility } from '../access/visibility.ts'
import { DeletedPolicies } from './deleted-policies.ts'

interface Known {
  readonly orgId: string
  readonly id: string
  readonly apiIds: readonly string[]
}

/**
 * Which policy names which APIs, in memory: whether a policy, or a key that has it, is seen follows from its APIs, and one that names
 * none is seen by all, which no index of the store can say. Deleted policies are known too: keys that have them still belong to whom they
 * did. Reads everything at the first question, follows the feed from then on.
 */
export class PolicyApis {
  readonly #documents: Documents
  readonly #feed: Feed
  readonly #byDocument = new Map<string, Known>()
  readonly #byPolicy = new Map<string, Known>()
  readonly #deleted = new DeletedPolicies()
  #stale = new Set<string>()
  #loading: Promise<void> | undefined
  #loaded = false
  #following = false
  /** How often changes were made that nobody could name: what was read meanwhile may be the old state. */
  #missed = 0

  constructor(documents: Documents, feed: Feed) {
    this.#documents = documents
    this.#feed = feed
  }

  /** Resolves once every reported commit is applied. @throws Fault `store_away` */
  async fresh(): Promise<this> {
    while (!this.#loaded || this.#stale.size > 0 || this.#loading !== undefined) {
      this.#loading ??= this.#catchUp().finally(() => {
        this.#loading = undefined
      })
      await this.#loading
    }
    return this
  }

  /**
   * APIs of a policy, by its `id` or its storage id; of a deleted one those that it had, none for an unknown policy. Where one is the `id`
   * of one and the storage id of another, the APIs of both.
   */
  of(orgId: string, policyId: string): readonly string[] {
    const [one, other] = this.#named(orgId, policyId)
    if (one === undefined) return this.#deleted.of(orgId, policyId) ?? []
    return other === undefined ? (one?.apiIds ?? []) : [...one!.apiIds, ...other.apiIds]
  }

  /** True when an organisation has such a policy, by either id. */
  has(orgId: string, policyId: string): boolean {
    return this.#named(orgId, policyId).length > 0
  }

  #named(orgId: string, policyId: string): readonly Known[] {
    const byPolicy = this.#byPolicy.get(keyOf(orgId, policyId))
    const byDocument = this.#byDocument.get(policyId)
    const stored = byDocument?.orgId === orgId && byDocument !== byPolicy ? byDocument : undefined
    return [byPolicy, stored].filter((known) => known !== undefined)
  }

  /** Ids of the policies of an organisation whose APIs pass. */
  ids(orgId: string, passes: (apiIds: readonly string[]) => boolean): string[] {
    const found: string[] = []
    for (const known of this.#byDocument.values())
      if (known.orgId === orgId && passes(known.apiIds)) found.push(known.id)
    return found
  }

  async #catchUp(): Promise<void> {
    if (!this.#loaded) {
      this.#follow()
      this.#byDocument.clear()
      this.#byPolicy.clear()
      this.#deleted.clear()
      const missed = this.#missed
      for await (const batch of this.#documents.scan('policy')) for (const { id, body } of batch) this.#put(id, body)
      for await (const batch of this.#documents.scan(TOMBSTONE))
        for (const { id, body } of batch) this.#deleted.put(id, body)
      this.#loaded = missed === this.#missed
    }
    const stale = this.#stale
    this.#stale = new Set()
    try {
      for (const named of stale) {
        const [kind, id] = named.split(' ') as ['policy' | typeof TOMBSTONE, Parameters<Documents['get']>[1]]
        const found = await this.#documents.get(kind, id)
        if (kind === TOMBSTONE) this.#deleted.put(id, found?.body)
        else if (found === undefined) this.#drop(id)
        else this.#put(id, found.body)
        stale.delete(named)
      }
    } finally {
      for (const id of stale) this.#stale.add(id)
    }
  }

  #follow(): void {
    if (this.#following) return
    this.#following = true
    this.#feed.subscribe(({ changes, missed }) => {
      if (missed) this.#forget()
      for (const { kind, id } of changes) if (kind === 'policy' || kind === TOMBSTONE) this.#stale.add(`${kind} ${id}`)
    })
  }

  #forget(): void {
    this.#missed++
    this.#loaded = false
  }

  #put(documentId: string, body: Parameters<typeof policyApisOf>[0]): void {
    this.#drop(documentId)
    const known = { orgId: String(body.org_id ?? ''), id: String(body.id ?? ''), apiIds: policyApisOf(body) }
    this.#byDocument.set(documentId, known)
    this.#byPolicy.set(keyOf(known.orgId, known.id), known)
  }

  #drop(documentId: string): void {
    const before = this.#byDocument.get(documentId)
    if (before === undefined) return
    this.#byDocument.delete(documentId)
    const key = keyOf(before.orgId, before.id)
    if (this.#byPolicy.get(key) === before) this.#byPolicy.delete(key)
  }
}

/** Ids of the policies that the actor may see; undefined where ownership hides nothing. @throws Fault `store_away` */
export async function visiblePolicies(
  apis: PolicyApis,
  orgId: string,
  visibility: Visibility,
): Promise<readonly string[] | undefined> {
  if (visibility.everything) return undefined
  return (await apis.fresh()).ids(orgId, visibility.anyApi)
}

const keyOf = (orgId: string, id: string) => JSON.stringify([orgId, id])

/** True for a policy that an organisation has and whose APIs are all seen, or gone: who gives it gives all its rights. */
export function isVisiblePolicy(policies: PolicyApis, visibility: Visibility, orgId: string, id: string): boolean {
  return policies.has(orgId, id) && visibility.hidden(policies.of(orgId, id)) === 0
}
