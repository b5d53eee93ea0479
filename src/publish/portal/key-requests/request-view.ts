import type { JsonObject } from '../../../model/json/json.ts'
import { offersOf } from '../../../model/portal/catalogue/catalogue.ts'
import { requestedPolicies, requestShape } from '../../../model/portal/key-requests/key-request.ts'
import type { Documents, StoredDocument } from '../../../store/ports/ports.ts'
import { developerIn, toDeveloperView } from '../developers/developers.ts'

/** A request as callers and receivers of events see it: with its developer, and with what these entries of the catalogue offer for it. */
export async function toRequestView(
  parts: { readonly documents: Documents },
  { id, body }: Pick<StoredDocument, 'id' | 'body'>,
  entries: readonly JsonObject[],
  show: (developer: StoredDocument) => JsonObject | Promise<JsonObject> = (found) => toDeveloperView(found),
): Promise<JsonObject> {
  const orgId = String(body.org_id)
  const developer = await developerIn(parts, orgId, String(body.by_user))
  const policies = await Promise.all(
    requestedPolicies(body).map((policyId) => parts.documents.find('policy', 'org_policy', `${orgId}/${policyId}`)),
  )
  const offers = offersOf(
    entries,
    policies.filter((policy) => policy !== undefined),
  )
  return {
    ...requestShape(id, body),
    portal_developer: developer === undefined ? {} : await show(developer),
    catalogue_entry: offers[0] ?? {},
    catalogues: offers,
  }
}
