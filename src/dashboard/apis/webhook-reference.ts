import { Type } from 'typebox'
import { describedAs } from '../../model/openapi/component-schemas.ts'
import { openObjectOf, text } from '../../model/openapi/plain-schemas.ts'

/** A webhook that an API names for an event, as it is stored: further members of the sender are kept. */
export const WebhookReference = Type.Object(
  {},
  describedAs(
    openObjectOf(
      'WebhookReference',
      {},
      {
        event_name: text,
        event_timeout: { type: 'number' },
        hook: openObjectOf('WebhookName', {}, { id: text, name: text }),
      },
    ),
  ),
)
