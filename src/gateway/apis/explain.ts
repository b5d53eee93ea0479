import { type BlockList, isIP } from 'node:net'
import { Fault, fault, toFault } from '../../errors/fault.ts'
import { renderFault, statusOf } from '../../errors/render.ts'
import type { RequestFlaw } from '../../model/apis/definition/operation.ts'
import type { Json, JsonObject } from '../../model/json/json.ts'
import type { Limit } from '../../model/limits/limit.ts'
import type { Clock } from '../../model/time/clock.ts'
import type { Counters } from '../../store/ports/ports.ts'
import { readHead } from '../../wire/http1/head.ts'
import type { HeadBounds } from '../../wire/http1/scan.ts'
import { ANSWERED_BY_AUTHORIZATION_SERVER, type ElsewhereFound, type OAuthEndpoints } from '../oauth/endpoints.ts'
import { checkEncodedSlashes } from '../routing/encoded-slashes.ts'
import { findClientAddress } from '../server/client-address.ts'
import {
  begin,
  Exchange,
  type Reply,
  type RouteMatch,
  SENT,
  type Snapshot,
  type Step,
  type StepOutcome,
} from '../server/exchange.ts'
import { enter } from '../server/server.ts'
import { targetPath } from '../steps/forward/forward.ts'
import { limitsOf, organisationOf } from '../steps/limits/take-permits.ts'
import { InternalRedirect } from '../steps/transforms/redirect-internally.ts'
import type { Target, Targets } from '../upstream/target.ts'

/** The request that is asked about. */
export interface ExplainRequest {
  readonly method: string
  /** Absolute, or a path. The host of an absolute one is the Host field, unless `headers` names one. */
  readonly url: string
  /** By name, or in order. */
  readonly headers: Readonly<Record<string, string>> | readonly (readonly [name: string, value: string])[]
  /** Address that the request would come from; 127.0.0.1 unless given. */
  readonly address?: string
}

export interface ExplainParts {
  readonly clock: Clock
  readonly counters: Counters
  readonly snapshot: () => Snapshot
  /** True for the paths that the product itself answers on the traffic port. */
  readonly isOwnPath: (path: string) => boolean
  readonly endpoints: OAuthEndpoints
  readonly bounds: HeadBounds
  readonly trustedProxies: BlockList | undefined
  readonly legacyStatuses: boolean
}

/** The explanation of a request, and the API of its listen path; undefined = no API matches. */
export interface Explained {
  readonly explanation: JsonObject
  readonly apiId: string | undefined
}

const OWN_PATH: JsonObject = {
  api: null,
  steps: [{ step: 'route', outcome: 'answered', detail: 'the gateway itself answers here' }],
  result: { outcome: 'answered' },
}

/**
 * Tells what would become of a request, step by step, without sending it and without taking a permit of any limit:
 * the same compiled steps are walked as for a real one. Never shows a credential.
 * @throws Fault `body_malformed` (400) when the request could not be one
 */
export async function explain(parts: ExplainParts, request: ExplainRequest): Promise<Explained> {
  const x = syntheticExchange(parts, request)
  if (parts.isOwnPath(x.path)) return { explanation: OWN_PATH, apiId: undefined }
  const snapshot = parts.snapshot()
  const match: RouteMatch = { served: undefined, restAt: 0 }
  const before = parts.endpoints.findElsewhere(x, snapshot, false)
  if (before !== undefined) return answeredElsewhere(before)
  snapshot.router.find(x.host, x.path, match)
  if (match.served === undefined) {
    const found = parts.endpoints.findElsewhere(x, snapshot, true)
    return found === undefined ? { explanation: notRouted(x), apiId: undefined } : answeredElsewhere(found)
  }
  const reclaimed = match.served.mayHideEndpoints ? parts.endpoints.reclaim(x, snapshot, match) : undefined
  if (reclaimed !== undefined) return answeredElsewhere(reclaimed)
  const { main, entry } = match.served
  enter(x, snapshot, match)
  findClientAddress(x, parts.trustedProxies)
  if (main.api.oauth === undefined) parts.endpoints.hideSecrets(x.request)
  const steps: Json[] = []
  const refused = checkEncodedSlashes(x, parts.endpoints)
  if (refused !== undefined) steps.push(noteOf('route', refused, x))
  const walked = await walk(x, refused === undefined ? entry : main.cors === undefined ? [] : [main.cors], steps)
  let end = walked ?? refused
  // The version step stops after its choice: the chosen chain is walked here.
  if (end === undefined) end = await walk(x, x.chain!.steps, steps)
  while (end instanceof InternalRedirect) end = await walk(x, end.steps, steps)
  const limits = await limitsMet(x, parts.counters)
  const result = resultOf(x, end, parts.legacyStatuses)
  return { explanation: { ...described(x), limits, steps, result }, apiId: main.api.apiId }
}

function syntheticExchange(parts: ExplainParts, request: ExplainRequest): Exchange {
  if (request.address !== undefined && isIP(request.address) === 0)
    throw fault('body_malformed', 'address: must be an IP address')
  const url = URL.parse(request.url, 'http://localhost')
  if (url === null) throw fault('body_malformed', 'url: not a URL')
  const headers = Array.isArray(request.headers) ? request.headers : Object.entries(request.headers)
  const named = headers.some(([name]) => name.toLowerCase() === 'host')
  const fields = headers.map(([name, value]) => `${name}: ${value}\r\n`)
  if (!named) fields.unshift(`Host: ${url.host}\r\n`)
  const target = request.url.startsWith('/') ? request.url : `${url.pathname}${url.search}`
  const x = new Exchange()
  const refused = readHead(x, `${request.method} ${target} HTTP/1.1\r\n${fields.join('')}\r\n`, parts.bounds)
  if (refused !== undefined) throw fault('body_malformed', refused.message)
  x.secure = url.protocol === 'https:'
  x.peerAddress = request.address ?? '127.0.0.1'
  begin(x, parts.clock.wall(), parts.clock.mono())
  x.dry = true
  return x
}

async function walk(x: Exchange, steps: readonly Step[], notes: Json[]): Promise<StepOutcome> {
  for (const step of steps) {
    const end = await outcomeOf(step, x)
    notes.push(noteOf(step.name, end, x))
    if (end !== undefined) return end
  }
  return undefined
}

async function outcomeOf(step: Step, x: Exchange): Promise<StepOutcome> {
  try {
    return await step(x)
  } catch (error) {
    return toFault(error)
  }
}

function noteOf(step: string, end: StepOutcome, x: Exchange): JsonObject {
  if (end instanceof Fault) return { step, outcome: 'refused', reason: end.message, code: end.code }
  if (end === SENT) return withDetail({ step, outcome: 'forwarded' }, careOf(x))
  if (end instanceof InternalRedirect) return { step, outcome: 'led on', detail: ledOnDetail(x) }
  if (end === ANSWERED_BY_AUTHORIZATION_SERVER) return { step, outcome: 'answered', detail: BY_AUTHORIZATION_SERVER }
  if (end !== undefined && x.fault !== undefined)
    return { step, outcome: 'refused', reason: reasonOf(end, x.fault), code: x.fault.code }
  if (end !== undefined) return { step, outcome: 'answered', status: end.status }
  return withDetail({ step, outcome: 'passed' }, detailOf(step, x))
}

function withDetail(note: JsonObject, detail: string | undefined): JsonObject {
  return detail === undefined ? note : { ...note, detail }
}

/** Who would be asked, and how often, where an API has resilience rules. */
function careOf(x: Exchange): string | undefined {
  const { retries } = x.chain!.api.upstream
  const targets = targetsOf(x)
  const asked = targets.asked?.()
  const note = asked && `asks ${asked.length} of ${targets.list.length} targets in turn: ${namesOf(asked).join(', ')}`
  const again = retries && `is sent again up to ${retries.attempts} times, as the retry budget allows`
  return note === undefined && again === undefined ? undefined : [note, again].filter(Boolean).join('; ')
}

function targetsOf(x: Exchange): Targets {
  return x.operation?.targets ?? x.chain!.targets
}

const namesOf = (targets: readonly Target[]) => targets.map(({ authority, basePath }) => `${authority}${basePath}`)

function ledOnDetail(x: Exchange): string {
  return x.hops === 0 ? 'the gateway itself answers here' : `API ${x.chain!.api.apiId}, ${x.rest}`
}

/** An answer whose status the definition chose says more than its fault. */
function reasonOf(end: Reply, fault: Fault): string {
  const faults = typeof end.body === 'string' ? (JSON.parse(end.body) as { faults?: RequestFlaw[] }).faults : undefined
  const flaws = (faults ?? []).map(({ at, reason }) => `${at} ${reason}`)
  return flaws.length === 0 ? fault.message : flaws.join('; ')
}

/** The findings of a passed step. */
function detailOf(step: string, x: Exchange): string | undefined {
  if (step === 'chooseVersion') return `version ${x.chain!.version} of API ${x.chain!.api.apiId}`
  if (step === 'matchOperation' && x.operation !== undefined) return x.operation.name
  if (step === 'rewriteUrl' && x.operation?.rewrite !== undefined)
    return `to ${x.forwardPath}${x.hasQuery ? `?${x.forwardQuery}` : ''}`
  if (step === 'changeMethod' && x.operation?.toMethod) return `to ${x.operation.toMethod}`
  if (/^run\w*Modules$/.test(step)) return 'modules are not called for an explanation'
  if (step === 'transformBody' && x.operation?.requestBody !== undefined) return 'the body would be rewritten'
  if (step === 'validateRequest' && x.operation?.checks.some(({ body }) => body !== undefined))
    return 'the body is not looked at for an explanation'
  if (step === 'checkBreaker' && x.operation?.breaker !== undefined)
    return `the breaker is ${x.operation.breaker.look(x.mono)}`
  if (step === 'holdAnswer' && x.holdLimitBytes > 0) return 'the answer would be read whole and rewritten'
  if (step === 'answerFromCache') return 'no stored answer is given'
  if (step === 'filterAddress') return x.clientAddress
  if (!step.startsWith('authenticate')) return undefined
  if (x.skipAuthentication) return 'skipped for this operation'
  const { keyHash, clientId, token } = x.session!
  return token === undefined ? `key ${keyHash}` : `token ${keyHash} of client ${clientId}`
}

const BY_AUTHORIZATION_SERVER = 'the authorization server of the API answers here'

function answeredElsewhere({ served: { main }, found: { endpoint } }: ElsewhereFound): Explained {
  const { apiId, name, orgId, listenPath } = main.api
  const step = { step: 'route', outcome: 'answered', detail: `${BY_AUTHORIZATION_SERVER}: ${endpoint}` }
  const explanation = {
    api: { api_id: apiId, name, org_id: orgId, listen_path: listenPath, version: main.version },
    steps: [step],
    result: { outcome: 'answered' },
  }
  return { explanation, apiId }
}

function notRouted(x: Exchange): JsonObject {
  const step = {
    step: 'route',
    outcome: 'refused',
    reason: `no API answers at ${x.host}${x.path}`,
    code: 'api_not_found',
  }
  return { api: null, steps: [step], result: { outcome: 'refused', status: 404, body: { error: 'Not Found' } } }
}

function described(x: Exchange): JsonObject {
  const { api, version } = x.chain!
  return {
    api: { api_id: api.apiId, name: api.name, org_id: api.orgId, listen_path: api.listenPath, version },
    key: x.session === undefined ? null : { key_hash: x.session.keyHash, alias: x.session.alias },
    ...(x.session?.token !== undefined && {
      client: { client_id: x.session.clientId, scope: [...x.session.token.scopes].join(' ') },
    }),
    policies: [...(x.session?.policyIds ?? [])],
  }
}

function resultOf(x: Exchange, end: StepOutcome, legacyStatuses: boolean): JsonObject {
  if (end instanceof Fault) {
    const body = JSON.parse(renderFault(end, 'gateway')) as JsonObject
    return { outcome: 'refused', status: statusOf(end, legacyStatuses), body }
  }
  if (end === ANSWERED_BY_AUTHORIZATION_SERVER) return { outcome: 'answered' }
  if (end !== SENT && end !== undefined) return { outcome: 'answered', status: end.status }
  const targets = targetsOf(x).list
  return {
    outcome: 'forwarded',
    method: x.operation?.toMethod || x.method,
    path:
      targets[0] === undefined
        ? x.forwardPath || '/'
        : targetPath(x, targets[0]).slice(targets[0].basePath.length) || '/',
    targets: namesOf(targets),
  }
}

/** The current limits that the request would use, in the order in which they are checked. */
async function limitsMet(x: Exchange, counters: Counters): Promise<Json[]> {
  const access = (x.plan ?? x.session?.planFor(x.chain!))?.access
  const limits: readonly Limit[] = limitsOf(x, access, organisationOf(x))
  if (limits.length > 0) await counters.peek(limits, x)
  return limits.map(({ kind, id, max, windowMs, remaining, resetMs }) => ({
    kind,
    counter: id,
    max,
    window_ms: windowMs,
    remaining,
    reset_ms: resetMs,
  }))
}
