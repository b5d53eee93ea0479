import { toWords } from '../../model/apis/definition/tree.ts'
import type { Json, JsonObject } from '../../model/json/json.ts'
import { policyApisOf } from '../../model/policies/policy-index.ts'
import type { Documents } from '../../store/ports/ports.ts'

/**
 * The member of an answer, under this name, that holds a warning for each API that a policy gives rights to and nobody has; none where
 * there are none. `served`: ids of APIs that are not stored. @throws Fault `store_away`
 */
export async function missingApisMember(
  documents: Documents,
  policy: JsonObject,
  name: string,
  served: ReadonlySet<string> = new Set(),
): Promise<{ [name: string]: Json }> {
  const warnings: Json[] = []
  for (const id of policyApisOf(policy)) {
    if (served.has(id) || (await documents.find('api', 'api_id', id)) !== undefined) continue
    warnings.push({ path: toWords(['access_rights', id]), message: 'no API has this id: the right opens nothing yet' })
  }
  return warnings.length === 0 ? {} : { [name]: warnings }
}
