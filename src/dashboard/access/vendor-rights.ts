import { isVendorWord, ownWords } from '../../model/apis/definition/vendor-words.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { sessionMemberWarnings } from '../../model/sessions/member-warnings.ts'
import { explicitRights, type WarnedRights } from '../../publish/sessions/explicit-rights.ts'
import type { DashboardParts } from '../server/parts.ts'

/** The schema of a key or policy, its organisation, and what it replaces. */
export interface RightsOrigin {
  readonly schema: JsonObject
  readonly orgId: string
  readonly before?: JsonObject | undefined
}

/**
 * A key or policy (`schema`), with warnings of members without effect and with the paths of its rights as they matched where its program comes from (`compat.path_matching`), where the
 * installation names a vendor's word: as for classic definitions, nothing in it names its product. `before`: what it replaces; `orgId`: the organisation that it is
 * of.
 * @throws Fault `store_away`
 */
export async function vendorRights(
  { config, documents }: DashboardParts,
  body: JsonObject,
  { schema, orgId, before }: RightsOrigin,
): Promise<WarnedRights> {
  const members = () => sessionMemberWarnings(body, schema)
  const { path_matching: matching } = config.compat
  if (!ownWords(config.compat.vendor_aliases).some(isVendorWord)) return { body, warnings: members }
  const explicit = await explicitRights(documents, body, { matching, before, orgId })
  return { body: explicit.body, warnings: () => [...members(), ...explicit.warnings] }
}
