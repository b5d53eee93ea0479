import { readTombstone } from '../../model/documents/tombstone.ts'
import type { JsonObject } from '../../model/json/json.ts'

/** The APIs that deleted policies were for, in memory, by either id of a policy. */
export class DeletedPolicies {
  readonly #apis = new Map<string, readonly string[]>()

  /** undefined = no such policy was deleted while ownership was on. */
  of(orgId: string, policyId: string): readonly string[] | undefined {
    return this.#apis.get(keyOf(orgId, policyId))
  }

  /** Takes a stored memory; one of another noun is passed over. */
  put(body: JsonObject): void {
    const tombstone = readTombstone('policy', body)
    if (tombstone === undefined) return
    for (const id of [tombstone.named, tombstone.storage_id])
      if (id) this.#apis.set(keyOf(tombstone.org_id, id), tombstone.api_ids ?? [])
  }

  clear(): void {
    this.#apis.clear()
  }
}

const keyOf = (orgId: string, id: string) => JSON.stringify([orgId, id])
