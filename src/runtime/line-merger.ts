import { write } from 'node:fs'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import type { MessagePort } from 'node:worker_threads'
import type { LineSink } from '../model/logs/log.ts'

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

/** Beyond it lines are kept waiting on the thread that they come from. */
const MOST_WAITING_BYTES = 1 << 20
const LOOK_AGAIN_MS = 50

/** The lines of a thread, which another one writes: lines of several threads at one pipe would be torn. */
export class PassedLines implements LineSink {
  backlogBytes = 0
  readonly #port: MessagePort

  constructor(port: MessagePort) {
    this.#port = port
    port.on('message', (bytes: number) => {
      this.backlogBytes -= bytes
    })
    port.unref()
  }

  write(lines: string): boolean {
    this.backlogBytes += Buffer.byteLength(lines)
    this.#port.postMessage(lines)
    return true
  }

  async close(): Promise<void> {
    this.#port.close()
  }
}

/** Writes the lines of another thread to `sink`. */
export function writePassedLines(port: MessagePort, sink: LineSink): void {
  const written = (bytes: number) => {
    if (sink.backlogBytes < MOST_WAITING_BYTES) port.postMessage(bytes)
    else setTimeout(() => written(bytes), LOOK_AGAIN_MS).unref()
  }
  port.on('message', (lines: string) => {
    sink.write(lines)
    written(Buffer.byteLength(lines))
  })
  port.unref()
}
