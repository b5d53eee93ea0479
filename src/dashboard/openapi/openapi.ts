import type { TSchema } from 'typebox'
import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import { ComponentSchemas, capital } from '../../model/openapi/component-schemas.ts'
import { withExamples } from '../../model/openapi/schema-example.ts'
import { intentOf } from '../access/permit.ts'
import { isBoundedBySchema, withBounds } from '../routes/body-bounds.ts'
import type { Access, Route } from '../routes/route.ts'
import { STORAGE_ID } from '../routes/text-forms.ts'
import { SESSION_COOKIE } from '../sign-in/cookie.ts'
import { CALL_EXAMPLES } from './call-examples.ts'
import { callText } from './call-text.ts'
import { operationIdOf } from './operation-ids.ts'
import { tagObjects, tagOf } from './tags.ts'

const JSON_TYPE = 'application/json'
/** Refusals that browsers see. */
const PAGE_TYPE = 'text/html'

const STATUS_TEXT: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  204: 'No content',
  302: 'Redirect',
  303: 'Redirect',
  400: 'Invalid request',
  401: 'Not authorised: no or an unknown credential, an inactive user, or an object of another owner',
  403: 'Permission missing, or a body that is not JSON',
  404: 'Not found',
  405: 'Method not allowed',
  409: 'Conflict',
  412: 'Changed since it was read: does not match `If-Match`',
  413: 'Too large',
  422: 'Not possible',
  429: 'Too many attempts',
  500: 'Internal error',
  503: 'Try again later',
}

/**
 * The OpenAPI document of the routes: paths in the order of the table, every answer as it is declared, schemas as named components. It is
 * written in 3.0.3: of 3.1 generators read `type: null`, `const` and lists of types differently, or not at all.
 */
export function openapiOf(declared: readonly Route[], version: string): JsonObject {
  const routes = withPublishedBounds(declared)
  const schemas = new ComponentSchemas()
  const refusal = schemas.refer(REFUSAL, 'Refusal')
  const aliases = new Map(
    routes.flatMap(({ method, path, aliasOf }) => (aliasOf ? [[`${method} ${aliasOf}`, path]] : [])),
  )
  const paths: { [path: string]: JsonObject } = Object.create(null)
  const spelled = new Map<string, string>()
  const written: JsonObject[] = []
  for (const route of routes) {
    if (route.aliasOf !== undefined) continue
    // Two paths that differ in the names of placeholders alone are one path to the standard.
    const pattern = route.path.replace(/\{[^{}]*\}/g, '{}')
    const path = spelled.get(pattern) ?? route.path
    spelled.set(pattern, path)
    const operation = operationOf(route, path, schemas, refusal, aliases.get(`${route.method} ${route.path}`))
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation }
    if (route.method !== 'GET') written.push(operation)
  }
  for (const operation of written) schemas.addMember(doneSchema(operation), 'warning', PENDING)
  const document = {
    openapi: '3.0.3',
    info: {
      title: 'Gatehouse dashboard API',
      version,
      description:
        'Everything that the console does. **Credentials:** programs send the API credential of a user in `Authorization` (the console shows it under ' +
        'Profile; `bin/gatehouse bootstrap` prints that of the first administrator). Calls below `/admin/` take the admin secret in `admin-auth`: ' +
        '`admin_secret` in `secrets.json` of the data folder, or the setting `dashboard.admin_secret`. Browsers have a session cookie, and send its token in ' +
        '`X-CSRF-Token` with calls that write. Calls below `/svc/` are those of the gateway and take its secret. **Conventions:** Every path answers with and without a slash at its end. Bodies are read as JSON with any Content-Type, ' +
        'unless a call takes a form. Lists take `p`: pages count from 1; 0 and less ask for everything. ' +
        'Calls below `/api/portal/` answer below `/portal/` too. Objects keep members that are not described where their schema has ' +
        '`additionalProperties: true`; elsewhere such members are ignored, so that what was read can be sent back.',
      contact: { name: 'Gatehouse' },
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ url: '/', description: 'The dashboard that serves this document' }],
    tags: tagObjects(),
    paths: { ...paths },
    components: {
      schemas: schemas.all,
      parameters: { IfMatch: IF_MATCH, IfNoneMatch: IF_NONE_MATCH },
      headers: { ETag: ETAG },
      responses: {
        NotModified: { description: 'Not changed since it was read', headers: { ETag: referTo('headers', 'ETag') } },
        ...Object.fromEntries(
          Object.entries(REFUSALS).map(([status, name]) => [
            name,
            { description: textOf(Number(status)), content: { 'application/json': { schema: refusal } } },
          ]),
        ),
        Refused: { description: 'Refused', content: { 'application/json': { schema: refusal } } },
      },
      securitySchemes: {
        credential: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description: 'API credential of a user, bare or after `Bearer`.',
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: SESSION_COOKIE,
          description: 'Session of a browser. Calls that write carry its token in `X-CSRF-Token`.',
        },
        installation: { type: 'apiKey', in: 'header', name: 'admin-auth', description: 'The admin secret.' },
      },
    },
  }
  return withExamples(document, CALL_EXAMPLES)
}

/**
 * The routes with the bounds of bodies in their schemas. Parts that answers share with bodies name none: what was stored earlier may be
 * larger, and clients that check answers would refuse it.
 */
function withPublishedBounds(routes: readonly Route[]): Route[] {
  const shared = new Set<string>()
  const note = (schema: Json) => {
    if (Array.isArray(schema)) for (const each of schema) note(each)
    if (!isObject(schema)) return
    const { title, properties } = schema
    if (title !== undefined && isObject(properties) && Object.keys(properties).length > 0)
      shared.add(JSON.stringify(schema))
    for (const each of Object.values(schema)) note(each)
  }
  for (const { answers, ...route } of routes) {
    for (const answer of Object.values(answers)) note(plain(answer))
    // Their bounds are where they are read; a part has one description, wherever it is.
    if (route.body !== undefined && !isBoundedBySchema(route)) note(plain(route.body))
  }
  const isShared = (part: JsonObject) => shared.has(JSON.stringify(part))
  return routes.map((route) =>
    route.body === undefined || !isBoundedBySchema(route)
      ? route
      : { ...route, body: withBounds(plain(route.body), isShared) as TSchema },
  )
}

const PENDING: JsonObject = {
  type: 'string',
  description: 'Of a change that is stored and not yet in force: the gateway has not taken it in time.',
}

/** Schema of the JSON that an operation answers once it is done. */
function doneSchema({ responses }: JsonObject): Json | undefined {
  const members = ['200', 'content', JSON_TYPE, 'schema']
  return members.reduce<Json | undefined>((at, name) => (isObject(at) ? at[name] : undefined), responses)
}

const REFUSAL: JsonObject = {
  title: 'Refusal',
  type: 'object',
  required: ['Status', 'Message', 'Meta'],
  properties: {
    Status: { type: 'string', enum: ['Error'], description: 'Always `Error`.' },
    Message: { type: 'string', description: 'Reason, as text for people.' },
    Meta: { description: 'Always null.' },
  },
}

/** Names of the refusals that most calls have. */
const REFUSALS: Readonly<Record<number, string>> = {
  400: 'InvalidRequest',
  401: 'NotAuthorised',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  412: 'PreconditionFailed',
}

function operationOf(
  route: Route,
  path: string,
  schemas: ComponentSchemas,
  refusal: JsonObject,
  alias: string | undefined,
): JsonObject {
  const operationId = operationIdOf({ method: route.method, path: route.path })
  const body = bodyOf(route, schemas, capital(operationId))
  return {
    operationId,
    summary: route.summary,
    description: callText(route),
    ...(route.deprecated !== undefined && { deprecated: true }),
    tags: [tagOf(route)],
    security: securityOf(route.access),
    'x-svc-access': accessOf(route),
    ...(alias !== undefined && { 'x-svc-alias': alias }),
    parameters: [
      ...pathParameters(path),
      ...queryParameters(route, schemas, capital(operationId)),
      ...conditionsOf(route),
    ],
    ...(body !== undefined && { requestBody: body }),
    responses: responsesOf(route, schemas, refusal, capital(operationId)),
  }
}

function securityOf(access: Access): Json {
  if (access === 'public') return []
  return access === 'installation' ? [{ installation: [] }] : [{ credential: [] }, { session: [] }]
}

function accessOf(route: Route): JsonObject {
  const { access, owned, own } = route
  return {
    ...(typeof access === 'string' ? { who: access } : { permission: access.permission, intent: intentOf(route) }),
    ...(owned !== undefined && { owned: owned.noun, by: owned.by }),
    ...(own !== undefined && { own }),
  }
}

function pathParameters(path: string): JsonObject[] {
  return [...path.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => ({
    name: name!,
    in: 'path',
    required: true,
    schema: parameterSchema(path, name!),
  }))
}

/** Paths whose `{id}` is a storage id: what else is there is refused as unknown. */
const BY_STORAGE_ID =
  /^\/(?:admin\/organisations|admin\/users|api\/(?:users|usergroups|hooks|audit-logs|portal\/(?:developers|documentation|pages|requests))|portal\/requests)\/(?:\w+\/)*\{id\}/

function parameterSchema(path: string, name: string): JsonObject {
  if (/^(?:from|to)(?:Day|Month|Year)$/.test(name)) return { type: 'integer', minimum: 1 }
  return { type: 'string', ...(name === 'id' && BY_STORAGE_ID.test(path) && { pattern: STORAGE_ID }) }
}

function queryParameters({ query }: Route, schemas: ComponentSchemas, name: string): JsonObject[] {
  return Object.entries(query ?? {}).map(([parameter, declared]) => {
    const { description, ...schema } = schemas.refer(plain(declared), `${name}Query${capital(parameter)}`)
    return { name: parameter, in: 'query', ...(description !== undefined && { description }), schema }
  })
}

const UPLOAD: JsonObject = {
  title: 'Upload',
  type: 'object',
  required: ['file'],
  properties: { file: { type: 'string', format: 'binary', description: 'The document: the first file of the form.' } },
}

/** The same beside another media type, for which a client sends the body: a map, as generators refer to a type of it that they do not write. */
const PARTS: JsonObject = {
  type: 'object',
  description: 'The document as the part `file`.',
  additionalProperties: { type: 'string', format: 'binary' },
}

function bodyOf(route: Route, schemas: ComponentSchemas, name: string): JsonObject | undefined {
  const { body, bodyIs, bodyTypes } = route
  if (body === undefined && bodyIs === undefined) return undefined
  const types = bodyTypes ?? [BODY_TYPES[bodyIs ?? 'json']]
  const content = types.map((type): [string, JsonObject] => {
    if (type === 'multipart/form-data')
      return [type, { schema: types.length > 1 ? PARTS : schemas.refer(UPLOAD, 'Upload') }]
    return [type, { schema: schemas.refer(body === undefined ? { type: 'object' } : plain(body), `${name}Body`) }]
  })
  return { required: route.bodyOptional !== true, content: Object.fromEntries(content) }
}

const BODY_TYPES = {
  form: 'application/x-www-form-urlencoded',
  upload: 'multipart/form-data',
  any: 'application/json',
  json: 'application/json',
}

const IF_MATCH: JsonObject = {
  ...{ name: 'If-Match', in: 'header', required: false, schema: { type: 'string' } },
  description: 'The `ETag` of what was read: refused with 412 where it has changed since.',
}

const LOCATION: JsonObject = { schema: { type: 'string' }, description: 'Where the browser is sent on.' }

const ETAG: JsonObject = { schema: { type: 'string' }, description: 'Another one after every change.' }

const referTo = (what: string, name: string): JsonObject => ({ $ref: `#/components/${what}/${name}` })

const IF_NONE_MATCH: JsonObject = {
  ...{ name: 'If-None-Match', in: 'header', required: false, schema: { type: 'string' } },
  description: 'The `ETag` of what was read: 304 where it has not changed since.',
}

const isTagged = ({ entityVersions = [] }: Route): boolean => entityVersions.length > 0

function conditionsOf(route: Route): JsonObject[] {
  if (!isTagged(route)) return []
  return route.method === 'GET' ? [referTo('parameters', 'IfNoneMatch')] : [referTo('parameters', 'IfMatch')]
}

function responsesOf(route: Route, schemas: ComponentSchemas, refusal: JsonObject, name: string): JsonObject {
  const found: JsonObject = {}
  for (const [code, declared] of Object.entries(route.answers)) {
    const status = Number(code)
    const headers = status === 200 &&
      route.method === 'GET' &&
      isTagged(route) && { headers: { ETag: referTo('headers', 'ETag') } }
    const place = `${name}${status < 300 ? 'Result' : `Refusal${status}`}`
    const refer = (schema: JsonObject) => schemas.refer(schema, place)
    if (status >= 300 && status < 400) found[code] = { description: textOf(status), headers: { Location: LOCATION } }
    else {
      const content =
        status < 300 ? contentOf(route, plain(declared), refer) : refusalContent(refer(plain(declared)), refusal)
      found[code] = { description: textOf(status), ...headers, content }
    }
  }
  for (const status of declaredStatuses(route)) found[status] ??= referTo('responses', REFUSALS[status]!)
  if (route.method === 'GET' && isTagged(route)) found[304] = referTo('responses', 'NotModified')
  return { ...found, default: referTo('responses', 'Refused') }
}

/** Refusals of the server itself have the envelope, also where the route has refusals of another form. */
function refusalContent(own: JsonObject, refusal: JsonObject): JsonObject {
  if (own.$ref === refusal.$ref) return { [JSON_TYPE]: { schema: refusal } }
  if (own.type !== 'string') return { [JSON_TYPE]: { schema: { anyOf: [own, refusal] } } }
  return { [PAGE_TYPE]: { schema: own }, [JSON_TYPE]: { schema: refusal } }
}

/** Each media type by itself: a text beside JSON has one of its own. */
function contentOf(
  { answerType = JSON_TYPE, textType }: Route,
  schema: JsonObject,
  refer: (schema: JsonObject) => JsonObject,
): JsonObject {
  if (textType === undefined || !Array.isArray(schema.anyOf)) return { [answerType]: { schema: refer(schema) } }
  const rest = schema.anyOf.filter((option) => isObject(option) && option.type !== 'string') as JsonObject[]
  const other = rest.length === 1 ? rest[0]! : { ...schema, anyOf: rest }
  return { [answerType]: { schema: refer(other) }, [textType]: { schema: { type: 'string' } } }
}

const textOf = (status: number): string => STATUS_TEXT[status] ?? String(status)

/** A schema without what only its library knows of it. */
function plain(schema: object): JsonObject {
  const copy = JSON.parse(JSON.stringify(schema)) as Json
  return isObject(copy) ? copy : {}
}

/** Refusals that a call may answer, by what it declares: the API document names them, besides those of another form. */
function declaredStatuses({ method, path, access, refusals = [] }: Route): number[] {
  const writes = method !== 'GET'
  return [
    400,
    ...refusals,
    ...(access === 'public' ? [] : [401, 403]),
    ...(path.includes('{') ? [404] : []),
    ...(writes && access !== 'public' ? [409] : []),
    ...(writes ? [412] : []),
  ]
}
