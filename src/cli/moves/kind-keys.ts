import { isObject, type JsonObject } from '../../model/json/json.ts'
import { isKeyHash } from '../../model/keys/key.ts'
import { checkSession, SESSION_SCHEMA } from '../../model/sessions/session.ts'
import { idsQuery, segment } from './dashboard.ts'
import {
  flawsThrown,
  type MoveFlaw,
  type MoveKind,
  type ObjectReference,
  type RemoteObject,
  type TargetDashboard,
  textAt,
  textsAt,
} from './kind.ts'
import { memberWarningsOf, shortRights } from './kind-policies.ts'
import { omitMembers, pruned } from './rendered.ts'
import { secretPlaces } from './secret-places.ts'

/** Members that belong to one installation, or change with every request. */
const OF_STORAGE = [
  ...['org_id', 'last_updated', 'key_id', 'quota_renews', 'quota_remaining', 'allowance', 'last_check'],
  ...['id_extractor_deadline', 'apply_policy_id'],
] as const
const USER = 'user:'

/** Keys by their hashes, and basic users by their names: callers do not notice a move. */
export const KEYS: MoveKind = {
  name: 'keys',
  choice: 'keys',
  one: 'key',
  folder: 'keys',
  identityAt: 'key_hash',
  head: ['key_hash', 'user_name', 'key', 'password_hash'],
  own: ['password_hash', 'key'],
  deletable: true,
  findsNew: true,
  normal,
  secrets: (body) => [
    ...['key', 'password_hash'].filter((name) => textAt(body, name) !== '').map((name) => [name]),
    ...secretPlaces(body.session ?? {}, ['session']),
  ],
  flaws,
  warnings: ({ session = null }) => (isObject(session) ? memberWarningsOf(session, SESSION_SCHEMA, ['session']) : []),
  references,
  claims: () => [],
  list: (place) => readAll(place, undefined),
  async find(place, { at }) {
    return (await readAll(place, [at]))[0]
  },
  create: ({ api }, body) => store(api, body),
  update: ({ api }, _there, body) => store(api, body),
  async remove({ api }, there) {
    await api.send('DELETE', `/api/keys/${segment(there.at)}?hashed=1`)
  },
}

async function store(api: TargetDashboard['api'], body: JsonObject): Promise<void> {
  await api.send('POST', '/api/moves/keys', body)
}

/** The hash of a user depends on the installation; the name does not. */
function normal(body: JsonObject): JsonObject {
  const name = textAt(body, 'user_name')
  const session = isObject(body.session) ? shortSession(body.session) : (body.session ?? {})
  const hash = textAt(body, 'key_hash')
  const isHash = isKeyHash(hash) && name === ''
  return {
    ...pruned({
      ...body,
      session: null,
      key_hash: name === '' ? (isHash ? hash.toLowerCase() : hash) : `${USER}${name}`,
    }),
    session,
  }
}

function shortSession(session: JsonObject): JsonObject {
  const policies = textsAt(session, 'apply_policies')
  const single = textAt(session, 'apply_policy_id')
  const { basic_auth_data: data, ...rest } = omitMembers(session, ...OF_STORAGE)
  const rights = rest.access_rights ?? {}
  const kept = isObject(data) ? pruned(omitMembers(data, 'password', 'hash_type', 'hash')) : {}
  return pruned({
    ...rest,
    apply_policies: policies.length > 0 || single === '' ? policies : [single],
    access_rights: shortRights(rights),
    basic_auth_data: kept,
  })
}

function flaws(body: JsonObject): MoveFlaw[] {
  const { session } = body
  const hash = textAt(body, 'key_hash')
  const bad = !isKeyHash(hash) && !hash.startsWith(USER)
  return [
    ...(bad
      ? [{ name: 'field_invalid', path: ['key_hash'], why: 'must be the SHA-256 of a key, 64 hex digits' } as const]
      : []),
    ...(isObject(session)
      ? flawsThrown(() => checkSession(session), session, ['session'])
      : [{ name: 'field_invalid', path: ['session'], why: 'must be an object' } as const]),
  ]
}

function references({ session }: JsonObject): ObjectReference[] {
  if (!isObject(session)) return []
  const policies = textsAt(session, 'apply_policies')
  const rights = Object.keys(isObject(session.access_rights) ? session.access_rights : {})
  return [
    ...policies.map((id, at): ObjectReference => ({ to: 'policies', id, path: ['session', 'apply_policies', at] })),
    ...rights.map((id): ObjectReference => ({ to: 'apis', id, path: ['session', 'access_rights', id] })),
  ]
}

async function readAll(
  { api, withSecrets }: TargetDashboard,
  hashes: readonly string[] | undefined,
): Promise<RemoteObject[]> {
  const { keys } = await api.get(`/api/moves/keys${withSecrets ? '/secrets' : ''}${idsQuery(hashes)}`)
  return Array.isArray(keys) ? keys.filter(isObject).map(thereOf) : []
}

function thereOf(row: JsonObject): RemoteObject {
  const body = normal(row)
  return { identity: textAt(body, 'key_hash'), body, at: textAt(row, 'key_hash') }
}

/** True for the session of a basic user, which nobody can use without its password. */
export function isUserBody(body: JsonObject): boolean {
  return textAt(body, 'user_name') !== ''
}

/** The policies and APIs that a key names. */
export function namedByKey(body: JsonObject): {
  readonly apis: readonly string[]
  readonly policies: readonly string[]
} {
  const all = references(body)
  const of = (to: ObjectReference['to']) => all.filter((each) => each.to === to).map(({ id }) => id)
  return { apis: of('apis'), policies: of('policies') }
}
