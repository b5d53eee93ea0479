import { type Fault, fault, toFault } from '../../errors/fault.ts'
import type { Api, ApiDocument } from '../../model/apis/definition/api.ts'
import { checkTrial, TRIAL_ANSWER_BYTES, TRIAL_WITHIN_MS } from '../../model/apis/definition/trial.ts'
import { readingNewApi } from '../../model/apis/read/read.ts'
import { isObject, type JsonObject } from '../../model/json/json.ts'
import { type Limit, makeLimit } from '../../model/limits/limit.ts'
import type { Log } from '../../model/logs/log.ts'
import { trimTrailing } from '../../model/text/trim-trailing.ts'
import { inTurns } from '../../runtime/turns.ts'
import type { Counters } from '../../store/ports/ports.ts'
import type { WireLimits } from '../../wire/listen/limits.ts'
import { ResponseCache } from '../cache/response-cache.ts'
import { Metrics } from '../record/metrics.ts'
import { Router, routeSegments } from '../routing/router.ts'
import type { Snapshot } from '../server/exchange.ts'
import { type InnerAnswer, InnerCalls, type InnerRequest } from '../server/inner-calls.ts'
import { type ServerParts, trafficHandler } from '../server/server.ts'
import { ResilienceRegistry } from '../upstream/api-resilience.ts'
import type { UpstreamPool } from '../upstream/targets.ts'
import { type CompileParts, compileApi, type GatewayCompileParts } from './compile.ts'
import { type ExplainParts, explain } from './explain.ts'
import { SharedSteps } from './shared-steps.ts'

/** A request to a definition that is not stored: `target` is below its listen path. */
export interface TraceRequest {
  readonly document: ApiDocument
  readonly request: InnerRequest
}

/** The outcome of the request. */
export interface Trace {
  /** As it was sent: `target` with the listen path. */
  readonly request: InnerRequest
  readonly answer: InnerAnswer | Fault
  /** The steps, as `explain` tells them. */
  readonly steps: readonly JsonObject[]
  /** Faults on the way. */
  readonly faults: readonly Fault[]
}

interface TraceParts extends ExplainParts {
  readonly compile: GatewayCompileParts
  readonly server: Omit<ServerParts, 'own'>
  readonly upstreams: UpstreamPool
  readonly dnsServers: readonly string[]
  readonly limits: WireLimits
  readonly log: Log
}

/** Traces that may be under way at once. */
const MOST_AT_ONCE = 4
const ADDRESS = '127.0.0.1'

/** Serves one request by a definition that is not stored, beside the live APIs: it is compiled for the request and closed after it. */
export class DefinitionTraces {
  readonly #parts: TraceParts
  #underWay = 0

  constructor(parts: TraceParts) {
    this.#parts = parts
  }

  /**
   * Sends the request to the upstream as a live API would, with the keys, policies and internal APIs of this node. Records nothing, stores
   * no answer and uses limits of its own.
   * @throws Fault `body_invalid` (400) for what could be no request, `definition_invalid` (400), `try_busy` (503)
   */
  async run({ document, request: sent }: TraceRequest): Promise<Trace> {
    const api = await inTurns(readingNewApi(document))
    const below = sent.target.replace(/^\/+/, '')
    // A placeholder of the listen path takes its own name.
    const base = trimTrailing(api.listenPath, '/').replace(/[{}]/g, '')
    const request = { ...sent, target: `${base}/${below}` }
    checkTrial(request)
    if (this.#underWay >= MOST_AT_ONCE) throw fault('try_busy')
    this.#underWay++
    try {
      return await this.#serve(api, request)
    } finally {
      this.#underWay--
    }
  }

  async #serve(api: Api, request: InnerRequest): Promise<Trace> {
    const innerCalls = new InnerCalls()
    const compiled = compileApi(api, this.#compileParts(innerCalls))
    try {
      const segments = routeSegments(api.listenPath, api.ignoreCase)
      const route = { domain: '', ignoreCase: api.ignoreCase, segments, served: compiled.served }
      const live = this.#parts.snapshot()
      const snapshot: Snapshot = {
        ...live,
        router: Router.of([route]),
        territories: { isHeldByOthers: () => false },
        apis: live.apis.with(api.apiId, compiled.served),
      }
      return await this.#traced(
        snapshot,
        { ...request, headers: [['Host', api.domain || 'localhost'], ...request.headers] },
        innerCalls,
      )
    } finally {
      compiled.close()
    }
  }

  async #traced(snapshot: Snapshot, request: InnerRequest, innerCalls: InnerCalls): Promise<Trace> {
    const faults: Fault[] = []
    const handler = trafficHandler({
      ...this.#parts.server,
      snapshot: () => snapshot,
      own: () => false,
      began() {},
      record() {},
      onMalformed() {},
      onFault: (each) => faults.push(each),
    })
    innerCalls.open(handler, this.#parts.limits, TRIAL_WITHIN_MS)
    const { method, target: url, headers } = request
    const asked = { method, url, headers, address: ADDRESS }
    const { explanation } = await explain({ ...this.#parts, snapshot: () => snapshot, isOwnPath: () => false }, asked)
    const steps = Array.isArray(explanation.steps) ? explanation.steps.filter(isObject) : []
    const peer = { address: ADDRESS, secured: undefined }
    const answer = await innerCalls
      .call(request, peer, TRIAL_ANSWER_BYTES, new AbortController().signal)
      .catch((error: unknown) => toFault(error))
    return { request, answer, steps, faults }
  }

  #compileParts(innerCalls: InnerCalls): CompileParts {
    const { compile, upstreams, dnsServers, clock, log } = this.#parts
    return {
      ...compile,
      // Steps that count take the counters below.
      shared: new SharedSteps(),
      innerCalls,
      metrics: new Metrics(),
      book: undefined,
      records: undefined,
      watchQuotas: undefined,
      traces: false,
      responses: new ResponseCache({ maxBytes: 0, entryBytes: 0, waitMs: 0 }),
      upstreamCares: new ResilienceRegistry({ upstreams, clock, log, dnsServers, onGatewayEvent() {} }),
      counters: countersOfTraces(compile.counters),
    }
  }
}

/** Counters under names of their own, so that a trace takes nothing from callers of a live API of the same id. */
function countersOfTraces(counters: Counters): Counters {
  const own = async (limits: readonly Limit[], count: (limits: readonly Limit[]) => ReturnType<Counters['take']>) => {
    const named = limits.map(({ kind, id, max, windowMs, owner }) =>
      makeLimit(kind, `trace|${id}`, max, windowMs, owner),
    )
    const refused = await count(named)
    for (const [at, { remaining, resetMs }] of named.entries()) Object.assign(limits[at]!, { remaining, resetMs })
    return refused
  }
  return {
    take: (limits, now) => own(limits, (named) => counters.take(named, now)),
    peek: (limits, now) => own(limits, (named) => counters.peek(named, now)),
    resetQuota: (id, used, endsInMs) => counters.resetQuota(`trace|${id}`, used, endsInMs),
    carry: (from, to) => counters.carry(`trace|${from}`, `trace|${to}`),
  }
}
