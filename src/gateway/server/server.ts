import type { BlockList } from 'node:net'
import { type Fault, prebuilt, toFault } from '../../errors/fault.ts'
import { renderFault } from '../../errors/render.ts'
import { visitorOf } from '../../model/network/visitor.ts'
import type { Clock } from '../../model/time/clock.ts'
import { type BudgetHolder, SharedBudget } from '../../runtime/shared-budget.ts'
import type { WireHandler } from '../../wire/http1/exchange.ts'
import { FIELD } from '../../wire/http1/fields.ts'
import { behindSegments } from '../../wire/http1/path.ts'
import type { GoawayReason } from '../../wire/http2/goaway.ts'
import { compressReply, compressStream } from '../compression/compress-answer.ts'
import { beginLists } from '../mcp/tool-list-filter.ts'
import type { ElsewhereFound, OAuthEndpoints } from '../oauth/endpoints.ts'
import { nextRequestIdLine } from '../record/request-id.ts'
import { checkEncodedSlashes } from '../routing/encoded-slashes.ts'
import { answersForServer, limitForwards, mayBeLimited } from '../steps/access/limit-forwards.ts'
import { sendToTarget } from '../steps/forward/forward.ts'
import { answerBuffered } from './buffered-answer.ts'
import { adoptRequestId, findClientAddress } from './client-address.ts'
import { begin, Exchange, type Reply, type RouteMatch, type Snapshot } from './exchange.ts'
import { translateAnswer } from './grpc-web.ts'
import { giveRequestId } from './request-id-fields.ts'
import { type AnswerStyle, answerRefusal, conclude, editAnswer } from './respond.ts'
import { run } from './run.ts'
import { trailerRules } from './trailers.ts'
import type { Tunnels } from './tunnels.ts'

/** So much of each body is not counted: small calls are taken whatever large bodies are on their way. */
const SMALL_BODY = 65_536
const NOT_FOUND = prebuilt('api_not_found')
const DAMAGED = prebuilt('store_damaged')
/** Refusals of what is not there: in a damaged store it may be. */
const NOT_THERE: ReadonlySet<string> = new Set(['key_unknown', 'api_not_found'])

/** The dependencies of the traffic handler. */
export interface ServerParts {
  readonly clock: Clock
  readonly style: AnswerStyle
  readonly trustedProxies: BlockList | undefined
  /** The snapshot to judge new requests by. */
  readonly snapshot: () => Snapshot
  /** Answers the product's own paths (`/hello`, `/svc/...`); false when the path is not one of them on this port. */
  readonly own: (x: Exchange) => boolean
  readonly endpoints: OAuthEndpoints
  readonly tunnels: Tunnels
  /** Counts fields that were hidden because upstreams may take their name for another one. */
  readonly onHiddenFields: (count: number) => void
  /** Takes in what other threads have committed; absent = there are none. */
  readonly catchUp: (() => void) | undefined
  /** Counts a request that begins. */
  readonly began: () => void
  /** Counts a finished request. Must not throw. */
  readonly record: (x: Exchange) => void
  readonly onFault: (fault: Fault, x: Exchange) => void
  /** True once the store is damaged: what it does not find may be there. */
  readonly damaged: () => boolean
  /** The memory for bodies that checks, templates and modules read. */
  readonly bodyBytesInFlight: number
  /** Counts a request that was too malformed to be one. */
  readonly onMalformed: (fault: Fault) => void
  /** Counts an HTTP/2 connection that ends with GOAWAY. */
  readonly onGoaway: (reason: GoawayReason, address: string) => void
}

/** The bytes of its body that the common memory has. */
const countedOf = ({ bodyBytes }: Exchange) => Math.max(0, bodyBytes - SMALL_BODY)

/** Whom the body of a request counts for: the address, the key or token, and the organisation of the API that reads it. */
function holderOf({ clientAddress, session, chain }: Exchange): BudgetHolder {
  const organisation = chain === undefined ? {} : { organisation: chain.api.orgId }
  return { address: visitorOf(clientAddress), caller: session?.keyHash ?? '', ...organisation }
}

/** Answers true while the loaded APIs are of more than one organisation. Counted once for each set of APIs. */
function severalOrganisations(snapshot: () => Snapshot): () => boolean {
  let counted: Snapshot['apis'] | undefined
  let several = false
  return () => {
    const { apis } = snapshot()
    if (apis !== counted) several = hasSeveral(apis)
    counted = apis
    return several
  }
}

function hasSeveral(apis: Snapshot['apis']): boolean {
  let first: string | undefined
  for (const { api } of apis.values()) {
    first ??= api.orgId
    if (api.orgId !== first) return true
  }
  return false
}

/** Makes what the wire calls for every request of a traffic port. */
export function trafficHandler(parts: ServerParts): WireHandler<Exchange> {
  const { clock, style } = parts
  const bodies = new SharedBudget(parts.bodyBytesInFlight, severalOrganisations(parts.snapshot))
  const match: RouteMatch = { served: undefined, restAt: 0 }
  const trailers = trailerRules((fields) => parts.endpoints.hideSecrets(fields))

  const refuseWith = (x: Exchange, fault: Fault) => {
    if (fault.entry.log !== 'silent') parts.onFault(fault, x)
    answerRefusal(x, NOT_THERE.has(fault.code) && parts.damaged() ? DAMAGED : fault, style)
  }
  /** The upstream is unavailable. Reported also where a stored response is served. */
  const giveUp = (x: Exchange, fault: Fault) => {
    if (fault.entry.log !== 'silent') parts.onFault(fault, x)
    if (!x.bodyConsumer?.standsIn(x, fault)) answerRefusal(x, fault, style)
  }
  const end = (x: Exchange, how: Reply | Fault) => {
    if (how instanceof Error) refuseWith(x, how)
    else conclude(x, how, style)
  }

  return {
    make: () => new Exchange(),

    handle(x) {
      begin(x, clock.wall(), clock.mono())
      parts.catchUp?.()
      parts.began()
      if (x.request.has(FIELD.xRequestId)) adoptRequestId(x, parts.trustedProxies)
      x.trailerRules = trailers
      try {
        if (parts.own(x)) return
        const how = lead(parts, x, match)
        if (how instanceof Promise) how.then((late) => end(x, late)).catch((error) => refuseWith(x, toFault(error)))
        else end(x, how)
      } catch (error) {
        refuseWith(x, toFault(error))
      }
    },

    holdBody(x, bytes) {
      const more = Math.max(0, x.bodyBytes + bytes - SMALL_BODY) - Math.max(0, x.bodyBytes - SMALL_BODY)
      if (more > 0) {
        const counted = countedOf(x)
        if (counted === 0) x.bodyHolder = holderOf(x)
        if (!bodies.take(x.bodyHolder!, more, counted, x.session !== undefined)) return false
      }
      x.bodyBytes += bytes
      return true
    },

    respond(x) {
      x.attemptHooks?.answered(x)
      if (x.status === 101) parts.tunnels.opened(x)
      if (x.bodyFilter !== undefined) beginLists(x)
      const extra = editAnswer(x)
      return x.grpcWeb === undefined ? compressStream(x, extra) : translateAnswer(x, x.grpcWeb, extra)
    },

    failed(x, fault) {
      if (x.attemptHooks !== undefined) {
        const target = x.attemptHooks.failed(x, fault)
        if (target !== undefined) sendToTarget(x, target, x.chain!.api.upstream.preserveHost)
        else giveUp(x, fault)
        return
      }
      const targets = x.operation?.targets ?? x.chain?.targets
      // Another target may do better, as long as nothing of the request has gone out.
      if (
        targets !== undefined &&
        x.bodyUntouched &&
        fault.code === 'upstream_unreachable' &&
        x.attempts < targets.list.length
      ) {
        sendToTarget(x, targets.after(x.target!)!, x.chain!.api.upstream.preserveHost)
        return
      }
      giveUp(x, fault)
    },

    held(x, body) {
      try {
        x.attemptHooks?.answered(x)
      } catch (error) {
        x.forwarded = false
        this.failed(x, toFault(error))
        return
      }
      answerBuffered(x, body)
        .then((late) => {
          if (late instanceof Error) return refuseWith(x, late)
          const { status, fields, body } = compressReply(x, late)
          x.reply(status, fields, body)
        })
        .catch((error) => refuseWith(x, toFault(error)))
    },

    done(x) {
      if (x.upgrade !== '') parts.tunnels.closed(x)
      if (countedOf(x) > 0) bodies.giveBack(x.bodyHolder!, countedOf(x))
      x.bodyBytes = 0
      x.bodyConsumer?.ended(x)
      x.attemptHooks?.ended(x)
      if (x.request.hidden > 0) parts.onHiddenFields(x.request.hidden)
      parts.record(x)
    },

    refuse(fault, line) {
      parts.onMalformed(fault)
      return {
        fields: `Content-Type: application/json\r\nCache-Control: no-store\r\n${nextRequestIdLine()}`,
        body: renderFault(fault, ADMINISTRATION.test(line) ? 'management' : 'gateway'),
      }
    },

    goaway: parts.onGoaway,
  }
}

/** The beginning of a request of the administration. */
const ADMINISTRATION = /^[A-Z]+ \/svc\//

/** Finds what answers a request, and has it answer. */
function lead(parts: ServerParts, x: Exchange, match: RouteMatch): Reply | Fault | Promise<Reply | Fault> {
  const snapshot = parts.snapshot()
  const before = elsewhere(parts, x, snapshot, false)
  if (before !== undefined) return before
  snapshot.router.find(x.host, x.path, match)
  if (match.served === undefined) return elsewhere(parts, x, snapshot, true) ?? answersForServer(x) ?? NOT_FOUND
  if (match.served.mayHideEndpoints) {
    const found = parts.endpoints.reclaim(x, snapshot, match)
    if (found !== undefined) return answerElsewhere(parts, x, snapshot, found)
  }
  enter(x, snapshot, match)
  if (match.served.main.records?.timing?.admit(x.startedAt)) x.stepTimes = []
  findClientAddress(x, parts.trustedProxies)
  giveRequestId(x, match.served.requestIds)
  // An authorization server asks for the secret of the administration; its own step hides it from what comes behind.
  if (match.served.api.oauth === undefined) parts.endpoints.hideSecrets(x.request)
  const answered = mayBeLimited(x) ? limitForwards(x) : undefined
  if (answered !== undefined) return answered
  const refused = checkEncodedSlashes(x, parts.endpoints)
  if (refused === undefined) return run(match.served.entry, x)
  const { cors } = match.served.main
  return cors === undefined ? refused : run([cors, () => refused], x)
}

/** Endpoints of authorization servers outside listen paths. */
function elsewhere(parts: ServerParts, x: Exchange, snapshot: Snapshot, unrouted: boolean) {
  const found = parts.endpoints.findElsewhere(x, snapshot, unrouted)
  return found === undefined ? undefined : answerElsewhere(parts, x, snapshot, found)
}

function answerElsewhere(
  { endpoints, trustedProxies }: ServerParts,
  x: Exchange,
  snapshot: Snapshot,
  found: ElsewhereFound,
): Reply | Fault | Promise<Reply | Fault> {
  findClientAddress(x, trustedProxies)
  return run([() => endpoints.enter(x, snapshot, found)], x)
}

/** Notes where a request has arrived. */
export function enter(x: Exchange, snapshot: Snapshot, match: RouteMatch): void {
  const main = match.served!.main
  x.snapshot = snapshot
  x.chain = main
  x.restAt = match.restAt
  x.rest = match.restAt === 0 ? x.path : x.path.slice(match.restAt)
  const { stripListenPath } = main.api
  if (x.sentPath === x.path) x.forwardPath = stripListenPath ? x.rest : x.path
  else x.forwardPath = stripListenPath ? x.sentPath.slice(sentRestAt(x)) : x.sentPath
}

/** Where in the path as it was sent the part below the listen path begins. */
function sentRestAt(x: Exchange): number {
  return behindSegments(x.sentPath, x.path.slice(0, x.restAt).split('/').length - 1)
}
