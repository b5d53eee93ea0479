import { Type } from 'typebox'
import { describedAs, openObjectOf, said, text } from '../../model/openapi/component-schemas.ts'

/** A webhook that an API names for an event, as it is stored: further members of the sender are kept. */
export const WebhookReference = Type.Object(
  {},
  describedAs(
    openObjectOf(
      'WebhookReference',
      {},
      {
        event_name: said(text, 'Event that calls the webhook, such as `QuotaExceeded`.'),
        event_timeout: said({ type: 'number' }, 'Seconds in which the same event does not call the webhook again.'),
        hook: said(
          openObjectOf(
            'WebhookName',
            {},
            { id: said(text, 'Id of the webhook.'), name: said(text, 'Name of the webhook.') },
          ),
          'The webhook, by id or by name.',
        ),
      },
    ),
  ),
)
