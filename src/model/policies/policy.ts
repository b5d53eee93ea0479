import { fault } from '../../errors/fault.ts'
import { isObject, type Json, type JsonObject, withoutSchemaName } from '../json/json.ts'
import type { Policy } from '../sessions/session.ts'
import {
  accessRightSchema,
  type Check,
  COMMON,
  checkFields,
  checkLength,
  checksOf,
  date,
  documented,
  Findings,
  flag,
  object,
  oneOf,
  scalarChecks,
  schemaOf,
  shape,
  text,
  withApiIds,
  withSchema,
} from '../sessions/session-fields.ts'
import { POLICY_FIELDS } from './policy-fields.ts'

/** Which parts of a session a policy controls. */
export interface PolicyKind {
  readonly perApi: boolean
  /** Names single parts, instead of controlling all. */
  readonly partitioned: boolean
  readonly acl: boolean
  readonly quota: boolean
  readonly rate: boolean
  readonly depth: boolean
}

/** Reads the partitions of a policy: with none of the four flags it controls every part. */
export function policyKind({ partitions }: Policy): PolicyKind {
  const {
    acl = false,
    quota = false,
    rate_limit: rate = false,
    complexity: depth = false,
    per_api: perApi = false,
  } = partitions ?? {}
  const partitioned = acl || quota || rate || depth
  if (!partitioned) return { perApi, partitioned, acl: true, quota: true, rate: true, depth: true }
  return { perApi, partitioned, acl, quota, rate, depth }
}

const ID = /^[A-Za-z0-9._~-]*$/

const PARTITIONS = shape('Partitions', {
  acl: documented(flag, 'Controls access rights.', true),
  quota: documented(flag, 'Controls the quota.', false),
  rate_limit: documented(flag, 'Controls the rate limit.', false),
  complexity: documented(flag, 'Controls the depth limit of GraphQL queries.', false),
  per_api: documented(flag, 'Each access right has limits of its own. Not together with the others.', false),
})
const partitions: Check = withSchema(PARTITIONS.schema!, (value, path, findings) => {
  PARTITIONS(value, path, findings)
  if (!isObject(value) || value.per_api !== true) return
  const others = ['acl', 'quota', 'rate_limit', 'complexity'].filter((name) => value[name] === true)
  if (others.length > 0) findings.add(path, `per_api cannot be set together with ${others.join(', ')}`)
})

const ARRAY = 'access_rights_array'
const notAList: Check = withSchema(
  {
    type: 'array',
    items: accessRightSchema,
    writeOnly: true,
    description: 'Access rights as a list, each with its `api_id`: replaces `access_rights`.',
  },
  (_value, path, findings) => findings.add(path, 'must be a list of rights, each with its api_id'),
)

const FIELDS = {
  ...COMMON,
  ...scalarChecks(POLICY_FIELDS),
  [ARRAY]: notAList,
  _id: documented(
    text,
    'Storage id, 24 hexadecimal digits. Absent in a new policy: one is made.',
    '5e9d9544a1dcd60001d0ed20',
  ),
  id: documented(text, 'Id that keys name in `apply_policies`. Absent: the storage id.', 'gold'),
  name: documented(text, 'Name for people.', 'Gold'),
  active: documented(flag, 'false: as `state: draft`.', true),
  state: documented(
    oneOf('active', 'draft', 'deny', ''),
    '`draft` and `deny`: developers cannot get it in the portal. Keys that have it keep working: `is_inactive` blocks them.',
    'active',
  ),
  date_created: documented(date, 'When it was created (RFC 3339).', '2026-11-27T12:00:00Z'),
  partitions: documented(partitions, 'The parts of a key that the policy controls. None set: all but `per_api`.'),
  graphql_access_rights: documented(object, 'Stored, without effect.'),
} satisfies Readonly<Record<string, Check>>
const CHECKS = checksOf(FIELDS)

/** The JSON Schema of a policy, for the API document: members that are not described are kept. */
export const POLICY_SCHEMA: JsonObject = schemaOf('Policy', FIELDS)

/**
 * Checks a policy as it came over the wire and answers it typed, without members that are null; unknown fields are kept, an access right without `api_id` takes
 * that of its key, and rights that come as the list `access_rights_array` go into the map. Ids hold letters, digits, `.`, `_`, `-` and `~` unless `allowUnsafeIds`; whether there must be one is the
 * caller's to say.
 * @throws Fault `policy_invalid` (400) naming the path of each fault
 */
export function checkPolicy(
  sent: JsonObject,
  { allowUnsafeIds = false }: { readonly allowUnsafeIds?: boolean } = {},
): Policy {
  const findings = new Findings()
  const body = withRightsMap(withoutSchemaName(sent))
  checkFields(body, CHECKS, '', findings)
  checkLength(body, findings)
  for (const name of ['_id', 'id']) {
    const id = body[name]
    if (typeof id === 'string' && !allowUnsafeIds && !ID.test(id))
      findings.add(name, 'may hold letters, digits, . _ - ~ only')
  }
  if (findings.list.length > 0) throw fault('policy_invalid', findings.text)
  return withApiIds(findings.withoutNulls(body)) as Policy
}

/**
 * A policy with the rights that came as the list `access_rights_array` in the map `access_rights`. Where both speak of one API the
 * list counts: a map may be left over from an answer, a list was put there by the writer. A list that is none stays, for the check.
 */
export function withRightsMap(sent: JsonObject): JsonObject {
  const { [ARRAY]: list, ...body } = sent
  if (list === undefined || list === null) return body
  const map = body.access_rights ?? {}
  if (!Array.isArray(list) || !isObject(map)) return sent
  const listed: [string, Json][] = []
  for (const right of list) {
    if (!isObject(right) || typeof right.api_id !== 'string' || right.api_id === '') return sent
    listed.push([right.api_id, right])
  }
  return listed.length === 0
    ? body
    : { ...body, access_rights: Object.fromEntries([...Object.entries(map), ...listed]) }
}
