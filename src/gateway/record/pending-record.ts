import { publicText } from '../../errors/render.ts'
import type { HitDimensions } from '../../model/analytics/dimensions.ts'
import type { Exchange } from '../server/exchange.ts'
import { readCredential, withoutBearer } from '../steps/authentication/read-credential.ts'
import type { Detail } from './detail.ts'
import { flattenString } from './flatten-string.ts'
import type { RecordPlan } from './record-plan.ts'
import type { Sample } from './sample.ts'
import type { StepTime } from './step-time.ts'

const HOST_CHARACTERS = 256
const METHOD_CHARACTERS = 64
const AGENT_CHARACTERS = 512
/** More of an answer than a record shows: a secret in it is found only whole. */
const BODY_CHARACTERS = 65_536
/** A path of a record that is longer is cut, so that nobody fills the store with a few requests. */
export const PATH_CHARACTERS = 2048

/** The copied fields of a finished request: its texts are built later, off the request path. */
export interface PendingRecord {
  readonly plan: RecordPlan
  /** The dimensions of the request. */
  readonly dimensions: HitDimensions
  readonly at: number
  readonly status: number
  readonly totalMs: number
  /** Below 0 = not handed on. */
  readonly upstreamMs: number
  readonly method: string
  readonly host: string
  readonly path: string
  /** Path and query as they were sent. May hold secrets. */
  readonly target: string
  /** The identity of the caller, verified or claimed; '' = none. */
  readonly credential: string
  readonly userAgent: string
  readonly address: string
  readonly contentLength: number
  readonly bytesIn: number
  readonly bytesOut: number
  readonly requestId: string
  readonly errorCode: string
  /** The answer to the caller, where the gateway refused or failed; '' otherwise. May hold secrets. */
  readonly errorBody: string
  /** The steps that it passed; none where they were not timed. */
  readonly steps: readonly StepTime[]
  readonly tracked: boolean
  readonly detail: Detail | undefined
}

const NO_STEPS: readonly StepTime[] = []

/** Copies a finished request out of the head that it came with. */
export function pendingRecord(x: Exchange, plan: RecordPlan, sample: Sample): PendingRecord {
  const { auth } = plan
  const credential = auth === undefined ? '' : withoutBearer(readCredential(auth, x) ?? '')
  return {
    plan,
    dimensions: sample.hits!.dimensions,
    at: x.wall,
    status: sample.status,
    totalMs: sample.totalMs,
    upstreamMs: sample.upstreamMs,
    method: flattenString(x.method, METHOD_CHARACTERS),
    host: flattenString(x.authority, HOST_CHARACTERS),
    path: flattenString(x.path),
    target: flattenString(targetOf(x)),
    credential: flattenString(credential),
    userAgent: flattenString(x.request.get('user-agent') ?? '', AGENT_CHARACTERS),
    address: flattenString(x.clientAddress),
    contentLength: x.bodyLength,
    bytesIn: x.bytesIn,
    bytesOut: x.bytesOut,
    requestId: x.requestId,
    errorCode: x.fault?.code ?? (x.aborted ? `cut_by_${x.cutBy}` : ''),
    errorBody: errorBodyOf(x),
    steps: x.stepTimes ?? NO_STEPS,
    tracked: x.operation?.track === true || x.trackedTool !== '',
    detail: x.bodyObserver,
  }
}

/** A body that is no text says what the fault says. */
function errorBodyOf({ fault, refusalBody }: Exchange): string {
  if (fault === undefined) return ''
  if (typeof refusalBody !== 'string') return publicText(fault)
  // A slice would retain all of it.
  return refusalBody.length > BODY_CHARACTERS
    ? Buffer.from(refusalBody.slice(0, BODY_CHARACTERS)).toString()
    : refusalBody
}

/** The target of the request line, without the origin of an absolute one. */
function targetOf({ request, path, hasQuery, query }: Exchange): string {
  const { text } = request
  const start = text.indexOf(' ') + 1
  const end = text.indexOf(' ', start)
  const sent = start > 0 && end > start ? text.slice(start, end) : ''
  if (sent.startsWith('/')) return sent
  return hasQuery ? `${path}?${query}` : path
}
