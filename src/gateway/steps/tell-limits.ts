import type { Limit } from '../../model/limit.ts'
import type { Counters } from '../../store/ports.ts'
import type { Exchange, Outcome, Reply, Step } from '../exchange.ts'
import { isRateLimits } from '../own-paths.ts'
import { run } from '../run.ts'
import { LedOn } from './lead-on.ts'
import { limitsOf, organisationOf } from './take-permits.ts'

/**
 * Tells callers of an API with authentication what their rate and quota are and what is left, without taking of either, at
 * `{listen path}/svc/rate-limits/`. `identify` are the steps that say who is calling and whether they may.
 */
export function tellLimits(counters: Counters, identify: readonly (Step | undefined)[]): Step | undefined {
  if (identify.length === 0) return undefined
  const steps = [...identify.filter((step) => step !== undefined), limitsTold(counters)]
  return function tellLimits(x) {
    if (!isRateLimits(x.rest, 0) || (x.method !== 'GET' && x.method !== 'HEAD')) return undefined
    return x.dry ? new LedOn(steps) : run(steps, x)
  }
}

function limitsTold(counters: Counters): Step {
  return function limitsTold(x) {
    const limits = limitsOf(x, x.plan?.grant, organisationOf(x))
    if (limits.length === 0) return replyOf(x, limits)
    const peeked: unknown = counters.peek(limits, x)
    return peeked instanceof Promise ? peeked.then((): Outcome => replyOf(x, limits)) : replyOf(x, limits)
  }
}

/** -1 = without bound. */
function replyOf(x: Exchange, limits: readonly Limit[]): Reply {
  const quota = limits.find(({ kind }) => kind === 'quota')
  const rate = limits.find(({ kind, name }) => kind === 'rate' && name !== 'api')
  const body = {
    quota: {
      quota_max: quota?.max ?? -1,
      quota_remaining: quota?.remaining ?? -1,
      quota_renews: quota === undefined || quota.resetMs === 0 ? 0 : Math.ceil((x.wall + quota.resetMs) / 1000),
    },
    rate_limit: { requests: rate?.max ?? -1, per_unit: rate === undefined ? 0 : rate.windowMs / 1000 },
  }
  const fields = 'Content-Type: application/json\r\nCache-Control: no-store\r\n'
  return { status: 200, fields, body: JSON.stringify(body) }
}
