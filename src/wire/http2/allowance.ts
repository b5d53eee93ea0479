import { performance } from 'node:perf_hooks'

/** How many things of a kind a peer may do: some at once, then so many a second. */
export class Allowance {
  private readonly burst: number
  private readonly perMs: number
  private left: number
  private filledAt = performance.now()

  constructor(burst: number, perSecond: number) {
    this.burst = burst
    this.perMs = perSecond / 1000
    this.left = burst
  }

  /** Counts one. False when it is one too many. */
  take(): boolean {
    if (this.left < 1) this.refill()
    return --this.left >= 0
  }

  /** Useful work of a peer allows it more of the rest. */
  earn(count: number): void {
    this.left = Math.min(this.burst, this.left + count)
  }

  private refill(): void {
    const now = performance.now()
    this.left = Math.min(this.burst, Math.max(0, this.left) + (now - this.filledAt) * this.perMs)
    this.filledAt = now
  }
}
