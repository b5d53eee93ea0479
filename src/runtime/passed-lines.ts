import type { MessagePort } from 'node:worker_threads'
import type { LineSink } from '../model/logs/log.ts'

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
