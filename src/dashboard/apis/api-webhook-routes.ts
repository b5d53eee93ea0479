import { isDeepStrictEqual } from 'node:util'
import { type Static, Type } from 'typebox'
import { fault } from '../../errors/fault.ts'
import { metadataOfApi } from '../../model/apis/definition/api-metadata.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { changeMetadata } from '../../publish/apis/apis.ts'
import { referencedHook } from '../../publish/events/events.ts'
import { type Answer, bare, ok } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import { DoneEnvelope } from '../routes/envelope.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from '../server/parts.ts'
import { apiDocumentOf } from './api-document.ts'
import { actorName } from './store-api.ts'
import { WebhookReference } from './webhook-reference.ts'

const PATH = '/api/apis/{apiID}/webhooks'
const OWNED = { noun: 'api', by: 'apiID' } as const
const Reference = Type.Object(
  {
    event_name: Type.String({
      minLength: 1,
      maxLength: 128,
      description: 'Event that calls the webhook, such as `QuotaExceeded`.',
    }),
    event_timeout: Type.Optional(
      Type.Number({
        minimum: 0,
        description: 'Seconds in which the same event does not call the webhook again. Absent: those of the webhook.',
      }),
    ),
    hook: Type.Object(
      {
        id: Type.Optional(Type.String({ maxLength: 256, description: 'Id of the webhook.' })),
        name: Type.Optional(Type.String({ maxLength: 256, description: 'Name of the webhook, where no id is given.' })),
      },
      { description: 'The webhook, by id or by name.' },
    ),
  },
  { title: 'WebhookReferenceInput', additionalProperties: true },
)
const Body = Type.Object(
  { hook_references: Type.Array(Reference, { maxItems: 100, description: 'Webhooks that events of the API call.' }) },
  {
    title: 'WebhookReferencesInput',
    description: 'The list is replaced. Each names a webhook of the organisation, by id or by name.',
  },
)
const ReferencesShape = Type.Object(
  { hook_references: Type.Array(WebhookReference, { description: 'Webhooks that events of the API call.' }) },
  { title: 'WebhookReferences' },
)

/** `/api/apis/{apiID}/webhooks`: the webhooks that are notified of events of an API, of either format, and of its keys. */
export function apiWebhookRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'GET',
      path: PATH,
      access: { permission: 'apis', intent: 'read' },
      owned: OWNED,
      summary: 'Read the webhooks of an API',
      answers: { 200: ReferencesShape },
      entityVersion: (call) => apiDocumentOf(parts, call, call.param('apiID')),
      async run(call) {
        const { body } = await apiDocumentOf(parts, call, call.param('apiID'))
        return bare({ hook_references: [...(metadataOfApi(body).hook_references ?? [])] })
      },
    },
    {
      method: 'PUT',
      path: PATH,
      access: { permission: 'apis', intent: 'write' },
      owned: OWNED,
      summary: 'Replace the webhooks of an API',
      body: Body,
      answers: { 200: DoneEnvelope },
      entityVersion: (call) => apiDocumentOf(parts, call, call.param('apiID')),
      run: (call) => replace(parts, call),
    },
  ]
}

/** @throws Fault `body_invalid` (400) naming the first new reference to no webhook of the organisation */
async function replace(parts: DashboardParts, call: Call): Promise<Answer> {
  const { body } = await apiDocumentOf(parts, call, call.param('apiID'))
  const sent = call.object() as Static<typeof Body>
  // Present entries stay, even with a deleted webhook: otherwise the others could not be changed.
  const held = metadataOfApi(body).hook_references ?? []
  const references: JsonObject[] = sent.hook_references.map((reference) => ({ event_timeout: 0, ...reference }))
  for (const [at, reference] of references.entries()) {
    if (held.some((each) => isDeepStrictEqual(each, reference))) continue
    if ((await referencedHook(parts, String(body.org_id), reference)) === undefined)
      throw fault('body_invalid', `hook_references[${at}].hook: webhook not found`)
  }
  const audit = { actor: actorName(call), action: 'api.webhooks' }
  await changeMetadata(parts, String(body.api_id), { hook_references: references }, audit)
  return ok('API webhooks updated')
}
