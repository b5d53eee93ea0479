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
 * A key or policy (`schema`), with warnings of members without effect and with the paths of its rights as they matched where its program comes from (`compat.path_matching`), where the
 * installation names a vendor's word: as for classic definitions, nothing in it names its product. `before`: what it replaces; `orgId`: the organisation that it is
 * of. A call that
 * says that its paths are as they are meant (`RIGHTS_QUERY`) has them stored so.
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
