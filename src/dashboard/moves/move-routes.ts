import { Type } from 'typebox'
import { fault } from '../../errors/fault.ts'
import { metadataOfApi } from '../../model/apis/definition/api-metadata.ts'
import { documentOf } from '../../model/apis/definition/stored-api.ts'
import type { JsonObject } from '../../model/json/json.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import { describedAs } from '../../model/openapi/component-schemas.ts'
import { SESSION_SCHEMA } from '../../model/sessions/session.ts'
import { releaseMoveLock, takeMoveLock } from '../../publish/moves/move-lock.ts'
import { deleteClient } from '../../publish/oauth-clients/oauth-clients.ts'
import type { SessionRow, StoredDocument } from '../../store/ports/ports.ts'
import { soleOwnership } from '../access/co-owned.ts'
import { maskSecretsFor } from '../access/secrets-view.ts'
import { apiNamed } from '../apis/api-document.ts'
import { WebhookReference } from '../apis/webhook-reference.ts'
import { ClientShape, OPTIONAL_MEMBERS, SENT_MEMBERS } from '../oauth-clients/client-shape.ts'
import { clientsInPathOfAnyApi } from '../oauth-clients/find-client.ts'
import { bare, ok } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import { described } from '../routes/described.ts'
import { DoneEnvelope } from '../routes/envelope.ts'
import { streamed } from '../routes/listed.ts'
import type { Route } from '../routes/route.ts'
import { moment, storageId } from '../routes/text-forms.ts'
import type { DashboardParts } from '../server/parts.ts'
import { allowsDuplicateSlugs, blockersOf } from './check.ts'
import { clientsToMove, movedClient, takeClient } from './clients.ts'
import { checkKeysListed, keysToMove, movedKey, takeKey } from './keys.ts'

const PATH = '/api/moves'
const LOCK = `${PATH}/lock`
const MOST_NAMED = 1000
const LONGEST_LOCK_S = 600

const text = Type.String()
const Texts = Type.Array(text)
const Pages = { pages: Type.Literal(0, { description: 'Always 0: the list is complete.' }) }
const IDS = {
  ids: Type.String({ maxLength: 65_536, description: 'Only these, separated by commas, each percent-encoded.' }),
}
const MovedApi = Type.Object(
  {
    id: storageId('Storage id of the API: 24 hexadecimal digits.'),
    api_id: Type.String({ description: 'Id of the API.' }),
    format: Type.Enum(['classic', 'oas'], { description: 'Format of the definition.' }),
    definition: Type.Object({}, { additionalProperties: true, description: 'In the form of its `format`.' }),
    categories: Type.Optional(described(Texts, 'Categories, without `#`.')),
    labels: Type.Optional(
      Type.Array(
        Type.Object(
          {
            key: Type.String({ description: 'Key of the label.' }),
            value: Type.String({ description: 'Value that the API has for it.' }),
          },
          { title: 'ApiLabel' },
        ),
        { description: 'Labels of the API.' },
      ),
    ),
    hook_references: Type.Optional(
      Type.Array(WebhookReference, { description: 'Webhooks that events of the API call.' }),
    ),
  },
  { title: 'MovedApi' },
)
const REGISTERED = {
  client_id: Type.String({ description: 'Client id.' }),
  registered_by_policy: Type.String({
    description:
      'Id of the policy by which the client is registered at APIs. Blank: it is registered at APIs one by one.',
  }),
  registration_id: Type.String({ description: 'Absent for the first registration of a client id.' }),
}
const MOVED_MEMBERS = { ...ClientShape.properties, ...OPTIONAL_MEMBERS, ...REGISTERED }
const MovedClient = Type.Object(
  { client_id: text, secret: text, api_ids: Texts, registered_by_policy: text },
  describedAs({
    ...{ title: 'MovedClient', type: 'object', additionalProperties: true },
    required: ['client_id', 'secret', 'api_ids', 'registered_by_policy'],
    properties: MOVED_MEMBERS,
  }),
)
const MovedKey = Type.Object(
  {
    key_hash: Type.String({ description: 'Hash of the key.' }),
    user_name: Type.Optional(
      Type.String({ description: 'Name of a basic-authentication user. Absent for other keys.' }),
    ),
    session: Type.Object({}, describedAs(SESSION_SCHEMA)),
    password_hash: Type.Optional(Type.String({ description: 'Hash of the password of a basic-authentication user.' })),
    key: Type.Optional(Type.String({ description: 'The key itself, where the installation stores keys.' })),
    legacy_key: Type.Optional(
      Type.String({
        description: 'How an earlier product has hashed the key. Absent for keys that were created here.',
      }),
    ),
  },
  { title: 'MovedKey' },
)
const QuotaUsed = Type.Record(
  text,
  Type.Object(
    {
      used: Type.Integer({ description: 'Requests that the quota has counted.' }),
      ends_in_ms: Type.Integer({ description: 'Milliseconds after which the quota renews.' }),
    },
    { title: 'QuotaUsed' },
  ),
  { description: 'By what it counts for: an API, a policy; empty = everything together.' },
)
const CHECKED = {
  apis: Type.Array(
    Type.Partial(
      Type.Object({
        ...Type.Omit(MovedApi, ['categories', 'labels', 'hook_references']).properties,
        id: Type.String({ description: 'Storage id of the API, or its id.' }),
      }),
      { title: 'MovedApiInput', additionalProperties: true },
    ),
    { description: 'APIs that would be stored, in the form of a dump.' },
  ),
  client_ids: described(Texts, 'Client ids of OAuth clients that would be stored.'),
  key_hashes: described(Texts, 'Hashes of keys that would be stored.'),
  api_ids: Type.Array(text, { description: 'Of other APIs in the same move, which APIs may refer to.' }),
  policy_ids: described(Texts, 'Ids of policies in the same move, which keys and clients may refer to.'),
}
const Obstacle = Type.Object(
  {
    kind: Type.String({ description: 'Kind of object: `api`, `definition`, `client` or `key`.' }),
    id: Type.String({ description: 'Id of the object.' }),
    why: Type.String({ description: 'Reason, as text for people.' }),
  },
  { title: 'MoveObstacle' },
)
const Obstacles = Type.Object(
  {
    obstacles: Type.Array(Obstacle, { description: 'What would be refused, each with the reason. Empty: nothing.' }),
    settings: Type.Object(
      {
        allow_explicit_policy_id: Type.Boolean({
          description: 'The setting `dashboard.allow_explicit_policy_id` of this installation.',
        }),
        enable_duplicate_slugs: Type.Boolean({
          description: 'The setting `enable_duplicate_slugs` of this installation.',
        }),
      },
      { description: 'Settings that decide what a move keeps.' },
    ),
  },
  { title: 'MoveObstacles' },
)
const Run = Type.String({ minLength: 8, maxLength: 64 })
const Lock = Type.Object(
  {
    run: Type.String({ description: 'Name of the run that holds the lock.' }),
    until: moment('RFC 3339.'),
  },
  { title: 'MoveLock' },
)

/** The calls of moves in addition to the ordinary ones: everything as it is stored, and keys by hash. */
export function moveRoutes(parts: DashboardParts): Route[] {
  return [...apiRoutes(parts), ...clientRoutes(parts), ...keyRoutes(parts), ...runRoutes(parts)]
}

function apiRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'GET',
      path: `${PATH}/apis`,
      access: { permission: 'apis', intent: 'read' },
      summary: 'List all APIs as they are stored, with their labels',
      query: IDS,
      answers: {
        200: Type.Object({
          apis: Type.Array(MovedApi, { description: 'APIs of the organisation, as they are stored.' }),
          ...Pages,
        }),
      },
      run: (call) => {
        const ids = idsOf(call)
        const query = { where: call.visibility.where(), order: 'created_at' }
        const batches = ids.length === 0 ? parts.documents.each('api', query) : namedApis(parts, call, ids)
        return streamed(batches, { name: 'apis', shape: (stored) => maskSecretsFor(call, 'apis', movedApi(stored)) })
      },
    },
  ]
}

async function* namedApis(
  { documents }: DashboardParts,
  { visibility }: Call,
  ids: readonly string[],
): AsyncGenerator<StoredDocument[]> {
  for (const id of ids) {
    const stored = await apiNamed(documents, visibility, id)
    if (stored !== undefined && visibility.api(stored)) yield [stored]
  }
}

function movedApi({ id, body }: StoredDocument): JsonObject {
  const { api_id, format, definition } = documentOf(body)
  const { user_owners: _users, user_group_owners: _groups, ownerless: _lost, ...metadata } = metadataOfApi(body)
  return { id, api_id, format, definition, ...(metadata as JsonObject) }
}

function clientRoutes(parts: DashboardParts): Route[] {
  const list = (path: string, withSecret: boolean, summary: string): Route => ({
    method: 'GET',
    path,
    access: { permission: 'oauth', intent: withSecret ? 'write' : 'read' },
    summary,
    query: IDS,
    undumped: true,
    answers: {
      200: Type.Object(
        {
          clients: Type.Array(MovedClient, { description: 'OAuth clients of the organisation, as they are stored.' }),
          ...Pages,
        },
        { title: 'MovedClientList' },
      ),
    },
    run: async (call) => {
      const sole = await soleOwnership(parts, call)
      const shape = (client: OAuthClient) =>
        movedClient(parts, call, client, { withSecret, isAlone: sole.client(client) })
      return streamed(clientsToMove(parts, call, idsOf(call)), { name: 'clients', shape })
    },
  })
  return [
    list(`${PATH}/clients`, false, 'List all OAuth clients and the APIs of each'),
    list(
      `${PATH}/clients/secrets`,
      true,
      'List OAuth clients including their secrets; needs the permission to write APIs too',
    ),
    {
      method: 'POST',
      path: `${PATH}/clients`,
      access: { permission: 'oauth' },
      summary: 'Create or replace an OAuth client by its id',
      body: Type.Object(
        {
          client_id: Type.String({ description: 'Client id.' }),
          api_ids: Type.Optional(Texts),
          registered_by_policy: Type.Optional(text),
          registration_id: Type.Optional(text),
          dcr_registration: Type.Optional(Type.Object({})),
        },
        describedAs({
          ...{ title: 'MovedClientInput', type: 'object', additionalProperties: true },
          properties: { ...SENT_MEMBERS, ...REGISTERED },
        }),
      ),
      undumped: true,
      answers: { 200: Type.Object({ client_id: Type.String({ description: 'Client id.' }) }) },
      run: async (call) => bare({ client_id: (await takeClient(parts, call)).client.client_id }),
    },
    {
      method: 'DELETE',
      path: `${PATH}/clients/{clientId}`,
      access: { permission: 'oauth' },
      owned: { noun: 'oauth_client', by: 'clientId' },
      summary:
        'Delete an OAuth client at all APIs and revoke its tokens; with `registration_id` only that registration',
      query: { registration_id: Type.String() },
      answers: { 200: DoneEnvelope },
      run: async (call) => {
        const [named] = call.queryAll('registration_id')
        for (const client of await clientsInPathOfAnyApi(parts, call))
          if (named === undefined || named === (client.registration_id ?? ''))
            await deleteClient(parts, client, { actor: call.actor!.email })
        return ok('OAuth client deleted successfully')
      },
    },
  ]
}

function keyRoutes(parts: DashboardParts): Route[] {
  const list = (path: string, withSecrets: boolean, summary: string): Route => ({
    method: 'GET',
    path,
    access: { permission: 'keys', intent: withSecrets ? 'write' : 'read' },
    summary,
    query: IDS,
    keysIn: ['ids'],
    undumped: true,
    refusals: [404],
    answers: {
      200: Type.Object(
        { keys: Type.Array(MovedKey, { description: 'Keys of the organisation, as they are stored.' }), ...Pages },
        { title: 'MovedKeyList' },
      ),
    },
    run: async (call) => {
      checkKeysListed(parts)
      const sole = await soleOwnership(parts, call)
      const shape = (row: SessionRow) => {
        const isAlone = sole.key(row)
        return maskSecretsFor(call, 'keys', movedKey(parts, row, withSecrets && isAlone), isAlone)
      }
      return streamed(keysToMove(parts, call, idsOf(call)), { name: 'keys', shape })
    },
  })
  return [
    list(`${PATH}/keys`, false, 'List all keys by their hashes, as they are stored'),
    list(`${PATH}/keys/secrets`, true, 'List keys including password hashes and stored key material'),
    {
      method: 'POST',
      path: `${PATH}/keys`,
      access: { permission: 'keys' },
      summary: 'Create or replace a key by its hash',
      body: Type.Partial(Type.Object({ ...MovedKey.properties, quota_used: QuotaUsed }), { title: 'MovedKeyInput' }),
      undumped: true,
      answers: {
        200: Type.Object({
          key_hash: Type.String({ description: 'Hash of the key.' }),
          created: Type.Boolean({ description: 'True where the key is new, false where one was replaced.' }),
        }),
      },
      run: async (call) => {
        const { keyHash, created } = await takeKey(parts, call)
        return bare({ key_hash: keyHash, created })
      },
    },
  ]
}

function runRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'POST',
      path: `${PATH}/check`,
      access: { permission: 'apis' },
      summary: 'Check what would prevent APIs, OAuth clients and keys from being stored; stores nothing',
      body: Type.Partial(Type.Object(CHECKED), { title: 'MoveCheck' }),
      undumped: true,
      answers: { 200: Obstacles },
      run: async (call) => {
        const obstacles = (await blockersOf(parts, call)).map((obstacle) => ({ ...obstacle }))
        const { allow_explicit_policy_id } = parts.config.dashboard
        return bare({
          obstacles,
          settings: { allow_explicit_policy_id, enable_duplicate_slugs: allowsDuplicateSlugs(parts) },
        })
      },
    },
    ...lockRoutes(parts, LOCK),
    ...lockRoutes(parts, `${PATH}/turn`).map((route) => ({ ...route, deprecated: `${route.method} ${LOCK}` })),
  ]
}

function lockRoutes(parts: DashboardParts, path: string): Route[] {
  return [
    {
      method: 'PUT',
      path,
      access: { permission: 'apis' },
      summary: 'Take or renew the lock to change the organisation, which one run holds at a time',
      body: Type.Object(
        {
          run: described(Run, 'Name of the run, chosen by the caller: 8 to 64 characters.'),
          seconds: Type.Integer({
            minimum: 1,
            maximum: LONGEST_LOCK_S,
            description: 'Seconds after which the lock ends, unless it is renewed.',
          }),
        },
        { title: 'MoveLockInput' },
      ),
      answers: { 200: Lock },
      run: async (call) => {
        const { run, seconds } = call.object()
        const { orgId, email: actor } = call.actor!
        const taken = { orgId, run: String(run), seconds: Number(seconds), actor }
        return bare({ run: taken.run, until: new Date(await takeMoveLock(parts, taken)).toISOString() })
      },
    },
    {
      method: 'DELETE',
      path,
      access: { permission: 'apis' },
      summary: 'Release the lock',
      query: { run: Run },
      answers: { 200: DoneEnvelope },
      run: async (call) => {
        await releaseMoveLock(parts, { orgId: call.actor!.orgId, run: call.query('run') })
        return ok('Lock released')
      },
    },
  ]
}

/** @throws Fault `query_invalid` (400) */
function idsOf(call: Call): string[] {
  const ids = call
    .query('ids')
    .split(',')
    .filter((id) => id !== '')
  if (ids.length > MOST_NAMED) throw fault('query_invalid', `ids names more than ${MOST_NAMED}`)
  try {
    return ids.map(decodeURIComponent)
  } catch {
    throw fault('query_invalid', 'ids: each id must be percent-encoded')
  }
}
