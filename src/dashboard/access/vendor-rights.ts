import { isVendorWord, ownWords } from '../../model/apis/definition/vendor-words.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { sessionMemberWarnings } from '../../model/sessions/member-warnings.ts'
import { type ExplicitRights, explicitRights } from '../../publish/sessions/explicit-rights.ts'
import type { DashboardParts } from '../server/parts.ts'

/**
 * A key or policy (`schema`), with warnings of members without effect and with the paths of its rights as they matched where its program comes from (`compat.path_matching`), where the
 * installation names a vendor's word: as for classic definitions, nothing in it names its product. `before`: what it replaces.
 * @throws Fault `store_away`
 */
export async function vendorRights(
  { config, documents }: DashboardParts,
  body: JsonObject,
  { schema, before }: { readonly schema: JsonObject; readonly before?: JsonObject | undefined },
): Promise<ExplicitRights> {
  const members = sessionMemberWarnings(body, schema)
  const { path_matching: matching } = config.compat
  if (!ownWords(config.compat.vendor_aliases).some(isVendorWord)) return { body, warnings: members }
  const explicit = await explicitRights(documents, body, { matching, before })
  return { body: explicit.body, warnings: [...members, ...explicit.warnings] }
}
