import type { FaultCode } from '../../errors/catalog.ts'
import type { Fault } from '../../errors/fault.ts'
import type { Limit } from '../../model/limits/limit.ts'
import { QuotaTriggers } from '../../model/limits/triggers.ts'
import { redactUrl } from '../../model/secrets/redact-traffic.ts'
import { API_EVENT_NAMES, type ApiEventName, apiEventRow } from '../../model/webhooks/api-events.ts'
import type { Exchange } from '../server/exchange.ts'

/**
 * Reports an event of an API: `kind` is its name (`HostDown`), `detail` its facts, without secrets.
 * Never waits, never throws. Host events name their `target`, breaker events their `operation`: each has a separate cooldown.
 */
export type OnGatewayEvent = (
  kind: ApiEventName,
  apiId: string,
  detail: Readonly<Record<string, string | number>>,
) => void

const FAULT_EVENTS: ReadonlyMap<FaultCode, ApiEventName> = new Map(
  API_EVENT_NAMES.flatMap((name) => (apiEventRow(name).refusals ?? []).map((code) => [code, name] as const)),
)

const PATH_CHARACTERS = 1024
const NO_NAMES: ReadonlySet<string> = new Set()

/** Wraps `record`, which is called for each finished request, to raise events for refusals too, where an API has handlers. */
export function recordWithEvents(record: (x: Exchange) => void, tell: OnGatewayEvent): (x: Exchange) => void {
  return function recordAndTell(x) {
    record(x)
    if (x.fault !== undefined && x.chain?.api.events !== undefined) tellRefusal(x, x.fault, tell)
  }
}

function tellRefusal(x: Exchange, refusal: Fault, tell: OnGatewayEvent): void {
  const event = FAULT_EVENTS.get(refusal.code)
  if (event !== undefined) tell(event, x.chain!.api.apiId, { message: refusal.entry.text, ...callerOf(x) })
}

/** Who asked for what; the key by its hash. */
function callerOf(x: Exchange): Readonly<Record<string, string | number>> {
  const key = x.session?.keyHash ?? ''
  return {
    method: x.method,
    path: redactUrl(x.path.slice(0, PATH_CHARACTERS), NO_NAMES),
    origin: x.clientAddress,
    key,
    alias: x.session?.alias ?? '',
    request_id: x.requestId,
  }
}

/** The settings for quota thresholds. */
export interface MonitorSettings {
  readonly enable_trigger_monitors: boolean
  /** Percent, 0 = none. */
  readonly global_trigger_limit: number
  readonly monitor_user_keys: boolean
  readonly monitor_org_keys: boolean
}

/** Looks at the limits of a request that was admitted. */
export type WatchLimits = (x: Exchange, limits: readonly Limit[]) => void

/**
 * Creates the watcher of quota thresholds (`TriggerExceeded`): the shares that a key names in `monitor`, and the one that
 * the settings name for all. Each is reported once per period of the quota. undefined where the settings disable it.
 */
export function quotaWatch(settings: MonitorSettings, tell: OnGatewayEvent): WatchLimits | undefined {
  const { global_trigger_limit: common, monitor_user_keys: ofKeys, monitor_org_keys: ofOrgs } = settings
  if (!settings.enable_trigger_monitors) return undefined
  const triggers = new QuotaTriggers()
  const everywhere = common > 0 ? [common] : NONE
  const look = (x: Exchange, limit: Limit, percents: readonly number[]) => {
    if (limit.kind !== 'quota' || percents.length === 0) return
    const reached = triggers.reached(percents, limit, x.wall)
    if (reached === undefined) return
    const used = Math.floor(((limit.max - limit.remaining) * 100) / limit.max)
    const numbers = { trigger_limit: reached, usage_percentage: used }
    tell('TriggerExceeded', x.chain!.api.apiId, { message: 'Quota trigger reached', ...callerOf(x), ...numbers })
  }
  return function watchLimits(x, limits) {
    const own = x.plan?.triggers ?? NONE
    const keys = ofKeys && everywhere.length > 0 ? [...new Set([...own, ...everywhere])].sort((a, b) => a - b) : own
    for (const limit of limits) look(x, limit, limit.owner === 'organisation' ? (ofOrgs ? everywhere : NONE) : keys)
  }
}

const NONE: readonly number[] = []
