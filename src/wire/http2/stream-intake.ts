import { constants, type ServerHttp2Stream } from 'node:http2'
import { performance } from 'node:perf_hooks'
import type { Fault } from '../../errors/fault.ts'
import type { WireExchange } from '../exchange.ts'
import type { BodySink } from '../intake.ts'
import { REFUSAL } from '../refusals.ts'
import { trailerLines } from './header-list.ts'

const NOTHING = Buffer.alloc(0)
const { HTTP2_HEADER_STATUS, HTTP_STATUS_CONTINUE } = constants

/** The way of a request body out of its stream. Nothing is read, and the window of the stream not opened, before somebody wants it. */
export class StreamIntake {
  /** True once the last byte of the body has come. */
  finished = true
  /** Who takes the body; undefined while nobody wants it. */
  sink: BodySink | undefined
  private readonly x: WireExchange
  private readonly idleMs: number
  private stream!: ServerHttp2Stream
  private taken = 0
  private listening = false
  private lingering = false
  private deadline = 0

  /** `idleMs` is the longest silence of a client whose body is awaited. */
  constructor(x: WireExchange, idleMs: number) {
    this.x = x
    this.idleMs = idleMs
  }

  /** Begins with the stream of a request; `ended` = without a body. */
  start(stream: ServerHttp2Stream, ended: boolean): void {
    this.stream = stream
    this.finished = ended
    this.sink = undefined
    this.taken = 0
    this.listening = false
    this.lingering = false
    this.deadline = 0
    if (ended) return
    // They may come before anybody wants the body.
    stream.on('trailers', (_headers: unknown, _flags: unknown, raw: readonly string[]) => {
      if (stream === this.stream) this.x.requestTrailers = trailerLines(raw)
    })
  }

  /** Leads the body to `sink`, after `100 Continue` where the client waits for it. */
  pour(sink: BodySink): void {
    if (this.finished) {
      sink.bodyPart(NOTHING, 0, 0, true)
      return
    }
    this.sink = sink
    this.await()
    const { stream, x } = this
    if (x.expectContinue && !stream.headersSent)
      stream.additionalHeaders({ [HTTP2_HEADER_STATUS]: HTTP_STATUS_CONTINUE })
    x.expectContinue = false
    if (this.listening) stream.resume()
    else this.listen(stream)
  }

  private listen(stream: ServerHttp2Stream): void {
    this.listening = true
    const mine = () => stream === this.stream
    stream.on('data', (chunk: Buffer) => {
      if (mine()) this.take(chunk)
    })
    stream.on('end', () => {
      if (mine()) this.end()
    })
  }

  private take(chunk: Buffer): void {
    const { x, sink } = this
    this.taken += chunk.length
    x.bytesIn += chunk.length
    if (sink === undefined) return
    if (x.bodyLimitBytes > 0 && this.taken > x.bodyLimitBytes) {
      this.fail(x.bodyFault ?? REFUSAL.bodyTooLarge)
      return
    }
    this.finished = this.taken === x.bodyLength
    // Settled before the sink is told: with the last bytes it may answer.
    if (this.finished) this.release()
    else if (!this.lingering) this.await()
    sink.bodyPart(chunk, 0, chunk.length, this.finished)
  }

  private end(): void {
    // A stream that was reset ends too, without its body being complete.
    if (this.finished || this.stream.aborted) return
    const { sink } = this
    this.finished = true
    this.release()
    sink?.bodyPart(NOTHING, 0, 0, true)
  }

  /** The body ends here. */
  fail(fault: Fault): void {
    const { sink } = this
    this.release()
    sink?.bodyFailed(fault)
  }

  /** Forgets who took the body. */
  release(): void {
    this.sink = undefined
    this.deadline = 0
  }

  pause(): void {
    this.deadline = 0
    this.stream.pause()
  }

  resume(): void {
    if (this.sink !== undefined) this.await()
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
