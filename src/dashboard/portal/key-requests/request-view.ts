import type { JsonObject } from '../../../model/json/json.ts'
import { entriesOf } from '../../../model/portal/catalogue/catalogue.ts'
import { catalogueOf, visibleEntries } from '../../../publish/portal/catalogue/catalogue.ts'
import { toRequestView } from '../../../publish/portal/key-requests/request-view.ts'
import type { StoredDocument } from '../../../store/ports/ports.ts'
import type { Visibility } from '../../access/visibility.ts'
import type { DashboardParts } from '../../server/parts.ts'
import { toVisibleDeveloper } from '../developers/holdings.ts'

/**
 * How requests are shown to a caller: with the developer, and with what of the catalogue the caller may see. The catalogue is read once
 * for all requests of one answer.
 */
export function requestViews(
  parts: DashboardParts,
  visibility: Visibility,
): (request: StoredDocument) => Promise<JsonObject> {
  const catalogues = new Map<string, Promise<JsonObject[]>>()
  const entriesIn = (orgId: string) => {
    const known = catalogues.get(orgId) ?? readEntries(parts, visibility, orgId)
    catalogues.set(orgId, known)
    return known
  }
  const show = (developer: StoredDocument) =>
    toVisibleDeveloper(parts, { visibility }, developer, { withSecrets: false })
  return async (request) => toRequestView(parts, request, await entriesIn(String(request.body.org_id)), show)
}

async function readEntries(parts: DashboardParts, visibility: Visibility, orgId: string): Promise<JsonObject[]> {
  return visibleEntries(parts, orgId, entriesOf((await catalogueOf(parts, orgId))?.body), visibility)
}
