import { fault } from '../../errors/fault.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { ComponentSchemas, capital } from '../../model/openapi/component-schemas.ts'
import { withExamples } from '../../model/openapi/schema-example.ts'
import type { AdminRoute } from '../admin/route.ts'
import { type AdminOperation, type AdminOperations, Refusal } from './admin-operation.ts'
import { API_OPERATIONS } from './api-operations.ts'
import { KEY_OPERATIONS, ORGANISATION_OPERATIONS } from './key-operations.ts'
import { NODE_OPERATIONS, OPEN_OPERATIONS } from './node-operations.ts'
import { OAUTH_OPERATIONS } from './oauth-operations.ts'
import { OPERATION_TEXTS } from './operation-texts.ts'
import { POLICY_OPERATIONS } from './policy-operations.ts'
import { REQUEST_EXAMPLES } from './request-examples.ts'

const PREFIX = '/svc'

/** The calls below `/svc/`, by method and path. */
export const ADMIN_OPERATIONS: AdminOperations = {
  ...KEY_OPERATIONS,
  ...POLICY_OPERATIONS,
  ...API_OPERATIONS,
  ...OAUTH_OPERATIONS,
  ...ORGANISATION_OPERATIONS,
  ...NODE_OPERATIONS,
}

const STATUSES: Readonly<Record<number, readonly [name: string, description: string]>> = {
  400: ['InvalidRequest', 'Invalid request'],
  401: ['NotAuthorised', 'Wrong client secret'],
  403: ['Forbidden', 'No or a wrong `X-Svc-Authorization`'],
  404: ['NotFound', 'Not found'],
  409: ['Conflict', 'Conflict'],
  412: ['PreconditionFailed', 'Changed since it was read: does not match `If-Match`'],
  413: ['TooLarge', 'The body is too large'],
  415: ['EncodedBody', 'The body has a `Content-Encoding`'],
  422: ['NotPossible', 'A parameter is missing'],
  429: ['Throttled', 'Too many wrong secrets'],
  503: ['Unavailable', 'The store is away, or the change is stored and not yet in force on this node'],
}

/** In the order of use. */
const TAGS: readonly (readonly [name: string, description: string, paths: RegExp])[] = [
  ['apis', 'APIs, in OpenAPI and classic format.', /^\/svc\/(?:apis|schema)\b/],
  ['policies', 'Policies: access rights, rate limits and quotas by name.', /^\/svc\/policies\b/],
  ['keys', 'Keys, with their sessions.', /^\/svc\/keys\b/],
  ['oauth-clients', 'OAuth clients and their tokens.', /^\/svc\/oauth\/(?:clients|revoke|tokens|refresh|notif)/],
  ['certificates', 'Certificates.', /^\/svc\/certs\b/],
  ['node', 'The node: explanations, reload, caches.', /^\/svc\/(?:node|reload|cache|explain|openapi)\b/],
  ['organisations', 'Limits of whole organisations.', /^\/svc\/org\b/],
  ['signing-keys', 'Keys that sign JWT access tokens.', /^\/svc\/oauth\/signing-keys\b/],
  ['health', 'Health and metrics of the node.', /^\/(?:hello|ready|metrics)$/],
]

const referTo = (kind: string, name: string): JsonObject => ({ $ref: `#/components/${kind}/${name}` })

/**
 * The OpenAPI document of the administration API: the calls below `/svc/` in the order of their table, and what is open beside them.
 * @throws Fault `internal` for a call that nothing describes
 */
export function adminOpenapiOf(calls: readonly Pick<AdminRoute, 'method' | 'path'>[], version: string): JsonObject {
  const schemas = new ComponentSchemas()
  const refusal = schemas.refer(Refusal, 'Refusal')
  const reads = new Set(calls.flatMap(({ method, path }) => (method === 'GET' ? [PREFIX + path] : [])))
  const writes = new Set(calls.flatMap(({ method, path }) => (method === 'GET' ? [] : [PREFIX + path])))
  const paths: { [path: string]: JsonObject } = Object.create(null)
  const add = (method: string, path: string, described: AdminOperation) => {
    const name = capital(described.id)
    const operation = operationOf({
      method,
      path,
      described,
      name,
      schemas,
      condition: conditionFor(method, path, reads, writes),
    })
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation }
  }
  for (const { method, path } of calls) {
    const described = ADMIN_OPERATIONS[`${method} ${path}`]
    if (described === undefined) throw fault('internal', `${method} ${path}: is not described`)
    if (described !== 'alias-only') add(method, PREFIX + path, described)
  }
  for (const [named, described] of Object.entries(OPEN_OPERATIONS)) {
    const [method = '', path = ''] = named.split(' ')
    if (described !== 'alias-only') add(method, path, described)
  }
  const document = {
    openapi: '3.0.3',
    info: {
      title: 'Gatehouse administration API',
      version,
      description:
        'The calls of the gateway below `/svc/`: APIs, policies, keys, OAuth clients, and the node itself. For scripts and programs on the side of ' +
        'the operator; people use the dashboard and its API. Every call takes the secret of the gateway in `X-Svc-Authorization`: `gateway_secret` in ' +
        '`secrets.json` of the data folder, or the setting `gateway.secret`. A change is in force on the node that answers when the call returns. Every path answers with and without a slash at its end. Bodies are read as JSON with any ' +
        'Content-Type, unless a call takes another form. A member of a body that is null counts as absent.',
      contact: { name: 'Gatehouse' },
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ url: '/', description: 'The gateway that serves this document' }],
    tags: TAGS.map(([name, description]) => ({ name, description })),
    paths: { ...paths },
    components: {
      schemas: schemas.all,
      parameters: {
        IfMatch: conditionOf('If-Match', 'refused with 412 where it has changed since.'),
        IfNoneMatch: conditionOf('If-None-Match', '304 where it has not changed since.'),
      },
      headers: { ETag: { schema: { type: 'string' }, description: 'Another one after every change.' } },
      responses: {
        NotModified: { description: 'Not changed since it was read', headers: { ETag: referTo('headers', 'ETag') } },
        ...Object.fromEntries(
          Object.values(STATUSES).map(([name, description]) => [name, refusedWith(description, refusal)]),
        ),
        Refused: refusedWith('Refused', refusal),
      },
      securitySchemes: {
        secret: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Svc-Authorization',
          description: 'The secret of the gateway.',
        },
      },
    },
  }
  return withExamples(document, REQUEST_EXAMPLES)
}

/** The same document from the descriptions alone, where no gateway runs. */
export function adminDocumentOf(version: string): JsonObject {
  const calls = Object.keys(ADMIN_OPERATIONS).map((named) => {
    const [method = '', path = ''] = named.split(' ')
    return { method: method as AdminRoute['method'], path }
  })
  return adminOpenapiOf(calls, version)
}

const refusedWith = (description: string, schema: JsonObject): JsonObject => ({
  description,
  content: { 'application/json': { schema } },
})

const conditionOf = (name: string, effect: string): JsonObject => ({
  ...{ name, in: 'header', required: false, schema: { type: 'string' } },
  description: `The \`ETag\` of what was read: ${effect}`,
})

/**
 * The precondition of a call: reads of what other methods change take `If-None-Match`; what changes something that is read at its path, or
 * above, takes `If-Match`.
 */
function conditionFor(
  method: string,
  path: string,
  reads: ReadonlySet<string>,
  writes: ReadonlySet<string>,
): 'IfMatch' | 'IfNoneMatch' | undefined {
  if (method === 'GET') return writes.has(path) ? 'IfNoneMatch' : undefined
  const segments = path.split('/')
  const above = segments.map((_, index) => segments.slice(0, index + 1).join('/'))
  return above.some((each) => reads.has(each)) ? 'IfMatch' : undefined
}

interface Described {
  readonly method: string
  readonly path: string
  readonly described: AdminOperation
  /** Prefix of component names. */
  readonly name: string
  readonly schemas: ComponentSchemas
  readonly condition: 'IfMatch' | 'IfNoneMatch' | undefined
}

function operationOf(at: Described): JsonObject {
  const { path, described, name, schemas, condition } = at
  const { id, summary, description, query = {}, requires = [], body, isBodyOptional } = described
  const isOpen = /^\/(?:hello|ready)$/.test(path)
  const parameters = [
    ...[...path.matchAll(/\{([^{}]*)\}/g)].map(([, each]) => ({
      ...{ name: each!, in: 'path', required: true, schema: { type: 'string' } },
    })),
    ...Object.entries(query).map(([each, { description, ...schema }]) => ({
      ...{ name: each, in: 'query', ...(description !== undefined && { description }) },
      ...(requires.includes(each) && { required: true }),
      schema: schemas.refer(schema, `${name}Query${capital(each)}`),
    })),
    ...(condition === undefined ? [] : [referTo('parameters', condition)]),
  ]
  return {
    operationId: id,
    summary,
    description: [
      description ?? OPERATION_TEXTS[id],
      isOpen ? 'Needs no credential.' : 'Needs the secret of the gateway.',
    ]
      .filter((text) => text !== undefined)
      .join(' '),
    tags: [TAGS.find(([, , paths]) => paths.test(path))![0]],
    security: isOpen ? [] : [{ secret: [] }],
    parameters,
    ...(body !== undefined && {
      requestBody: {
        required: isBodyOptional !== true,
        content: Object.fromEntries(
          Object.entries(body).map(([type, schema]) => [type, { schema: schemas.refer(schema, `${name}Body`) }]),
        ),
      },
    }),
    responses: responsesOf(at),
  }
}

function responsesOf({ method, path, described, name, schemas, condition }: Described): JsonObject {
  const { answer, answers = {}, answerType = 'application/json', fields = {}, refusals = [], body } = described
  const contentOf = (schema: JsonObject, place: string) => ({ [answerType]: { schema: schemas.refer(schema, place) } })
  const headers = {
    ...Object.fromEntries(
      Object.entries(fields).map(([field, description]) => [field, { description, schema: { type: 'string' } }]),
    ),
    ...(condition === 'IfNoneMatch' && { ETag: referTo('headers', 'ETag') }),
  }
  const refused = new Set([
    ...refusals,
    ...(path.startsWith(PREFIX) ? [400, 403, 429] : []),
    ...(path.includes('{') ? [404] : []),
    ...(path.startsWith(PREFIX) && method !== 'GET' ? [409, 412, 415, 503] : []),
    ...(body === undefined ? [] : [413]),
  ])
  return {
    200: {
      description: 'OK',
      ...(Object.keys(headers).length > 0 && { headers }),
      content: contentOf(answer, `${name}Result`),
    },
    ...(condition === 'IfNoneMatch' && { 304: referTo('responses', 'NotModified') }),
    ...Object.fromEntries([...refused].map((status) => [status, referTo('responses', STATUSES[status]![0])])),
    ...Object.fromEntries(
      Object.entries(answers).map(([status, schema]) => [
        status,
        {
          description: STATUSES[Number(status)]?.[1] ?? 'OK',
          content: {
            'application/json': {
              schema: { anyOf: [schemas.refer(schema, `${name}Refusal${status}`), schemas.refer(Refusal, 'Refusal')] },
            },
          },
        },
      ]),
    ),
    default: referTo('responses', 'Refused'),
  }
}
