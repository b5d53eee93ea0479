import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { toFault } from '../../errors/fault.ts'
import { dashboardStatusOf } from '../../errors/render.ts'
import type { Json } from '../../model/json/json.ts'
import { isLargeJson } from '../../model/json/json-pieces.ts'
import { peerAddress } from '../../model/network/forwarded-for.ts'
import { searchParams } from '../../model/network/media-type.ts'
import { type AdmittedCall, admit, type RouteDeps } from '../access/admit.ts'
import { intentOf } from '../access/permit.ts'
import { dumpsOf } from '../audit/dump.ts'
import { isServed, pendingAnswer } from '../server/await-gateway.ts'
import { readUpload } from '../server/body.ts'
import { clientAddress } from '../server/client-address.ts'
import { bodyLimitOf } from '../server/intake.ts'
import { largeBodyTurn } from '../server/large-body.ts'
import { openCall } from '../server/open-call.ts'
import { duringRequest } from '../server/recorded.ts'
import { JSON_TYPE, requestPath } from '../server/refuse.ts'
import { noteDone, noteRefusal, requestFacts } from '../server/request-notes.ts'
import { type Answer, isPieces } from './answer.ts'
import { checks } from './checks.ts'
import { jsonInTurns } from './json-in-turns.ts'
import { conditionally } from './preconditions.ts'
import { type Route, routerPath } from './route.ts'

/** Where the server keeps the Content-Type that was sent: its framework must not act on it. */
export const SENT_TYPE = 'x-gatehouse-sent-type'

/** A declared route as the server takes it: identify, permit and ownership before the body is read, then checks, then `run`. */
export function routed(deps: RouteDeps, route: Route): RouteOptions {
  const check = checks(route)
  // A GET that needs the right to write, but only shows secrets, is a read: it waits for no gateway, and is recorded as one.
  const writes = intentOf(route) === 'write' && (route.method !== 'GET' || route.once === true)
  // Undoing a change needs the right to read the audit log and those that it checks itself.
  const mayChange = writes || route.method !== 'GET'
  const admitted = new WeakMap<FastifyRequest, AdmittedCall>()
  return {
    method: route.method,
    url: routerPath(route.path),
    config: { route },
    exposeHeadRoute: route.method === 'GET' && route.once !== true,
    bodyLimit: bodyLimitOf(route, deps.parts.config.dashboard.max_body_bytes),
    onRequest: async (request, reply) => {
      const client = clientAddress(request, deps.trusted)
      const refusal = deps.intake.refusalOf(route, client)
      if (refusal !== undefined) throw refusal
      const known: { actor?: AdmittedCall['actor'] } = {}
      try {
        admitted.set(request, await admit(deps, route, request, known))
      } catch (error) {
        await noteRefusal(deps, route, request, known.actor, error)
        throw error
      }
      const { actor } = admitted.get(request)!
      if (actor !== undefined) deps.intake.signedIn(client)
      deps.intake.hold(route, request, reply, { client, actor })
    },
    // In the turn in which the server begins to read.
    preParsing: (request, _reply, payload, done) => {
      deps.intake.watch(request.raw)
      done(null, payload)
    },
    handler: async (request, reply) => {
      const answer = await orWithSpaces(route, request, answerOf, async () => {
        admitted.set(request, await admit(deps, route, request, {}))
      })
      return sendAnswer(reply, answer)
    },
  }

  async function answerOf(request: FastifyRequest): Promise<Answer> {
    const who = admitted.get(request)!
    const sent = { ...who, ...factsOf(deps, request), ...(await bodyOf(route, request)) }
    const call = openCall(sent)
    const facts = requestFacts(route, request, sent.clientAddress, who.actor)
    await largeBodyTurn(sent.body)
    check(call)
    await largeBodyTurn(sent.body)
    const sinceMs = performance.now()
    let answer = await conditionally(deps.parts.locks, route, call, async (expected) =>
      duringRequest(facts, () => route.run(call), expected),
    )
    if (answer.status < 400) {
      if (mayChange && !(await isServed(deps.parts, request.id, sinceMs))) answer = pendingAnswer(answer)
      const dumps = () => (route.undumped ? {} : dumpsOf({ ...sent, url: facts.url, answer }))
      await noteDone(deps, route, facts, who.actor, { writes, dumps })
    }
    return answer
  }
}

/** The parameters of a path in which a `+` is a space, and `%2B` stays a plus. */
function spacedParams(route: Pick<Route, 'path'>, path: string): Record<string, string> {
  const segmentsOf = (text: string) => text.split('/').filter((segment) => segment !== '')
  const sent = segmentsOf(path)
  return Object.fromEntries(
    segmentsOf(route.path).flatMap((segment, at) =>
      segment.startsWith('{') ? [[segment.slice(1, -1), decodeURIComponent(sent[at]!.replaceAll('+', '%20'))]] : [],
    ),
  )
}

/**
 * A `+` in a path is a plus, as in an email address; where nothing has that name it is a space, which clients in Go send so.
 * `admitAgain` admits the call about the other name.
 */
async function orWithSpaces(
  route: Pick<Route, 'path'>,
  request: FastifyRequest,
  answerOf: (request: FastifyRequest) => Promise<Answer>,
  admitAgain: () => Promise<void>,
): Promise<Answer> {
  const again = async () => {
    request.params = spacedParams(route, requestPath(request))
    await admitAgain()
    return answerOf(request)
  }
  if (!requestPath(request).includes('+')) return answerOf(request)
  const first = await outcomeOf(() => answerOf(request))
  // Some calls say by 400 that nothing has the name. A refused call has done nothing.
  if (first.status !== 404 && first.status !== 400) return first.end()
  const second = await outcomeOf(again)
  return second.status < 400 ? second.end() : first.end()
}

/** Status of a call, and what ends it: its answer or its fault. */
async function outcomeOf(run: () => Promise<Answer>): Promise<{ readonly status: number; end(): Answer }> {
  try {
    const answer = await run()
    return { status: answer.status, end: () => answer }
  } catch (error) {
    return {
      status: dashboardStatusOf(toFault(error)),
      end: () => {
        throw error
      },
    }
  }
}

function factsOf({ parts, trusted }: RouteDeps, request: FastifyRequest) {
  const peer = peerAddress(request.socket.remoteAddress)
  return {
    method: request.method,
    url: request.originalUrl,
    params: request.params as Record<string, string>,
    query: searchParams(queryOf(request)),
    headers: sentHeaders(request),
    peerAddress: peer,
    clientAddress: clientAddress(request, trusted),
    requestId: request.id,
    pageSize: parts.config.dashboard.page_size,
  }
}

async function bodyOf({ bodyIs }: Route, request: FastifyRequest) {
  const body = request.body instanceof Uint8Array ? request.body : new Uint8Array()
  const upload = bodyIs === 'upload' ? await readUpload(body, sentHeaders(request)['content-type'] ?? '') : undefined
  return { body, upload }
}

function sendAnswer(reply: FastifyReply, { status, body, type, headers }: Answer): FastifyReply {
  reply.code(status)
  if (headers !== undefined) reply.headers(headers)
  if (status === 304) return reply.send()
  reply.header('content-type', type ?? JSON_TYPE)
  if (isPieces(body)) return reply.send(Readable.from(body))
  if (type === undefined) {
    const value = body as Json
    return reply.send(isLargeJson(value) ? Readable.from(jsonInTurns(value)) : JSON.stringify(value))
  }
  return reply.send(body instanceof Uint8Array ? Buffer.from(body) : String(body))
}

function queryOf({ originalUrl }: FastifyRequest): string {
  const start = originalUrl.indexOf('?')
  return start === -1 ? '' : originalUrl.slice(start + 1)
}

/** With the Content-Type that was sent. */
function sentHeaders(request: FastifyRequest): Record<string, string | undefined> {
  const { [SENT_TYPE]: type, ...headers } = request.headers
  return { ...headers, 'content-type': type } as Record<string, string | undefined>
}
