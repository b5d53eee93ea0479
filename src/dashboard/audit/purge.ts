import { purgeTombstones } from '../../publish/documents/purge-tombstones.ts'
import { PeriodicJob } from '../../runtime/periodic-job.ts'
import type { DashboardParts } from '../server/parts.ts'

const DAY_MS = 86_400_000
const EVERY_MS = 3_600_000

/** Forgets what the audit log holds for longer than `audit.retention_days`; answers how many entries. @throws Fault `store_full`, `store_away` */
export async function purgeOldAudit({ store, clock, config }: DashboardParts): Promise<number> {
  const { retention_days: days } = config.dashboard.audit
  return days === 0 ? 0 : store.audit.purgeAudit(clock.wall() - days * DAY_MS)
}

/** Purges old audit entries now and once an hour. */
export function scheduleAuditRetention(parts: DashboardParts): PeriodicJob {
  return new PeriodicJob({
    everyMs: EVERY_MS,
    atOnce: true,
    async run() {
      const entries = await purgeOldAudit(parts)
      if (entries > 0) parts.log.info({ entries }, 'deleted old audit log entries')
    },
    onError: (cause) => parts.log.error({ cause }, 'cannot delete old audit log entries'),
  })
}

/** Forgets notes about what was deleted longer ago than it can be undone, and those beyond their bound. @throws Fault `store_full`, `store_away` */
function purgeOldTombstones({ store, clock, config }: DashboardParts): Promise<number> {
  const { audit } = config.dashboard
  const { retention_days: countDays, records_days: records } = config.analytics
  const auditDays = audit.retention_days
  const recordDays = auditDays === 0 || countDays === 0 ? 0 : Math.max(auditDays, countDays, records)
  return purgeTombstones(store, { now: clock.wall(), auditDays, recordDays })
}

/** Does so now and once an hour. */
export function scheduleTombstoneRetention(parts: DashboardParts): PeriodicJob {
  return new PeriodicJob({
    everyMs: EVERY_MS,
    atOnce: true,
    run: () => purgeOldTombstones(parts),
    onError: (cause) => parts.log.error({ cause }, 'cannot forget what was deleted long ago'),
  })
}
