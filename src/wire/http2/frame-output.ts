import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { turnEnd } from '../http1/write-batch.ts'
import { FLAG, FRAME_HEAD_BYTES, MAX_FRAME_BYTES, TYPE } from './codes.ts'

/** Frames are put together in pieces of this size, each one write. */
const PIECE_BYTES = 65_536
const MAX_SPARE_PIECES = 32
/** Bytes that wait for the socket before DATA is held back, and before nothing more is read from a peer that does not read. */
const FULL_BYTES = 65_536
const CHOKED_BYTES = 262_144

/** The encoding that Writable passes for bytes; the type knows only those of strings. */
const BYTES = 'buffer' as BufferEncoding

/** Module state: memory of this thread. Pieces that were written, for the next frames of whichever connection. */
const spare: Buffer[] = []

/** The writing side of a connection of HTTP/2: gathers the frames of one turn, and writes them together. */
export class FrameOutput {
  private readonly socket: Socket
  private readonly direct: boolean
  private readonly drained: () => void
  private piece: Buffer | undefined
  private length = 0
  /** Pieces that are full, and their bytes. */
  private readonly waiting: Buffer[] = []
  private readonly waitingBytes: number[] = []
  /** The piece that the socket has and the kernel not yet, and its bytes. */
  private lent: Buffer | undefined
  private lentBytes = 0
  /** True when the write continued after its call had returned. */
  private late = false
  /** Writes that the socket has taken: shows progress. */
  writes = 0
  private scheduled = false
  private ending = false

  /** `drained` is called when a socket that did not take all at once has taken it. */
  constructor(socket: Socket, drained: () => void) {
    this.socket = socket
    this.direct = !(socket instanceof TLSSocket)
    this.drained = drained
  }

  /** Bytes that the kernel has not taken, those of a write in progress among them. */
  get pendingBytes(): number {
    return this.length + this.waiting.length * PIECE_BYTES + this.lentBytes
  }

  /** True while a write is in progress. */
  get busy(): boolean {
    return this.lent !== undefined
  }

  /** True when DATA must wait. */
  get full(): boolean {
    return this.busy && this.pendingBytes - this.lentBytes >= FULL_BYTES
  }

  /** True when so much waits that nothing may be asked for any more. */
  get choked(): boolean {
    return this.busy && this.pendingBytes >= CHOKED_BYTES
  }

  /** Appends text that is no frame: the preface of a client. */
  text(latin1: string): void {
    this.length = this.reserve(latin1.length) + latin1.length
    this.piece!.write(latin1, this.length - latin1.length, 'latin1')
  }

  /** Begins a frame of `size` payload bytes (at most 16,384), which must follow. */
  head(size: number, type: number, flags: number, stream: number): void {
    const at = this.reserve(FRAME_HEAD_BYTES + size)
    const piece = this.piece!
    piece[at] = size >>> 16
    piece[at + 1] = size >>> 8
    piece[at + 2] = size
    piece[at + 3] = type
    piece[at + 4] = flags
    this.number(stream, at + 5)
    this.length = at + FRAME_HEAD_BYTES
  }

  /** Appends payload. */
  bytes(from: Uint8Array, start: number, end: number): void {
    this.piece!.set(start === 0 && end === from.length ? from : from.subarray(start, end), this.length)
    this.length += end - start
  }

  /** Appends 32 bits of payload. */
  word(value: number): void {
    this.number(value, this.length)
    this.length += 4
  }

  /** Appends 16 bits of payload. */
  half(value: number): void {
    const piece = this.piece!
    piece[this.length++] = value >>> 8
    piece[this.length++] = value
  }

  private number(value: number, at: number): void {
    const piece = this.piece!
    piece[at] = value >>> 24
    piece[at + 1] = value >>> 16
    piece[at + 2] = value >>> 8
    piece[at + 3] = value
  }

  /** A whole field block: HEADERS, and CONTINUATION for what does not fit. */
  block(stream: number, block: Buffer, endStream: boolean): void {
    const end = endStream ? FLAG.endStream : 0
    if (block.length <= MAX_FRAME_BYTES) {
      this.head(block.length, TYPE.headers, end | FLAG.endHeaders, stream)
      this.bytes(block, 0, block.length)
      return
    }
    for (let at = 0; at < block.length; at += MAX_FRAME_BYTES) {
      const size = Math.min(MAX_FRAME_BYTES, block.length - at)
      const last = at + size === block.length ? FLAG.endHeaders : 0
      this.head(size, at === 0 ? TYPE.headers : TYPE.continuation, (at === 0 ? end : 0) | last, stream)
      this.bytes(block, at, at + size)
    }
  }

  private reserve(size: number): number {
    if (this.piece === undefined) this.piece = spare.pop() ?? Buffer.allocUnsafeSlow(PIECE_BYTES)
    else if (this.length + size > PIECE_BYTES) this.turnPage()
    if (!this.scheduled && !this.busy) this.schedule()
    return this.length
  }

  private schedule(): void {
    this.scheduled = true
    turnEnd.flush(this)
  }

  private turnPage(): void {
    this.waiting.push(this.piece!)
    this.waitingBytes.push(this.length)
    this.piece = spare.pop() ?? Buffer.allocUnsafeSlow(PIECE_BYTES)
    this.length = 0
    if (!this.busy) this.writeNext()
  }

  /** Writes what there is, as far as the socket takes it. */
  flush(): void {
    this.scheduled = false
    while (!this.busy && this.pendingBytes > 0) this.writeNext()
    if (this.ending && !this.busy) this.socket.end()
  }

  private writeNext(): void {
    const { socket } = this
    const size = this.waitingBytes.shift() ?? this.length
    const piece = this.waiting.shift() ?? this.takePiece()
    if (socket.destroyed || !socket.writable) {
      giveBack(piece)
      return
    }
    this.lent = piece
    this.lentBytes = size
    this.late = false
    if (this.direct) socket._write(piece.subarray(0, size), BYTES, this.written)
    else socket.write(piece.subarray(0, size), this.written)
    this.late = this.busy
  }

  private takePiece(): Buffer {
    const taken = this.piece!
    this.piece = undefined
    this.length = 0
    return taken
  }

  private readonly written = (error?: Error | null): void => {
    const { lent } = this
    this.writes++
    this.lent = undefined
    this.lentBytes = 0
    // A failed buffer may still be read by the write that was cut off.
    if (error) {
      this.socket.destroy()
      return
    }
    if (lent !== undefined) giveBack(lent)
    if (!this.late) return
    this.flush()
    this.drained()
  }

  /** Ends our side once all is written. */
  end(): void {
    this.ending = true
    this.flush()
  }

  /** Ends the connection at once. With bytes that the other side never took a reset frees them, here and in the kernel. */
  cut(): void {
    const { socket } = this
    this.waiting.length = 0
    this.waitingBytes.length = 0
    this.piece = undefined
    this.length = 0
    if (this.direct && this.busy) socket.resetAndDestroy()
    else socket.destroy()
  }
}

function giveBack(piece: Buffer): void {
  if (spare.length < MAX_SPARE_PIECES) spare.push(piece)
}
