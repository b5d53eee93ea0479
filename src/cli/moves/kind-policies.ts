import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import { checkPolicy, POLICY_SCHEMA, withRightsMap } from '../../model/policies/policy.ts'
import { policyApisOf, stateOf } from '../../model/policies/policy-body.ts'
import { sessionMemberFlaws } from '../../model/sessions/member-warnings.ts'
import { segment } from './dashboard.ts'
import { flawsThrown, type MoveKind, type MoveWarning, type RemoteObject, textAt } from './kind.ts'
import { omitMembers, pruned } from './rendered.ts'
import { secretPlaces } from './secret-places.ts'

/** Members that belong to one installation: storage id, organisation, owners, times. */
const OF_STORAGE = ['_id', 'org_id', 'date_created', 'last_updated', 'user_owners', 'user_group_owners'] as const
/** Files hold paths as they are stored here, be the target one that rewrites those of a vendor's programs. */
const AS_WRITTEN = '?paths=as_written'
const FLAGS = ['state', 'active', 'is_inactive'] as const

/** Policies, by the `id` that keys name them by. */
export const POLICIES: MoveKind = {
  name: 'policies',
  choice: 'policies',
  one: 'policy',
  folder: 'policies',
  identityAt: 'id',
  head: ['id', 'name', 'state'],
  deletable: true,
  findsNew: true,
  normal,
  secrets: (body) => secretPlaces(body.meta_data ?? {}, ['meta_data']),
  flaws: (body) => flawsThrown(() => checkPolicy(body, { allowUnsafeIds: true }), body),
  warnings: (body) => memberWarningsOf(body, POLICY_SCHEMA),
  references: (body) => policyApisOf(body).map((id) => ({ to: 'apis' as const, id, path: ['access_rights', id] })),
  claims(body) {
    const name = textAt(body, 'name')
    return name === '' ? [] : [{ what: name, flaw: 'name_taken', path: ['name'] }]
  },
  async list({ api }) {
    const { Data } = await api.get('/api/portal/policies?p=-1')
    return Array.isArray(Data) ? Data.filter(isObject).map(thereOf) : []
  },
  async find({ api }, { identity }) {
    const found = await api.find(`/api/portal/policies/${segment(identity)}`)
    return found && thereOf(found)
  },
  async create({ api }, body) {
    await api.send('POST', `/api/portal/policies${AS_WRITTEN}`, sentOf(body))
  },
  async update({ api }, there, body) {
    await api.send('PUT', `/api/portal/policies/${segment(there.identity)}${AS_WRITTEN}`, sentOf(body))
  },
  async remove({ api }, there) {
    await api.send('DELETE', `/api/portal/policies/${segment(there.identity)}`)
  },
}

/** Warnings of members of a policy or of the session of a key (`schema`), which is at `base` in its file. */
export function memberWarningsOf(body: JsonObject, schema: JsonObject, base: readonly string[] = []): MoveWarning[] {
  return sessionMemberFlaws(body, schema).map(({ at, reason }) => ({ path: [...base, ...at], why: reason }))
}

/** Takes the files of a dump and answers of `GET /api/portal/policies/{id}`: of one without `id` the `_id` is what keys name. */
function normal(sent: JsonObject): JsonObject {
  const body = Array.isArray(sent.access_rights_array) ? mapped(sent) : sent
  const state = stateOf(body)
  const { partitions, access_rights: rights, ...rest } = omitMembers(body, ...OF_STORAGE, ...FLAGS)
  const said = pruned({
    ...rest,
    id: textAt(body, 'id') || textAt(body, '_id'),
    state: state === 'active' ? '' : state,
    ...(partitions !== undefined && { partitions: isObject(partitions) ? pruned(partitions) : partitions }),
    ...(rights !== undefined && { access_rights: shortRights(rights) }),
  })
  // Refused by hand, and not in force before either.
  return state === 'deny' && body.active === false ? { ...said, active: false } : said
}

/** Values that are no list of rights stay, and are refused by the checks. */
function mapped(sent: JsonObject): JsonObject {
  try {
    return withRightsMap(sent)
  } catch {
    return sent
  }
}

/** Access rights without derived values; the API of each comes first. */
export function shortRights(rights: Json): Json {
  if (!isObject(rights)) return rights
  return Object.fromEntries(Object.entries(rights).map(([apiId, right]) => [apiId, shortRight(apiId, right)]))
}

function shortRight(apiId: string, right: Json): Json {
  if (!isObject(right)) return right
  const rest = pruned(right)
  return rest.api_id === apiId ? omitMembers(rest, 'api_id') : rest
}

/** All three words for whether it is in force, so that none of before counts. */
function sentOf(body: JsonObject): JsonObject {
  const state = stateOf(body)
  const active = state === 'deny' ? body.active !== false : state === 'active'
  return { ...body, state, active, is_inactive: state === 'deny' }
}

function thereOf(row: JsonObject): RemoteObject {
  const body = normal(row)
  return { identity: textAt(body, 'id'), body, at: textAt(row, '_id') }
}
