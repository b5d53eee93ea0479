import type { Json, JsonObject } from '../../model/json/json.ts'
import { sessionMemberWarnings } from '../../model/sessions/member-warnings.ts'
import { explicitRights, type WarnedRights } from '../../publish/sessions/explicit-rights.ts'
import type { AdminParts } from './parts.ts'
import type { AdminRequest } from './request.ts'

/**
 * A key or policy (`schema`) as it was sent, with warnings of members without effect; under the path of an alias with the paths of its rights as they matched where its program comes from
 * (`compat.path_matching`). `before`: what it replaces.
 * @throws Fault `store_away`
 */
export async function sentRights(
  parts: AdminParts,
  request: AdminRequest,
  body: JsonObject,
  { schema, before }: { readonly schema: JsonObject; readonly before?: JsonObject | undefined },
): Promise<WarnedRights> {
  const members = () => sessionMemberWarnings(body, schema)
  if (!request.isAlias) return { body, warnings: members }
  const orgId = organisationNamed(body.org_id, request.text('org_id'), before?.org_id)
  const { path_matching: matching } = parts.config.compat
  const listenPathOf = (apiId: string) => {
    const api = parts.live.snapshot.apis.get(apiId)?.api
    return orgId === undefined || api?.orgId === orgId ? api?.listenPath : undefined
  }
  const explicit = await explicitRights(parts.documents, body, { matching, before, orgId, listenPathOf })
  return { body: explicit.body, warnings: () => [...members(), ...explicit.warnings] }
}

/** The first organisation that is named; undefined = none is, and the references say which one it is. */
function organisationNamed(...names: readonly (Json | undefined)[]): string | undefined {
  return names.find((name) => typeof name === 'string' && name !== '') as string | undefined
}

/** The `warnings` of an answer; none where there is nothing to warn of. */
export function warningsField(warnings: readonly JsonObject[]): JsonObject {
  return warnings.length === 0 ? {} : { warnings: [...warnings] }
}
