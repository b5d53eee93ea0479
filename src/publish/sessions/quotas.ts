import { Fault } from '../../errors/fault.ts'
import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import { withoutHidden } from '../../model/keys/key.ts'
import type { Limit } from '../../model/limits/limit.ts'
import type { Merged } from '../../model/policies/merge-policies.ts'
import { checkSession } from '../../model/sessions/session.ts'
import { compileAccess } from '../../model/sessions/session-access.ts'
import { sessionToStore } from '../../model/sessions/written-session.ts'
import type { SessionRow } from '../../store/ports/ports.ts'
import { clockOf, type SessionParts } from '../documents/parts.ts'
import { withPolicyIds } from '../policies/policy-ids.ts'
import { effectiveSession, effectiveView, type Withheld } from './effective-session.ts'
import { keyRulesOf } from './sessions.ts'

/**
 * Resets the quotas of a stored session; those that count for an API with `dont_set_quota_on_create` only with `always`.
 * A session whose policies are not usable has none.
 */
export async function resetQuotas(
  parts: SessionParts,
  body: JsonObject,
  orgId: string,
  counterId: string,
  { always }: { readonly always: boolean },
): Promise<void> {
  const { merged } = await effectiveSession(parts, body, orgId)
  if (merged instanceof Fault) return
  const quotas = quotasOf(merged, counterId)
  const ids = new Set([...quotas.values()].flat().map(({ id }) => id))
  if (ids.size === 0) return
  if (!always) {
    for (const { apiId, keepQuota } of await keyRulesOf(parts, orgId, [...quotas.keys()]))
      if (keepQuota) for (const { id } of quotas.get(apiId)!) ids.delete(id)
  }
  for (const id of ids) await parts.counters.resetQuota(id)
}

/** Quota that was used elsewhere. `endsInMs`: until its window ends; 0 = it begins a new one. */
interface UsedElsewhere {
  readonly used: number
  readonly endsInMs: number
}

/**
 * Gives the quotas of a stored session what was used of them elsewhere. `sent` is by what was counted for there: an API, a policy, an
 * `allowance_scope`, '' = everything together; each with `used` and perhaps `ends_in_ms`. Nothing is done where its policies cannot
 * be used.
 */
export async function importQuotas(
  parts: SessionParts,
  row: { readonly body: JsonObject; readonly orgId: string; readonly counterId: string },
  sent: JsonObject,
): Promise<void> {
  const { merged } = await effectiveSession(parts, row.body, row.orgId)
  if (merged instanceof Fault) return
  const counts = new Map(Object.entries(sent).map(([scope, said]) => [scope, usedElsewhere(said)]))
  const together = counts.get('') ?? NOTHING_USED
  for (const [apiId, [limit]] of quotasOf(merged, row.counterId)) {
    if (limit === undefined) continue
    const scope = merged.rights.get(apiId)!.quota?.scope ?? ''
    // One count here for several there: the highest of them.
    const count = scope === '' ? mostUsed([...counts.values()]) : (counts.get(scope.slice(2)) ?? together)
    const endsInMs = count.endsInMs > 0 ? Math.min(count.endsInMs, limit.windowMs || count.endsInMs) : undefined
    if (count.used > 0) await parts.counters.resetQuota(limit.id, Math.min(count.used, limit.max), endsInMs)
  }
}

const NOTHING_USED: UsedElsewhere = { used: 0, endsInMs: 0 }

function usedElsewhere(said: Json): UsedElsewhere {
  if (!isObject(said)) return NOTHING_USED
  const { used, ends_in_ms: endsInMs } = said
  return { used: wholeOf(used), endsInMs: wholeOf(endsInMs) }
}

const wholeOf = (value: Json | undefined) => (typeof value === 'number' && value > 0 ? Math.floor(value) : 0)

function mostUsed(counts: readonly UsedElsewhere[]): UsedElsewhere {
  return counts.reduce((most, count) => (count.used > most.used ? count : most), NOTHING_USED)
}

/**
 * A stored session as callers see it: as it is in force, policies and what narrows it applied where they can be, and
 * `quota_remaining` and `quota_renews` (Unix seconds) as they are now.
 */
export async function sessionView(
  parts: SessionParts,
  body: JsonObject,
  orgId: string,
  counterId: string,
  withheld?: Withheld,
): Promise<JsonObject> {
  const inUse = await effectiveSession(parts, body, orgId, withheld)
  const { merged } = inUse
  // Its policies are gone or do not go together: the key is refused, and what is stored is all there is to show.
  if (merged instanceof Fault) return withoutHidden(body)
  return withoutHidden(await withCounts(parts, effectiveView(body, inUse), merged, counterId))
}

/**
 * The session to store for a caller who has read and edited it: see `sessionToStore`. `withheld` as for the read. @throws Fault
 * `key_invalid` (400), `store_away`
 */
export async function sessionUpdateOf(
  parts: SessionParts,
  sent: JsonObject,
  row: SessionRow,
  withheld?: Withheld,
): Promise<JsonObject> {
  const checked = await withPolicyIds(parts, row.orgId, 'session', checkSession(sent, 'limits'))
  const stored = row.body
  return sessionToStore(checked, {
    stored,
    shown: effectiveView(stored, await effectiveSession(parts, stored, row.orgId, withheld)),
  })
}

async function withCounts(
  parts: SessionParts,
  body: JsonObject,
  merged: Merged,
  counterId: string,
): Promise<JsonObject> {
  const quotas = quotasOf(merged, counterId)
  if (quotas.size === 0) return body
  const clock = clockOf(parts)
  const wall = clock.wall()
  await parts.counters.peek([...quotas.values()].flat(), { wall, mono: clock.mono() })
  const rights = Object.entries(isObject(body.access_rights) ? body.access_rights : {}).map(([apiId, right]) => {
    if (!isObject(right) || !isObject(right.limit) || !hasQuota(right.limit)) return [apiId, right]
    const quota = shownQuota(quotas.get(apiId) ?? [], right.limit)
    if (quota === undefined) return [apiId, right]
    return [apiId, { ...right, limit: { ...right.limit, ...countOf(quota, wall) } }]
  })
  // The top level counts for all APIs that share its counter; with one API its numbers are that API's.
  const all = [...quotas.values()].map((list) => shownQuota(list, body))
  const [first] = all
  const common = all.length === 1 || all.every((quota) => quota?.id === first?.id) ? first : undefined
  return {
    ...body,
    access_rights: Object.fromEntries(rights) as JsonObject,
    ...(common !== undefined && hasQuota(body) && countOf(common, wall)),
  }
}

/** The quotas at each API that has some: its own, and those of what narrows it. */
function quotasOf(merged: Merged, counterId: string): Map<string, readonly Limit[]> {
  const quotas = new Map<string, readonly Limit[]>()
  for (const apiId of merged.rights.keys()) {
    const list = compileAccess(merged, apiId, counterId)?.quotas ?? []
    if (list.length > 0) quotas.set(apiId, list)
  }
  return quotas
}

/** Of several quotas the one whose numbers are shown. */
function shownQuota(quotas: readonly Limit[], shown: JsonObject): Limit | undefined {
  return quotas.find(({ max }) => max === shown.quota_max) ?? quotas[0]
}

function countOf(limit: Limit, wall: number): JsonObject {
  const renews = limit.resetMs > 0 ? Math.ceil((wall + limit.resetMs) / 1000) : 0
  return { quota_remaining: limit.remaining, quota_renews: renews }
}

function hasQuota(fields: JsonObject): boolean {
  return typeof fields.quota_max === 'number' && fields.quota_max > 0
}
