import type { Grant } from '../model/grant.ts'
import type { HitDimensions } from '../model/hit.ts'
import type { Session } from '../model/session.ts'
import type { Chain, Exchange, Plan } from './exchange.ts'
import type { HitCell } from './record/aggregate.ts'

/** Combinations of tags and tracked endpoints that one plan keeps handles for. */
const CELLS_PER_PLAN = 256

/** Who a plan is for; nobody at keyless APIs. */
export interface PlanHolder {
  readonly keyHash: string
  readonly session: Session
  readonly clientId: string
}

/** Derives the plan of a session (undefined: of requests without one) at a chain. */
export function makePlan(chain: Chain, grant: Grant | undefined, holder: PlanHolder | undefined): Plan {
  const { api, hits } = chain
  const tags = hits?.tags.forSession(holder?.session)
  const dimensions: HitDimensions = {
    orgId: api.orgId,
    apiId: api.apiId,
    version: chain.version,
    keyHash: holder?.keyHash ?? '',
    alias: holder?.session.alias ?? '',
    clientId: holder?.clientId ?? '',
    tags: tags?.base ?? '',
    endpoint: '',
    country: '',
  }
  return {
    chain,
    grant,
    dimensions,
    tags,
    cell: hits?.book.cell(dimensions),
    cells: undefined,
  }
}

/** The handle that counts this request; undefined when it is not recorded. */
export function cellOf(plan: Plan, x: Exchange): HitCell | undefined {
  const { cell, chain } = plan
  const operation = x.operation
  if (cell === undefined || operation?.doNotTrack) return undefined
  const endpoint = operation?.track ? operation.name : ''
  // The tags of a session are memory that the request has not touched yet.
  const found = endpoint === '' && chain.hits!.tags.headers.length === 0 ? cell : variantOf(plan, cell, endpoint, x)
  return x.country === '' ? found : found.inCountry(x.country)
}

function variantOf(plan: Plan, cell: HitCell, endpoint: string, x: Exchange): HitCell {
  const { tags, chain } = plan
  const joined = tags!.key(x.request)
  if (endpoint === '' && joined === tags!.base) return cell
  const key = `${endpoint}\n${joined}`
  plan.cells ??= new Map()
  const known = plan.cells.get(key)
  if (known !== undefined) return known
  const made = chain.hits!.book.cell({ ...plan.dimensions, tags: joined, endpoint })
  if (plan.cells.size < CELLS_PER_PLAN) plan.cells.set(key, made)
  return made
}
