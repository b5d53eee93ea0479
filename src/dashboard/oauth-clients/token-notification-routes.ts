import { Type } from 'typebox'
import { fault } from '../../errors/fault.ts'
import { deliveriesOf, resend } from '../../oauth/webhooks/undelivered.ts'
import { bare, ok } from '../routes/answer.ts'
import { DoneEnvelope } from '../routes/envelope.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from '../server/parts.ts'
import { Delivery, toDeliveryView } from '../webhooks/delivery-view.ts'
import { apiInPath } from './find-client.ts'

const PATH = '/api/apis/{apiId}/notifications'
const OWNED = { noun: 'api', by: 'apiId' } as const
const ID = /^[1-9]\d{0,15}$/

/** Notifications of tokens that an API issued: those that are pending or have failed. Their content is never shown. */
export function tokenNotificationRoutes(parts: DashboardParts): Route[] {
  const { documents, clock } = parts
  const sending = { documents, clock, outbox: parts.store.outbox }
  return [
    {
      method: 'GET',
      path: PATH,
      access: { permission: 'oauth', intent: 'read' },
      owned: OWNED,
      summary: 'List pending or failed token notifications of an API, at most 100 after `after`',
      query: { after: Type.Integer({ minimum: 0 }), dead: Type.Boolean() },
      answers: {
        200: Type.Object(
          {
            deliveries: Type.Array(Delivery, {
              description: 'Deliveries that are waiting or failed, oldest first.',
            }),
          },
          { title: 'DeliveryList' },
        ),
      },
      run: async (call) => {
        const { body } = await apiInPath(parts, call)
        const dead = call.query('dead') === 'true'
        const asked = { apiId: String(body.api_id), dead, after: Number(call.query('after')) }
        return bare({ deliveries: (await deliveriesOf(sending, asked)).map(toDeliveryView) })
      },
    },
    {
      method: 'POST',
      path: `${PATH}/{delivery}/resend`,
      access: { permission: 'oauth', intent: 'write' },
      owned: OWNED,
      summary: 'Resend a failed token notification, before all others of its API',
      answers: { 200: DoneEnvelope },
      run: async (call) => {
        const { body } = await apiInPath(parts, call)
        const id = call.param('delivery')
        if (!ID.test(id)) throw fault('not_found', 'no notification of this API that was given up has this id')
        await resend(sending, { apiId: String(body.api_id), id: Number(id), actor: call.actor!.email })
        return ok('The notification is on its way again')
      },
    },
  ]
}
