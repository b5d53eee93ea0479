import { type Clock, systemClock } from '../../model/time/clock.ts'
import type { RedisCounters } from './counters.ts'

/** Quota counts of a cluster for a transfer. A window that is over begins again. */
export function redisQuotas(counters: Pick<RedisCounters, 'quotas' | 'resetQuota'>, clock: Clock = systemClock) {
  return {
    read: () => counters.quotas(),
    async write(id: string, used: number, endsAt: number): Promise<void> {
      const endsInMs = endsAt - clock.wall()
      if (endsAt === 0) await counters.resetQuota(id, used)
      else if (endsInMs > 0) await counters.resetQuota(id, used, endsInMs)
    },
  }
}
