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
/** Unknown names that are compared with the known ones, each of which takes as long as a hundred members. */
const MOST_COMPARED = 100
/** Shorter names are near too many others. */
const SHORTEST_NAME = 6

/**
 * Warnings of members of a key or policy that ask for something and get nothing: those without effect here, and unknown ones whose names are
 * nearly those of known ones. `schema`: of the body. Other unknown members are kept, as programs add their own.
 */
export function sessionMemberFlaws(body: JsonObject, schema: JsonObject): Flaw[] {
  const rights = isObject(body.access_rights ?? null) ? Object.entries(body.access_rights as JsonObject) : []
  const [ofRight, ofLimit] = [rightSchema(schema), limitSchema(schema)]
  const search = new NameSearch()
  const found = [
    ...warningsAt(body, [], { prefix: '', schema, search }),
    ...rights.flatMap(([apiId, right]) => {
      if (!isObject(right)) return []
      const at = ['access_rights', apiId]
      const own = warningsAt(right, at, { prefix: 'access_rights.*.', schema: ofRight, search })
      const limit = right.limit ?? null
      if (!isObject(limit)) return own
      const place = { prefix: 'access_rights.*.limit.', schema: ofLimit, search }
      return [...own, ...warningsAt(limit, [...at, 'limit'], place)]
    }),
  ]
  const all = [...search.flaws, ...found]
  const more = all.length - MOST_LISTED
  return more <= 0 ? all : [...all.slice(0, MOST_LISTED), { at: ['access_rights'], reason: `${more} more warnings` }]
}

/** The same as answers have them. */
export function sessionMemberWarnings(body: JsonObject, schema: JsonObject): { path: string; message: string }[] {
  return sessionMemberFlaws(body, schema).map(({ at, reason }) => ({ path: toWords(at), message: reason }))
}

/** A place of members: how `WITHOUT_EFFECT` names it, and the schema of what is there. */
interface MemberPlace {
  readonly prefix: string
  readonly schema: JsonObject
  readonly search: NameSearch
}

/** Looks for the known names that unknown ones are near to: once for each name, and for so many. */
class NameSearch {
  readonly #found = new Map<string, string | undefined>()
  #first: readonly string[] | undefined
  #missed = 0

  near(
    name: string,
    at: readonly string[],
    { prefix, known }: { prefix: string; known: JsonObject },
  ): string | undefined {
    const id = prefix + name
    if (this.#found.has(id)) return this.#found.get(id)
    if (this.#found.size === MOST_COMPARED) {
      this.#first ??= [...at, name]
      this.#missed++
      return undefined
    }
    const near = nearest(name, Object.keys(known))
    this.#found.set(id, near)
    return near
  }

  /** Says of the names that were not looked for that they were not. */
  get flaws(): Flaw[] {
    if (this.#first === undefined) return []
    const reason = `is the first of ${this.#missed} unknown members that were not looked at for misspelt names: ${MOST_COMPARED} others are unknown too`
    return [{ at: this.#first, reason }]
  }
}

function warningsAt(holder: JsonObject, at: readonly string[], { prefix, schema, search }: MemberPlace): Flaw[] {
  const known = propertiesOf(schema)
  return Object.entries(holder).flatMap(([name, value]) => {
    if (!isAskedFor(value)) return []
    // A name from outside may be one that every object has.
    if (Object.hasOwn(WITHOUT_EFFECT, prefix + name))
      return [{ at: [...at, name], reason: `has no effect on this gateway: ${WITHOUT_EFFECT[prefix + name]}` }]
    if (Object.hasOwn(known, name) || name.length < SHORTEST_NAME) return []
    const near = search.near(name, at, { prefix, known })
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
