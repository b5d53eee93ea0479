import { setTimeout as wait } from 'node:timers/promises'
import { isObject, type JsonObject } from '../../model/json/json.ts'
import { segment } from './dashboard.ts'
import { type TargetDashboard, textAt } from './kind.ts'
import type { MoveStep } from './plan.ts'

/** Longest wait for all nodes: a node reports within seconds what it has taken over. */
const WITHIN_MS = 30_000
const EVERY_MS = 250
/** Up to so many APIs are asked about one by one. */
const FEW = 20

/** States of an API that a node reaches by itself. */
const ON_ITS_WAY = 'pending'
const NOT_SERVED: ReadonlySet<string> = new Set([ON_ITS_WAY, 'stale', 'failed', 'taken'])

/**
 * Waits until every gateway node that is up serves the APIs that some steps wrote, 30 seconds at most. Returns a line for each node and
 * API that does not: which, and why. @throws Fault `dashboard_away`, `dashboard_refused`
 */
export async function unservedLines(
  place: TargetDashboard,
  steps: readonly MoveStep[],
  withinMs = WITHIN_MS,
): Promise<string[]> {
  const ids = steps.filter(({ kind, act }) => kind.name === 'apis' && act !== 'delete').map(({ identity }) => identity)
  if (ids.length === 0) return []
  const untilMs = performance.now() + withinMs
  for (;;) {
    const found = await syncStatusesOf(place, ids)
    if (!found.some(({ state }) => state === ON_ITS_WAY) || performance.now() >= untilMs) return found.map(lineOf)
    await wait(EVERY_MS)
  }
}

interface Unserved {
  readonly apiId: string
  readonly node: string
  readonly state: string
  readonly reason: string
}

const lineOf = ({ apiId, node, state, reason }: Unserved) =>
  `node ${node} does not serve API ${apiId} as it is stored: ${state}${reason === '' ? '' : `, ${reason}`}`

async function syncStatusesOf({ api }: TargetDashboard, ids: readonly string[]): Promise<Unserved[]> {
  if (ids.length <= FEW) {
    // One that was deleted meanwhile is served nowhere, as it should be.
    const each = await Promise.all(
      ids.map(async (id) => unservedIn(id, (await api.find(`/api/apis/${segment(id)}/nodes`)) ?? {})),
    )
    return each.flat()
  }
  const wanted = new Set(ids)
  const { apis } = await api.get('/api/system/sync-status?p=-1')
  const rows = Array.isArray(apis) ? apis.filter(isObject) : []
  return rows
    .filter((row) => wanted.has(textAt(row, 'api_id')))
    .flatMap((row) => unservedIn(textAt(row, 'api_id'), row))
}

function unservedIn(apiId: string, { nodes }: JsonObject): Unserved[] {
  const all = Array.isArray(nodes) ? nodes.filter(isObject) : []
  return all
    .map((each) => ({
      apiId,
      node: textAt(each, 'node'),
      state: textAt(each, 'state'),
      reason: textAt(each, 'reason'),
    }))
    .filter(({ state }) => NOT_SERVED.has(state))
}
