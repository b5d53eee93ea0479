import { Type } from 'typebox'
import type { Json } from '../../model/json/json.ts'
import { readOwners } from '../../model/people/ownership.ts'
import { changeMetadata } from '../../publish/apis/apis.ts'
import { checkOwnersKnown } from '../access/references.ts'
import { type Answer, bare, ok } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import { described } from '../routes/described.ts'
import { DoneEnvelope } from '../routes/envelope.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from '../server/parts.ts'
import { apiDocumentOf } from './api-document.ts'
import { actorName } from './store-api.ts'

const PATH = '/api/apis/{apiID}/access'
const OWNED = { noun: 'api', by: 'apiID' } as const
const Ids = Type.Array(Type.String({ maxLength: 64 }), { maxItems: 1000 })
const Owners = Type.Object(
  {
    userIds: described(Ids, 'Ids of users who own the API.'),
    userGroupIds: described(Ids, 'Ids of user groups whose members own the API.'),
    ownerless: Type.Optional(
      Type.Boolean({
        description: 'true: its last owner was deleted; administrators alone see it until it has another.',
      }),
    ),
  },
  { title: 'ApiOwners' },
)
const Body = Type.Object(
  {
    userIds: Type.Optional(
      Type.Union([Ids, Type.Null()], { description: 'Ids of users who own the API. Absent or null: none.' }),
    ),
    userGroupIds: Type.Optional(
      Type.Union([Ids, Type.Null()], {
        description: 'Ids of user groups whose members own the API. Absent or null: none.',
      }),
    ),
    ownerless: Type.Optional(Type.Unknown({ description: 'Passed over: a read may be sent back.' })),
  },
  { title: 'ApiOwnersInput', description: 'Both lists are replaced; one that is left out is empty then.' },
)

/** `/api/apis/{apiID}/access`: who owns an API, by user and by group. */
export function apiAccessRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'GET',
      path: PATH,
      access: { permission: 'apis', intent: 'read' },
      owned: OWNED,
      summary: 'Read the owners of an API',
      answers: { 200: Owners },
      entityVersion: (call) => apiDocumentOf(parts, call, call.param('apiID')),
      async run(call) {
        const { body } = await apiDocumentOf(parts, call, call.param('apiID'))
        const { users, groups } = readOwners(body)
        const owners = { userIds: [...users], userGroupIds: [...groups] }
        return bare(body.ownerless === true ? { ...owners, ownerless: true } : owners)
      },
    },
    {
      method: 'PUT',
      path: PATH,
      access: { permission: 'apis', intent: 'write' },
      owned: OWNED,
      summary: 'Replace the owners of an API',
      body: Body,
      answers: { 200: DoneEnvelope },
      entityVersion: (call) => apiDocumentOf(parts, call, call.param('apiID')),
      run: (call) => replace(parts, call),
    },
  ]
}

/** @throws Fault `body_invalid` (400) naming the first owner that is none of the organisation's */
async function replace(parts: DashboardParts, call: Call): Promise<Answer> {
  const { body } = await apiDocumentOf(parts, call, call.param('apiID'))
  const sent = call.object()
  const orgId = String(body.org_id)
  const [user_owners, user_group_owners] = [textsOf(sent.userIds), textsOf(sent.userGroupIds)]
  await checkOwnersKnown(parts, orgId, { user_owners, user_group_owners }, body)
  const audit = { actor: actorName(call), action: 'api.access' }
  await changeMetadata(parts, String(body.api_id), { user_owners, user_group_owners }, audit)
  return ok('API access updated')
}

const textsOf = (given: Json | undefined): string[] => [
  ...new Set(Array.isArray(given) ? given.filter((id): id is string => typeof id === 'string' && id !== '') : []),
]
