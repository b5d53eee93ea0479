import type { Fault } from '../../errors/fault.ts'
import type { HitDimensions } from '../../model/analytics/dimensions.ts'
import type { Api, OperationCacheRule, Rules } from '../../model/apis/definition/api.ts'
import type { BodyRule, MockRule, RequestCheck, TriggerSource } from '../../model/apis/definition/operation.ts'
import type { CredentialPlace } from '../../model/authentication/scheme.ts'
import type { JsonObject } from '../../model/json/json.ts'
import type { Instant, Limit } from '../../model/limits/limit.ts'
import type { Matcher } from '../../model/patterns/matcher.ts'
import type { RewriteTarget } from '../../model/patterns/rewrite-target.ts'
import type { Policy } from '../../model/sessions/session.ts'
import type { SessionAccess } from '../../model/sessions/session-access.ts'
import type { BudgetHolder } from '../../runtime/shared-budget.ts'
import { type BodyConsumer, WireExchange } from '../../wire/http1/exchange.ts'
import type { RepeatedAnswer } from '../../wire/http1/outlet.ts'
import type { ChainCache } from '../cache/chain-cache.ts'
import type { ModuleSet } from '../modules/module-set.ts'
import type { LiveToken } from '../oauth/live-token.ts'
import type { HitCell } from '../record/aggregate.ts'
import type { ApiMetrics } from '../record/api-metrics.ts'
import type { Detail } from '../record/detail.ts'
import type { HitBook } from '../record/hit-book.ts'
import type { RecordPlan } from '../record/record-plan.ts'
import { lineOfRequestId, nextRequestIdLine, requestIdOf } from '../record/request-id.ts'
import type { StepTime } from '../record/step-time.ts'
import type { ApiTags, SessionTags } from '../record/tags.ts'
import type { PersistentMap } from '../routing/persistent-map.ts'
import type { Breaker } from '../upstream/breaker.ts'
import type { Target, Targets } from '../upstream/target.ts'
import type { SentValues } from './sent-values.ts'

// The types of a request's way refer to each other, so they are in one file; the code that creates them is not.

/** An answer that the gateway gives itself. `fields` are `Name: value\r\n` lines. */
export interface Reply {
  readonly status: number
  readonly fields: string
  readonly body: string | Uint8Array | undefined
}

/** Returned by the step that handed the request on: nothing is left to do. */
export const SENT: Reply = { status: 0, fields: '', body: undefined }

/** How a step ended the walk; undefined = continue. */
export type StepOutcome = Reply | Fault | undefined

/** One thing that happens to a request. Its function name is what `explain` calls it. */
export type Step = (x: Exchange) => StepOutcome | Promise<StepOutcome>

/** Header edits, ready to be applied: names to drop in lower case, lines to add. */
export interface CompiledTransform {
  /** Fields (lower case) that go, also those that are set. */
  readonly remove: ReadonlySet<string>
  /** As they are written, or with their variables as they are spelled where `linesFor` is present. */
  readonly lines: string
  /** Present where values hold variables: the lines for a request. */
  readonly linesFor?: (x: Exchange) => string | undefined // undefined = too long for a message
  /** Both as one text, the names as a line of JSON: edits with the same text do the same. */
  readonly text: string
  /** For answers of APIs with CORS on, whose rules alone say who may read one. */
  readonly linesWithoutCors: string
}

/** Where a rewrite leads, with what it takes to get there. */
export interface CompiledTarget extends Omit<RewriteTarget, 'origin'> {
  /** Another origin; undefined = the upstream of the API. */
  readonly targets: Targets | undefined
}

export interface CompiledTrigger {
  readonly all: boolean
  readonly rules: readonly CompiledTriggerRule[]
  readonly target: CompiledTarget
}

export interface CompiledTriggerRule {
  readonly in: TriggerSource
  readonly name: string
  readonly matcher: Matcher
  readonly negate: boolean
  /** How many matches in one text are asked for: more than one only of bodies. */
  readonly most: number
}

/** How path and query of an operation are rewritten. */
export interface CompiledRewrite {
  readonly matcher: Matcher
  /** For paths in which escapes are marked; made when it is first asked for. */
  readonly markedMatcher: () => Matcher
  /** undefined = only the triggers lead somewhere. */
  readonly target: CompiledTarget | undefined
  readonly triggers: readonly CompiledTrigger[]
  readonly readsBody: boolean
}

/** The settings of the operation that a request matched. */
export interface CompiledOperation {
  /** `METHOD /path` as the definition names it. */
  readonly name: string
  readonly allow: boolean
  readonly block: boolean
  /** Met only by requests that an API leads here. */
  readonly internal: boolean
  readonly ignoreAuthentication: boolean
  readonly sizeLimitBytes: number
  readonly rates: readonly Limit[]
  readonly requestHeaders: CompiledTransform | undefined
  readonly responseHeaders: CompiledTransform | undefined
  /** The targets under this operation's own time limit; undefined = the version's. */
  readonly targets: Targets | undefined
  readonly breaker: Breaker | undefined
  readonly track: boolean
  readonly doNotTrack: boolean
  readonly mock: MockRule | undefined
  readonly checks: readonly RequestCheck[]
  readonly requestBody: BodyRule | undefined
  readonly answerBody: BodyRule | undefined
  readonly rewrite: CompiledRewrite | undefined
  /** Method that the upstream is asked with; '' = the caller's. */
  readonly toMethod: string
  /** Present when its answers are stored. */
  readonly cache: OperationCacheRule | undefined
  /** Alternatives of scopes, as `OperationRule.scopes`: each list of them is asked for, undefined being that of the API. */
  readonly scopes: readonly (readonly (readonly string[])[] | undefined)[]
}

/**
 * One version of one API, compiled: the flat list of steps that its requests take, in order.
 * A step that the API does not use is not in the list.
 */
export interface Chain {
  readonly api: Api
  /** Version name as hits record it. */
  readonly version: string
  /** True when the version is one of several within one definition (old style), so that rights name it. */
  readonly inlineVersion: boolean
  readonly rules: Rules
  readonly cors: Step | undefined // one of `steps`, for refusals that come before them
  readonly steps: readonly Step[]
  /** Steps of requests that another API leads here; `inner` where nothing is asked of the caller again (see redirect-internally.ts). */
  readonly redirectedSteps: readonly Step[]
  readonly inner: readonly Step[]
  readonly targets: Targets
  readonly apiRate: Limit | undefined // of the whole API
  readonly openLimits: readonly Limit[] // of requests without a session
  readonly responseHeaders: CompiledTransform | undefined
  readonly modules: ModuleSet | undefined
  readonly cache: ChainCache | undefined // undefined when no answers are stored
  /** undefined when the API is not recorded. */
  readonly hits: HitPlan | undefined
  /** How single requests are recorded; undefined when they are not. */
  readonly records: RecordPlan | undefined
  readonly metrics: ApiMetrics
  readonly metadataAddress: ((x: Exchange) => string) | undefined // named by challenges (RFC 9728); undefined = it takes no tokens
  /** Plan of requests without a session; made with the first of them. */
  open: CallerPlan | undefined
}

/** An API as this node serves it: where a request enters, and the chains that it may end up in. */
export interface ServedApi {
  readonly api: Api
  /** Chooses a version, then walks its chain; for an API without versions the chain itself. */
  readonly entry: readonly Step[]
  /** True when its listen path may be longer than that of an API whose own endpoint is asked for (`OAuthEndpoints.reclaim`). */
  readonly mayHideEndpoints: boolean
  /** Who gets the id of a request, besides the client to which the gateway answers itself. */
  readonly requestIds: { readonly onAnswers: boolean; readonly toUpstream: boolean }
  /** The chain of the API itself, entered without choosing a version (by another API whose version it is). */
  readonly main: Chain
  readonly all: readonly Chain[]
}

/** Observers of the requests of an API with resilience settings. */
export interface AttemptHooks {
  /** The head of an answer has come. @throws Fault where it is thrown away for another */
  answered(x: Exchange): void
  /** No answer has come. Answers the target to try now; undefined when this was all. */
  failed(x: Exchange, fault: Fault): Target | undefined
  /** The exchange is over. */
  ended(x: Exchange): void
}

/** How the requests of one chain are counted. */
export interface HitPlan {
  readonly book: HitBook
  readonly tags: ApiTags
}

/** The access of one session to one chain, with its limits and counters. Made once, used by every request. */
export interface CallerPlan {
  readonly chain: Chain
  /** undefined = no right on the API, or no session at all. */
  readonly access: SessionAccess | undefined
  readonly dimensions: HitDimensions
  /** undefined where no request header becomes a tag: those of the dimensions are all there are. */
  readonly tags: SessionTags | undefined
  /** Handle for the hits of requests without header tags or tracked endpoint; undefined when the API is not recorded. */
  readonly cell: HitCell | undefined
  /** Percentages of a quota that raise an event, ascending; undefined = none of its own. */
  readonly triggers: readonly number[] | undefined
  /** Handles for other combinations, made as they come. */
  cells: Map<string, HitCell> | undefined
}

/** The session behind a request, as its steps see it. */
export interface Caller {
  /** SHA-256 of the key or token, lower-case hex. */
  readonly keyHash: string
  readonly alias: string
  /** Client of an access token, or whom a key names as its client; '' = none. */
  readonly clientId: string
  /** Its token fields; undefined for a key. */
  readonly token: LiveToken | undefined
  readonly inactive: boolean
  /** Unix milliseconds, 0 = never. */
  readonly expiresAt: number
  readonly certificates: ReadonlySet<string> | undefined // SHA-256 of those that it is bound to; undefined = it is not bound
  /** Ids of the policies in force. */
  readonly policyIds: readonly string[]
  /** Metadata of its author and its policies. */
  readonly metaData: JsonObject
  /** Its access to this chain, with limits and counters. */
  planFor(chain: Chain): CallerPlan
}

/** Limits of a whole organisation, from its organisation key. */
export interface OrgLimits {
  readonly inactive: boolean
  readonly limits: readonly Limit[]
}

/**
 * Everything that a request is judged by, at one revision. Never changed: a change makes a new one, and requests in flight
 * keep the one that they began with.
 */
export interface Snapshot {
  readonly revision: number
  readonly router: Routes
  /** Listen paths by organisation, those of APIs that are switched off too. */
  readonly territories: Territories
  /** Loaded APIs by api_id, internal ones too. */
  readonly apis: PersistentMap<ServedApi>
  /** Policies by organisation and id (`policyKey`). */
  readonly policies: ReadonlyMap<string, Policy>
  /** Grows by one whenever a policy changes: sessions merged under an older number are merged again. */
  readonly policyGeneration: number
  readonly orgs: ReadonlyMap<string, OrgLimits>
}

/** Where a request's path led: the API, and the index in the path where the part below its listen path begins. */
export interface RouteMatch {
  served: ServedApi | undefined
  restAt: number
}

/** Finds the API of a request. */
export interface Routes {
  /** Writes where the path leads into `match`; `served` is undefined when nothing answers there. */
  find(host: string, path: string, match: RouteMatch): void
  /** The organisation that owns the domain of a request; undefined = none does. */
  ownerOf(host: string): string | undefined
}

/** Whose listen paths are whose. */
export interface Territories {
  /**
   * True where a listen path of another organisation is at, above or below the path of a request, or one of an API of the same
   * organisation that has other owners at or above it; or one of the same organisation whose API is not served now. Listen paths of
   * placeholders that match any segment count only for other organisations.
   */
  isHeldByOthers(api: Api, host: string, path: string): boolean
}

/** Follows a request to its upstream, to keep the answer or to give another in its place. */
export interface AnswerInterceptor extends BodyConsumer {
  /**
   * The head of the upstream's answer is there, as it came.
   * @throws Fault `stored_answer_stands_in` when the answer is not wanted: `standsIn` gives another
   */
  answered(x: Exchange): void
  /** No answer of the upstream can be had, or none is wanted. True when another was given. */
  standsIn(x: Exchange, fault: Fault): boolean
  /** The exchange is over. */
  ended(x: Exchange): void
}

/** The rules by which trailers pass; they come behind all that steps look at. */
export interface TrailerRules {
  /** Of `requestTrailers`, to the upstream. */
  forwarded(x: Exchange): string
  /** Of `answerTrailers`, to the client. */
  answered(x: Exchange): string
  /** Fields of an interim answer, which is in `response`, to the client. */
  interim(x: Exchange): string
}

const NO_ADDRESSES: readonly string[] = []

/** The identified credentials of a request. */
export interface KnownCredentials {
  /** Where those are that were found valid; undefined where none was asked for. */
  readonly verified: readonly CredentialPlace[] | undefined
  /** Places of those that are not forwarded to the upstream. */
  readonly withheld: readonly CredentialPlace[]
  /** Places whose values the upstream gets, and may answer by. */
  readonly forwarded: readonly CredentialPlace[]
}

export const NO_CREDENTIALS: KnownCredentials = { verified: undefined, withheld: [], forwarded: [] }

/**
 * One request on its way through the gateway. Fixed shape, reused by its connection: notes of a step
 * are cleared by the next request: `begin` resets every member.
 */
export class Exchange extends WireExchange implements Instant {
  /** True on a connection within the process, whose requests are parts of another. */
  inner = false
  readonly clientLines = { authority: '', lines: '' } // to upstreams, of the client: mostly the same for all of a connection

  // --- read once per request
  wall = 0
  mono = 0
  /** True for a request that is explained rather than served: limits are looked at, not taken; nothing is sent. */
  dry = false

  // --- found by the router and the version step
  snapshot: Snapshot | undefined
  chain: Chain | undefined
  /** Where in `path` the part below the listen path begins. */
  restAt = 0
  /** The part of `path` below the listen path (and below a stripped version segment); begins with `/`, or is ''. */
  rest = ''
  /** The path at which callers know the API: `path`, or where another API led here that API's own listen path and `rest`. */
  apiPath = ''
  /** The forwarded part of `path`: `rest` or `path`, as the API strips its listen path or not. */
  forwardPath = ''
  forwardQuery = '' // as it will be handed on
  operation: CompiledOperation | undefined
  /** Address of the client as trusted proxies tell it; else of the peer. */
  clientAddress = ''
  peerTrusted = false
  /** False where a trusted proxy names a client that is no address. */
  clientProven = true
  /** Addresses that a trusted peer reports, from the client on. */
  forwardedChain: readonly string[] = NO_ADDRESSES

  // --- found by authentication
  session: Caller | undefined
  plan: CallerPlan | undefined
  skipAuthentication = false
  alternative = 0 // index of that of its API's methods that it met
  credentials = NO_CREDENTIALS
  /** Thumbprint and text of the token that its DPoP proof was used up for; '' = none was. */
  provedToken = ''
  credentialEndsAt = 0 // when the JSON Web Token of the request ends, Unix milliseconds; 0 = none was taken
  /** Hash of our own token whose claims made the session; '' = of none. */
  ownToken = ''
  /** True when the API's authorization server answers: that is no traffic of the API, and no hit. */
  atAuthorizationServer = false

  // --- collected for the upstream and for the answer
  /** `Name: value\r\n` lines to send to the upstream besides the kept ones. */
  requestExtra = ''
  versionField = '' // (lower case) that named the version, where the upstream does not get it
  trailerRules: TrailerRules | undefined // undefined: all pass
  /** All edits of the fields that are handed on, of every API on the way: requests with other edits are not given each other's answers. */
  requestEdits = ''
  /** `Name: value\r\n` lines to add to the answer, whether of the upstream or our own. */
  answerExtra = ''
  /** Whose `Access-Control-*` fields the answer has: a CORS_FIELDS. */
  corsFields = 0
  /** `X-RateLimit-*` and `RateLimit*` lines, once limits were looked at. */
  limitFields = ''
  /** Written with a refusal by a limit. */
  retryAfterMs = 0
  target: Target | undefined
  patternWork = 0 // so far (`model/patterns/pattern-work.ts`)
  hops = 0 // APIs that it was led on to from the one where it arrived
  attempts = 0 // targets that it was handed to
  attemptHooks: AttemptHooks | undefined // where the upstream has resilience rules
  breaker: Breaker | undefined // waits for the outcome, under `breakerTurn`
  breakerTurn = 0
  requestHead = ''
  sent: SentValues | undefined // as `keepVariables` found them
  claims: JsonObject | undefined // of a verified JSON Web Token
  moduleContext: JsonObject | undefined // notes of modules for later ones
  bodyBytes = 0 // of the body, while it is in memory: `done` gives them back
  bodyHolder: BudgetHolder | undefined // whom they count for
  // A call of gRPC-Web: whether in base64, and the content types of its answer and of its request to the upstream.
  grpcWeb: { readonly text: boolean; readonly webType: string; readonly grpcType: string } | undefined
  fault: Fault | undefined
  private ownIdLine = ''
  showsRequestId = false // on answers of upstreams, too
  fromCache = false // true when the answer was a stored one
  declare bodyConsumer: AnswerInterceptor | undefined

  // --- for records
  trackedTool = '' // tracked endpoint of the MCP tool that is called; '' = none
  recording: '' | 'admitted' | 'left out' = '' // where that is settled before its end
  stepTimes: StepTime[] | undefined // so far, of a request whose steps are timed
  refusalBody: string | Uint8Array | undefined // of the answer to a fault
  declare bodyObserver: Detail | undefined // of a request that is recorded whole
  country = '' // ISO code of that of `countryAddress`, an address that this connection was asked from last; '' = not known
  countryAddress = ''

  /** With the id; made where it is first asked for. */
  get requestIdLine(): string {
    if (this.ownIdLine === '') this.ownIdLine = nextRequestIdLine()
    return this.ownIdLine
  }

  get requestId(): string {
    return requestIdOf(this.requestIdLine)
  }

  /** '' = one of our own. */
  set requestId(id: string) {
    this.ownIdLine = id === '' ? '' : lineOfRequestId(id)
  }

  override forwardedTrailers(): string {
    return this.trailerRules?.forwarded(this) ?? this.requestTrailers
  }

  override interimLines(): string {
    return this.trailerRules?.interim(this) ?? super.interimLines()
  }

  override answeredTrailers(): string {
    return this.trailerRules?.answered(this) ?? super.answeredTrailers()
  }

  override reply(status: number, fields: string, body: string | Uint8Array | undefined): void {
    this.bodyObserver?.replied(status, fields, body)
    if (this.fault !== undefined) this.refusalBody = body
    super.reply(status, fields, body)
  }

  override repeat(answer: RepeatedAnswer, extra: string): void {
    this.bodyObserver?.replied(
      answer.status,
      answer.head.slice(answer.head.indexOf('\n') + 1) + extra,
      answer.bytes ?? answer.text,
    )
    super.repeat(answer, extra)
  }
}

/** Makes an exchange ready for the request whose head the wire has just read. */
export function begin(x: Exchange, wall: number, mono: number): void {
  x.wall = wall
  x.mono = mono
  x.dry = false
  x.snapshot = undefined
  x.chain = undefined
  x.restAt = 0
  x.rest = ''
  x.apiPath = x.path
  x.forwardPath = ''
  x.forwardQuery = x.sentQuery
  x.operation = undefined
  x.clientAddress = x.peerAddress
  x.peerTrusted = false
  x.clientProven = true
  x.forwardedChain = NO_ADDRESSES
  x.session = undefined
  x.plan = undefined
  x.skipAuthentication = false
  x.alternative = 0
  x.credentials = NO_CREDENTIALS
  x.provedToken = ''
  x.credentialEndsAt = 0
  x.ownToken = ''
  x.atAuthorizationServer = false
  x.requestExtra = ''
  x.versionField = ''
  x.requestEdits = ''
  x.answerExtra = ''
  x.corsFields = 0
  x.limitFields = ''
  x.retryAfterMs = 0
  x.target = undefined
  x.hops = 0
  x.patternWork = 0
  x.attempts = 0
  x.attemptHooks = undefined
  x.breaker = undefined
  x.requestHead = ''
  x.sent = undefined
  x.claims = undefined
  x.moduleContext = undefined
  x.grpcWeb = undefined
  x.fault = undefined
  x.requestId = ''
  x.showsRequestId = false
  x.fromCache = false
  x.trackedTool = ''
  x.recording = ''
  x.stepTimes = undefined
  x.refusalBody = undefined
}
