import { Type } from 'typebox'
import { fault } from '../../errors/fault.ts'
import { isDocumentId } from '../../model/documents/ids.ts'
import { ALSO, describedAs, describedOpenMembers } from '../../model/openapi/component-schemas.ts'
import { hookShape, readHook, webhookNetwork } from '../../model/webhooks/hook.ts'
import { WebhookClient } from '../../oauth/webhooks/webhook-client.ts'
import { eventMessage } from '../../oauth/webhooks/webhook-messages.ts'
import { createHook, hookSecretsOf, removeHook, updateHook } from '../../publish/webhooks/hooks.ts'
import type { StoredDocument } from '../../store/ports/ports.ts'
import { maskSecretsFor, restoreMaskedSecrets } from '../access/secrets-view.ts'
import { checkHookUnused, hooksOfOthers } from '../access/used-by-others.ts'
import { type Answer, bare, ok, refused } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import { DoneEnvelope, PageCount } from '../routes/envelope.ts'
import { listed } from '../routes/listed.ts'
import { pageOf } from '../routes/page.ts'
import type { Route } from '../routes/route.ts'
import { storageId, webAddress } from '../routes/text-forms.ts'
import type { DashboardParts } from '../server/parts.ts'

const text = Type.String()
const members = {
  api_model: Type.Object({}, { description: 'Always an empty object; kept for clients of the incumbent.' }),
  id: storageId('Id of the webhook: 24 hexadecimal digits.'),
  org_id: Type.String({ description: 'Id of the organisation.' }),
  name: Type.String({ description: 'Name of the webhook.' }),
  method: Type.String({ description: 'Method of the request: `GET`, `POST`, `PUT`, `PATCH` or `DELETE`.' }),
  target_path: webAddress('URL that is called.'),
  template_path: Type.String({ description: 'Kept for clients of the incumbent: messages are always JSON.' }),
  header_map: Type.Record(text, text, { description: 'Header fields of the request by name.' }),
  event_timeout: Type.Number({ description: 'Seconds.' }),
}
const HookShape = Type.Object(members, { title: 'Webhook', additionalProperties: true })
const Body = Type.Unknown(
  describedOpenMembers('WebhookInput', {
    ...members,
    target_path: Type.String(
      describedAs({
        ...{ type: 'string', format: 'uri', [ALSO]: [{ type: 'string' }] },
        description: 'URL that is called. Characters that no URI may hold are percent-encoded.',
      }),
    ),
    method: Type.Enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], {
      description: 'In any letter case.',
      [ALSO]: [Type.String({ pattern: '^[A-Za-z]+$' })],
    }),
    shared_secret: Type.String({ description: 'Signs messages; it is never shown.' }),
  }),
)
const READ = { permission: 'hooks', intent: 'read' } as const
const WRITE = { permission: 'hooks', intent: 'write' } as const
const CONNECT_MS = 5000
const TOTAL_MS = 10_000

/** Webhooks: `/api/hooks`. */
export function hookRoutes(parts: DashboardParts): Route[] {
  const settings = { allowPrivate: parts.config.webhooks.allow_private }
  const shapeFor = async (call: Call) => {
    const isOfOthers = await hooksOfOthers(parts, call)
    return ({ id, body }: StoredDocument<'hook'>) => {
      const shape = hookShape(id, body, hookSecretsOf(parts, { id, body }))
      return maskSecretsFor(call, 'hooks', shape, !isOfOthers(id, body))
    }
  }
  const draftOver = (call: Call, stored: StoredDocument<'hook'>) => {
    const { id, body } = stored
    const before = hookShape(id, body, hookSecretsOf(parts, stored))
    const sent = restoreMaskedSecrets(call.object(), before, 'hook_invalid')
    return readHook(sent, { ...settings, shownTarget: before.target_path })
  }
  return [
    {
      method: 'GET',
      path: '/api/hooks',
      access: READ,
      summary: 'List webhooks',
      query: { p: Type.Integer() },
      answers: {
        200: Type.Object({
          hooks: Type.Array(HookShape, { description: 'Webhooks of the page, by name.' }),
          pages: PageCount,
        }),
      },
      run: async (call) => {
        const query = { where: call.visibility.whereOrg(), order: 'name_folded' }
        return listed(parts.documents, 'hook', query, pageOf(call), { name: 'hooks', shape: await shapeFor(call) })
      },
    },
    {
      method: 'POST',
      path: '/api/hooks',
      access: WRITE,
      summary: 'Create a webhook',
      body: Body,
      answers: { 200: DoneEnvelope },
      run: async (call) => {
        const sent = call.object()
        const made = {
          orgId: call.actor!.orgId,
          id: sent.id,
          draft: readHook(restoreMaskedSecrets(sent, undefined, 'hook_invalid'), settings),
        }
        await checkHookUnused(parts, call, [], [made.draft.body])
        await createHook(parts, made, call.actor!.email)
        return ok('Webhook created')
      },
    },
    {
      method: 'GET',
      path: '/api/hooks/{id}',
      access: READ,
      summary: 'Read a webhook',
      answers: { 200: HookShape },
      entityVersion: (call) => knownHook(parts, call),
      run: async (call) => {
        const stored = await hookOf(parts, call)
        if (stored === undefined) return refused(400, 'Could not retrieve webhook detail')
        return bare((await shapeFor(call))(stored))
      },
    },
    {
      method: 'PUT',
      path: '/api/hooks/{id}',
      access: WRITE,
      summary: 'Change a webhook',
      body: Body,
      answers: { 200: DoneEnvelope },
      entityVersion: (call) => knownHook(parts, call),
      run: async (call) => {
        const stored = await knownHook(parts, call)
        const draft = draftOver(call, stored)
        await checkHookUnused(parts, call, [stored.id], [stored.body, draft.body])
        await updateHook(parts, stored, draft, call.actor!.email)
        return ok('Hook updated')
      },
    },
    {
      method: 'DELETE',
      path: '/api/hooks/{id}',
      access: WRITE,
      summary: 'Delete a webhook',
      answers: { 200: DoneEnvelope },
      run: async (call) => {
        const stored = await knownHook(parts, call)
        await checkHookUnused(parts, call, [stored.id], [stored.body])
        await removeHook(parts, stored, call.actor!.email)
        return ok('Webhook deleted')
      },
    },
    {
      method: 'POST',
      path: '/api/hooks/{id}/test',
      access: WRITE,
      summary: 'Send a test message to a webhook and return the outcome',
      answers: { 200: DoneEnvelope },
      run: async (call) => sendTest(parts, await knownHook(parts, call)),
    },
  ]
}

/** One attempt, now; only the status of the response is returned. */
async function sendTest(parts: DashboardParts, stored: StoredDocument<'hook'>): Promise<Answer> {
  const { target_path: target, method } = stored.body
  const { header_map: headers, shared_secret: secret } = hookSecretsOf(parts, stored)
  const body = JSON.stringify({ event: 'test', data: { hook_id: stored.id } })
  const atS = Math.floor(parts.clock.wall() / 1000)
  const client = new WebhookClient({
    ...webhookNetwork(parts.config.webhooks.allow_private),
    connectMs: CONNECT_MS,
    totalMs: TOTAL_MS,
  })
  try {
    const error = await client.post(target, eventMessage({ target, method, headers, secret }, body, atS))
    return error === '' ? ok('Webhook delivered') : refused(400, `The webhook was not delivered: ${error}`)
  } finally {
    client.close()
  }
}

/** The webhook that `{id}` of the path names. @throws Fault `not_found` (404) */
export async function knownHook(parts: DashboardParts, call: Call): Promise<StoredDocument<'hook'>> {
  const stored = await hookOf(parts, call)
  if (stored === undefined) throw fault('not_found', 'Could not retrieve webhook detail')
  return stored
}

async function hookOf({ documents }: DashboardParts, call: Call): Promise<StoredDocument<'hook'> | undefined> {
  const id = call.param('id')
  const stored = isDocumentId(id) ? await documents.get('hook', id) : undefined
  return stored !== undefined && call.visibility.org(stored) ? stored : undefined
}
