import { Fault } from '../errors/fault.ts'
import { compileGrant } from '../model/grant.ts'
import { isObject, type Json, type JsonObject } from '../model/json.ts'
import { withoutHidden } from '../model/key.ts'
import type { Limit } from '../model/limit.ts'
import { type Merged, mergePolicies, policyIdsOf } from '../model/merge-policies.ts'
import type { Policy, Session } from '../model/session.ts'
import { previewSession } from '../model/session-preview.ts'
import { clockOf, type PublishParts } from './parts.ts'
import { readPolicies } from './policies.ts'
import { rulesOf } from './sessions.ts'

/**
 * Starts the quotas of a stored session anew; those that count for an API with `dont_set_quota_on_create` only with `whatever`.
 * A session whose policies are not usable has none.
 */
export async function resetQuotas(
  parts: PublishParts,
  body: JsonObject,
  orgId: string,
  counterId: string,
  { whatever }: { readonly whatever: boolean },
): Promise<void> {
  const session = body as unknown as Session
  const merged = mergePolicies(session, await readPolicies(parts, orgId, policyIdsOf(session)))
  if (merged instanceof Fault) return
  const quotas = quotasOf(merged, counterId)
  const ids = new Set([...quotas.values()].map(({ id }) => id))
  if (ids.size === 0) return
  if (!whatever) {
    for (const { apiId, keepQuota } of await rulesOf(parts, [...quotas.keys()]))
      if (keepQuota) ids.delete(quotas.get(apiId)!.id)
  }
  for (const id of ids) await parts.counters.resetQuota(id)
}

/** What was used of a quota elsewhere. `endsInMs`: until its window ends; 0 = it begins a new one. */
interface UsedElsewhere {
  readonly used: number
  readonly endsInMs: number
}

/**
 * Gives the quotas of a stored session what was used of them elsewhere. `sent` is by what was counted for there: an API, a policy, an
 * `allowance_scope`, '' = everything together; each with `used` and perhaps `ends_in_ms`. Nothing is done where its policies cannot
 * be used.
 */
export async function useQuotas(
  parts: PublishParts,
  row: { readonly body: JsonObject; readonly orgId: string; readonly counterId: string },
  sent: JsonObject,
): Promise<void> {
  const session = row.body as unknown as Session
  const merged = mergePolicies(session, await readPolicies(parts, row.orgId, policyIdsOf(session)))
  if (merged instanceof Fault) return
  const counts = new Map(Object.entries(sent).map(([scope, said]) => [scope, usedElsewhere(said)]))
  const together = counts.get('') ?? NOTHING_USED
  for (const [apiId, limit] of quotasOf(merged, row.counterId)) {
    const scope = merged.rights.get(apiId)!.quota?.scope ?? ''
    // Counted together here and apart there, no part may be forgotten.
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
 * A stored session as callers see it: policies applied where they can be, and `quota_remaining` and `quota_renews` (Unix seconds)
 * as they are now.
 */
export async function showSession(
  parts: PublishParts,
  body: JsonObject,
  orgId: string,
  counterId: string,
): Promise<JsonObject> {
  const session = body as unknown as Session
  const policies = await readPolicies(parts, orgId, policyIdsOf(session))
  const merged = mergePolicies(session, policies)
  // Its policies are gone or do not go together: the key is refused, and what is stored is all there is to show.
  if (merged instanceof Fault) return withoutHidden(body)
  return withoutHidden(await withCounts(parts, shown(session, policies), merged, counterId))
}

function shown(session: Session, policies: readonly (Policy | undefined)[]): JsonObject {
  return previewSession(session, policies) as unknown as JsonObject
}

async function withCounts(
  parts: PublishParts,
  body: JsonObject,
  merged: Merged,
  counterId: string,
): Promise<JsonObject> {
  const quotas = quotasOf(merged, counterId)
  if (quotas.size === 0) return body
  const clock = clockOf(parts)
  const wall = clock.wall()
  await parts.counters.peek([...new Set(quotas.values())], { wall, mono: clock.mono() })
  const rights = Object.entries(isObject(body.access_rights) ? body.access_rights : {}).map(([apiId, right]) => {
    const quota = quotas.get(apiId)
    if (quota === undefined || !isObject(right) || !isObject(right.limit) || !hasQuota(right.limit))
      return [apiId, right]
    return [apiId, { ...right, limit: { ...right.limit, ...countOf(quota, wall) } }]
  })
  // The top level counts for all APIs that share its counter; with one API its numbers are that API's.
  const [first] = quotas.values()
  const common = quotas.size === 1 || [...quotas.values()].every(({ id }) => id === first!.id) ? first : undefined
  return {
    ...body,
    access_rights: Object.fromEntries(rights) as JsonObject,
    ...(common !== undefined && hasQuota(body) && countOf(common, wall)),
  }
}

/** The quota at each API that has one. */
function quotasOf(merged: Merged, counterId: string): Map<string, Limit> {
  const quotas = new Map<string, Limit>()
  for (const apiId of merged.rights.keys()) {
    const quota = compileGrant(merged, apiId, counterId)?.quota
    if (quota !== undefined) quotas.set(apiId, quota)
  }
  return quotas
}

function countOf(limit: Limit, wall: number): JsonObject {
  const renews = limit.resetMs > 0 ? Math.ceil((wall + limit.resetMs) / 1000) : 0
  return { quota_remaining: limit.remaining, quota_renews: renews }
}

function hasQuota(fields: JsonObject): boolean {
  return typeof fields.quota_max === 'number' && fields.quota_max > 0
}
