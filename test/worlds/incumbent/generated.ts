import fc from 'fast-check'
import { putAt, type TreePath } from '../../../src/model/apis/definition/tree.ts'
import { CLASSIC_SCHEMA } from '../../../src/model/apis/schema/schema-classic.ts'
import type { Json, JsonObject } from '../../../src/model/json/json.ts'
import { fitting, type Hints } from '../model/api-arbitraries.ts'

/** In place of the id of the API: limits and caches of one definition must not be those of another. */
export const API = '{{api}}'
/** A key that `sessionFor` gives rights to. */
export const KEY = 'key-of-the-caller'

/** The path of health checks, which no request has. */
export const HEALTH_CHECK = '/check'

const base64 = (text: string) => Buffer.from(text).toString('base64')
const PATHS = ['/', '/a', '/a', '/a/b', '/w/{id}', '/w/*', 'a', '/A', '/é', '/b', '/l/a', '/v1/a']
const PATTERNS = ['(.*)', '(.*)', '/a/(.*)', 'a', '^/l/a', '(\\w+)/(\\w+)', '^/l$', 'b\\?x=(\\d+)']
const FIELDS = ['X-One', 'x-two', 'Authorization', 'Cookie', 'Set-Cookie', 'Content-Type']

const HINTS: Hints = {
  values: {
    listen_path: ['/l/', '/l', '/l/{tenant}/'],
    target_url: ['http://127.0.0.1:{{up0}}', 'http://127.0.0.1:{{up0}}/base/', 'http://127.0.0.1:{{up0}}/q?fixed=1'],
    override_target: ['', 'http://127.0.0.1:{{up1}}/over', 'http://127.0.0.1:1/'],
    target_list: ['http://127.0.0.1:{{up1}}/', '127.0.0.1:{{up2}}', 'http://127.0.0.1:1'],
    proxy_url: ['', 'http://127.0.0.1:{{up2}}'],
    path: PATHS,
    ignored: PATHS,
    white_list: PATHS,
    black_list: PATHS,
    cache: PATHS,
    method: ['GET', 'GET', 'GET', 'POST', 'POST', 'put', 'PURGE', 'HEAD', 'OPTIONS', ''],
    to_method: ['GET', 'POST', 'put', ''],
    disabled: [false, false, false, true],
    match_pattern: PATTERNS,
    match_rx: ['.*', 'a', '^(\\d+)$', '', 'one'],
    rewrite_to: [
      ...['/new/$1', '/r?x=$1', '/$2/$1', '/m/$svc_context.method', '/t/$svc_context.trigger-0-X-One-0', '/fixed'],
      ...['svc://self/x/$1', 'http://127.0.0.1:{{up1}}/$1', '/s/$svc_meta.who'],
    ],
    template_source: [base64('{"was": "{{ .a }}"}'), base64('<a>{{ .a }}</a>')],
    template_mode: ['blob', 'blob', 'blob', 'blob', ''],
    input_type: ['json', 'json', 'json', 'json', 'xml', ''],
    schema: [{ type: 'object', required: ['a'] }, { type: 'array' }],
    schema_b64: [base64('{"type":"object","required":["a"]}'), ''],
    action: ['no_action', 'no_action', 'reply', ''],
    threshold_percent: [0.5, 1],
    samples: [1, 2, 5],
    rate: [0, 1, 2, 100],
    per: [0, 1, 60],
    code: [200, 404, 0, 503],
    error_response_code: [0, 400, 422],
    cache_response_codes: [200, 404, 503],
    statuses: [503, 502],
    size_limit: [0, 1, 5, 1000],
    global_size_limit: [0, 1, 5, 1000],
    timeout: [0, 1, 2, 60],
    cache_key_regex: [''],
    key: ['X-Version', 'v'],
    driver: ['', 'typescript'],
    handler_name: ['eh_web_hook_handler', 'eh_log_handler'],
    default: ['Default', 'v1', 'self', ''],
    default_version: ['Default', 'v1', ''],
    versions: [API, 'none'],
    fallback_to_default: [true, false],
    auth_header_name: ['', 'X-Key', 'Authorization'],
    param_name: ['k', ''],
    cookie_name: ['', 'k'],
    domain: ['', 'gw.test', 'other.test'],
    protocol: ['', 'http'],
    allowed_ips: ['127.0.0.1', '10.0.0.0/8', '::1'],
    blacklisted_ips: ['127.0.0.1', '10.0.0.0/8'],
    allowed_origins: ['*', 'http://a.example'],
    tags: ['one'],
    target_path: ['http://127.0.0.1:1/hook', ''],
    url: [`http://127.0.0.1:1${HEALTH_CHECK}`, HEALTH_CHECK],
  },
  names: {
    auth_configs: ['authToken', 'jwt', 'basic', 'oauth', 'hmac'],
    versions: ['Default', 'v1', 'v2'],
    method_actions: ['GET', 'POST', 'get'],
    add_headers: FIELDS,
    global_headers: FIELDS,
    global_response_headers: FIELDS,
    headers: FIELDS,
    header_matches: ['X-One', 'x-two', 'Cookie'],
    query_val_matches: ['x', 'v', 'k'],
    path_part_matches: ['a', 'l'],
    session_meta_matches: ['who'],
    request_context_matches: ['method', 'path'],
    events: ['QuotaExceeded', 'AuthFailure', 'Made up'],
  },
}

/** Members that need a port of their own or a name server, and those that name the API or its other form. */
const LEFT_OUT = new Set([
  'listen_port',
  'enable_proxy_protocol',
  'use_discovery_service',
  'id',
  'api_id',
  'org_id',
  'oas',
])

/** A member of classic definitions that holds a value, a list or a map, and what fits it. */
export interface Place {
  readonly path: TreePath
  readonly value: fc.Arbitrary<Json>
}

/** All members that the schema knows, those of two versions included. */
export const PLACES: readonly Place[] = placesOf(CLASSIC_SCHEMA, [])

function placesOf(schema: JsonObject, path: TreePath): Place[] {
  const name = path.at(-1) ?? ''
  if (LEFT_OUT.has(name)) return []
  if (name === 'versions' && path[0] === 'version_data')
    return ['Default', 'v1'].flatMap((each) => placesOf(schema.additionalProperties as JsonObject, [...path, each]))
  const members = Object.entries((schema.properties ?? {}) as Record<string, JsonObject>)
  if (members.length === 0) return [{ path, value: fitting(schema, HINTS, name) }]
  return members.flatMap(([member, each]) => placesOf(each, [...path, member]))
}

/** The OpenAPI document that a classic definition may hold, for mocks and checks of requests. */
const DOCUMENT: JsonObject = {
  openapi: '3.0.3',
  info: { title: 'Test', version: '1' },
  paths: Object.fromEntries(
    ['/', '/a', '/a/b', '/w/{id}', '/b'].map((path) => {
      const json = { 'application/json': { example: { of: path }, schema: { type: 'object', required: ['a'] } } }
      const operation = (operationId: string) => ({
        operationId,
        responses: { 200: { description: '', content: json } },
      })
      const parameters = path.includes('{')
        ? [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }]
        : []
      return [
        path,
        {
          parameters: [...parameters, { name: 'x', in: 'query', schema: { type: 'integer' } }],
          get: operation(`get ${path}`),
          post: { ...operation(`post ${path}`), requestBody: { content: json } },
        },
      ]
    }),
  ),
}

/** Whether the rules of the definition's own version count, and who may call: without these most others would never be asked. */
const common = fc.record({
  caller: fc.constantFrom<JsonObject>(
    { use_keyless: true },
    { use_keyless: true },
    { use_standard_auth: true, auth: { auth_header_name: 'Authorization' } },
    {},
  ),
  lists: fc.constantFrom(true, true, true, undefined),
  sole: fc.constantFrom(true, true, undefined),
  matching: fc.constantFrom(undefined, undefined, 'contains', 'prefix', 'openapi'),
  active: fc.constantFrom(true, true, true, true, true, undefined),
  strip: fc.constantFrom(true, true, undefined),
  described: fc.constantFrom(undefined, DOCUMENT),
})

const VERSION = ['version_data', 'versions', 'Default']
const isRule = ({ path }: Place) => VERSION.every((name, at) => path[at] === name)
const valueAt = ({ path, value }: Place) => value.map((each): Setting => [path, each])
const settingAt = (places: readonly Place[]) => fc.constantFrom(...places).chain(valueAt)
const setting = fc.oneof(settingAt(PLACES), settingAt(PLACES.filter(isRule)))

type Setting = readonly [path: TreePath, value: Json]
type Common = typeof common extends fc.Arbitrary<infer Value> ? Value : never

/** Random classic definitions: a few or many members of the schema, with values that mostly mean something. */
export const generatedDefinitions: fc.Arbitrary<JsonObject> = fc
  .tuple(common, fc.oneof(fc.array(setting, { minLength: 1, maxLength: 4 }), fc.array(setting, { maxLength: 25 })))
  .map(([shared, settings]) => definitionOf(shared, settings))

/** Random definitions that set one member of the schema besides what nearly all have. */
export function definitionsWith(place: Place): fc.Arbitrary<JsonObject> {
  return fc.tuple(common, valueAt(place)).map(([shared, only]) => definitionOf(shared, [only]))
}

function definitionOf(shared: Common, settings: readonly Setting[]): JsonObject {
  const { caller, lists, sole, matching, active, strip, described } = shared
  const versioning = sole ? undefined : { location: 'header', key: 'X-Version', default: 'Default' }
  const made: JsonObject = { name: 'Test', api_id: API, ...copyOf(caller) }
  const put = (path: TreePath, value: Json | undefined) => value !== undefined && putAt(made, path, copyOf(value))
  put(['proxy', 'listen_path'], '/l/')
  put(['proxy', 'target_url'], 'http://127.0.0.1:{{up0}}/')
  put(['proxy', 'strip_listen_path'], strip)
  put(['active'], active)
  put(['path_matching'], matching)
  put(['definition'], versioning)
  put(['oas', 'document'], described)
  put(['version_data', 'not_versioned'], sole)
  put([...VERSION, 'name'], 'Default')
  put([...VERSION, 'use_extended_paths'], lists)
  for (const [path, value] of settings) put(path, value)
  return made
}

/** No request may hold a member of this name, which the engine of JavaScript has a meaning for. */
const copyOf = <Value extends Json>(value: Value): Value =>
  JSON.parse(JSON.stringify(value).replaceAll('"__proto__"', '"proto"'))

const method = fc.constantFrom('GET', 'GET', 'GET', 'POST', 'PUT', 'HEAD', 'OPTIONS', 'DELETE', 'PURGE')
const target = fc
  .tuple(
    fc.constantFrom('/l', '/l', '/l', '/l', '/l/t1', '/l/v1', '/l/Default', '/L'),
    fc.constantFrom('', '/', '/a', '/a/b', '/a/', '/w/7', '/w/x/y', '/b', '/A', '/%C3%A9', '/a%20b', '/a//b', '/zz'),
    fc.constantFrom('', '', '', '?x=1', '?v=v1', `?x=one&k=${KEY}`, '?v=Default&x='),
  )
  .map((parts) => parts.join(''))
const field = fc.constantFrom(
  `Authorization: ${KEY}`,
  `Authorization: Bearer ${KEY}`,
  'Authorization: unknown',
  `X-Key: ${KEY}`,
  `Cookie: k=${KEY}; other=1`,
  'X-One: one',
  'X-Two: 2',
  'X-Version: v1',
  'X-Version: Default',
  'Origin: http://a.example',
  'Access-Control-Request-Method: GET',
  'Accept: application/json',
  'Cache-Control: no-cache',
  'X-Up: status=503;body=away',
  'X-Up: status=200;body=%7B%22a%22%3A%5B1%5D%7D;ct=application%2Fjson;h=Set-Cookie%3A%20s=1|X-One%3A%20up',
  'X-Up: reset',
)
const body = fc.constantFrom('', '', '{"a":1}', '{"a":"<b>"}', '[1]', 'a=1', '<a>1</a>')

/** A request byte for byte. */
const request = fc
  .tuple(method, target, fc.uniqueArray(field, { maxLength: 4, selector: (each) => each.split(':', 1)[0]! }), body)
  .map(([name, at, fields, content]) => {
    const sent = ['GET', 'HEAD', 'OPTIONS', 'DELETE'].includes(name) ? '' : content
    const type = sent.startsWith('{') ? 'application/json' : 'application/x-www-form-urlencoded'
    const framed = sent === '' ? [] : [`Content-Type: ${type}`]
    const lines = ['Host: gw.test', ...fields, ...framed, `Content-Length: ${Buffer.byteLength(sent)}`]
    return `${name} ${at} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${sent}`
  })

/** Requests, one after another; some come twice, for limits and caches. */
export const generatedRequests = fc
  .array(fc.tuple(request, fc.constantFrom(1, 1, 2)), { minLength: 3, maxLength: 8 })
  .map((each) => each.flatMap(([text, times]) => Array<string>(times).fill(text)))

/** A session with rights to the API. */
export function sessionFor(api: string): JsonObject {
  return {
    ...{ rate: 1000, per: 1, quota_max: -1, expires: 0, meta_data: { who: 'one' } },
    access_rights: { [api]: { api_id: api, api_name: 'Test', versions: ['Default', 'v1'] } },
  }
}
