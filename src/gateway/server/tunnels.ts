import type { Clock } from '../../model/time/clock.ts'
import { isLiveToken } from '../oauth/own-token.ts'
import type { LiveSession, Sessions } from '../sessions/sessions.ts'
import type { Exchange, Snapshot } from './exchange.ts'

/** A tunnel ends at most this long, and the sweep that follows, after its key or API. */
const CHECK_MS = 500

export interface TunnelParts {
  readonly sessions: Sessions
  readonly snapshot: () => Snapshot
  readonly clock: Clock
}

/** The session and token that let a tunnel in. */
interface Admitted {
  readonly session: LiveSession | undefined
  /** Hash of our own token behind a session that its claims made; '' = none. */
  readonly ownToken: string
}

/** The tunnels (101) that are open, and what let each in: one ends when a new request like it would be refused for its key or API. */
export class Tunnels {
  readonly #parts: TunnelParts
  readonly #open = new Map<Exchange, Admitted>()
  #timer: NodeJS.Timeout | undefined

  constructor(parts: TunnelParts) {
    this.#parts = parts
  }

  opened(x: Exchange): void {
    this.#open.set(x, { session: x.session as LiveSession | undefined, ownToken: x.ownToken })
    this.#timer ??= setInterval(() => this.#check(), CHECK_MS).unref()
  }

  closed(x: Exchange): void {
    this.#open.delete(x)
    if (this.#open.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #check(): void {
    for (const [x, admitted] of this.#open) void this.#checkOne(x, admitted)
  }

  /**
   * Never rejects: a fault of the store takes nothing away. What is in memory is served to new requests too, and the embedded store fails
   * in the call itself.
   */
  async #checkOne(x: Exchange, admitted: Admitted): Promise<void> {
    try {
      const allowed = this.#isAllowed(x, admitted.session)
      const isOpen = allowed instanceof Promise ? await allowed : allowed
      if (!isOpen || !(await this.#isTokenLive(admitted.ownToken))) this.#end(x, admitted)
    } catch {}
  }

  /** The claims of a revoked token are as they were. */
  async #isTokenLive(hash: string): Promise<boolean> {
    if (hash === '') return true
    const { sessions, snapshot, clock } = this.#parts
    const [now, wall] = [snapshot(), clock.wall()]
    return isLiveToken(await sessions.findAgain(hash, now, wall), now, wall)
  }

  /** Another request may have opened a tunnel on the same connection's exchange meanwhile. */
  #end(x: Exchange, admitted: Admitted): void {
    if (this.#open.get(x) === admitted) x.link?.cutTunnel?.()
  }

  #isAllowed(x: Exchange, session: LiveSession | undefined): boolean | Promise<boolean> {
    const { sessions, snapshot, clock } = this.#parts
    const now = snapshot()
    const { api } = x.chain!
    if (!now.apis.has(api.apiId)) return false
    if (session === undefined) return true
    const wall = clock.wall()
    if (x.credentialEndsAt !== 0 && x.credentialEndsAt <= wall) return false
    if (session.isDerived) {
      const isCurrent = session.policyGeneration === now.policyGeneration
      const { source, keyHash } = session
      return this.#mayContinue(x, isCurrent ? session : sessions.derive(source, keyHash, now), wall)
    }
    const found = sessions.findAgain(session.keyHash, now, wall)
    if (found instanceof Promise) return found.then((late) => this.#mayContinue(x, late, wall))
    return this.#mayContinue(x, found, wall)
  }

  #mayContinue(x: Exchange, session: LiveSession | undefined, wall: number): boolean {
    if (session === undefined || session.unusable || session.inactive) return false
    const { evictAt, expiresAt, token } = session
    if ((evictAt !== 0 && evictAt <= wall) || (expiresAt !== 0 && expiresAt <= wall)) return false
    if (token !== undefined && token.client === undefined) return false
    return session.planFor(x.chain!).access !== undefined
  }
}
