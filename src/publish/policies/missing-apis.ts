import { toWords } from '../../model/apis/definition/tree.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { policyApisOf } from '../../model/policies/policy-body.ts'
import type { Documents } from '../../store/ports/ports.ts'

const MISSING = 'no API of the organisation has this id: the right opens nothing yet'

/**
 * A warning for each API that a policy gives rights to and nobody has. `served`: ids of APIs that are not stored.
 * @throws Fault `store_away`
 */
export async function missingApis(
  documents: Documents,
  policy: JsonObject,
  served: ReadonlySet<string> = new Set(),
): Promise<JsonObject[]> {
  const warnings: JsonObject[] = []
  for (const id of policyApisOf(policy)) {
    if (served.has(id)) continue
    const stored = await documents.find('api', 'api_id', id)
    // One of another organisation opens nothing either, and is not shown by a missing warning.
    if (stored !== undefined && (stored.body.org_id ?? '') === (policy.org_id ?? '')) continue
    warnings.push({ path: toWords(['access_rights', id]), message: MISSING })
  }
  return warnings
}
