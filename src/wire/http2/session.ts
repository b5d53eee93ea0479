import type { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { HeaderDecoder } from '../hpack/decoder.ts'
import { HeaderEncoder } from '../hpack/encoder.ts'
import { PREFACE } from '../listen/preamble.ts'
import { CODE, MAX_STREAM_ID, TYPE } from './codes.ts'
import { FloodGuard } from './flood-guard.ts'
import { FrameInput } from './frame-input.ts'
import { FrameOutput } from './frame-output.ts'
import { type GoawayReason, reasonOf } from './goaway.ts'
import { PeerSettings } from './peer-settings.ts'
import { ReceiveWindows } from './receive-windows.ts'
import { type FrameMeaning, Receiving } from './receiving.ts'
import { Sending } from './sending.ts'
import type { SessionOptions, SessionOwner } from './session-port.ts'
import { FramedStream, type StreamSession } from './stream.ts'
import { StreamNumbers } from './stream-numbers.ts'

/** The bytes that a field block may have besides the fields that it may hold. */
const BLOCK_SPARE_BYTES = 16_384
/** Streams beyond their bound that are refused for nothing before the peer has read that bound. */
const MOST_REFUSED_EARLY = 4000
/** Payload of the PING that asks whether the first GOAWAY was read. */
const DRAIN_PING = 0x64726169
const NOTHING = Buffer.alloc(0)

/** One connection of HTTP/2 (RFC 9113), seen from either end: its streams, its settings, its end. */
export class Http2Session implements StreamSession, FrameMeaning {
  readonly encoder = new HeaderEncoder()
  readonly peer = new PeerSettings()
  readonly streams = new Map<number, FramedStream>()
  readonly output: FrameOutput
  /** True when no more streams may be begun on it. */
  closing = false
  /** True when it has ended; its socket may still be open. */
  ended = false
  private readonly socket: Socket
  private readonly options: SessionOptions
  private readonly owner: SessionOwner
  private readonly input: FrameInput
  private readonly decoder: HeaderDecoder
  private readonly sending: Sending
  private readonly guard = new FloodGuard()
  private refusedEarly = 0
  private readonly numbers: StreamNumbers
  private readonly windows: ReceiveWindows
  private draining = false
  private blockDeadline = 0
  private settingsDeadline: number
  private stallDeadline = 0
  private writesBefore = 0

  constructor(socket: Socket, options: SessionOptions, owner: SessionOwner) {
    this.socket = socket
    this.options = options
    this.owner = owner
    this.decoder = new HeaderDecoder(options)
    this.input = new FrameInput(new Receiving(this, options.maxListBytes + BLOCK_SPARE_BYTES))
    this.output = new FrameOutput(socket, () => this.outputDrained())
    this.sending = new Sending(this.output)
    this.numbers = new StreamNumbers(options.server)
    this.windows = new ReceiveWindows(this.output, options)
    this.settingsDeadline = performance.now() + options.headTimeoutMs
    if (!options.server) this.output.text(PREFACE)
    this.output.head(options.settings.length * 6, TYPE.settings, 0, 0)
    for (const [id, value] of options.settings) {
      this.output.half(id)
      this.output.word(value)
    }
    this.windows.begin()
  }

  /** Bytes have arrived. */
  push(bytes: Buffer): void {
    // First: what was sent before may be returned now.
    this.noteSent()
    this.input.push(bytes)
    // Once for all windows that have opened: many small ones still make large frames.
    this.sending.pump()
    // A peer that does not read is not read from.
    if (this.output.choked) this.socket.pause()
  }

  private noteSent(): void {
    const { sending } = this
    if (sending.frames === 0) return
    this.guard.sent(sending.frames, sending.bytes)
    sending.frames = 0
    sending.bytes = 0
  }

  private outputDrained(): void {
    this.sending.drained()
    if (this.socket.isPaused() && !this.output.choked) this.socket.resume()
  }

  /** Looks at its deadlines; `now` in milliseconds of performance.now(). */
  check(now: number): void {
    if (this.ended) return
    this.guard.look()
    if (this.blockDeadline !== 0 && now >= this.blockDeadline) this.fail(CODE.enhanceYourCalm, 'field_block_timeout')
    else if (this.settingsDeadline !== 0 && now >= this.settingsDeadline) this.fail(CODE.settingsTimeout)
    else if (!this.output.busy) this.stallDeadline = 0
    else if (this.stallDeadline === 0 || this.output.writes !== this.writesBefore) {
      this.writesBefore = this.output.writes
      this.stallDeadline = now + this.options.stallMs
    } else if (now >= this.stallDeadline) this.destroy()
  }

  // --- streams

  /** Begins a stream towards a server; undefined when there can be no more. Its head must follow. */
  open(): FramedStream | undefined {
    const id = this.closing ? undefined : this.numbers.take()
    return id === undefined ? undefined : this.makeStream(id)
  }

  private makeStream(id: number): FramedStream {
    const stream = new FramedStream(id, this, this.peer.initialWindowBytes, this.options.firstWindowBytes)
    stream.bornAt = this.guard.age
    this.streams.set(id, stream)
    return stream
  }

  over(stream: FramedStream, code: number): void {
    if (stream.closed) return
    const unread = stream.close()
    this.streams.delete(stream.id)
    this.guard.ended(stream, code === CODE.none)
    if (!this.ended) this.windows.taken(undefined, unread)
    stream.user?.streamClosed(stream, code)
    if (!this.ended) this.endWhenDone()
  }

  private endWhenDone(): void {
    if (this.streams.size > 0) return
    if (this.closing && !this.draining) this.end()
    else this.owner.sessionIdle(false)
  }

  fieldBlock(id: number, endStream: boolean, bytes: Buffer, from: number, to: number): void {
    if (!this.decoder.decode(bytes, from, to)) {
      this.fail(CODE.compression)
      return
    }
    const stream = this.streams.get(id)
    if (stream === undefined) this.otherFields(id, endStream)
    else if (stream.receivedEnd) this.streamError(id, CODE.streamClosed)
    else if (!this.laterFields(stream, endStream)) this.streamError(id, CODE.protocol)
    this.decoder.forget()
  }

  /** An answer's head, or trailers; false when they are malformed. */
  private laterFields(stream: FramedStream, endStream: boolean): boolean {
    const { fields, tooLarge } = this.decoder
    if (stream.user?.streamFields(fields, tooLarge, endStream) !== true) return stream.closed
    return !endStream || stream.closed || stream.receive(NOTHING, 0, 0, true)
  }

  /** Fields of a stream that is not open: a new one, or one that is over. */
  private otherFields(id: number, endStream: boolean): void {
    const { numbers } = this
    if (!numbers.mayBegin(id)) {
      this.closedStream(id)
      return
    }
    numbers.lastOfPeer = id
    this.guard.begun()
    // Behind the last GOAWAY the client may ask elsewhere, too.
    if (this.streams.size >= this.options.maxStreams || (this.closing && !this.draining)) {
      this.sendReset({ id }, CODE.refusedStream)
      // Before it has read our SETTINGS it cannot know how many streams there may be, but it asks for no more than it has.
      if (this.settingsDeadline === 0 || ++this.refusedEarly > MOST_REFUSED_EARLY) this.countFault()
      return
    }
    numbers.lastServed = id
    const stream = this.makeStream(id)
    if (endStream) stream.receiveNothing()
    this.owner.sessionRequest(stream, this.decoder.fields, this.decoder.tooLarge, endStream)
  }

  /** A frame that needs a stream came for one that is not open (RFC 9113 section 5.1). */
  private closedStream(id: number): void {
    if (this.numbers.isIdle(id)) this.fail(CODE.protocol)
    else if (!this.numbers.mayTrickle(id)) this.fail(CODE.streamClosed)
  }

  // --- what is received

  dataBegins(id: number, size: number): FramedStream | undefined {
    if (!this.windows.use(size)) {
      this.fail(CODE.flowControl)
      return undefined
    }
    const stream = this.streams.get(id)
    if (stream === undefined) {
      this.closedStream(id)
      return undefined
    }
    stream.receiveWindow -= size
    if (stream.receivedEnd || !stream.mayReceive)
      this.streamError(id, stream.receivedEnd ? CODE.streamClosed : CODE.protocol)
    else if (stream.receiveWindow < 0) this.streamError(id, CODE.flowControl)
    return stream.closed ? undefined : stream
  }

  content(stream: FramedStream, bytes: Buffer, from: number, to: number, last: boolean): void {
    if (to > from) this.guard.received()
    if (stream.receive(bytes, from, to, last)) return
    this.windows.taken(undefined, to - from)
    this.streamError(stream.id, CODE.protocol)
  }

  wasted(stream: FramedStream | undefined, bytes: number): void {
    this.windows.taken(stream, bytes)
  }

  taken(stream: FramedStream, bytes: number): void {
    if (bytes > 0 && !this.ended) this.windows.taken(stream, bytes)
  }

  reset(id: number, code: number): void {
    const stream = this.streams.get(id)
    if (stream === undefined) {
      if (this.numbers.isIdle(id)) this.fail(CODE.protocol)
      return
    }
    // Upstreams may reset as many as they are asked: it is we who choose them.
    if (this.options.server && !this.guard.reset(stream)) {
      this.fail(CODE.enhanceYourCalm, 'resets')
      return
    }
    // An answer that is complete stays so (RFC 9113 section 8.1).
    if (stream.receivedEnd && !this.options.server) stream.stopSending()
    else this.over(stream, code === CODE.none ? CODE.cancel : code)
  }

  private countFault(): void {
    if (this.options.server && !this.guard.fault()) this.fail(CODE.enhanceYourCalm, 'resets')
  }

  settings(bytes: Buffer, from: number, to: number): void {
    const before = this.peer.initialWindowBytes
    const code = this.peer.read(bytes, from, to, this.options.server)
    if (code !== CODE.none) {
      this.fail(code)
      return
    }
    this.encoder.limit(this.peer.lowestTableBytes)
    this.encoder.limit(this.peer.tableBytes)
    const more = this.peer.initialWindowBytes - before
    for (const stream of more === 0 ? [] : this.streams.values()) {
      if (this.sending.widenStream(stream, more) !== CODE.none) {
        this.fail(CODE.flowControl)
        return
      }
    }
    this.reply(TYPE.settings, bytes, to, to)
    this.owner.sessionChanged()
    this.idle()
  }

  settingsAcknowledged(): void {
    this.settingsDeadline = 0
    this.idle()
  }

  ping(bytes: Buffer, from: number, to: number): void {
    this.reply(TYPE.ping, bytes, from, to)
    this.idle()
  }

  pingAnswered(bytes: Buffer, from: number): void {
    if (this.draining && bytes.readUInt32BE(from) === DRAIN_PING) this.endDrain()
    else this.idle()
  }

  goaway(lastStream: number, _code: number): void {
    this.idle()
    if (this.options.server) return
    this.closing = true
    // Those beyond were not looked at: they may be asked elsewhere.
    for (const stream of [...this.streams.values()]) {
      if (stream.id > lastStream) stream.reset(CODE.refusedStream)
    }
    this.owner.sessionChanged()
    this.endWhenDone()
  }

  windowUpdate(id: number, increment: number): void {
    const stream = id === 0 ? undefined : this.streams.get(id)
    if (this.options.server) {
      // DATA that is framed while these bytes are read comes back with later ones at the earliest.
      const mayReturn = id === 0 ? this.guard.returned(increment) : this.guard.returnedOf(stream, increment)
      if (!mayReturn) {
        this.fail(CODE.enhanceYourCalm, 'idle_frames')
        return
      }
    }
    if (id === 0) {
      const code = this.sending.widen(increment)
      if (code !== CODE.none) this.fail(code)
    } else if (stream === undefined) {
      if (this.numbers.isIdle(id)) this.fail(CODE.protocol)
    } else {
      const code = increment === 0 ? CODE.protocol : this.sending.widenStream(stream, increment)
      if (code !== CODE.none) this.streamError(id, code)
    }
  }

  awaitBlock(begun: boolean): void {
    this.blockDeadline = begun ? performance.now() + this.options.headTimeoutMs : 0
  }

  idle(): void {
    if (this.options.server && !this.guard.idle()) this.fail(CODE.enhanceYourCalm, 'idle_frames')
  }

  streamError(id: number, code: number): void {
    const stream = this.streams.get(id)
    if (stream !== undefined) stream.reset(code)
    else if (!this.numbers.isIdle(id)) this.sendReset({ id }, code)
    this.countFault()
  }

  // --- what is sent

  sendBlock(stream: FramedStream, last: boolean): void {
    this.output.block(stream.id, this.encoder.end(), last)
  }

  sendData(stream: FramedStream, chunk: Buffer, from: number, to: number): boolean {
    return this.sending.send(stream, chunk, from, to)
  }

  sendReset({ id }: Pick<FramedStream, 'id'>, code: number): void {
    if (this.ended) return
    this.numbers.wasReset(id)
    this.output.head(4, TYPE.reset, 0, id)
    this.output.word(code)
  }

  private reply(type: number, bytes: Buffer, from: number, to: number): void {
    if (this.ended) return
    this.output.head(to - from, type, 1, 0)
    this.output.bytes(bytes, from, to)
  }

  private sendGoaway(code: number, lastStream = this.numbers.lastServed): void {
    this.output.head(8, TYPE.goaway, 0, 0)
    this.output.word(lastStream)
    this.output.word(code)
  }

  // --- the end

  /** Lets clients finish: says first that it will end, then, once they have read that, which streams are the last (RFC 9113 section 6.8). */
  drain(): void {
    if (this.closing || this.ended) return
    this.closing = true
    this.draining = true
    this.sendGoaway(CODE.none, MAX_STREAM_ID)
    this.output.head(8, TYPE.ping, 0, 0)
    this.output.word(DRAIN_PING)
    this.output.word(0)
  }

  /** Takes no more streams, and ends with the last of those that are open. */
  endDrain(): void {
    if (this.ended) return
    const said = this.closing && !this.draining
    this.closing = true
    this.draining = false
    if (this.streams.size === 0) this.end()
    else if (!said) this.sendGoaway(CODE.none)
  }

  private end(): void {
    this.fail(CODE.none)
  }

  /** Ends the connection, and says why (RFC 9113 section 5.4.1). */
  fail(code: number, reason: GoawayReason = reasonOf(code)): void {
    if (this.ended) return
    this.sendGoaway(code)
    this.owner.sessionGoaway(reason)
    this.finish(CODE.cancel)
    this.output.end()
  }

  /** Ends the connection at once, in any state. */
  destroy(): void {
    this.finish(CODE.cancel)
    this.output.cut()
  }

  private finish(code: number): void {
    if (this.ended) return
    this.ended = true
    this.closing = true
    this.input.stop()
    this.windows.end()
    for (const stream of [...this.streams.values()]) {
      // An answer that is complete stays so, while its user takes what waits.
      if (stream.receivedEnd && !this.options.server) stream.stopSending()
      else this.over(stream, code)
    }
    this.owner.sessionIdle(true)
  }
}
