import type { WireLimits } from '../listen/limits.ts'
import type { WireExchange, WireHandler } from './exchange.ts'
import type { Accepted } from './read-buffer.ts'

/** The listener as a connection sees it. */
export interface ConnectionOwner<X extends WireExchange> {
  readonly handler: WireHandler<X>
  readonly limits: WireLimits
  /** True once the listener is being drained: every answer is the last of its connection. */
  readonly draining: boolean
  /** The connection is no more. */
  closed(connection: OpenConnection): void
  /** Takes over a plain connection whose client has said, in `bytes`, that it speaks HTTP/2; undefined where that is not spoken. */
  readonly speakHttp2?: ((connection: UpgradedAway, bytes: Buffer) => void) | undefined
}

/** A connection as its listener sees it, whichever version of HTTP it speaks. */
export interface OpenConnection {
  /** The listener is being drained: an idle connection ends at once, a busy one after its answers, a WebSocket between two frames. */
  drain(): void
  /** Ends the connection in any state: the drain is over. */
  destroy(): void
}

/** A connection of HTTP/1.1 that turned out to be none. */
export interface UpgradedAway extends OpenConnection {
  readonly accepted: Accepted
}
