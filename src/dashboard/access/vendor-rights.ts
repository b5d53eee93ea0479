import { isVendorWord, ownWords } from '../../model/apis/definition/vendor-words.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { type ExplicitRights, explicitRights } from '../../publish/sessions/explicit-rights.ts'
import type { DashboardParts } from '../server/parts.ts'

/**
 * A key or policy with the paths of its rights as they matched where its program comes from (`compat.path_matching`), where the
 * installation names a vendor's word: as for classic definitions, nothing in it names its product. `before`: what it replaces.
 * @throws Fault `store_away`
 */
export async function vendorRights(
  { config, documents }: DashboardParts,
  body: JsonObject,
  before?: JsonObject,
): Promise<ExplicitRights> {
  const { path_matching: matching } = config.compat
  if (!ownWords(config.compat.vendor_aliases).some(isVendorWord)) return { body, warnings: [] }
  return explicitRights(documents, body, { matching, before })
}
