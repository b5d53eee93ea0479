import { readTombstone } from '../../model/documents/tombstone.ts'
import type { JsonObject } from '../../model/json/json.ts'

/** The APIs that deleted policies were for, in memory, by either id of a policy. */
export class DeletedPolicies {
  readonly #apis = new Map<string, readonly string[]>()
  /** By storage id of the note: under what it is found. */
  readonly #keys = new Map<string, readonly string[]>()

  /** undefined = no such policy was deleted while ownership was on. */
  of(orgId: string, policyId: string): readonly string[] | undefined {
    return this.#apis.get(keyOf(orgId, policyId))
  }

  /** Takes a stored note; one of another noun is passed over. Without a body the note was deleted. */
  put(noteId: string, body: JsonObject | undefined): void {
    for (const key of this.#keys.get(noteId) ?? []) this.#apis.delete(key)
    this.#keys.delete(noteId)
    const tombstone = body && readTombstone('policy', body)
    if (tombstone === undefined) return
    const ids = [tombstone.named, tombstone.storage_id ?? ''].filter((id) => id !== '')
    const keys = ids.map((id) => keyOf(tombstone.org_id, id))
    this.#keys.set(noteId, keys)
    for (const key of keys) this.#apis.set(key, tombstone.api_ids ?? [])
  }

  clear(): void {
    this.#apis.clear()
    this.#keys.clear()
  }
}

const keyOf = (orgId: string, id: string) => JSON.stringify([orgId, id])
