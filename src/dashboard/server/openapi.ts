import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import { intentOf } from '../access/permit.ts'
import type { Access, Route } from '../routes/route.ts'
import { SESSION_COOKIE } from '../sign-in/cookie.ts'

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

/** The OpenAPI 3.1 document of the routes: paths in the order of the table, every answer as it is declared. */
export function openapiOf(routes: readonly Route[], version: string): JsonObject {
  const paths: { [path: string]: JsonObject } = Object.create(null)
  const spelled = new Map<string, string>()
  for (const route of routes) {
    // Two paths that differ in the names of placeholders alone are one path to the standard.
    const pattern = route.path.replace(/\{[^{}]*\}/g, '{}')
    const path = spelled.get(pattern) ?? route.path
    spelled.set(pattern, path)
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, path) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Gatehouse dashboard API',
      version,
      description:
        'Every path answers with and without a slash at its end. Bodies are read as JSON with any Content-Type, ' +
        'unless a call takes a form. Lists take `p`: pages count from 1; 0 and less ask for everything.',
    },
    tags: [...new Set(routes.map(tagOf))].sort().map((name) => ({ name })),
    paths: { ...paths },
    components: {
      schemas: { Refusal: REFUSAL },
      parameters: { IfMatch: IF_MATCH, IfNoneMatch: IF_NONE_MATCH },
      headers: { ETag: ETAG },
      responses: {
        NotModified: { description: 'Not changed since it was read', headers: { ETag: referTo('headers', 'ETag') } },
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
}

const REFUSAL: JsonObject = {
  type: 'object',
  required: ['Status', 'Message', 'Meta'],
  properties: { Status: { const: 'Error' }, Message: { type: 'string' }, Meta: {} },
}

const REFERENCE: JsonObject = { $ref: '#/components/schemas/Refusal' }

function operationOf(route: Route, path: string): JsonObject {
  const body = bodyOf(route)
  return {
    operationId: operationId(route.method, path),
    summary: route.summary,
    ...(route.deprecated !== undefined && { deprecated: true, description: `Use \`${route.deprecated}\` instead.` }),
    tags: [tagOf(route)],
    security: securityOf(route.access),
    'x-svc-access': accessOf(route),
    parameters: [...pathParameters(path), ...queryParameters(route), ...conditionsOf(route)],
    ...(body !== undefined && { requestBody: body }),
    responses: responsesOf(route),
  }
}

function operationId(method: string, path: string): string {
  const words = path.split('/').flatMap((segment) => segment.replace(/[{}]/g, '').split(/[^A-Za-z0-9]+/))
  return [method.toLowerCase(), ...words.filter((word) => word !== '').map(capital)].join('')
}

const capital = (word: string): string => word[0]!.toUpperCase() + word.slice(1)

/** The tag of a call: `/api/portal/policies/{id}` about policies, `/admin/users` about the installation. */
function tagOf({ path }: Pick<Route, 'path'>): string {
  const [first = '', second = '', third = ''] = path.split('/').slice(1)
  if (first !== 'api') return first === 'admin' ? 'admin' : 'sign-in and health'
  if (second.startsWith('{')) return third
  return second === 'portal' && !third.startsWith('{') && third !== '' ? third : second
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
    schema: { type: 'string' },
  }))
}

function queryParameters({ query }: Route): JsonObject[] {
  return Object.entries(query ?? {}).map(([name, schema]) => {
    const { description, ...rest } = plain(schema)
    return { name, in: 'query', ...(description !== undefined && { description }), schema: rest }
  })
}

const BODY_TYPES = {
  form: 'application/x-www-form-urlencoded',
  upload: 'multipart/form-data',
  any: '*/*',
  json: 'application/json',
}

function bodyOf({ body, bodyIs }: Route): JsonObject | undefined {
  if (body === undefined && bodyIs === undefined) return undefined
  const schema = body === undefined ? {} : plain(body)
  return { required: true, content: { [BODY_TYPES[bodyIs ?? 'json']]: { schema } } }
}

const IF_MATCH: JsonObject = {
  ...{ name: 'If-Match', in: 'header', required: false, schema: { type: 'string' } },
  description: 'The `ETag` of what was read: refused with 412 where it has changed since.',
}

const ETAG: JsonObject = { schema: { type: 'string' }, description: 'Another one after every change.' }

const referTo = (what: string, name: string): JsonObject => ({ $ref: `#/components/${what}/${name}` })

const IF_NONE_MATCH: JsonObject = {
  ...{ name: 'If-None-Match', in: 'header', required: false, schema: { type: 'string' } },
  description: 'The `ETag` of what was read: 304 where it has not changed since.',
}

const isTagged = ({ entityVersions = [] }: Route): boolean => entityVersions.length > 0
const isHeld = (route: Route): boolean => isTagged(route) && route.method !== 'GET'

function conditionsOf(route: Route): JsonObject[] {
  if (!isTagged(route)) return []
  return route.method === 'GET' ? [referTo('parameters', 'IfNoneMatch')] : [referTo('parameters', 'IfMatch')]
}

function responsesOf(route: Route): JsonObject {
  const { answers, access, answerType = 'application/json' } = route
  const refusal = { 'application/json': { schema: REFERENCE } }
  const found: JsonObject = {}
  for (const [code, declared] of Object.entries(answers)) {
    const status = Number(code)
    // Refusals of the server itself have the envelope, also where the route has refusals of another form.
    const schema = status < 400 ? plain(declared) : { anyOf: [plain(declared), REFERENCE] }
    const headers = status === 200 &&
      route.method === 'GET' &&
      isTagged(route) && { headers: { ETag: referTo('headers', 'ETag') } }
    found[code] = { description: textOf(status), ...headers, content: { [answerType]: { schema } } }
  }
  for (const status of access === 'public' ? [] : [401, 403])
    found[status] ??= { description: textOf(status), content: refusal }
  if (route.method === 'GET' && isTagged(route)) found[304] = referTo('responses', 'NotModified')
  if (isHeld(route)) found[412] = { description: textOf(412), content: refusal }
  return { ...found, default: { description: 'Refused', content: refusal } }
}

const textOf = (status: number): string => STATUS_TEXT[status] ?? String(status)

/** A schema without what only its library knows of it. */
function plain(schema: object): JsonObject {
  const copy = JSON.parse(JSON.stringify(schema)) as Json
  return isObject(copy) ? copy : {}
}
