import type { Feed, FeedEvent } from '../ports/ports.ts'

/** The feed of one thread: hands every event to every listener, in order. */
export class ThreadFeed implements Feed {
  private readonly listeners = new Set<(event: FeedEvent) => void>()

  subscribe(listener: (event: FeedEvent) => void): () => void {
    // Wrapped, so that one function that subscribes twice is called twice and ends twice.
    const own = (event: FeedEvent) => listener(event)
    this.listeners.add(own)
    return () => this.listeners.delete(own)
  }

  /** Calls all listeners. One that throws is reported as a process warning and stops neither the others nor the commit. */
  publish(event: FeedEvent): void {
    for (const listener of this.listeners) {
      try {
        listener(event)
      } catch (error) {
        process.emitWarning(error instanceof Error ? error : String(error))
      }
    }
  }
}
