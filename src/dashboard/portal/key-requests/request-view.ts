import type { JsonObject } from '../../../model/json/json.ts'
import { entriesOf } from '../../../model/portal/catalogue/catalogue.ts'
import { catalogueOf, seenEntries } from '../../../publish/portal/catalogue/catalogue.ts'
import { requestSeen } from '../../../publish/portal/key-requests/request-view.ts'
import type { StoredDocument } from '../../../store/ports/ports.ts'
import type { Sight } from '../../access/visibility.ts'
import type { DashboardParts } from '../../server/parts.ts'
import { developerShown } from '../developers/holdings.ts'

/**
 * How requests are shown to a caller: with the developer, and with what of the catalogue the caller may see. The catalogue is read once
 * for all requests of one answer.
 */
export function requestViews(parts: DashboardParts, sight: Sight): (request: StoredDocument) => Promise<JsonObject> {
  const catalogues = new Map<string, Promise<JsonObject[]>>()
  const entriesIn = (orgId: string) => {
    const known = catalogues.get(orgId) ?? readEntries(parts, sight, orgId)
    catalogues.set(orgId, known)
    return known
  }
  const show = (developer: StoredDocument) => developerShown(parts, { sight }, developer, { withNonce: false })
  return async (request) => requestSeen(parts, request, await entriesIn(String(request.body.org_id)), show)
}

async function readEntries(parts: DashboardParts, sight: Sight, orgId: string): Promise<JsonObject[]> {
  return seenEntries(parts, orgId, entriesOf((await catalogueOf(parts, orgId))?.body), sight)
}
