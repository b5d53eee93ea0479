import { closeSync, write, writeSync } from 'node:fs'
import type { LineSink } from '../model/logs/log.ts'

// Not pino's own destination: with a full disk its flush at exit tries for ever, and the process never ends.

const RETRY_MS = 100
const CLOSE_WITHIN_MS = 2000
/** Texts are joined up to this size for one write. */
const WRITE_CHARACTERS = 64 << 10

/**
 * Writes whole lines to an open file in the background, one write at a time. Lines that cannot be written (full disk,
 * closed pipe) are dropped and counted in `lostBytes`; callers never wait for them.
 */
export class BackgroundSink implements LineSink {
  backlogBytes = 0
  /** Bytes thrown away because they could not be written. */
  lostBytes = 0
  readonly #file: number
  readonly #owned: boolean
  #queue: string[] = []
  #writing: Buffer | undefined
  #closed = false
  #whenIdle: (() => void) | undefined
  readonly #atExit = () => this.#writeNow()

  /** `file` is a descriptor; `owned` = close it in the end. */
  constructor(file: number, owned: boolean) {
    this.#file = file
    this.#owned = owned
    process.on('exit', this.#atExit)
  }

  write(lines: string): boolean {
    if (this.#closed) return false
    this.backlogBytes += Buffer.byteLength(lines)
    this.#queue.push(lines)
    if (this.#writing === undefined) this.#next()
    return true
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    if (this.#writing !== undefined) await this.#idle()
    process.off('exit', this.#atExit)
    // A write that hangs still holds the file; the system takes it back at exit.
    if (this.#owned && this.#writing === undefined) closeSync(this.#file)
  }

  #idle(): Promise<void> {
    return new Promise((resolve) => {
      const bound = setTimeout(resolve, CLOSE_WITHIN_MS)
      this.#whenIdle = () => {
        clearTimeout(bound)
        resolve()
      }
    })
  }

  #next(): void {
    if (this.#queue.length === 0) {
      this.#writing = undefined
      this.#whenIdle?.()
      return
    }
    let characters = 0
    let count = 0
    while (count < this.#queue.length && characters < WRITE_CHARACTERS) characters += this.#queue[count++]!.length
    this.#send(Buffer.from(this.#queue.splice(0, count).join('')))
  }

  #send(bytes: Buffer): void {
    this.#writing = bytes
    write(this.#file, bytes, (error, written) => {
      if (error === null) {
        this.backlogBytes -= written
        if (written < bytes.length) this.#send(bytes.subarray(written))
        else this.#next()
        return
      }
      // A pipe whose reader is slow says so; everything else will not get better by asking again.
      if (error.code === 'EAGAIN') {
        setTimeout(() => this.#send(bytes), RETRY_MS)
        return
      }
      this.backlogBytes -= bytes.length
      this.lostBytes += bytes.length
      this.#next()
    })
  }

  /** The process ends: one try for what is left, and no waiting. */
  #writeNow(): void {
    // The current write may have succeeded: only what is queued after it is surely missing.
    const rest = this.#queue.join('')
    this.#queue = []
    try {
      if (rest !== '') writeSync(this.#file, rest)
    } catch {
      this.lostBytes += Buffer.byteLength(rest)
    }
  }
}
