import { forgetEndedKeys } from '../../../publish/portal/developers/key-ends.ts'
import { PeriodicJob } from '../../../runtime/periodic-job.ts'
import type { DashboardParts } from '../../server/parts.ts'

const EVERY_MS = 60_000

/** Forgets ended keys of developers now and once a minute. */
export function scheduleKeyExpiry(parts: DashboardParts): PeriodicJob {
  return new PeriodicJob({
    everyMs: EVERY_MS,
    atOnce: true,
    async run() {
      const keys = await forgetEndedKeys(parts)
      if (keys > 0) parts.log.info({ keys }, 'deleted expired developer keys')
    },
    onError: (cause) => parts.log.error({ cause }, 'cannot delete expired developer keys'),
  })
}
