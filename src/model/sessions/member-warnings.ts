import { nearest } from '../../errors/suggest.ts'
import { asks } from '../apis/check/unknown-members.ts'
import type { Flaw } from '../apis/definition/tree.ts'
import { toWords } from '../apis/definition/tree.ts'
import { isObject, type Json, type JsonObject } from '../json/json.ts'

/**
 * Members of keys and policies that are stored and do nothing, by their place (`*`: any API), with the reason. Those that programs of the
 * incumbent write of themselves (`allowance`, `last_check`, `oauth_keys`) are not among them.
 */
export const WITHOUT_EFFECT: Readonly<Record<string, string>> = {
  smoothing: 'the rate holds as it is',
  max_query_depth: 'GraphQL is not served',
  graphql_access_rights: 'GraphQL is not served',
  rsa_certificate_id: 'signatures are checked with hmac_string',
  data_expires: 'the installation decides how long records are kept',
  enable_detailed_recording: 'the API decides what is recorded',
  enable_detail_recording: 'the API decides what is recorded',
  id_extractor_deadline: 'plugins that extract ids are not served',
  'access_rights.*.restricted_types': 'GraphQL is not served',
  'access_rights.*.allowed_types': 'GraphQL is not served',
  'access_rights.*.field_access_rights': 'GraphQL is not served',
  'access_rights.*.disable_introspection': 'GraphQL is not served',
  'access_rights.*.limit.smoothing': 'the rate holds as it is',
  'access_rights.*.limit.max_query_depth': 'GraphQL is not served',
}

/** Warnings that are listed one by one; of more only the number is. */
const MOST_LISTED = 100
/** Shorter names are near too many others. */
const SHORTEST_NAME = 6

/**
 * Warnings of members of a key or policy that ask for something and get nothing: those without effect here, and unknown ones whose names are
 * nearly those of known ones. `schema`: of the body. Other unknown members are kept, as programs add their own.
 */
export function sessionMemberFlaws(body: JsonObject, schema: JsonObject): Flaw[] {
  const rights = isObject(body.access_rights ?? null) ? Object.entries(body.access_rights as JsonObject) : []
  const [ofRight, ofLimit] = [rightSchema(schema), limitSchema(schema)]
  const all = [
    ...warningsAt(body, [], '', schema),
    ...rights.flatMap(([apiId, right]) => {
      if (!isObject(right)) return []
      const at = ['access_rights', apiId]
      const own = warningsAt(right, at, 'access_rights.*.', ofRight)
      const limit = right.limit ?? null
      return isObject(limit) ? [...own, ...warningsAt(limit, [...at, 'limit'], 'access_rights.*.limit.', ofLimit)] : own
    }),
  ]
  const more = all.length - MOST_LISTED
  return more <= 0
    ? all
    : [...all.slice(0, MOST_LISTED), { at: ['access_rights'], reason: `${more} more members without effect` }]
}

/** The same as answers have them. */
export function sessionMemberWarnings(body: JsonObject, schema: JsonObject): { path: string; message: string }[] {
  return sessionMemberFlaws(body, schema).map(({ at, reason }) => ({ path: toWords(at), message: reason }))
}

function warningsAt(holder: JsonObject, at: readonly string[], prefix: string, schema: JsonObject): Flaw[] {
  const known = propertiesOf(schema)
  return Object.entries(holder).flatMap(([name, value]) => {
    if (!isAskedFor(value)) return []
    const why = WITHOUT_EFFECT[prefix + name]
    if (why !== undefined) return [{ at: [...at, name], reason: `has no effect on this gateway: ${why}` }]
    const near =
      Object.hasOwn(known, name) || name.length < SHORTEST_NAME ? undefined : nearest(name, Object.keys(known))
    return near === undefined
      ? []
      : [{ at: [...at, name], reason: `is a member that nothing here knows: did you mean "${near}"?` }]
  })
}

/** -1 says that there is no bound, and a switch that is off nothing. */
function isAskedFor(value: Json): boolean {
  if (isObject(value) && 'enabled' in value) return value.enabled === true
  return value !== -1 && asks(value)
}

const objectAt = (holder: JsonObject, name: string): JsonObject => {
  const value = holder[name] ?? null
  return isObject(value) ? value : {}
}

/** The members that a schema describes; one that null passes too has them in an alternative. */
function propertiesOf(schema: JsonObject): JsonObject {
  const { anyOf } = schema
  if (!Array.isArray(anyOf)) return objectAt(schema, 'properties')
  return Object.assign({}, ...anyOf.map((each) => (isObject(each) ? objectAt(each, 'properties') : {})))
}

function rightSchema(schema: JsonObject): JsonObject {
  return objectAt(objectAt(propertiesOf(schema), 'access_rights'), 'additionalProperties')
}

function limitSchema(schema: JsonObject): JsonObject {
  return objectAt(propertiesOf(rightSchema(schema)), 'limit')
}
