import type { Limit } from '../../../model/limits/limit.ts'
import type { Counters } from '../../../store/ports/ports.ts'
import type { OwnEndpoint } from '../../routing/own-paths.ts'
import type { Exchange, Reply, Step, StepOutcome } from '../../server/exchange.ts'
import { limitFields, namedRates, reportedLimit, resetAt, wholeSeconds } from '../../server/limit-fields.ts'
import { run } from '../../server/run.ts'
import { InternalRedirect } from '../transforms/redirect-internally.ts'
import { limitsOf, organisationOf } from './take-permits.ts'

/**
 * Shows callers of an API with authentication what their rate and quota are and what is left, without taking of either, at
 * `{listen path}/svc/rate-limits/`. `identify` are the steps that say who is calling and whether they may.
 */
export function answerRateLimits(
  counters: Counters,
  identify: readonly (Step | undefined)[],
  isRateLimits: OwnEndpoint,
): Step | undefined {
  if (identify.length === 0) return undefined
  const steps = [...identify.filter((step) => step !== undefined), reportLimits(counters)]
  return function answerRateLimits(x) {
    if (!isRateLimits(x.rest, 0) || (x.method !== 'GET' && x.method !== 'HEAD')) return undefined
    return x.dry ? new InternalRedirect(steps) : run(steps, x)
  }
}

function reportLimits(counters: Counters): Step {
  return function reportLimits(x) {
    const limits = limitsOf(x, x.plan?.access, organisationOf(x))
    if (limits.length === 0) return replyOf(x, limits, -1)
    const refused = counters.peek(limits, x)
    return typeof refused === 'number'
      ? replyOf(x, limits, refused)
      : refused.then((late): StepOutcome => replyOf(x, limits, late))
  }
}

/** -1 = without bound. `refused` is the place of the limit that would refuse a call now, -1 = none. */
function replyOf(x: Exchange, limits: readonly Limit[], refused: number): Reply {
  x.limitFields = limitFields(limits, x.wall, refused)
  const quota = reportedLimit(limits, 'quota', refused)
  const rate = reportedLimit(limits, 'rate', refused)
  const body = {
    quota: {
      quota_max: quota?.max ?? -1,
      quota_remaining: quota?.remaining ?? -1,
      quota_renews: quota === undefined ? 0 : resetAt(quota, x.wall),
    },
    rate_limit: { requests: rate?.max ?? -1, per_unit: rate === undefined ? 0 : rate.windowMs / 1000 },
    rates: namedRates(limits).map(({ name, limit }) => ({
      name,
      requests: limit.max,
      per_unit: limit.windowMs / 1000,
      remaining: limit.remaining,
      resets_in: wholeSeconds(limit.resetMs),
    })),
  }
  const fields = 'Content-Type: application/json\r\nCache-Control: no-store\r\n'
  return { status: 200, fields, body: JSON.stringify(body) }
}
