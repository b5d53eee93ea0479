import { performance } from 'node:perf_hooks'
import { type Fault, fault } from '../../errors/fault.ts'
import { BodyDecoder } from './body.ts'
import type { WireExchange } from './exchange.ts'
import type { Outlet } from './outlet.ts'
import { keep } from './read-buffer.ts'
import { REFUSAL } from './refusals.ts'

/** Where the body of a request goes. */
export interface BodySink {
  /** Decoded bytes `from` to `to` of `chunk`, perhaps none; `last` with the end of the body. */
  bodyPart(chunk: Buffer, from: number, to: number, last: boolean): void
  /** The rest of the body will not come, or is not wanted any more. */
  bodyFailed(fault: Fault): void
}

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'

/** Received bytes that no consumer has taken yet, and the reader of a request body. */
export class RequestIntake {
  /** Bytes not taken: the next head, or the next part of the body. */
  pending: Buffer | undefined
  readonly body = new BodyDecoder()
  /** Who takes the body; undefined while nobody wants it. */
  sink: BodySink | undefined
  /** True when the framing of a request was lost: nothing behind it can be read. */
  broken = false
  /** True when the client will send nothing more. */
  ended = false
  /** When the next body bytes are due; 0 = not awaited. */
  deadline = 0
  private readonly x: WireExchange
  private readonly outlet: Outlet
  private readonly idleMs: number

  /** `idleMs` is the longest silence of a client whose body is awaited. */
  constructor(x: WireExchange, outlet: Outlet, idleMs: number) {
    this.x = x
    this.outlet = outlet
    this.idleMs = idleMs
  }

  /** Bytes have arrived. */
  push(chunk: Buffer): void {
    this.pending = this.pending === undefined ? chunk : Buffer.concat([this.pending, chunk])
  }

  /** The first `count` of the pending bytes are used. */
  skip(count: number): void {
    const { pending } = this
    this.pending = pending === undefined || count >= pending.length ? undefined : pending.subarray(count)
  }

  /** Pending bytes are read in a later turn: they must not be in a buffer that the next read overwrites. */
  retain(): void {
    if (this.pending !== undefined) this.pending = keep(this.pending)
  }

  /** Forgets who took the body. */
  release(): void {
    this.sink = undefined
    this.deadline = 0
  }

  /** Leads the body to `sink`, after `100 Continue` where the client waits for it. What is pending goes there within this call. */
  pour(sink: BodySink): void {
    this.sink = sink
    this.await()
    const { x, outlet } = this
    const { socket } = outlet
    if (x.expectContinue && this.body.taken === 0 && this.pending === undefined) outlet.text(CONTINUE)
    x.expectContinue = false
    if (socket.isPaused()) socket.resume()
    while (this.pending !== undefined && this.sink === sink && this.feed());
    // The client has closed its sending side within the body: the rest will never come.
    if (this.ended && this.sink === sink) this.fail(REFUSAL.clientGone)
  }

  /** Hands body bytes that are pending to the sink. False when there is no use for them now. */
  feed(): boolean {
    const { sink, body, x, pending } = this
    if (sink === undefined || pending === undefined || body.finished) return false
    const before = body.taken
    const end = body.take(pending, 0)
    x.bytesIn += body.taken - before
    if (end < 0) return this.fail(REFUSAL.chunk)
    if (x.bodyLimitBytes > 0 && body.taken > x.bodyLimitBytes) return this.fail(x.bodyFault ?? REFUSAL.bodyTooLarge)
    this.skip(end)
    const { finished } = body
    // Settled before the sink is called: with the last bytes it may answer, and the next request begin.
    if (finished) this.release()
    else this.await()
    sink.bodyPart(pending, body.from, body.to, finished)
    return true
  }

  /** The body ends here, and with it all that could be read from this client. */
  fail(fault: Fault): false {
    const { sink } = this
    this.broken = true
    this.release()
    sink?.bodyFailed(fault)
    return false
  }

  /** Begins to wait for body bytes, or begins again. */
  await(): void {
    this.deadline = performance.now() + this.idleMs
  }
}

/** Reads a whole body into memory, for `readBody`. */
export class Collector implements BodySink {
  readonly promise: Promise<Buffer>
  private readonly limitBytes: number
  private readonly hold: (bytes: number) => boolean
  private readonly parts: Buffer[] = []
  private size = 0
  private resolve!: (body: Buffer) => void
  private reject!: (fault: Fault) => void

  /** `hold`: whether there is room in memory for further bytes. */
  constructor(limitBytes: number, hold: (bytes: number) => boolean) {
    this.limitBytes = limitBytes
    this.hold = hold
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
  }

  bodyPart(chunk: Buffer, from: number, to: number, last: boolean): void {
    this.size += to - from
    if (this.limitBytes > 0 && this.size > this.limitBytes) {
      this.bodyFailed(fault('body_too_large'))
      return
    }
    if (to > from && !this.hold(to - from)) {
      this.bodyFailed(fault('busy', 'too many bytes of request bodies are in memory'))
      return
    }
    if (to > from) this.parts.push(keep(chunk.subarray(from, to)))
    if (last) this.resolve(Buffer.concat(this.parts))
  }

  bodyFailed(reason: Fault): void {
    this.parts.length = 0
    this.reject(reason)
  }
}

/** Reads the rest of a body that nobody wants, up to a bound. */
export class Discard implements BodySink {
  private readonly finished: () => void
  private readonly gaveUp: () => void
  private budget = 0

  /** `finished` is called at the end of the body, `gaveUp` when it is longer than the budget or malformed. */
  constructor(finished: () => void, gaveUp: () => void) {
    this.finished = finished
    this.gaveUp = gaveUp
  }

  start(budgetBytes: number): this {
    this.budget = budgetBytes
    return this
  }

  bodyPart(_chunk: Buffer, from: number, to: number, last: boolean): void {
    this.budget -= to - from
    if (this.budget < 0) this.gaveUp()
    else if (last) this.finished()
  }

  bodyFailed(): void {
    this.gaveUp()
  }
}
