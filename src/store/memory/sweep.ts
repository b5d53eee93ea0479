import { performance } from 'node:perf_hooks'
import type { Millis } from '../../model/time/clock.ts'

const LOOK_ROWS = 256

/** Drops due rows of a map, some milliseconds at a time, resuming where it stopped. */
export class Sweep<Row> {
  private readonly rows: ReadonlyMap<string, Row>
  private readonly isDue: (row: Row, now: Millis) => boolean
  private readonly drop: (key: string) => void
  private place: Iterator<[string, Row]>

  constructor(rows: ReadonlyMap<string, Row>, isDue: (row: Row, now: Millis) => boolean, drop: (key: string) => void) {
    this.rows = rows
    this.isDue = isDue
    this.drop = drop
    this.place = rows.entries()
  }

  /** Runs for this long, at most to the end; returns how many rows were dropped. */
  step(now: Millis, limitMs: number): number {
    const endsAt = performance.now() + limitMs
    let dropped = 0
    for (let looked = 1; ; looked++) {
      const { done, value } = this.place.next()
      if (done) break
      if (this.isDue(value[1], now)) {
        this.drop(value[0])
        dropped++
      }
      if (looked % LOOK_ROWS === 0 && performance.now() >= endsAt) return dropped
    }
    this.place = this.rows.entries()
    return dropped
  }

  /** Looks at all rows; answers how many went. */
  all(now: Millis): number {
    this.place = this.rows.entries()
    return this.step(now, Number.POSITIVE_INFINITY)
  }
}
