import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Fault, fault, toFault } from '../../errors/fault.ts'
import { dashboardStatusOf, renderFault } from '../../errors/render.ts'
import { inWord } from '../../model/apis/definition/vendor-words.ts'
import { sentWord } from '../apis/vendor-alias.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from './parts.ts'
import { safePath } from './safe-url.ts'

/** For answers that no browser should keep, guess about, or show within another page. */
const SAFETY_HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  // With `no-referrer` a browser would send the forms of our pages with `Origin: null`, as from a foreign page.
  'referrer-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
}

/** The header fields of every answer; over TLS with that of RFC 6797. */
export function safetyHeaders({ dashboard: { tls } }: DashboardParts['config']): Readonly<Record<string, string>> {
  if (!tls.enabled || tls.hsts_seconds === 0) return SAFETY_HEADERS
  return { ...SAFETY_HEADERS, 'strict-transport-security': `max-age=${tls.hsts_seconds}` }
}

export const JSON_TYPE = 'application/json; charset=utf-8'

/** Answers with the envelope of a refusal, and logs it where the catalogue says so. */
export function sendFault(
  { log, config }: Pick<DashboardParts, 'log' | 'config'>,
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
): FastifyReply {
  const found = faultOf(error)
  const { entry } = found
  const at = { request_id: request.id, method: request.method, path: loggedPath(request), code: found.code }
  if (entry.log !== 'silent') log[entry.log]({ ...at, cause: found.cause ?? found }, entry.text)
  // Refusals of the framework come here without having passed the hooks.
  reply.headers({ 'x-request-id': request.id, ...safetyHeaders(config), 'content-type': JSON_TYPE })
  if (entry.coded) reply.header('x-error-code', found.code)
  if (found.waitS > 0) reply.header('retry-after', found.waitS)
  return reply
    .code(dashboardStatusOf(found))
    .send(inWord(renderFault(found, 'envelope'), sentWord({ config }, request.body)))
}

/** Path of a request as it came, without the query. */
export function requestPath(request: Pick<FastifyRequest, 'originalUrl'>): string {
  return request.originalUrl.split('?', 1)[0]!
}

/** The path without the keys that it may hold. */
function loggedPath(request: FastifyRequest): string {
  const { route } = (request.routeOptions?.config ?? {}) as { readonly route?: Route }
  return safePath(route, requestPath(request), (request.params ?? {}) as Record<string, string>)
}

/** A refusal of the framework, with our text. */
function faultOf(error: unknown): Fault {
  const status = (error as { statusCode?: unknown } | undefined)?.statusCode
  if (error instanceof Error && error.name === 'FastifyError') {
    if (status === 413) return fault('body_too_large')
    if (typeof status === 'number' && status < 500) return fault('request_malformed')
  }
  // Paths that the file server withholds, such as a folder, do not exist for callers.
  if (error instanceof Error && error.name === 'ForbiddenError' && status === 403) return fault('not_found')
  return toFault(error)
}
