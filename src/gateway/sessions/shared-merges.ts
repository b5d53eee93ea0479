import type { Fault } from '../../errors/fault.ts'
import { type Merged, policyIdsOf } from '../../model/policies/merge-policies.ts'
import { mergeSession } from '../../model/sessions/scope-session.ts'
import type { Policy, Session } from '../../model/sessions/session.ts'
import { policyKey } from '../apis/snapshot.ts'
import type { Snapshot } from '../server/exchange.ts'

/** What differs from key to key without any effect on what the key may do. */
const WITHOUT_OWN = {
  alias: undefined,
  counter_id: undefined,
  date_created: undefined,
  expires: undefined,
  last_updated: undefined,
  quota_remaining: undefined,
  quota_renews: undefined,
}

/** Different merges that are kept: sessions come from few policies, or each has rules of its own and sharing gains nothing. */
const KEPT_MERGES = 4096

/**
 * Merges sessions with their policies once for all that say the same: ten thousand keys of one policy hold one set of rights
 * between them. That is a third of the memory of a session, and memory that stays in the processor's caches.
 */
export class SharedMerges {
  #byText = new Map<string, Merged | Fault>()
  /** Of the last snapshot, weakly: one that is over would stay in memory until the next merge, with what was compiled for its APIs. */
  #apis: WeakRef<Snapshot['apis']> | undefined
  #policyGeneration = -1

  /** The session with its policies applied (its `lastUpdated` may be that of another); a Fault `policies_unusable` when they cannot be. */
  merge(session: Session, orgId: string, snapshot: Snapshot): Merged | Fault {
    this.#follow(snapshot)
    const text = `${orgId}\n${JSON.stringify({ ...session, ...WITHOUT_OWN })}`
    const known = this.#byText.get(text)
    if (known !== undefined) return known
    const orgOf = (apiId: string) => snapshot.apis.get(apiId)?.api.orgId
    const merged = mergeSession(session, (each) => policiesOf(each, orgId, snapshot), orgOf)
    if (this.#byText.size >= KEPT_MERGES) this.#byText.clear()
    this.#byText.set(text, merged)
    return merged
  }

  /** What was merged under other policies or APIs says nothing about these. */
  #follow({ apis, policyGeneration }: Snapshot): void {
    if (this.#apis?.deref() === apis && this.#policyGeneration === policyGeneration) return
    this.#apis = new WeakRef(apis)
    this.#policyGeneration = policyGeneration
    this.#byText.clear()
  }
}

function policiesOf(session: Session, orgId: string, snapshot: Snapshot): (Policy | undefined)[] {
  return policyIdsOf(session).map((id) => snapshot.policies.get(policyKey(orgId, id)))
}
