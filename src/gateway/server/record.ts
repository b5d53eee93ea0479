import { CATALOG } from '../../errors/catalog.ts'
import type { Clock } from '../../model/time/clock.ts'
import type { GoawayReason } from '../../wire/http2/goaway.ts'
import { cellOf, makeCallerPlan } from '../apis/plan.ts'
import type { AccessLog } from '../record/access-log.ts'
import { flattenString } from '../record/flatten-string.ts'
import type { Geography } from '../record/geography.ts'
import type { Metrics } from '../record/metrics.ts'
import type { RecordBook } from '../record/record-book.ts'
import type { Recorder } from '../record/record-plan.ts'
import { traceIdOf } from '../telemetry/traced-exchange.ts'
import type { CallerPlan, Exchange } from './exchange.ts'

const CLIENT_GONE_STATUS = CATALOG.client_gone.status

/** The plan that a request is limited and counted by: its session's, or the chain's own for requests without one. */
function planOf(x: Exchange): CallerPlan {
  if (x.plan !== undefined) return x.plan
  const chain = x.chain!
  chain.open ??= makeCallerPlan(chain, undefined, undefined)
  return chain.open
}

/** The same for records: a refused session is counted as itself, although it has no plan at work. */
function countedPlan(x: Exchange): CallerPlan {
  if (x.plan === undefined && x.session !== undefined) return x.session.planFor(x.chain!)
  return planOf(x)
}

/** The recorders of finished requests, in addition to those that every gateway has. */
export interface RecordExtras {
  /** True = also the parts of a sample that only the access log needs. */
  readonly logged: boolean
  /** Where single requests go; undefined = nowhere. */
  readonly records: RecordBook | undefined
  /** Looks up countries; undefined = disabled. */
  readonly geography: Geography | undefined
}

/** Makes what counts finished requests. */
export function recordWith(recorder: Recorder, metrics: Metrics, extras: RecordExtras): (x: Exchange) => void {
  const { logged, records, geography } = extras
  const sample = recorder.sample
  /** Of requests that met no API. */
  const unrouted = metrics.api('')
  return function record(x) {
    const endedAt = performance.now()
    metrics.inFlight--
    if (x.fault !== undefined) metrics.refused(x.fault.code)
    sample.wallMs = x.wall
    sample.cutBy = x.cutBy
    // The client left, or was cut off, before there was an answer, or before a byte of it was sent.
    const unanswered = x.status === 0 || (x.cutBy !== '' && x.bytesOut === 0)
    sample.status = unanswered ? CLIENT_GONE_STATUS : x.status
    sample.totalMs = endedAt - x.startedAt
    sample.upstreamMs = x.upstreamAt === 0 ? -1 : (x.upstreamHeadAt === 0 ? endedAt : x.upstreamHeadAt) - x.upstreamAt
    sample.passedOn = !unanswered && x.upstreamHeadAt !== 0 && x.fault === undefined
    const chain = x.chain
    if (geography !== undefined && x.countryAddress !== x.clientAddress) findCountry(geography, x)
    sample.metrics = chain === undefined ? unrouted : chain.metrics
    sample.hits = chain === undefined || x.atAuthorizationServer ? undefined : cellOf(countedPlan(x), x)
    if (logged) {
      sample.requestId = x.requestId
      sample.apiId = chain?.api.apiId ?? ''
      sample.version = chain?.inlineVersion ? chain.version : ''
      sample.keyHash = x.session?.keyHash ?? ''
      sample.method = x.method
      sample.path = x.path
      sample.clientIp = x.clientAddress
      sample.bytesIn = x.bytesIn
      sample.bytesOut = x.bytesOut
      sample.faultCode = x.fault?.code ?? ''
      sample.goaway = x.goaway
      sample.traceId = traceIdOf(x)
    }
    recorder.count(sample)
    if (records !== undefined && sample.hits !== undefined && chain!.records !== undefined)
      records.take(x, chain!.records, sample, endedAt)
  }
}

/** Makes what counts HTTP/2 connections that end with GOAWAY. */
export function recordGoaways(
  metrics: Metrics,
  accessLog: AccessLog | undefined,
  clock: Clock,
): (reason: GoawayReason, address: string) => void {
  return (reason, address) => {
    metrics.goaway(reason)
    if (reason !== 'no_error') accessLog?.pushGoaway(reason, address, clock.wall())
  }
}

/** Once for each connection, and for each client that a trusted proxy names on it. */
function findCountry(geography: Geography, x: Exchange): void {
  x.countryAddress = flattenString(x.clientAddress)
  x.country = geography.countryOf(x.countryAddress)
}
