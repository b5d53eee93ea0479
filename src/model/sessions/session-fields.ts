import { Fault } from '../../errors/fault.ts'
import { isObject, type Json, type JsonObject } from '../json/json.ts'
import { numberFlaw, type ScalarField, type ScalarFields, scalarFlaw } from '../json/scalar-fields.ts'
import { LIMIT_TEXTS } from '../limits/limit.ts'
import { unmatchablePattern } from '../patterns/pattern-reach.ts'
import { compileWeight } from '../patterns/pattern-work.ts'
import { isMethod, methodName } from '../text/method-name.ts'
import { LATEST_SECONDS, MOST_SECONDS } from '../time/calendar.ts'
import { isDateTime } from '../time/date-time.ts'

/**
 * How many of each a key or policy may hold. A request is compared with lists: each entry costs every request of every
 * key that has it, and one tenant's lists must not hold up the requests of others.
 */
export const MOST = {
  /** Patterns of `allowed_urls` of one right. */
  allowed_urls: 500,
  /** Paths with separate limits in one access right. */
  endpoints: 500,
  methods: 50,
  versions: 1000,
  types: 1000,
  tags: 500,
  /** APIs in `access_rights`. */
  rights: 10_000,
  /** Patterns of all rights together: of one document, and of a session with all its policies. */
  patterns: 10_000,
  /** Characters of these patterns together, as `compileWeight` counts them: compiling them costs about 0.2 µs a character. */
  pattern_characters: 1_000_000,
  /** Members of `meta_data` and of other objects whose names are free. */
  members: 1000,
  /**
   * Characters of a key, policy or OAuth client as JSON, without the path lists of its rights: gateways keep it for each key
   * and each token. `characters_of_right` more for each right.
   */
  characters: 100_000,
  characters_of_right: 1000,
} as const

/** Notes every error of a body with its path, `access_rights.orders.limit.rate`, and the members that are null. */
export class Findings {
  readonly list: string[] = []
  readonly #nulls = new Map<Json, Map<string, Json | undefined>>()

  /** A member that is null: it is left out, or holds `instead`. */
  addNull(holder: JsonObject, name: string, instead: Json | undefined): void {
    const known = this.#nulls.get(holder) ?? new Map<string, Json | undefined>()
    this.#nulls.set(holder, known.set(name, instead))
  }

  /** The checked body without the members that were null; the same object where none was. */
  withoutNulls<T extends Json>(value: T): T {
    if (this.#nulls.size === 0 || typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map((entry) => this.withoutNulls(entry)) as T
    const nulls = this.#nulls.get(value)
    const kept = Object.entries(value as JsonObject).flatMap(([name, each]): [string, Json][] => {
      if (nulls?.has(name) !== true) return [[name, this.withoutNulls(each)]]
      const instead = nulls.get(name)
      return instead === undefined ? [] : [[name, instead]]
    })
    return Object.fromEntries(kept) as T
  }

  add(path: string, why: string): void {
    this.list.push(`${path}: ${why}`)
  }

  /** At most ten, for the message. */
  get text(): string {
    const more = this.list.length - 10
    return this.list.slice(0, 10).join('; ') + (more > 0 ? `; and ${more} more` : '')
  }
}

/** Checks one value that is there, and is not null. */
export interface Check {
  (value: Json, path: string, findings: Findings): void
  /** True where null is the empty list, as programs in Go write it. */
  readonly isList?: true
  /** The JSON Schema of the values that pass, for the API document. */
  readonly schema?: JsonObject
}
export type Checks = ReadonlyMap<string, Check>

/** Checks that look only at the fields they name; all others are kept as they are. */
export function checksOf(fields: Readonly<Record<string, Check>>): Checks {
  return new Map(Object.entries(fields))
}

/** A check whose values have this schema. */
export function withSchema(schema: JsonObject, check: Check): Check {
  return Object.assign(check, { schema })
}

/** The same check with a description of the member for readers of the API, and perhaps an example of its value. */
export function documented(check: Check, description: string, example?: Json): Check {
  const copy: Check = (value, path, findings) => check(value, path, findings)
  const schema = { ...check.schema, description, ...(example !== undefined && { example }) }
  return Object.assign(copy, { ...(check.isList && { isList: true as const }), schema })
}

/** The schema of an object with these fields: others are kept. */
export function schemaOf(title: string, fields: Readonly<Record<string, Check>>): JsonObject {
  const properties = Object.fromEntries(Object.entries(fields).map(([name, check]) => [name, check.schema ?? {}]))
  return { title, type: 'object', properties, additionalProperties: true }
}

/** Runs the check of every field that is there. A field that is null counts as absent: programs in Go write zero values so. */
export function checkFields(body: JsonObject, checks: Checks, path: string, findings: Findings): void {
  for (const [name, value] of Object.entries(body)) {
    const check = checks.get(name)
    if (check === undefined) continue
    if (value === null) findings.addNull(body, name, undefined)
    else check(value, join(path, name), findings)
  }
}

/** The path of a member. */
export function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

/** Any number that a double holds exactly, or has a fraction. */
export const number: Check = withSchema({ type: 'number' }, (value, path, findings) => {
  const flaw = numberFlaw(value)
  if (flaw !== undefined) findings.add(path, flaw)
})

/** A whole number that a double holds exactly. */
export const integer: Check = withSchema({ type: 'integer', format: 'int64' }, (value, path, findings) => {
  if (!Number.isSafeInteger(value)) findings.add(path, 'must be a whole number')
})

/** A number with a greatest value, which refusals name; -1 and the like are none. */
function upTo(type: 'integer' | 'number', most: number, meaning: string): Check {
  const format = type === 'integer' ? { format: 'int64' } : {}
  return withSchema({ type, ...format, maximum: most }, (value, path, findings) => {
    const flaw = type === 'number' || Number.isSafeInteger(value) ? numberFlaw(value) : 'must be a whole number'
    if (flaw !== undefined) findings.add(path, flaw)
    else if ((value as number) > most) findings.add(path, `must be at most ${most} (${meaning})`)
  })
}

/** A period in seconds. */
export const seconds = upTo('integer', MOST_SECONDS, '100 years')
/** A time in Unix seconds. */
export const unixSeconds = upTo('integer', LATEST_SECONDS, 'the end of the year 9999')
/** A period in seconds, with fractions. */
const period = upTo('number', MOST_SECONDS, '100 years')

/** A string, empty ones too. */
export const text: Check = withSchema({ type: 'string' }, (value, path, findings) => {
  if (typeof value !== 'string') findings.add(path, 'must be a string')
})

/** true or false. */
export const flag: Check = withSchema({ type: 'boolean' }, (value, path, findings) => {
  if (typeof value !== 'boolean') findings.add(path, 'must be true or false')
})

const SCALAR_SCHEMAS = {
  flag: { type: 'boolean' },
  number: { type: 'number' },
  integer: { type: 'integer', format: 'int64' },
  text: { type: 'string' },
} as const

/** Checks of fields that are one value each. */
export function scalarChecks(fields: ScalarFields): Record<string, Check> {
  const checkOf = (field: ScalarField): Check => {
    const { answered, example } = field
    const text = {
      ...(answered !== undefined && { description: answered }),
      ...(example !== undefined && { example }),
    }
    return withSchema({ ...SCALAR_SCHEMAS[field.kind], ...text }, (value, path, findings) => {
      const flaw = scalarFlaw(field, value)
      if (flaw !== undefined) findings.add(path, flaw)
    })
  }
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, checkOf(field)]))
}

/** A JSON object. */
export const object: Check = withSchema({ type: 'object', additionalProperties: true }, (value, path, findings) => {
  if (!isObject(value)) findings.add(path, 'must be an object')
})

/** RFC 3339, or empty. */
export const date: Check = withSchema(
  { type: 'string', format: 'date-time', description: 'RFC 3339, or empty.' },
  (value, path, findings) => {
    if (typeof value !== 'string') return findings.add(path, 'must be a string')
    if (value !== '' && !isDateTime(value)) findings.add(path, 'must be a date of RFC 3339')
  },
)

/** A moment that each save writes over, in any form. */
const writtenOver: Check = withSchema({ type: 'string' }, (value, path, findings) => {
  if (typeof value !== 'string' && typeof value !== 'number') findings.add(path, 'must be a string or a number')
})

/** One of some words. */
export function oneOf(...words: readonly string[]): Check {
  return withSchema({ type: 'string', enum: [...words] }, (value, path, findings) => {
    if (typeof value !== 'string' || !words.includes(value))
      findings.add(path, `must be one of ${words.filter((word) => word !== '').join(', ')}`)
  })
}

/** A list of at most so many. */
export function listOf(item: Check, most: number = Number.POSITIVE_INFINITY): Check {
  const check: Check = (value, path, findings) => {
    if (!Array.isArray(value)) return findings.add(path, 'must be a list')
    if (value.length > most) return findings.add(path, `must have at most ${most} entries, not ${value.length}`)
    for (const [index, element] of value.entries()) item(element, `${path}[${index}]`, findings)
  }
  const bounds = Number.isFinite(most) ? { maxItems: most } : {}
  const schema: JsonObject = { type: 'array', ...bounds, items: item.schema ?? {} }
  return Object.assign(check, { isList: true as const, schema })
}

/** The same of which the API document names no bound: what several policies give together may be more. */
function mergedListOf(item: Check, most: number): Check {
  const check = listOf(item, most)
  return Object.assign(check, { schema: { type: 'array', items: item.schema ?? {} } })
}

/** An object with these fields, some of which must be there: of those, a list that is null is empty. `title` names it in the API document. */
export function shape(title: string, fields: Readonly<Record<string, Check>>, required: readonly string[] = []): Check {
  const checks = checksOf(fields)
  const schema = { ...schemaOf(title, fields), ...(required.length > 0 && { required: [...required] }) }
  return withSchema(schema, (value, path, findings) => {
    if (!isObject(value)) return findings.add(path, 'must be an object')
    checkFields(value, checks, path, findings)
    for (const name of required) {
      const there = Object.hasOwn(value, name) ? value[name] : undefined
      if (there === null && checks.get(name)?.isList) findings.addNull(value, name, [])
      else if (there === undefined || there === null) findings.add(join(path, name), 'is missing')
    }
  })
}

/** A path pattern that compiles within the safe subset of `compilePattern`, and that some path matches. */
const pattern: Check = withSchema({ type: 'string', description: 'A regular expression.' }, (value, path, findings) => {
  if (typeof value !== 'string') return findings.add(path, 'must be a string')
  try {
    const reason = unmatchablePattern(value)
    if (reason !== undefined) findings.add(path, reason)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    findings.add(path, error.message)
  }
})

/** The name of a method; another text, and one in another letter case, would hold for no request. */
const method: Check = withSchema(
  { type: 'string', description: 'An HTTP method in upper case.' },
  (value, path, findings) => {
    if (typeof value !== 'string') return findings.add(path, 'must be a string')
    if (!isMethod(value)) return findings.add(path, 'must be an HTTP method, each in an entry of its own')
    if (methodName(value) !== value) findings.add(path, `must be in upper case (${methodName(value)})`)
  },
)

const LIMIT: Readonly<Record<string, Check>> = {
  rate: documented(number, LIMIT_TEXTS.rate, 100),
  per: documented(period, LIMIT_TEXTS.per, 60),
  throttle_interval: documented(period, LIMIT_TEXTS.throttle_interval, 0.5),
  throttle_retry_limit: documented(integer, LIMIT_TEXTS.throttle_retry_limit, 3),
  max_query_depth: documented(integer, LIMIT_TEXTS.max_query_depth, -1),
  quota_max: documented(integer, LIMIT_TEXTS.quota_max, 10_000),
  quota_renews: documented(
    integer,
    'When the quota renews, in Unix seconds. Only in answers: a value that is sent has no effect.',
    0,
  ),
  quota_remaining: documented(
    integer,
    'Requests left of the quota. Only in answers: a value that is sent has no effect.',
    0,
  ),
  quota_renewal_rate: documented(seconds, LIMIT_TEXTS.quota_renewal_rate, 3600),
  smoothing: documented(object, 'Rate limit smoothing. Stored, without effect.'),
}

/** Answers have null where there is none; sent, null counts as absent. */
function nullable(check: Check): Check {
  return withSchema({ anyOf: [check.schema!, { type: 'null' }] }, check)
}

const RATE = shape(
  'Rate',
  {
    rate: documented(number, 'Requests in each `per`. 0 or less: unlimited.', 5),
    per: documented(number, 'Seconds to which `rate` refers.', 60),
  },
  ['rate', 'per'],
)
const METHOD_LIMIT = shape(
  'MethodLimit',
  {
    name: documented(method, 'HTTP method in upper case.', 'GET'),
    limit: documented(RATE, 'Rate limit of this method at the path.'),
  },
  ['name', 'limit'],
)
const TYPE_FIELDS = shape(
  'TypeFields',
  {
    name: documented(text, 'Name of the GraphQL type.', 'Query'),
    fields: documented(listOf(text), 'Names of its fields.'),
  },
  ['name'],
)
const GRAPHQL = 'Of GraphQL APIs. Stored, without effect.'

const RIGHT = shape('AccessRight', {
  api_id: documented(
    text,
    'Id of the API (`info.id`, `api_id`). Absent: the name under which the right is listed.',
    'orders',
  ),
  api_name: documented(text, 'Name of the API, for people.', 'Orders'),
  versions: documented(
    mergedListOf(text, MOST.versions),
    'Versions of a classic API that may be called. An API without versions has the version `Default`. Versions that are APIs of their own have access rights of their own.',
    ['Default'],
  ),
  allowed_urls: documented(
    mergedListOf(
      shape(
        'AllowedUrl',
        {
          url: documented(
            pattern,
            'Regular expression for the path, listen path included. It may match any part of it.',
            '^/orders/items(/|$)',
          ),
          methods: documented(listOf(method, MOST.methods), 'Methods that may be called at these paths. Empty: none.', [
            'GET',
          ]),
        },
        ['url', 'methods'],
      ),
      MOST.allowed_urls,
    ),
    'Allow list of paths and methods. Empty: every path.',
  ),
  limit: documented(
    nullable(shape('Limit', LIMIT)),
    'Limits for this API alone, instead of the limits of the whole key or policy. null: none of its own.',
  ),
  allowance_scope: documented(
    text,
    'Rights with the same scope share the counters of the limits. Empty: shared by all APIs of the key.',
    '',
  ),
  endpoints: documented(
    mergedListOf(
      shape(
        'EndpointLimit',
        {
          path: documented(
            pattern,
            'Regular expression for the path below the listen path. It may match any part of it.',
            '^/search$',
          ),
          methods: documented(listOf(METHOD_LIMIT, MOST.methods), 'Methods, each with its rate limit.'),
        },
        ['path', 'methods'],
      ),
      MOST.endpoints,
    ),
    'Rate limits of single endpoints.',
  ),
  restricted_types: documented(mergedListOf(TYPE_FIELDS, MOST.types), GRAPHQL),
  allowed_types: documented(mergedListOf(TYPE_FIELDS, MOST.types), GRAPHQL),
  field_access_rights: documented(listOf(object, MOST.types), GRAPHQL),
  disable_introspection: documented(flag, GRAPHQL, false),
})

/** The JSON Schema of one access right. */
export const accessRightSchema: JsonObject = RIGHT.schema!

/** `access_rights`: each entry under the id of its API. An entry without `api_id` takes that of its key. */
const ACCESS_RIGHTS: JsonObject = {
  type: 'object',
  description: 'The APIs that may be called: one access right for each, by the id of the API.',
  example: { orders: { api_id: 'orders', versions: ['Default'] } },
  additionalProperties: accessRightSchema,
}

const accessRights: Check = withSchema(ACCESS_RIGHTS, (value, path, findings) => {
  if (!isObject(value)) return findings.add(path, 'must be an object')
  const rights = Object.values(value)
  if (rights.length > MOST.rights)
    return findings.add(path, `must name at most ${MOST.rights} APIs, not ${rights.length}`)
  const patterns = rights.flatMap(patternsIn)
  if (patterns.length > MOST.patterns)
    return findings.add(path, `must have at most ${MOST.patterns} patterns in all, not ${patterns.length}`)
  const characters = patterns.reduce<number>(
    (sum, text) => sum + (typeof text === 'string' ? compileWeight(text) : 0),
    0,
  )
  if (characters > MOST.pattern_characters)
    return findings.add(path, `must have at most ${MOST.pattern_characters} characters of patterns, not ${characters}`)
  for (const [apiId, right] of Object.entries(value)) {
    const at = join(path, apiId)
    if (apiId === '') findings.add(at, 'must name an API')
    RIGHT(right, at, findings)
    if (!isObject(right) || typeof right.api_id !== 'string' || right.api_id === '') continue
    if (right.api_id !== apiId) findings.add(join(at, 'api_id'), `must be ${apiId}, as its key`)
  }
})

function patternsIn(right: Json): (Json | undefined)[] {
  if (!isObject(right)) return []
  const membersOf = (list: Json | undefined, name: string) =>
    Array.isArray(list) ? list.map((entry) => (isObject(entry) ? entry[name] : undefined)) : []
  return [...membersOf(right.allowed_urls, 'url'), ...membersOf(right.endpoints, 'path')]
}

/** Bounds the length of a document, members that nothing here knows included. The path lists of rights have bounds of their own. */
export function checkLength({ access_rights, ...body }: JsonObject, findings: Findings): void {
  const rights = isObject(access_rights ?? null) ? Object.entries(access_rights as JsonObject) : []
  const members = [
    ...Object.entries(body).map(([name, value]) => ({ name, length: lengthOf([name, value]) })),
    ...rights.map(([name, value]) => {
      const { allowed_urls = null, endpoints = null, ...rest } = isObject(value) ? value : { value }
      return { name, length: lengthOf([name, rest]) + unknownIn(allowed_urls) + unknownIn(endpoints) }
    }),
  ]
  const length = members.reduce((sum, each) => sum + each.length, 0)
  const most = MOST.characters + MOST.characters_of_right * rights.length
  if (length <= most) return
  const longest = members.reduce((before, each) => (each.length > before.length ? each : before))
  findings.add(longest.name.slice(0, 100), `the object must have at most ${most} characters, not ${length}`)
}

const lengthOf = (value: Json) => JSON.stringify(value).length

/** Members of the path lists of rights. */
const LISTED: ReadonlySet<string> = new Set(['url', 'path', 'methods', 'name', 'limit', 'rate', 'per'])

/** The length of the members of a path list that nothing here knows. */
function unknownIn(value: Json): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + unknownIn(item), 0)
  if (!isObject(value)) return 0
  return Object.entries(value).reduce(
    (sum, [name, item]) => sum + (LISTED.has(name) ? unknownIn(item) : lengthOf([name, item])),
    0,
  )
}

/** An object whose names are free. */
export const members: Check = withSchema({ type: 'object', additionalProperties: true }, (value, path, findings) => {
  if (!isObject(value)) return findings.add(path, 'must be an object')
  const count = Object.keys(value).length
  if (count > MOST.members) findings.add(path, `must have at most ${MOST.members} members, not ${count}`)
})

/** Fields that sessions and policies have in common (facts of the wire). */
export const COMMON: Readonly<Record<string, Check>> = {
  ...LIMIT,
  access_rights: accessRights,
  org_id: documented(text, 'Id of the organisation. Absent: that of the caller, or of the installation.', ''),
  is_inactive: documented(flag, 'true: requests with it are refused (403).', false),
  tags: documented(listOf(text, MOST.tags), 'Tags that its requests carry in analytics.', ['partner']),
  meta_data: documented(
    members,
    'Free members. Header values, URL rewrites and body templates can use them as `$svc_meta.NAME`.',
    { plan: 'gold' },
  ),
  last_updated: documented(writtenOver, 'When it was last saved. Each save writes it.', '1764260000'),
  hmac_enabled: documented(flag, 'Accepts requests that are signed with `hmac_string` (HMAC).', false),
  enable_http_signature_validation: documented(flag, 'As `hmac_enabled`.', false),
  post_expiry_action: documented(
    oneOf('', 'retain', 'delete'),
    'After `expires`: `retain` keeps the key in the store, `delete` deletes it after `post_expiry_grace_period`. Empty: as `session_lifetime` says.',
    'delete',
  ),
  post_expiry_grace_period: documented(seconds, 'Seconds between `expires` and the deletion.', 86_400),
}

/** The body with `api_id` written into every access right that lacks it; the same object when none does. */
export function withApiIds(body: JsonObject): JsonObject {
  if (!isObject(body.access_rights)) return body
  const entries = Object.entries(body.access_rights)
  if (entries.every(([, right]) => isObject(right) && typeof right.api_id === 'string' && right.api_id !== ''))
    return body
  const filled = entries.map(
    ([apiId, right]) => [apiId, isObject(right) ? { ...right, api_id: apiId } : right] as const,
  )
  return { ...body, access_rights: Object.fromEntries(filled) }
}
