import { fault } from '../../errors/fault.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { systemClock } from '../../model/time/clock.ts'
import { DELIVERIES_PAGE, deliveriesOf, resend } from '../../oauth/webhooks/undelivered.ts'
import type { DeliveryRow } from '../../store/ports/ports.ts'
import { done, json } from './answer.ts'
import type { AdminParts } from './parts.ts'
import type { AdminRequest } from './request.ts'
import type { AdminRoute } from './route.ts'

const ID = /^[1-9]\d{0,15}$/

/** `/oauth/notifications/{apiID}`: notices of tokens that did not arrive yet, or never did. Their content is shown to nobody. */
export function oauthDeliveryRoutes(parts: AdminParts): AdminRoute[] {
  const { documents, outbox } = parts.store
  const { clock = systemClock, wakeDeliveries } = parts
  const sending = { documents, outbox, clock, ...(wakeDeliveries && { wakeDeliveries }) }
  return [
    {
      method: 'GET',
      path: '/oauth/notifications/{apiID}',
      run: async (request) => {
        const after = request.text('after') === '' ? 0 : idOf(request.text('after'))
        const rows = await deliveriesOf(sending, { apiId: request.param('apiID'), dead: request.flag('dead'), after })
        const next = rows.length === DELIVERIES_PAGE ? `X-Next: ${rows.at(-1)!.id}\r\n` : ''
        return json(rows.map(shown), 200, next)
      },
    },
    {
      method: 'POST',
      path: '/oauth/notifications/{apiID}/{id}/resend',
      run: async (request: AdminRequest) => {
        const id = idOf(request.param('id'))
        await resend(sending, { apiId: request.param('apiID'), id, actor: request.actor })
        return done('notification will be sent again')
      },
    },
  ]
}

function shown({ id, queue, createdAt, attempts, nextAt, dead, error }: DeliveryRow): JsonObject {
  const at = (ms: number) => new Date(ms).toISOString()
  return {
    ...{ id, api_id: queue, created_at: at(createdAt), attempts, dead, error },
    // one that was never tried is due from its beginning
    ...(dead ? {} : { next_at: at(Math.max(nextAt, createdAt)) }),
  }
}

function idOf(text: string): number {
  if (!ID.test(text)) throw fault('id_malformed', 'the id of a notification is a whole number from 1 on')
  return Number(text)
}
