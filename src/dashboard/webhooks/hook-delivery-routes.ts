import { Type } from 'typebox'
import { fault } from '../../errors/fault.ts'
import { hookQueue } from '../../publish/events/events.ts'
import type { StoredDocument } from '../../store/ports/ports.ts'
import { bare, ok } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import { DoneEnvelope } from '../routes/envelope.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from '../server/parts.ts'
import { Delivery, toDeliveryView } from './delivery-view.ts'
import { knownHook } from './hook-routes.ts'

const PATH = '/api/hooks/{id}/deliveries'
const ID = /^[1-9]\d{0,15}$/
const PAGE = 100

/** Messages for a webhook that are pending or have failed. Their content is never shown. */
export function hookDeliveryRoutes(parts: DashboardParts): Route[] {
  const { outbox } = parts.store
  return [
    {
      method: 'GET',
      path: PATH,
      access: { permission: 'hooks', intent: 'read' },
      summary: 'List pending or failed deliveries of a webhook, at most 100 after `after`',
      query: { after: Type.Integer({ minimum: 0 }), dead: Type.Boolean() },
      answers: {
        200: Type.Object(
          { deliveries: Type.Array(Delivery, { description: 'Deliveries that are waiting or failed, oldest first.' }) },
          { title: 'DeliveryList' },
        ),
      },
      run: async (call) => {
        const queue = queueOf(await knownHook(parts, call))
        const dead = call.query('dead') === 'true'
        const rows = await outbox.list({ queue, dead, after: Number(call.query('after')), limit: PAGE })
        return bare({ deliveries: rows.map(toDeliveryView) })
      },
    },
    {
      method: 'POST',
      path: `${PATH}/{delivery}/resend`,
      access: { permission: 'hooks', intent: 'write' },
      summary: 'Resend a failed delivery, before all others of its webhook',
      answers: { 200: DoneEnvelope },
      run: async (call) => {
        await resend(parts, call, await knownHook(parts, call))
        return ok('The message is on its way again')
      },
    },
  ]
}

/** @throws Fault `not_found` (404) when the webhook has no such message that was given up */
async function resend(parts: DashboardParts, call: Call, hook: StoredDocument): Promise<void> {
  const text = call.param('delivery')
  const row = ID.test(text) ? await parts.store.outbox.get(Number(text)) : undefined
  if (row === undefined || row.queue !== queueOf(hook) || !row.dead)
    throw fault('not_found', 'No message of this webhook that was given up has this id')
  const at = parts.clock.wall()
  await parts.documents.commit([{ op: 'settleDelivery', id: row.id, outcome: { is: 'again', nextAt: at } }], {
    ...{ actor: call.actor!.email, action: 'hook_delivery.resend', orgId: String(hook.body.org_id), at },
    detail: { hook_id: hook.id, id: row.id },
  })
}

function queueOf({ id, body }: StoredDocument): string {
  return hookQueue(String(body.org_id), id)
}
