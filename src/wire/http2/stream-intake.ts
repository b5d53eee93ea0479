import { performance } from 'node:perf_hooks'
import type { Fault } from '../../errors/fault.ts'
import type { WireExchange } from '../http1/exchange.ts'
import type { BodySink } from '../http1/intake.ts'
import { REFUSAL } from '../http1/refusals.ts'
import type { FramedStream } from './stream.ts'

const NOTHING = Buffer.alloc(0)

/** Reads a request body from its stream. Nothing is read, and the stream's window stays closed, until a consumer asks for it. */
export class StreamIntake {
  /** True once the last byte of the body was taken. */
  finished = true
  /** Who takes the body; undefined while nobody wants it. */
  sink: BodySink | undefined
  private readonly x: WireExchange
  private readonly idleMs: number
  private stream!: FramedStream
  private taken = 0
  private lingering = false
  private deadline = 0

  /** `idleMs` is the longest silence of a client whose body is awaited. */
  constructor(x: WireExchange, idleMs: number) {
    this.x = x
    this.idleMs = idleMs
  }

  /** Begins with the stream of a request; `ended` = without a body. */
  start(stream: FramedStream, ended: boolean): void {
    this.stream = stream
    this.finished = ended
    this.sink = undefined
    this.taken = 0
    this.lingering = false
    this.deadline = 0
  }

  /** Leads the body to `sink`, after `100 Continue` where the client waits for it. What has come goes there within this call. */
  pour(sink: BodySink): void {
    if (this.finished) {
      sink.bodyPart(NOTHING, 0, 0, true)
      return
    }
    this.sink = sink
    this.await()
    const { stream, x } = this
    if (x.expectContinue && this.taken === 0) stream.interim('100')
    x.expectContinue = false
    stream.resume()
  }

  /** Body bytes have come out of the stream. */
  take(chunk: Buffer, from: number, to: number, last: boolean): void {
    const { x, sink } = this
    this.taken += to - from
    x.bytesIn += to - from
    this.finished = last
    if (sink === undefined) return
    if (x.bodyLimitBytes > 0 && this.taken > x.bodyLimitBytes) {
      this.fail(x.bodyFault ?? REFUSAL.bodyTooLarge)
      return
    }
    // Settled before the sink is called: with the last bytes it may answer.
    if (last) this.release()
    else if (!this.lingering) this.await()
    sink.bodyPart(chunk, from, to, last)
  }

  /** The body ends here. */
  fail(fault: Fault): void {
    const { sink } = this
    this.release()
    sink?.bodyFailed(fault)
  }

  /** Forgets who took the body. What still comes waits for the next. */
  release(): void {
    this.sink = undefined
    this.deadline = 0
    this.stream.pause()
  }

  pause(): void {
    this.deadline = 0
    this.stream.pause()
  }

  resume(): void {
    if (this.sink === undefined) return
    this.await()
    this.stream.resume()
  }

  /** True when body bytes were awaited for too long. */
  due(now: number): boolean {
    return this.deadline !== 0 && now >= this.deadline
  }

  /** The rest is awaited for `ms` milliseconds, no longer, however it trickles. */
  awaitFor(ms: number): void {
    this.lingering = true
    this.deadline = performance.now() + ms
  }

  private await(): void {
    this.deadline = performance.now() + this.idleMs
  }
}
