import { randomBytes } from 'node:crypto'
import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http'
import type { BlockList, Socket } from 'node:net'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { type Fault, fault } from '../../errors/fault.ts'
import { dashboardStatusOf, renderFault } from '../../errors/render.ts'
import { addressList } from '../../model/network/address.ts'
import { isListed, peerAddress } from '../../model/network/forwarded-for.ts'
import { isRequestId } from '../../model/network/request-id.ts'
import { withEvents } from '../../publish/events/domain-events.ts'
import { publishAddresses } from '../../publish/nodes/addresses.ts'
import { AdminSecretThrottle } from '../../runtime/admin-secret-throttle.ts'
import type { RouteDeps } from '../access/admit.ts'
import { refuseTwoCredentials } from '../access/identify.ts'
import { identitiesOf } from '../access/identities.ts'
import { withPlainDates } from '../analytics/range.ts'
import { scheduleHitRetention } from '../analytics/retention.ts'
import { ApiOwners } from '../apis/api-owners.ts'
import { scheduleAuditRetention, scheduleTombstoneRetention } from '../audit/purge.ts'
import { eventMailer } from '../events/event-mails.ts'
import { scheduleKeyExpiry } from '../portal/developers/forget-keys.ts'
import { type Route, routerPath } from '../routes/route.ts'
import { routed, SENT_TYPE } from '../routes/routed.ts'
import { allRoutes } from '../routes/routes.ts'
import { takeTurns } from './connection-turns.ts'
import { sendConsole, serveConsole, wantsPage } from './console.ts'
import { RequestQuota } from './intake.ts'
import { OrganisationCount } from './organisation-count.ts'
import type { DashboardParts } from './parts.ts'
import { recordedStore } from './recorded.ts'
import { requestPath, safetyHeaders, sendFault } from './refuse.ts'
import { TlsServer } from './tls-server.ts'
import { LONGEST_HEAD_BYTES, unreadPath } from './unread-path.ts'

export interface DashboardOptions {
  readonly host: string
  /** 0 = any free port. */
  readonly port: number
  /** The served routes: the product's own table unless given. */
  readonly routes?: (parts: DashboardParts) => readonly Route[]
}

/** A dashboard that is listening. */
export interface Dashboard {
  readonly port: number
  /** The served routes, in the order of declaration. */
  readonly routes: readonly Route[]
  /** Says by `/ready` and with each answer that it will be closed; serves until then. */
  drain(): void
  close(): Promise<void>
}

const REQUEST_TIMEOUT_MS = 120_000
const KEEP_ALIVE_MS = 72_000
/** Paths contain lists of keys: one that is too long must be refused by name, not by the head parser. */
const LONGEST_PARAM = LONGEST_HEAD_BYTES

/** Opens the dashboard's port and serves every declared route. @throws Fault `port_in_use` naming the setting */
export async function startDashboard(
  given: DashboardParts,
  { host, port, routes: declared = allRoutes }: DashboardOptions,
): Promise<Dashboard> {
  const recorded = recordedStore(given.store, given.config.dashboard.audit.enabled)
  const keepsTombstones = given.config.dashboard.enable_ownership
  const keepsDeletedIds = given.config.dashboard.audit.enabled
  const kept = { keepsTombstones, keepsDeletedIds, notesDeletedIds: keepsDeletedIds }
  const documents = withEvents({ ...given, documents: recorded.documents, ...kept, mail: eventMailer(given) })
  const store = { ...recorded, documents }
  const closing = new AbortController()
  let draining = false
  const parts: DashboardParts = {
    ...{ ...given, store, documents, tokens: store.tokens, keepsDeletedIds },
    closing: closing.signal,
    draining: () => draining,
  }
  const owners = new ApiOwners(parts.documents, parts.store.feed)
  const routes = declared(parts)
  await publishAddresses(given).catch((error) =>
    parts.log.warn({ cause: error }, 'cannot store the addresses of the gateways'),
  )
  const trusted = addressList(parts.config.dashboard.trusted_proxies)
  const organisations = new OrganisationCount(parts.documents, parts.store.feed)
  const deps: RouteDeps = {
    ...{ parts, owners, trusted },
    who: identitiesOf(parts),
    secretBrake: new AdminSecretThrottle(parts.clock),
    intake: new RequestQuota(parts, trusted, () => organisations.isSeveral),
  }
  const tls = parts.config.dashboard.tls.enabled ? new TlsServer(parts) : undefined
  const methodsAt = methodFinder(routes)
  const bounds = { requestTimeout: REQUEST_TIMEOUT_MS, keepAliveTimeout: KEEP_ALIVE_MS }
  const server = fastify<Server>({
    ...(tls && { serverFactory: (handler) => tls.create(handler, { ...bounds, maxHeaderSize: LONGEST_HEAD_BYTES }) }),
    ...bounds,
    logger: false,
    // Who has sent something on a kept connection before he could know is answered.
    return503OnClosing: false,
    http: { maxHeaderSize: LONGEST_HEAD_BYTES },
    rewriteUrl: ({ url = '' }) => withPlainDates(url),
    genReqId: (raw) => requestIdOf(raw, trusted),
    frameworkErrors: (_error, request, reply) =>
      void sendFault(parts, request as FastifyRequest, reply as FastifyReply, fault('request_malformed')),
    clientErrorHandler: (error, socket) => refuseMalformedRequest(parts.config, error, socket, methodsAt),
    routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, maxParamLength: LONGEST_PARAM },
  })
  deps.intake.bound(server.server)
  takeTurns(server.server)
  const stopWatching = parts.metrics.watch(server, given.store, parts.version)
  serve(server, deps, routes, methodsAt)
  try {
    await server.listen({ host, port })
  } catch (error) {
    tls?.close()
    owners.close()
    organisations.close()
    stopWatching()
    throw portFault(error, port)
  }
  await organisations.settled()
  const jobs = [scheduleAuditRetention, scheduleTombstoneRetention, scheduleHitRetention, scheduleKeyExpiry].map(
    (schedule) => schedule(parts),
  )
  // The first caller should not wait for it; failures surface when it is needed.
  if (parts.config.dashboard.enable_ownership) owners.fresh().catch(() => {})
  const address = server.server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    routes,
    drain() {
      draining = true
    },
    async close() {
      draining = true
      closing.abort()
      stopWatching()
      await server.close()
      tls?.close()
      await Promise.all(jobs.map((job) => job.close()))
      owners.close()
      organisations.close()
    },
  }
}

function serve(server: FastifyInstance, deps: RouteDeps, routes: readonly Route[], methodsAt: MethodsAt): void {
  const { parts } = deps
  const safety = safetyHeaders(parts.config)
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  server.setErrorHandler((error, request, reply) => sendFault(parts, request, reply, error))
  server.setNotFoundHandler((request, reply) =>
    wantsPage(request) ? sendConsole(reply) : sendFault(parts, request, reply, unroutedFault(request, reply)),
  )
  server.addHook('onRequest', async (request, reply) => {
    reply.headers({ 'x-request-id': request.id, ...safety })
    // Nothing reads the body of what is not there.
    if (request.is404 && !wantsPage(request)) throw unroutedFault(request, reply)
    // Something without a name, which is not the list of those that have one.
    if (requestPath(request).endsWith('//') && !wantsPage(request)) throw fault('not_found')
    refuseTwoCredentials(request.raw)
    refuseEncodedBody(request.raw)
    // The type of the body does not depend on its label (clients label JSON as a form), nor on whether the label is well-formed.
    const { headers } = request.raw
    delete headers[SENT_TYPE]
    if (headers['content-type'] === undefined) return
    headers[SENT_TYPE] = headers['content-type']
    headers['content-type'] = 'application/octet-stream'
  })
  server.addHook('onSend', async (_request, reply) => {
    if (parts.draining?.() === true) reply.header('connection', 'close')
  })
  const unroutedFault = (request: FastifyRequest, reply: FastifyReply) => {
    const allowed = methodsAt(requestPath(request))
    if (allowed === undefined) return fault('not_found')
    reply.header('allow', allowed.join(', '))
    return fault('method_not_allowed')
  }
  serveConsole(server)
  for (const route of routes) server.route(routed(deps, route))
  for (const [path, methods] of undeclared(routes)) {
    const allow = methods.allowed.join(', ')
    server.route({
      method: methods.others,
      url: path,
      onRequest: async (_request, reply) => {
        reply.header('allow', allow)
        throw fault('method_not_allowed')
      },
      handler: () => {},
    })
  }
}

/** @throws Fault `body_encoded` (415): nothing here decodes */
function refuseEncodedBody({ headers }: IncomingMessage): void {
  const { 'content-encoding': coding = 'identity', 'content-length': length, 'transfer-encoding': transfer } = headers
  const hasBody = transfer !== undefined || (length !== undefined && length !== '0')
  if (hasBody && !/^(?:identity)?$/i.test(coding.trim())) throw fault('body_encoded')
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/**
 * Methods that a path does not have, so that the answer is 405 and not that of a path with a placeholder in the word's place: HEAD among
 * them, unless the path has a GET that only reads.
 */
function undeclared(routes: readonly Route[]): Map<string, { allowed: string[]; others: string[] }> {
  const byPattern = new Map<string, { path: string; declared: Set<string> }>()
  for (const { path, method, once } of routes) {
    const pattern = path.replace(/\{[^{}]*\}/g, '{}')
    const found = byPattern.get(pattern) ?? { path: routerPath(path), declared: new Set() }
    byPattern.set(pattern, found)
    found.declared.add(method)
    if (method === 'GET' && once !== true) found.declared.add('HEAD')
  }
  return new Map(
    [...byPattern.values()].map(({ path, declared }) => [
      path,
      {
        allowed: METHODS.filter((method) => declared.has(method)),
        others: [...METHODS, 'HEAD' as const].filter((method) => !declared.has(method)),
      },
    ]),
  )
}

/** The methods of a path; undefined where the path is not known. */
type MethodsAt = (path: string) => readonly string[] | undefined

/** Makes what finds the methods of a path, for requests with a method that no path has. */
function methodFinder(routes: readonly Route[]): MethodsAt {
  // A word beats a placeholder.
  const byPlaceholders = [...undeclared(routes)].sort(([a], [b]) => a.split(':').length - b.split(':').length)
  const paths = byPlaceholders.map(([path, { allowed }]) => {
    const pattern = path.replace(/[.+*?^${}()|[\]\\]/g, '\\$&').replace(/:[^/]+/g, '[^/]+')
    return { allowed, matches: new RegExp(`^${pattern}/?$`) }
  })
  return (path) => paths.find(({ matches }) => matches.test(path.replace(/\/{2,}/g, '/')))?.allowed
}

function portFault(error: unknown, port: number): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (code !== 'EADDRINUSE' && code !== 'EACCES') return error
  const why = code === 'EACCES' ? 'may not be opened by this user' : 'is in use by another process'
  return fault(
    'port_in_use',
    `port ${port} ${why}; choose another with dashboard.listen_port (SVC_DB_LISTENPORT)`,
    error,
  )
}

/** Answers a request that could not be read as HTTP, so that it never became one, like any other refusal, and ends the connection. */
function refuseMalformedRequest(
  config: DashboardParts['config'],
  error: Error & { readonly code?: string; readonly rawPacket?: unknown },
  socket: Socket,
  methodsAt: MethodsAt,
): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) return void socket.destroy()
  const allowed = error.code === 'HPE_INVALID_METHOD' ? methodsAt(unreadPath(error.rawPacket)) : undefined
  const found = allowed === undefined ? faultOf(error.code) : fault('method_not_allowed')
  const status = dashboardStatusOf(found)
  const body = renderFault(found, 'envelope')
  const fields = {
    ...safetyHeaders(config),
    ...{ 'content-type': 'application/json', 'x-request-id': newRequestId() },
    ...(allowed !== undefined && { allow: allowed.join(', ') }),
  }
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  const length = `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n`
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('')}${length}${body}`)
}

function faultOf(code: string | undefined): Fault {
  if (code === 'HPE_HEADER_OVERFLOW') return fault('head_too_large')
  return fault(code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'request_timeout' : 'request_malformed')
}

/** Makes the id of a request: 20 characters, safe in a header, a URL and a file name. */
function newRequestId(): string {
  return randomBytes(15).toString('base64url')
}

/** The id of a request: that which a trusted proxy gives it, else a new one. Fields that were sent twice come joined, and are none. */
function requestIdOf({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>, trusted: BlockList): string {
  const sent = headers['x-request-id']
  const isTaken = typeof sent === 'string' && isRequestId(sent) && isListed(trusted, peerAddress(socket.remoteAddress))
  return isTaken ? sent : newRequestId()
}
