import { write } from 'node:fs'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'

const writeTo = promisify(write)
const RETRY_MS = 100
const LINE_FEED = 10

/**
 * Passes what several streams say on to one file, in whole lines: a write of many lines to a full pipe is done in pieces, between
 * which another process that shares the pipe would put its own.
 */
export class LineMerger {
  readonly #file: number
  #turn: Promise<void> = Promise.resolve()

  /** `file` is a descriptor. */
  constructor(file: number) {
    this.#file = file
  }

  /** Ends with the stream. Reads on only when what was read is written. */
  async pass(stream: Readable): Promise<void> {
    let begun: Buffer[] = []
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      const end = chunk.lastIndexOf(LINE_FEED) + 1
      if (end > 0) {
        await this.#write(Buffer.concat([...begun, chunk.subarray(0, end)]))
        begun = []
      }
      if (end < chunk.length) begun.push(chunk.subarray(end))
    }
    if (begun.length > 0) await this.#write(Buffer.concat([...begun, Buffer.of(LINE_FEED)]))
  }

  #write(lines: Buffer): Promise<void> {
    this.#turn = this.#turn.then(() => writeAll(this.#file, lines))
    return this.#turn
  }
}

/** Writes all bytes, or drops those that cannot be written (full disk, reader gone). */
async function writeAll(file: number, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    try {
      at += (await writeTo(file, bytes, at)).bytesWritten
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) return
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
    }
  }
}
