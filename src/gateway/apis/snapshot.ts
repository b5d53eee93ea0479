import type { JsonObject } from '../../model/json/json.ts'
import type { Policy } from '../../model/sessions/session.ts'

/** Key of a policy in a snapshot: two organisations may use one id. */
export function policyKey(orgId: string, id: string): string {
  return `${orgId}/${id}`
}

/** The state of one stored API on this node. */
export interface ApiState {
  readonly apiId: string
  readonly name: string
  /**
   * `loaded`: served (also an internal one). `inactive`: switched off. `elsewhere`: its tags are not this node's.
   * `stale`: its newest definition does not compile, the one before is served. `failed`: it is not served. `taken`: another API holds its listen path.
   */
  readonly state: 'loaded' | 'inactive' | 'elsewhere' | 'stale' | 'failed' | 'taken'
  /** Why, for the last three; for `loaded`, which rules no request can meet ('' = none). */
  readonly reason: string
  /** Revision of the definition that is served; 0 when none is. */
  readonly revision: number
}

/** The body of a `policy` document as a Policy; it was checked when it was published. */
export function toPolicy(body: JsonObject): Policy {
  return body as Policy
}
