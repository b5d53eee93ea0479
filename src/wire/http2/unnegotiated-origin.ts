import type { Socket } from 'node:net'
import type { Fault } from '../../errors/fault.ts'
import type { OriginUser } from '../connect/origin.ts'
import type { Origin, OriginOutlet } from '../connect/origin-port.ts'

/** A request to an upstream of which it is not known yet which version of HTTP it speaks: waits, then is what it was decided to be. */
export class UnnegotiatedOrigin implements Origin {
  private readonly user: OriginUser
  private origin: Origin | undefined
  private dropped = false

  constructor(user: OriginUser) {
    this.user = user
  }

  /** Chooses the protocol of the request. */
  decide(take: (user: OriginUser) => Origin): void {
    if (this.dropped) return
    this.origin = take(this.user)
    if (this.origin.open) this.user.originReady()
  }

  /** There will be no connection. */
  fail(fault: Fault): void {
    if (!this.dropped) this.user.originFailed(fault, true)
  }

  get open(): boolean {
    return this.origin?.open ?? false
  }

  get used(): number {
    return this.origin?.used ?? 0
  }

  get socket(): Socket | undefined {
    return this.origin?.socket
  }

  get outlet(): OriginOutlet | undefined {
    return this.origin?.outlet
  }

  get framing(): boolean {
    return this.origin?.framing ?? false
  }

  ask(bodiless: boolean, mayUpgrade: boolean, now: number): void {
    this.origin?.ask(bodiless, mayUpgrade, now)
  }

  sent(now: number): void {
    this.origin?.sent(now)
  }

  stalled(): void {
    this.origin?.stalled()
  }

  unstalled(): void {
    this.origin?.unstalled()
  }

  pause(): void {
    this.origin?.pause()
  }

  resume(): void {
    this.origin?.resume()
  }

  destroy(): void {
    this.dropped = true
    this.origin?.destroy()
  }

  abandon(): void {
    this.dropped = true
    this.origin?.abandon()
  }

  leave(): void {
    this.origin?.leave()
  }
}
