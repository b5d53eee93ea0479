import type { JsonObject } from '../../model/json/json.ts'
import { type ExplicitRights, explicitRights } from '../../publish/sessions/explicit-rights.ts'
import type { AdminParts } from './parts.ts'
import type { AdminRequest } from './request.ts'

/**
 * A key or policy as it was sent; under the path of an alias with the paths of its rights as they matched where its program comes from
 * (`compat.path_matching`). `before`: what it replaces.
 * @throws Fault `store_away`
 */
export async function sentRights(
  parts: AdminParts,
  request: AdminRequest,
  body: JsonObject,
  before?: JsonObject,
): Promise<ExplicitRights> {
  if (!request.isAlias) return { body, warnings: [] }
  const { path_matching: matching } = parts.config.compat
  const listenPathOf = (apiId: string) => parts.live.snapshot.apis.get(apiId)?.api.listenPath
  return explicitRights(parts.documents, body, { matching, before, listenPathOf })
}

/** The `warnings` of an answer; none where there is nothing to warn of. */
export function warningsField(warnings: readonly JsonObject[]): JsonObject {
  return warnings.length === 0 ? {} : { warnings: [...warnings] }
}
