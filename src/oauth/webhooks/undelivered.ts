import { fault } from '../../errors/fault.ts'
import { isEventQueue } from '../../publish/events/events.ts'
import type { DeliveryRow } from '../../store/ports/ports.ts'
import type { OAuthParts } from '../endpoints/parts.ts'

export const DELIVERIES_PAGE = 100

/**
 * A page of 100 of the messages of an API that wait or were given up (`dead`: only the latter), in the order of their commits, after
 * the id `after` (0 = from the beginning).
 */
export async function deliveriesOf(
  { outbox }: Pick<OAuthParts, 'outbox'>,
  { apiId, dead, after = 0 }: { readonly apiId: string; readonly dead: boolean; readonly after?: number },
): Promise<DeliveryRow[]> {
  return isEventQueue(apiId) ? [] : outbox.list({ queue: apiId, dead, after, limit: DELIVERIES_PAGE })
}

/**
 * Sends a failed message again, as the first of its API. When that attempt fails too, it has failed again: its 24 hours
 * are over. @throws Fault `not_found` (404) when the API has no such failed message
 */
export async function resend(
  parts: Pick<OAuthParts, 'documents' | 'outbox' | 'clock' | 'wakeDeliveries'>,
  { apiId, id, actor }: { readonly apiId: string; readonly id: number; readonly actor: string },
): Promise<void> {
  const row = await parts.outbox.get(id)
  if (row === undefined || row.queue !== apiId || isEventQueue(apiId) || !row.dead)
    throw fault('not_found', 'no notification of this API that was given up has this id')
  const at = parts.clock.wall()
  const api = await parts.documents.find('api', 'api_id', apiId)
  const orgId = String(api?.body.org_id ?? '')
  await parts.documents.commit([{ op: 'settleDelivery', id, outcome: { is: 'again', nextAt: at } }], {
    ...{ actor, action: 'oauth_delivery.resend', orgId, at },
    detail: { api_id: apiId, id },
  })
  parts.wakeDeliveries?.()
}
