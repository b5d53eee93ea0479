import zlib, { constants } from 'node:zlib'
import type { Coding } from '../../model/apis/definition/api.ts'
import type { BodyEncoder } from '../../wire/http1/exchange.ts'

/** The part of Node's zlib objects that works at once. */
interface Codec {
  readonly _handle: {
    writeSync(flush: number, input: Buffer, from: number, size: number, output: Buffer, at: number, room: number): void
  }
  /** Room left in the output, and bytes left of the input. */
  readonly _writeState: Uint32Array
  close(): void
  on(event: 'error', listener: (error: Error) => void): unknown
}

interface CodingWay {
  open(): unknown
  /** Operations: all that came goes out, and that was all. */
  readonly flush: number
  readonly end: number
}

/** Each with a window of 256 kB at most, so that an open encoder holds 0.3 to 0.6 MB. */
const WAYS: Readonly<Record<Coding, CodingWay>> = {
  gzip: {
    open: () => zlib.createGzip({ level: 5 }),
    flush: constants.Z_SYNC_FLUSH,
    end: constants.Z_FINISH,
  },
  br: {
    open: () =>
      zlib.createBrotliCompress({
        params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: 18 },
      }),
    flush: constants.BROTLI_OPERATION_FLUSH,
    end: constants.BROTLI_OPERATION_FINISH,
  },
  zstd: {
    open: () =>
      zlib.createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_windowLog]: 18 } }),
    flush: constants.ZSTD_e_flush,
    end: constants.ZSTD_e_end,
  },
}

/** More answers than these are not compressed at a time, by one thread. */
const MOST_OPEN = 256

/** Module state: memory of this thread. */
let open = 0
const output = Buffer.allocUnsafeSlow(65_536)

/**
 * Compresses a body as its parts come, and lets out all of each part at once: nothing waits in it, so streams of events stay such. It
 * works in the thread that relays, as other proxies do: a part has 64 kB at most, which takes 0.1 ms (zstd) to 1.2 ms (gzip).
 */
export class ZlibEncoder implements BodyEncoder {
  readonly #way: CodingWay
  #codec: Codec | undefined
  #failure: Error | undefined
  #closed = false

  private constructor(way: CodingWay) {
    this.#way = way
  }

  /** Undefined where too many are open. Each is closed by its exchange. */
  static open(coding: Coding): ZlibEncoder | undefined {
    if (open >= MOST_OPEN) return undefined
    open++
    return new ZlibEncoder(WAYS[coding])
  }

  /** A whole body in this coding. */
  static whole(coding: Coding, body: Buffer): Buffer {
    open++
    const encoder = new ZlibEncoder(WAYS[coding])
    try {
      return encoder.encode(body, 0, body.length, true)
    } finally {
      encoder.close()
    }
  }

  encode(chunk: Buffer, from: number, to: number, last: boolean): Buffer {
    if (to === from && !last) return NOTHING
    this.#codec ??= this.#start()
    const { _handle: handle, _writeState: left } = this.#codec
    const parts: Buffer[] = []
    for (let at = from; ; ) {
      handle.writeSync(last ? this.#way.end : this.#way.flush, chunk, at, to - at, output, 0, output.length)
      if (this.#failure !== undefined) throw this.#failure
      parts.push(Buffer.from(output.subarray(0, output.length - left[0]!)))
      at = to - left[1]!
      if (left[0]! > 0) return parts.length === 1 ? parts[0]! : Buffer.concat(parts)
    }
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    open--
    this.#codec?.close()
  }

  /** Node's streams of zlib wait a turn for each part; the handle below them, which their `gzipSync` uses, does not. */
  #start(): Codec {
    const codec = this.#way.open() as Codec
    codec.on('error', (error) => {
      this.#failure = error
    })
    return codec
  }
}

const NOTHING = Buffer.alloc(0)
