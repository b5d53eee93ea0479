import type { Log } from '../../../model/logs/log.ts'
import type { Clock } from '../../../model/time/clock.ts'
import type { Db } from './db.ts'

/** What nobody notices. */
const TOLERATED_MS = 5_000

/**
 * Says so when the clock of this node and that of PostgreSQL are more than five seconds apart: each node judges by its own when a key or
 * token has expired, and forgets what has. @throws Fault `store_away`
 */
export async function checkClock(db: Db, clock: Clock, log: Log): Promise<void> {
  const before = clock.wall()
  const [row] = await db.read<{ now: number }>('SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now')
  const after = clock.wall()
  const { now } = row!
  // The duration of the query and its response is not separated.
  const aheadMs = now < before ? before - now : Math.min(0, after - now)
  if (Math.abs(aheadMs) <= TOLERATED_MS) return
  const apart = `${Math.round(Math.abs(aheadMs) / 1000)} s ${aheadMs > 0 ? 'ahead of' : 'behind'}`
  log.warn(
    { ahead_ms: Math.round(aheadMs) },
    `the clock of this node is ${apart} that of PostgreSQL: keys and tokens expire too ${aheadMs > 0 ? 'early' : 'late'} here`,
  )
}
