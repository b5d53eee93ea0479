import { toWords } from '../../model/apis/definition/tree.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { policyApisOf } from '../../model/policies/policy-body.ts'
import { WorkSlice } from '../../runtime/turns.ts'
import type { Documents } from '../../store/ports/ports.ts'

/** Warnings that are listed one by one; of more only the number is. */
const MOST_LISTED = 100
const MISSING = 'no API of the organisation has this id: the right opens nothing yet'

/**
 * A warning for each API that a policy gives rights to and nobody has, up to 100; one more says how many others there are. `served`: ids of
 * APIs that are not stored.
 * @throws Fault `store_away`
 */
export async function missingApis(
  documents: Documents,
  policy: JsonObject,
  served: ReadonlySet<string> = new Set(),
): Promise<JsonObject[]> {
  const warnings: JsonObject[] = []
  const slice = new WorkSlice()
  let more = 0
  for (const id of policyApisOf(policy)) {
    if (slice.isOver) await slice.next()
    if (served.has(id)) continue
    const stored = await documents.find('api', 'api_id', id)
    // One of another organisation opens nothing either, and is not shown by a missing warning.
    if (stored !== undefined && (stored.body.org_id ?? '') === (policy.org_id ?? '')) continue
    if (warnings.length < MOST_LISTED) warnings.push({ path: toWords(['access_rights', id]), message: MISSING })
    else more++
  }
  if (more > 0) warnings.push({ path: 'access_rights', message: `${more} more rights: ${MISSING}` })
  return warnings
}
