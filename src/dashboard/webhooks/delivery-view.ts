import { Type } from 'typebox'
import type { JsonObject } from '../../model/json/json.ts'
import type { DeliveryRow } from '../../store/ports/ports.ts'
import { moment } from '../routes/text-forms.ts'

export const Delivery = Type.Object(
  {
    id: Type.Integer({ description: 'Number of the delivery.' }),
    created_at: moment('Time of the event (RFC 3339).'),
    attempts: Type.Integer({ description: 'Number of tries so far.' }),
    dead: Type.Boolean({ description: 'Failed: it is not retried automatically.' }),
    error: Type.String({ description: 'Of the last try.' }),
    next_at: Type.Optional(moment('When it is tried next, unless it was given up.')),
  },
  { title: 'Delivery' },
)

/** A message of the outbox as callers see it, without its content. */
export function toDeliveryView({ id, createdAt, attempts, nextAt, dead, error }: DeliveryRow): JsonObject {
  const at = (ms: number) => new Date(ms).toISOString()
  // One that was never tried is due from its beginning.
  return {
    ...{ id, created_at: at(createdAt), attempts, dead, error },
    ...(!dead && { next_at: at(Math.max(nextAt, createdAt)) }),
  }
}
