import { readTombstone } from '../../model/documents/tombstone.ts'
import type { JsonObject } from '../../model/json/json.ts'

/** The APIs that deleted policies were for, in memory, by either id of a policy. */
export class DeletedPolicies {
  /** By id, of each note: two policies may have had one storage id, one after the other. */
  readonly #apis = new Map<string, Map<string, readonly string[]>>()
  /** By storage id of the note: under what it is found. */
  readonly #keys = new Map<string, readonly string[]>()

  /** undefined = no such policy was deleted while ownership was on. Where several had the id, the APIs of all. */
  of(orgId: string, policyId: string): readonly string[] | undefined {
    const notes = this.#apis.get(keyOf(orgId, policyId))
    return notes && [...new Set([...notes.values()].flat())]
  }

  /** Takes a stored note; one of another noun is passed over. Without a body the note was deleted. */
  put(noteId: string, body: JsonObject | undefined): void {
    for (const key of this.#keys.get(noteId) ?? []) this.#drop(key, noteId)
    this.#keys.delete(noteId)
    const tombstone = body && readTombstone('policy', body)
    if (tombstone === undefined) return
    const ids = [tombstone.named, tombstone.storage_id ?? ''].filter((id) => id !== '')
    const keys = ids.map((id) => keyOf(tombstone.org_id, id))
    this.#keys.set(noteId, keys)
    for (const key of keys) {
      const notes = this.#apis.get(key) ?? new Map<string, readonly string[]>()
      this.#apis.set(key, notes.set(noteId, tombstone.api_ids ?? []))
    }
  }

  clear(): void {
    this.#apis.clear()
    this.#keys.clear()
  }

  #drop(key: string, noteId: string): void {
    const notes = this.#apis.get(key)
    notes?.delete(noteId)
    if (notes?.size === 0) this.#apis.delete(key)
  }
}

const keyOf = (orgId: string, id: string) => JSON.stringify([orgId, id])
