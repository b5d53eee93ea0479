import type { JsonObject } from '../../../model/json/json.ts'
import { entriesOf, offersOf } from '../../../model/portal/catalogue/catalogue.ts'
import { requestedPolicies } from '../../../model/portal/key-requests/key-request.ts'
import { findPolicy } from '../../../publish/policies/policy-ids.ts'
import { catalogueOf } from '../../../publish/portal/catalogue/catalogue.ts'
import { type RequestOutcome, requestIn, withdrawLink } from '../../../publish/portal/key-requests/requests.ts'
import type { DashboardParts } from '../../server/parts.ts'
import { sendCollectLink, sendPortalMail } from '../settings/portal-mails.ts'

/**
 * Tells the developer the decision on a request. A new key is mailed after the response; the response waits for the mail with a link,
 * as nothing else leads to the key. @throws Fault `mail_off` (409), `mail_failed` (502) when the link cannot be sent: approving
 * again then sends another one
 */
export async function notifyDeveloper(parts: DashboardParts, outcome: RequestOutcome): Promise<void> {
  const { id, developer, code, access } = outcome
  if (access !== undefined && outcome.fresh === true) {
    void apiNameOf(parts, outcome)
      .then((api) => sendPortalMail(parts, { sort: 'key_email', developer, values: { api, ...valuesOf(access) } }))
      .catch((cause: unknown) => parts.log.error({ cause }, 'cannot send a portal mail'))
    return
  }
  if (code === undefined) return
  try {
    await sendCollectLink(parts, { developer, id, code, api: await apiNameOf(parts, outcome) })
  } catch (error) {
    await withdrawLink(parts, id)
    throw error
  }
}

/** The developer's name of the requested access: the name of the catalogue's entry, else of the policy. */
async function apiNameOf(parts: DashboardParts, { id, developer }: RequestOutcome): Promise<string> {
  const orgId = String(developer.body.org_id)
  const request = await requestIn(parts, orgId, id)
  const ids = request === undefined ? [] : requestedPolicies(request.body)
  const found = await Promise.all(ids.map((policyId) => findPolicy(parts, policyId, orgId)))
  const policies = found.filter((policy) => policy !== undefined)
  const offers = offersOf(entriesOf((await catalogueOf(parts, orgId))?.body), policies)
  const names = (offers.length > 0 ? offers : policies.map(({ body }) => body)).map(({ name }) => String(name ?? ''))
  return names.filter((name) => name !== '').join(', ') || ids.join(', ')
}

function valuesOf({ RawKey, client_id, secret }: JsonObject): Record<string, string> {
  const given = { key: RawKey, client_id, secret }
  return Object.fromEntries(
    Object.entries(given).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}
