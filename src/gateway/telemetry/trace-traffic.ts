import {
  type Context,
  createTraceState,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { Upstream } from '../../wire/connect/upstream.ts'
import type { WireHandler } from '../../wire/http1/exchange.ts'
import type { Exchange } from '../server/exchange.ts'
import {
  attemptAttributes,
  errorOf,
  methodOf,
  routeOf,
  serverMetricAttributes,
  serverSpanAttributes,
} from './attributes.ts'
import type { Instruments } from './instruments.ts'
import { type RemoteContext, readTraceContext, traceFields, withTraceContext } from './trace-context.ts'
import { type ExchangeObserver, TracedExchange } from './traced-exchange.ts'

/**
 * Traces the exchanges of a handler: a span and a measurement for each request, and for each upstream attempt, which is
 * given the trace (W3C Trace Context). The product's own paths are not traced.
 */
export class TrafficTracer implements ExchangeObserver {
  readonly #tracer: Tracer
  readonly #instruments: Instruments

  constructor(tracer: Tracer, instruments: Instruments) {
    this.#tracer = tracer
    this.#instruments = instruments
  }

  /** The same handler, followed. */
  around(handler: WireHandler<Exchange>): WireHandler<Exchange> {
    return {
      ...handler,
      make: () => new TracedExchange(this),
      handle: (x) => {
        if (x instanceof TracedExchange) this.#begin(x)
        handler.handle(x)
      },
      respond: (x) => {
        if (x instanceof TracedExchange) x.attemptStatus = x.status
        return handler.respond(x)
      },
      failed: (x, fault) => {
        if (x instanceof TracedExchange) this.#endAttempt(x, fault.code)
        handler.failed(x, fault)
      },
      done: (x) => {
        handler.done(x)
        if (x instanceof TracedExchange) this.#end(x)
      },
    }
  }

  attempt(x: TracedExchange, upstream: Upstream, head: string): string {
    this.#endAttempt(x, 'superseded')
    const method = head.slice(0, head.indexOf(' '))
    const attributes = attemptAttributes(upstream, method)
    const resent = x.attemptCount > 0 ? { 'http.request.resend_count': x.attemptCount } : {}
    const span = this.#tracer.startSpan(
      methodOf(method) === method ? method : 'HTTP',
      { kind: SpanKind.CLIENT, attributes: { ...attributes, ...resent, 'url.full': fullUrl(upstream) } },
      trace.setSpan(ROOT_CONTEXT, this.#spanOf(x)),
    )
    x.attemptSpan = span
    x.attemptUpstream = upstream
    x.attemptMethod = method
    x.attemptAt = performance.now()
    x.attemptStatus = 0
    x.attemptCount++
    return withTraceContext(head, contextOf(span))
  }

  contextFields(x: TracedExchange): readonly (readonly [name: string, value: string])[] {
    return traceFields(contextOf(this.#spanOf(x)))
  }

  traceId(x: TracedExchange): string {
    return x.chain === undefined ? '' : this.#spanOf(x).spanContext().traceId
  }

  step(x: TracedExchange, name: string): ((error: string) => void) | undefined {
    const parent = this.#spanOf(x)
    if (!parent.isRecording()) return undefined
    const span = this.#tracer.startSpan(name, {}, trace.setSpan(ROOT_CONTEXT, parent))
    return (error) => {
      if (error !== '') span.setAttribute('gatehouse.fault', error)
      span.end()
    }
  }

  #begin(x: TracedExchange): void {
    x.beginTrace()
    this.#instruments.active(1, activeAttributes(x))
  }

  /** The span of the request, begun when it is first needed: by then it is known to be for an API. */
  #spanOf(x: TracedExchange): Span {
    x.span ??= this.#tracer.startSpan(
      methodOf(x.method),
      { kind: SpanKind.SERVER, startTime: x.startedAt },
      parentOf(x),
    )
    return x.span
  }

  #end(x: TracedExchange): void {
    if (!x.active) return
    x.active = false
    this.#instruments.active(-1, activeAttributes(x))
    this.#endAttempt(x, x.aborted ? errorOf(x) : '')
    // The product itself answered, whose paths may name keys.
    if (x.chain === undefined && x.fault?.code !== 'api_not_found') return
    const attributes = serverMetricAttributes(x)
    this.#instruments.served(performance.now() - x.startedAt, attributes)
    const span = this.#spanOf(x)
    if (span.isRecording()) {
      const method = methodOf(x.method) === x.method ? x.method : 'HTTP'
      const route = routeOf(x)
      span.updateName(route === '' ? method : `${method} ${route}`)
      span.setAttributes(attributes)
      span.setAttributes(serverSpanAttributes(x))
      if (errorOf(x) !== '') span.setStatus({ code: SpanStatusCode.ERROR })
    }
    span.end()
    x.span = undefined
  }

  /** `failure`: why it ended without an answer; '' = it has one. */
  #endAttempt(x: TracedExchange, failure: string): void {
    const { attemptSpan: span, attemptStatus: status, attemptUpstream: upstream } = x
    if (span === undefined || upstream === undefined) return
    x.attemptSpan = undefined
    const error = status >= 400 ? String(status) : failure
    const outcome = {
      'network.protocol.version': '1.1',
      ...(status !== 0 && { 'http.response.status_code': status }),
      ...(error !== '' && { 'error.type': error }),
    }
    span.setAttributes(outcome)
    if (error !== '') span.setStatus({ code: SpanStatusCode.ERROR })
    span.end()
    this.#instruments.asked(performance.now() - x.attemptAt, {
      ...attemptAttributes(upstream, x.attemptMethod),
      ...outcome,
    })
  }
}

function contextOf(span: Span): RemoteContext {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext()
  return { traceId, spanId, traceFlags, traceState: traceState?.serialize() ?? '' }
}

function activeAttributes({ method, secure }: Exchange) {
  return { 'http.request.method': methodOf(method), 'url.scheme': secure ? 'https' : 'http' }
}

function parentOf({ request }: Exchange): Context {
  const remote = readTraceContext(request.all('traceparent'), request.all('tracestate'))
  if (remote === undefined) return ROOT_CONTEXT
  const { traceState, ...ids } = remote
  const state = traceState === '' ? {} : { traceState: createTraceState(traceState) }
  return trace.setSpanContext(ROOT_CONTEXT, { ...ids, ...state, isRemote: true })
}

/** Where an attempt goes, without path and query: both may hold what is for the upstream alone. */
function fullUrl({ options: { host, port, secure } }: Upstream): string {
  const authority = host.includes(':') ? `[${host}]` : host
  const plain = port === (secure ? 443 : 80)
  return `${secure ? 'https' : 'http'}://${authority}${plain ? '' : `:${port}`}/`
}
