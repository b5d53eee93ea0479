import { DAY_MS } from '../../model/time/calendar.ts'
import { purgeOldMinutes } from '../../runtime/minute-retention.ts'
import { PeriodicJob } from '../../runtime/periodic-job.ts'
import type { DashboardParts } from '../server/parts.ts'

const EVERY_MS = 3_600_000

/** Forgets the counts of days that are longer ago than `analytics.retention_days`; answers how many rows. @throws Fault `store_full`, `store_away` */
export async function purgeOldHits({ store, clock, config }: DashboardParts): Promise<number> {
  const { retention_days: days } = config.analytics
  const beforeDay = Math.floor(clock.wall() / DAY_MS) - days
  return days === 0 || beforeDay <= 0 ? 0 : store.hits.purgeHits(beforeDay)
}

/** Does both now and once an hour. */
export function scheduleHitRetention(parts: DashboardParts): PeriodicJob {
  return new PeriodicJob({
    everyMs: EVERY_MS,
    atOnce: true,
    async run() {
      await purgeOldMinutes(parts)
      const rows = await purgeOldHits(parts)
      if (rows > 0) parts.log.info({ rows }, 'deleted old analytics rows')
    },
    onError: (cause) => parts.log.error({ cause }, 'cannot delete old analytics rows'),
  })
}
