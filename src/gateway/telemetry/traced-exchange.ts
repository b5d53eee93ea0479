import type { Span } from '@opentelemetry/api'
import type { Upstream } from '../../wire/connect/upstream.ts'
import { Exchange } from '../server/exchange.ts'
import { readTraceContext } from './trace-context.ts'

/** The observer of the exchanges that it made. */
export interface ExchangeObserver {
  /** An attempt to reach an upstream begins. Answers the head to send. */
  attempt(x: TracedExchange, upstream: Upstream, head: string): string
  /** The header fields of W3C Trace Context for a child request. */
  contextFields(x: TracedExchange): readonly (readonly [name: string, value: string])[]
  /** The trace of a request of an API; '' for others. */
  traceId(x: TracedExchange): string
  /** A step of an API with traces of steps begins. Answers what ends it; undefined where nothing is recorded. */
  step(x: TracedExchange, name: string): ((error: string) => void) | undefined
}

/** The exchange of a gateway that traces: replaces the plain one, which has no trace fields. */
export class TracedExchange extends Exchange {
  readonly observer: ExchangeObserver
  /** Counted as under way. */
  active = false
  span: Span | undefined
  attemptSpan: Span | undefined
  attemptUpstream: Upstream | undefined
  attemptMethod = ''
  attemptAt = 0
  /** Of the answer to the attempt; 0 = none yet. */
  attemptStatus = 0
  attemptCount = 0

  constructor(observer: ExchangeObserver) {
    super()
    this.observer = observer
  }

  override forward(upstream: Upstream, method: string, head: string): void {
    super.forward(upstream, method, this.observer.attempt(this, upstream, head))
  }

  /** Forgets the request before. */
  beginTrace(): void {
    this.active = true
    this.span = undefined
    this.attemptSpan = undefined
    this.attemptUpstream = undefined
    this.attemptStatus = 0
    this.attemptCount = 0
  }
}

/** The fields that make a request which the gateway makes for this one a part of its trace; none without traces. */
export function contextFieldsOf(x: Exchange): readonly (readonly [name: string, value: string])[] {
  return x instanceof TracedExchange ? x.observer.contextFields(x) : []
}

/** The trace that a request belongs to: the gateway's own, without traces that of its caller; '' = none. */
export function traceIdOf(x: Exchange): string {
  if (x instanceof TracedExchange) return x.observer.traceId(x)
  const parent = x.request.single('traceparent') ?? ''
  return parent === '' ? '' : (readTraceContext([parent], [])?.traceId ?? '')
}
