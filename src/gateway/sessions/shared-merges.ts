import { Fault } from '../../errors/fault.ts'
import { type Merged, policyIdsOf } from '../../model/policies/merge-policies.ts'
import { mergeSession } from '../../model/sessions/scope-session.ts'
import type { Policy, Session } from '../../model/sessions/session.ts'
import { policyKey } from '../apis/snapshot.ts'
import type { Snapshot } from '../server/exchange.ts'

/** The members that differ from key to key without any effect on access. */
const WITHOUT_OWN = {
  alias: undefined,
  counter_id: undefined,
  date_created: undefined,
  expires: undefined,
  last_updated: undefined,
  quota_remaining: undefined,
  quota_renews: undefined,
}

/**
 * Merges in the cache, of each of two generations: sessions come from few policies, or each has individual rules and sharing gains nothing.
 * Their entries (access rights and patterns) are counted, for one may be as large as a thousand others.
 */
const KEPT_MERGES = 2048
const KEPT_ENTRIES = 200_000
/** Characters of the sessions that they are found by: of a thousand long ones not all. */
const KEPT_CHARACTERS = 16_777_216

const BYTES_A_CHARACTER = 3
/** Measured with distinct paths of 20 to 60 characters, compiled: 360 to 580 (Node 26.10). */
const BYTES_A_PATTERN = 600

/** A session with its policies applied. */
interface MergedSession {
  /** A Fault `policies_unusable` when they cannot be applied. */
  readonly merged: Merged | Fault
  /** Memory that the session takes for itself, estimated: what it shares is counted for the first session that has it. */
  readonly ownBytes: number
}

/** A merge with what it was made of. */
interface Kept {
  readonly merged: Merged | Fault
  readonly policies: ReadonlyMap<string, Policy | undefined>
  readonly orgs: ReadonlyMap<string, string | undefined>
}

/**
 * Merges sessions with their policies once for all equal ones: ten thousand keys of one policy share one set of access rights.
 * That is a third of the memory of a session, and memory that stays in the processor's caches. A merge, with what is
 * compiled from it, is valid until one of its own policies changes, not until any policy does.
 */
export class SharedMerges {
  #young = new Map<string, Kept>()
  #old = new Map<string, Kept>()
  #entries = 0
  #characters = 0

  /** The session with its policies applied (its `lastUpdated` may be that of another). */
  merge(session: Session, orgId: string, snapshot: Snapshot): MergedSession {
    const text = `${orgId}\n${JSON.stringify({ ...session, ...WITHOUT_OWN })}`
    const young = this.#young.get(text)
    const known = young ?? this.#old.get(text)
    const kept = known !== undefined && isCurrent(known, snapshot) ? known : made(session, orgId, snapshot)
    if (kept !== young) this.#keep(text, kept)
    const patterns = kept === known ? 0 : patternsOf(kept.merged)
    return { merged: kept.merged, ownBytes: text.length * BYTES_A_CHARACTER + patterns * BYTES_A_PATTERN }
  }

  #keep(text: string, kept: Kept): void {
    if (this.#young.size >= KEPT_MERGES || this.#entries >= KEPT_ENTRIES || this.#characters >= KEPT_CHARACTERS) {
      this.#old = this.#young
      this.#young = new Map()
      this.#entries = 0
      this.#characters = 0
    }
    this.#young.set(text, kept)
    this.#entries += entriesOf(kept.merged)
    this.#characters += text.length
  }
}

function made(session: Session, orgId: string, { policies, apis }: Snapshot): Kept {
  const used = new Map<string, Policy | undefined>()
  const orgs = new Map<string, string | undefined>()
  const policiesOf = (each: Session) =>
    policyIdsOf(each).map((id) => {
      const key = policyKey(orgId, id)
      const policy = policies.get(key)
      used.set(key, policy)
      return policy
    })
  const orgOf = (apiId: string) => {
    const org = apis.get(apiId)?.api.orgId
    orgs.set(apiId, org)
    return org
  }
  return { merged: mergeSession(session, policiesOf, orgOf), policies: used, orgs }
}

/** True when all that it was made of is the same today. */
function isCurrent({ policies, orgs }: Kept, snapshot: Snapshot): boolean {
  for (const [key, policy] of policies) if (snapshot.policies.get(key) !== policy) return false
  for (const [apiId, org] of orgs) if (snapshot.apis.get(apiId)?.api.orgId !== org) return false
  return true
}

function entriesOf(merged: Merged | Fault): number {
  return merged instanceof Fault ? 1 : 1 + merged.rights.size + patternsOf(merged)
}

function patternsOf(merged: Merged | Fault): number {
  if (merged instanceof Fault) return 0
  let patterns = 0
  for (const { allowedUrls, endpoints } of merged.rights.values()) patterns += allowedUrls.length + endpoints.length
  return patterns
}
