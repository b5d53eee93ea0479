import { type HitDimensions, NO_DIMENSIONS } from '../../model/analytics/dimensions.ts'
import { triggersOf } from '../../model/limits/triggers.ts'
import type { Session } from '../../model/sessions/session.ts'
import type { SessionAccess } from '../../model/sessions/session-access.ts'
import type { HitCell } from '../record/aggregate.ts'
import { REQUEST_DIMENSIONS } from '../record/request-dimensions.ts'
import type { CallerPlan, Chain, Exchange } from '../server/exchange.ts'

/** Combinations of tags and tracked endpoints that one plan keeps handles for. */
const CELLS_PER_PLAN = 256

/** Who a plan is for; nobody at keyless APIs. */
export interface PlanOwner {
  readonly keyHash: string
  readonly session: Session
  readonly clientId: string
}

/** Derives the plan of a session (undefined: of requests without one) at a chain. */
export function makeCallerPlan(
  chain: Chain,
  access: SessionAccess | undefined,
  holder: PlanOwner | undefined,
): CallerPlan {
  const { api, hits } = chain
  const tags = hits?.tags.forSession(holder?.session)
  const varies = hits !== undefined && hits.tags.headers.length > 0
  const dimensions: HitDimensions = {
    ...NO_DIMENSIONS,
    orgId: api.orgId,
    apiId: api.apiId,
    version: chain.version,
    keyHash: holder?.keyHash ?? '',
    alias: holder?.session.alias ?? '',
    clientId: holder?.clientId ?? '',
    tags: tags?.base ?? '',
  }
  return {
    // As in a session, that comes first which each request reads.
    chain,
    access,
    cell: hits?.book.cell(dimensions),
    tags: varies ? tags : undefined,
    triggers: triggersOf(holder?.session),
    dimensions,
    cells: undefined,
  }
}

/** The handle that counts this request; undefined when it is not recorded. */
export function cellOf(plan: CallerPlan, x: Exchange): HitCell | undefined {
  const { cell } = plan
  const operation = x.operation
  if (cell === undefined || operation?.doNotTrack) return undefined
  const endpoint = x.trackedTool || (operation?.track ? operation.name : '')
  const found = endpoint === '' && plan.tags === undefined ? cell : variantOf(plan, cell, endpoint, x)
  const own = ownCell(found, x)
  return x.fromCache ? own.fromCache() : own
}

/** The cell of requests that share what single requests differ by. */
function ownCell(cell: HitCell, x: Exchange): HitCell {
  let own = cell
  for (let i = 0; i < REQUEST_DIMENSIONS.length; i++) {
    const dimension = REQUEST_DIMENSIONS[i]!
    const value = dimension.valueOf(x)
    if (value !== '') own = own.part(dimension, value)
  }
  return own
}

function variantOf(plan: CallerPlan, cell: HitCell, endpoint: string, x: Exchange): HitCell {
  const { tags, chain } = plan
  const joined = tags === undefined ? plan.dimensions.tags : tags.key(x.request)
  if (endpoint === '' && joined === plan.dimensions.tags) return cell
  const key = `${endpoint}\n${joined}`
  plan.cells ??= new Map()
  const known = plan.cells.get(key)
  if (known !== undefined) return known
  const made = chain.hits!.book.cell({ ...plan.dimensions, tags: joined, endpoint })
  if (plan.cells.size < CELLS_PER_PLAN) plan.cells.set(key, made)
  return made
}
