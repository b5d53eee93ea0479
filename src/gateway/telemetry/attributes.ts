import type { Attributes } from '@opentelemetry/api'
import type { Api } from '../../model/apis/definition/api.ts'
import { MASK } from '../../model/secrets/redact.ts'
import { redactUrl, type SecretNames, secretValues } from '../../model/secrets/redact-traffic.ts'
import type { Upstream } from '../../wire/connect/upstream.ts'
import { RecordPlan } from '../record/record-plan.ts'
import type { Exchange } from '../server/exchange.ts'
import { readCredential, withoutBearer } from '../steps/authentication/read-credential.ts'

// Names and rules: OpenTelemetry semantic conventions for HTTP, 1.41. No query and no header ever becomes an attribute.

const METHODS: ReadonlySet<string> = new Set([
  'CONNECT',
  'DELETE',
  'GET',
  'HEAD',
  'OPTIONS',
  'PATCH',
  'POST',
  'PUT',
  'QUERY',
  'TRACE',
])
const PATH_CHARACTERS = 1024
const SHORTEST_SECRET = 6

/** The method, or `_OTHER`: methods that callers invent must not become names of spans and metrics. */
export function methodOf(method: string): string {
  return METHODS.has(method) ? method : '_OTHER'
}

/** The template under which a request is counted: the listen path and, where one matched, the path of the operation. */
export function routeOf({ chain, operation }: Exchange): string {
  if (chain === undefined) return ''
  const { listenPath } = chain.api
  if (operation === undefined) return listenPath
  const below = operation.name.slice(operation.name.indexOf(' ') + 1)
  return `${listenPath.endsWith('/') ? listenPath.slice(0, -1) : listenPath}${below}`
}

/** The error type, one of few words: a status of 500 and more, or the code that ended the request; '' = none. */
export function errorOf({ status, fault, aborted }: Exchange): string {
  if (aborted) return fault?.code ?? 'client_gone'
  if (status < 500) return ''
  return fault?.code ?? String(status)
}

/** The labels of request metrics. Bounded: no value comes from the caller. */
export function serverMetricAttributes(x: Exchange): Attributes {
  const route = routeOf(x)
  const error = errorOf(x)
  return {
    'http.request.method': methodOf(x.method),
    'url.scheme': x.secure ? 'https' : 'http',
    'network.protocol.version': versionOf(x),
    ...(x.status !== 0 && { 'http.response.status_code': x.status }),
    ...(route !== '' && { 'http.route': route, 'gatehouse.api.id': x.chain!.api.apiId }),
    ...(error !== '' && { 'error.type': error }),
  }
}

function versionOf({ http2, http11 }: Exchange): string {
  if (http2) return '2'
  return http11 ? '1.1' : '1.0'
}

/** Further attributes of a request's span. The path is only that of a request to an API, without secrets. */
export function serverSpanAttributes(x: Exchange): Attributes {
  const { chain, fault } = x
  return {
    ...(chain !== undefined && { 'url.path': openPath(x), 'gatehouse.api.version': chain.version }),
    ...(x.host !== '' && { 'server.address': x.host }),
    'client.address': x.clientAddress,
    'gatehouse.request.id': x.requestId,
    ...(fault !== undefined && { 'gatehouse.fault': fault.code }),
  }
}

/** The path without parts that look like secrets, and without the caller's credential, in any place. */
function openPath(x: Exchange): string {
  const { api } = x.chain!
  const { auth } = api
  const names = namesOf(api)
  const path = redactUrl(x.path.slice(0, PATH_CHARACTERS), names)
  const secrets = auth === undefined ? [] : [withoutBearer(readCredential(auth, x) ?? '')]
  if (x.query !== '') secrets.push(...secretValues(x.query, names))
  return secrets
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .flatMap((secret) => [secret, encodeURIComponent(secret.toWellFormed())])
    .reduce((open, secret) => open.replaceAll(secret, MASK), path)
}

/** Module state: a cache of immutable values, by the loaded API. */
const secretNames = new WeakMap<Api, SecretNames>()

function namesOf(api: Api): SecretNames {
  const known = secretNames.get(api)
  if (known !== undefined) return known
  const names = new RecordPlan(api, false).secretNames
  secretNames.set(api, names)
  return names
}

/** The attributes of an attempt before it is made. */
export function attemptAttributes({ options }: Upstream, method: string): Attributes {
  return {
    'http.request.method': methodOf(method),
    'server.address': options.host,
    'server.port': options.port,
    'url.scheme': options.secure ? 'https' : 'http',
  }
}
