import type { JsonObject } from '../../../src/model/json/json.ts'
import { type Merged, mergePolicies, policyIdsOf } from '../../../src/model/policies/merge-policies.ts'
import type { Policy, Session } from '../../../src/model/sessions/session.ts'
import { compileAccess } from '../../../src/model/sessions/session-access.ts'
import type { FakeClock } from '../../../src/model/time/clock.ts'
import type { Store } from '../../../src/store/ports/ports.ts'

/** Takes one permit of each quota of a key, as the gateway does for a request. */
export async function useQuota(
  store: Store,
  body: JsonObject,
  orgId: string,
  counterId: string,
  clock: FakeClock,
): Promise<void> {
  const session = body as unknown as Session
  const found = await Promise.all(
    policyIdsOf(session).map((id) => store.documents.find('policy', 'org_policy', `${orgId}/${id}`)),
  )
  const policies = found.map((stored) => stored?.body as unknown as Policy | undefined)
  const merged = mergePolicies(session, policies) as Merged
  for (const apiId of merged.rights.keys()) {
    const quota = compileAccess(merged, apiId, counterId)?.quota
    if (quota !== undefined) await store.counters.take([quota], { wall: clock.wall(), mono: clock.mono() })
  }
}
