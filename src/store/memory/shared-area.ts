import { fault } from '../../errors/fault.ts'

const LEAST_BYTES = 16 << 20

/** Memory of several threads that grows in chunks of one size. What it may grow to is reserved, not used. */
export class SharedArea {
  readonly buffer: SharedArrayBuffer
  readonly #chunkBytes: number

  constructor(buffer: SharedArrayBuffer, chunkBytes: number) {
    this.buffer = buffer
    this.#chunkBytes = chunkBytes
  }

  get chunks(): number {
    return this.buffer.byteLength / this.#chunkBytes
  }

  /** Has so many chunks at least. Only under the lock of the tables. @throws Fault `store_full` */
  grow(chunks: number): void {
    const bytes = chunks * this.#chunkBytes
    if (bytes <= this.buffer.byteLength) return
    if (bytes > this.buffer.maxByteLength) throw fault('store_full', 'too many counts of limits are in use at once')
    this.buffer.grow(bytes)
  }

  /** Chunk `index` as doubles. */
  doubles(index: number): Float64Array {
    return new Float64Array(this.buffer, index * this.#chunkBytes, this.#chunkBytes / Float64Array.BYTES_PER_ELEMENT)
  }
}

/** Memory that may grow to `mostBytes`, or as far as this process may reserve. @throws Fault `internal` */
export function reserve(mostBytes: number): SharedArrayBuffer {
  for (let bytes = mostBytes; bytes >= LEAST_BYTES; bytes /= 2) {
    try {
      return new SharedArrayBuffer(0, { maxByteLength: bytes })
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
    }
  }
  throw fault('internal', 'no memory can be reserved for counts of limits that threads share')
}
