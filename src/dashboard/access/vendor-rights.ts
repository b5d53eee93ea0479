import { Type } from 'typebox'
import { isVendorWord, ownWords } from '../../model/apis/definition/vendor-words.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { sessionMemberWarnings } from '../../model/sessions/member-warnings.ts'
import { explicitRights, type WarnedRights } from '../../publish/sessions/explicit-rights.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'

/** The query of calls that take rights. */
export const RIGHTS_QUERY = {
  paths: Type.Enum(['as_written'], {
    description: '`as_written`: paths of rights are stored as they are sent, whatever `compat.path_matching` says.',
  }),
}

/** The schema of a key or policy, its organisation, and what it replaces. */
export interface RightsOrigin {
  readonly schema: JsonObject
  readonly orgId: string
  readonly before?: JsonObject | undefined
}

/**
 * A key or policy (`schema`) as it is stored, with warnings of members without effect. Where the installation names a vendor's word, paths of
 * rights are written out as they match at that vendor's gateway (`compat.path_matching`): like classic definitions, a key names no product.
 * A call with `RIGHTS_QUERY` has its paths stored as they are. `before`: the key or policy that is replaced; `orgId`: its organisation.
 * @throws Fault `store_away`
 */
export async function vendorRights(
  { config, documents }: DashboardParts,
  call: Pick<Call, 'query'>,
  body: JsonObject,
  { schema, orgId, before }: RightsOrigin,
): Promise<WarnedRights> {
  const members = () => sessionMemberWarnings(body, schema)
  const { path_matching: matching } = config.compat
  const isVendors = ownWords(config.compat.vendor_aliases).some(isVendorWord)
  if (!isVendors || call.query('paths') === 'as_written') return { body, warnings: members }
  const explicit = await explicitRights(documents, body, { matching, before, orgId })
  return { body: explicit.body, warnings: () => [...members(), ...explicit.warnings] }
}
