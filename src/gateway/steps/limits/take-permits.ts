import { Fault, prebuilt } from '../../../errors/fault.ts'
import type { Instant, Limit } from '../../../model/limits/limit.ts'
import { otherReadings, readablePath } from '../../../model/patterns/readable-path.ts'
import type { SessionAccess } from '../../../model/sessions/session-access.ts'
import type { Clock } from '../../../model/time/clock.ts'
import type { Counters } from '../../../store/ports/ports.ts'
import type { WatchLimits } from '../../events/events.ts'
import type { Exchange, OrgLimits, Step, StepOutcome } from '../../server/exchange.ts'
import { limitFields, wholeSeconds } from '../../server/limit-fields.ts'

const API_RATE = prebuilt('api_rate_exceeded')
const RATE = prebuilt('rate_exceeded')
const QUOTA = prebuilt('quota_exceeded')
const ORG_RATE = prebuilt('org_rate_exceeded')
const ORG_QUOTA = prebuilt('org_quota_exceeded')
const ORG_INACTIVE = prebuilt('org_inactive')

/** Counts cannot be had: all of these are the store's, none is the caller's. */
const COUNTS_AWAY: ReadonlySet<string> = new Set(['store_away', 'store_full', 'store_read_only', 'store_refused'])
/** Tells that limits were not those of the whole cluster. */
const AWAY_FIELD = 'X-Svc-Counters: away\r\n'

const NO_LIMITS: readonly Limit[] = []

/** Requests that may wait at once for their key's rate (`throttle_interval`); more are refused as without it. */
const MAX_THROTTLED = 1000
/** Of those, at APIs of one organisation. */
const MAX_OF_ORGANISATION = 250
/** Longest wait, whatever a key says. */
const MAX_WAIT_MS = 60_000
/** How often it is looked whether the caller is still there. */
const LOOK_MS = 1000
/** Module state: the bound is the process's, whichever gateway waits. By organisation. */
const throttled = new Map<string, number>()

export interface TakeOptions {
  /** Whether refusals say when to come again. */
  readonly sendRetryAfter: boolean
  /** True = while counts cannot be had the node admits what it may by itself; false = it refuses. */
  readonly alone: boolean
  /** Looks at the limits of each admitted request; undefined = nobody wants to know. */
  readonly watch?: WatchLimits | undefined
}

/** Takes permits of these limits, or none; answers the refusal. `before` are limits of the request that were taken earlier: fields of the answer name them too. */
export type TakeLater = (
  x: Exchange,
  limits: readonly Limit[],
  before: readonly Limit[],
) => StepOutcome | Promise<StepOutcome>

/** For limits that show only later than those of `takePermits`. Nobody waits for a permit. */
export function takeLater(counters: Counters, clock: Clock, options: TakeOptions): TakeLater {
  const { attempt, refuse } = taking(counters, options)
  return (x, limits, before) => {
    const fault = attempt(x, limits, before, { wall: clock.wall(), mono: clock.mono() })
    return fault instanceof Promise ? fault.then((late) => refuse(x, late)) : refuse(x, fault)
  }
}

/**
 * Takes one permit of every limit that the request meets, or none of any: the organisation's, the operation's, the API's,
 * the key's, and last the quota. Checked in this order, in one step, so that a refused call costs nothing anywhere.
 * A key with `throttle_interval` and `throttle_retry_limit` waits and tries again before it is refused for its rate.
 */
export function takePermits(counters: Counters, clock: Clock, options: TakeOptions): Step {
  const { watch } = options
  const { attempt, refuse } = taking(counters, options)

  const throttle = async (x: Exchange, limits: readonly Limit[], access: SessionAccess): Promise<StepOutcome> => {
    const { orgId } = x.chain!.api
    throttled.set(orgId, (throttled.get(orgId) ?? 0) + 1)
    try {
      let fault: Fault | undefined = RATE
      let leftMs = MAX_WAIT_MS
      for (let i = 0; i < access.throttleRetryLimit && fault === RATE && leftMs > 0; i++) {
        const waitMs = Math.min(access.throttleIntervalMs, leftMs)
        leftMs -= waitMs
        // A caller who has disconnected in the meantime must not be counted.
        if (!(await waitFor(x, waitMs))) break
        x.wall = clock.wall()
        x.mono = clock.mono()
        fault = await attempt(x, limits)
      }
      if (fault === undefined) watch?.(x, limits)
      return refuse(x, fault)
    } finally {
      const left = throttled.get(orgId)! - 1
      if (left > 0) throttled.set(orgId, left)
      else throttled.delete(orgId)
    }
  }

  const end = (x: Exchange, limits: readonly Limit[], fault: Fault | undefined) => {
    if (fault === undefined && !x.dry) watch?.(x, limits)
    const access = x.plan?.access
    if (fault !== RATE || access === undefined || x.dry) return refuse(x, fault)
    const waits = access.throttleIntervalMs > 0 && access.throttleRetryLimit > 0 && hasRoom(x.chain!.api.orgId)
    return waits ? throttle(x, limits, access) : refuse(x, fault)
  }

  return function takePermits(x) {
    const access = x.plan?.access
    const org = organisationOf(x)
    if (org?.inactive) return ORG_INACTIVE
    const limits = limitsOf(x, access, org)
    if (limits.length === 0) return undefined
    const fault = attempt(x, limits)
    if (fault === undefined) return watch === undefined ? undefined : end(x, limits, undefined)
    return fault instanceof Promise ? fault.then((late) => end(x, limits, late)) : end(x, limits, fault)
  }
}

function hasRoom(orgId: string): boolean {
  if ((throttled.get(orgId) ?? 0) >= MAX_OF_ORGANISATION) return false
  let all = 0
  for (const count of throttled.values()) all += count
  return all < MAX_THROTTLED
}

/** Waits; false as soon as the caller has left, or has closed its side and will send nothing more. */
async function waitFor(x: Exchange, ms: number): Promise<boolean> {
  for (let left = ms; left > 0; left -= LOOK_MS) {
    await new Promise((resolve) => setTimeout(resolve, Math.min(left, LOOK_MS)))
    if (x.aborted || x.callerEnded) return false
  }
  return true
}

/** How permits are taken and a refusal is worded, whether a caller may wait or not. */
function taking(counters: Counters, { sendRetryAfter, alone }: TakeOptions) {
  const attempt = (x: Exchange, limits: readonly Limit[], before = NO_LIMITS, at: Instant = x) => {
    const refused = x.dry ? counters.peek(limits, at) : counters.take(limits, at)
    if (typeof refused === 'number') return conclude(x, limits, before, refused)
    return refused.then(
      (late) => conclude(x, limits, before, late),
      (error: unknown) => withoutCounts(x, limits, before, at, error),
    )
  }

  const withoutCounts = (
    x: Exchange,
    limits: readonly Limit[],
    before: readonly Limit[],
    at: Instant,
    error: unknown,
  ): Fault | undefined => {
    if (!(error instanceof Fault && COUNTS_AWAY.has(error.code))) throw error
    if (!x.answerExtra.includes(AWAY_FIELD)) x.answerExtra += AWAY_FIELD
    if (!alone || x.dry || counters.takeAlone === undefined) return error
    return conclude(x, limits, before, counters.takeAlone(limits, at))
  }

  const refuse = (x: Exchange, fault: Fault | undefined): StepOutcome => {
    if (fault !== undefined && sendRetryAfter) {
      x.answerExtra += `Retry-After: ${wholeSeconds(x.retryAfterMs)}\r\n`
    }
    return fault
  }
  return { attempt, refuse }
}

/** The limits of the organisation of the request's API, if any. */
export function organisationOf(x: Exchange): OrgLimits | undefined {
  const { orgs } = x.snapshot!
  return orgs.size === 0 ? undefined : orgs.get(x.chain!.api.orgId)
}

/** The limits of a request, in the order in which they are checked. Allocates only for organisations and operations with limits. */
export function limitsOf(x: Exchange, access: SessionAccess | undefined, org: OrgLimits | undefined): readonly Limit[] {
  const chain = x.chain!
  const own = access === undefined ? chain.openLimits : limitsOfSession(x, access)
  const operation = x.operation?.rates ?? NO_LIMITS
  if (org === undefined && operation.length === 0) return own
  return [...(org?.limits ?? NO_LIMITS), ...operation, ...own]
}

/** Those of every path that this one may be for the upstream. */
function limitsOfSession(x: Exchange, access: SessionAccess): readonly Limit[] {
  const { fixedLimits } = access
  if (fixedLimits !== undefined) return fixedLimits
  const { method, rest } = x
  const readable = rest === '' ? '/' : readablePath(rest)
  const limits = access.limitsFor(method, readable, x)
  if (readable === rest || rest === '') return limits
  return [
    ...new Set([...limits, ...otherReadings(readable).flatMap((reading) => access.limitsFor(method, reading, x))]),
  ]
}

/** Notes the limits for the client; returns the fault of the limit that refused. */
function conclude(x: Exchange, limits: readonly Limit[], before: readonly Limit[], refused: number): Fault | undefined {
  const shown = before.length === 0 ? limits : [...before, ...limits]
  x.limitFields = limitFields(shown, x.wall, refused === -1 ? -1 : before.length + refused)
  if (refused === -1) return undefined
  x.retryAfterMs = limits[refused]!.resetMs
  return faultOf(limits[refused]!)
}

function faultOf({ kind, owner }: Limit): Fault {
  if (owner === 'organisation') return kind === 'quota' ? ORG_QUOTA : ORG_RATE
  if (kind === 'quota') return QUOTA
  return owner === 'api' || owner === 'operation' || owner === 'tool' ? API_RATE : RATE
}
