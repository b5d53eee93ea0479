import type { ReadableSpan, SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace'

export interface SpanQueueOptions {
  readonly exporter: SpanExporter
  readonly intervalMs: number
  readonly mostWaiting: number
}

const BATCH_SPANS = 512
const SAMPLED = 1
const SUCCESS = 0

/**
 * Finished spans on their way to the collector: a bounded list, sent in batches, one at a time. What finds no room, and what the
 * collector does not take, is dropped and counted; requests never wait.
 */
export class SpanQueue implements SpanProcessor {
  readonly #options: SpanQueueOptions
  #waiting: ReadableSpan[] = []
  #timer: NodeJS.Timeout | undefined
  #sending: Promise<void> | undefined
  #closed = false

  sent = 0
  dropped = 0

  constructor(options: SpanQueueOptions) {
    this.#options = options
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    if ((span.spanContext().traceFlags & SAMPLED) === 0) return
    if (this.#closed || this.#waiting.length >= this.#options.mostWaiting) {
      this.dropped++
      return
    }
    this.#waiting.push(span)
    if (this.#waiting.length >= BATCH_SPANS) this.#begin()
    else this.#timer ??= setTimeout(() => this.#begin(), this.#options.intervalMs).unref()
  }

  async forceFlush(): Promise<void> {
    this.#begin()
    await this.#sending
  }

  async shutdown(): Promise<void> {
    await this.forceFlush()
    this.#closed = true
    await this.#options.exporter.shutdown()
  }

  #begin(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#sending ??= this.#send().finally(() => {
      this.#sending = undefined
    })
  }

  async #send(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, BATCH_SPANS)
      if (await this.#export(batch)) this.sent += batch.length
      else this.dropped += batch.length
    }
  }

  #export(batch: ReadableSpan[]): Promise<boolean> {
    return new Promise((resolve) => {
      try {
        this.#options.exporter.export(batch, ({ code }) => resolve(code === SUCCESS))
      } catch {
        resolve(false)
      }
    })
  }
}
