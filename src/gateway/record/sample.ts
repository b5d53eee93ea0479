import type { FaultCode } from '../../errors/catalog.ts'
import type { CutBy } from '../../wire/http1/exchange.ts'
import type { GoawayReason } from '../../wire/http2/goaway.ts'
import type { HitCell } from './aggregate.ts'
import type { ApiMetrics } from './api-metrics.ts'

/**
 * All that records want to know of one finished request. One object, refilled for each request: code that keeps
 * something of it copies. Its shape never changes.
 */
export class Sample {
  /** Unix milliseconds of the start of the request. */
  wallMs = 0
  status = 0
  totalMs = 0
  /** Below 0 when the request was not handed on. */
  upstreamMs = -1
  /** True when the status is that of the upstream. */
  passedOn = false
  /** Who ended it before its answer was complete; '' = nobody did. */
  cutBy: CutBy | '' = ''
  /** undefined = the API or the operation is not recorded. */
  hits: HitCell | undefined = undefined
  metrics: ApiMetrics | undefined = undefined

  // --- for the access log only
  requestId = ''
  apiId = ''
  /** '' when the API is not versioned. */
  version = ''
  /** Hash (hex) of the key or token, '' without one. */
  keyHash = ''
  method = ''
  /** Without the query. */
  path = ''
  clientIp = ''
  bytesIn = 0
  bytesOut = 0
  /** '' when nothing was refused and nothing failed. */
  faultCode: FaultCode | '' = ''
  /** Why its HTTP/2 connection was ended; '' = it was not. */
  goaway: GoawayReason | '' = ''
  /** Of W3C Trace Context; '' = it has none. */
  traceId = ''

  /** Takes over what the access log writes. */
  copyForLog(from: Sample): void {
    this.wallMs = from.wallMs
    this.status = from.status
    this.totalMs = from.totalMs
    this.upstreamMs = from.upstreamMs
    this.requestId = from.requestId
    this.apiId = from.apiId
    this.version = from.version
    this.keyHash = from.keyHash
    this.method = from.method
    this.path = from.path
    this.clientIp = from.clientIp
    this.bytesIn = from.bytesIn
    this.bytesOut = from.bytesOut
    this.faultCode = from.faultCode
    this.cutBy = from.cutBy
    this.goaway = from.goaway
    this.traceId = from.traceId
  }

  /** Releases texts, which may be slices of a request head and retain all of it. */
  reset(): void {
    this.hits = undefined
    this.metrics = undefined
    this.requestId = ''
    this.apiId = ''
    this.version = ''
    this.keyHash = ''
    this.method = ''
    this.path = ''
    this.clientIp = ''
    this.faultCode = ''
    this.traceId = ''
  }
}
