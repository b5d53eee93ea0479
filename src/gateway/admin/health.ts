import { fault } from '../../errors/fault.ts'
import { ownWords } from '../../model/apis/definition/vendor-words.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { healthDetails, overallStatus, type PartHealth } from '../../model/nodes/health.ts'
import { healthOf, refusalOf } from '../../publish/nodes/health.ts'
import { type AdminAnswer, json } from './answer.ts'
import type { AdminParts } from './parts.ts'
import type { AdminRoute } from './route.ts'

/** `/hello` and `/ready`, open to everybody. `withValues`: `/hello` tells what was measured, besides the state of each part. */
export function healthRoutes(parts: AdminParts, withValues: boolean): AdminRoute[] {
  return [
    { method: 'GET', path: '/hello', run: () => hello(parts, withValues) },
    { method: 'GET', path: '/ready', run: () => ready(parts) },
  ]
}

/** The metrics page. */
export function metricsRoute(parts: AdminParts): AdminRoute {
  return {
    method: 'GET',
    path: '/metrics',
    run: async ({ accept }) => {
      const { contentType, body } = await parts.metrics(accept)
      return { status: 200, body, fields: `Content-Type: ${contentType}\r\n` }
    },
  }
}

/** Always 200: `pass` when every part is healthy, `fail` when `/ready` refuses for one of them or none is, else `warn`. */
async function hello(parts: AdminParts, withValues: boolean): Promise<AdminAnswer> {
  const all = [...(await healthOf(parts.store)), ...processHealth(parts)]
  const status = overallStatus(all, refusal(parts, all) !== undefined)
  const details = healthDetails(all, new Date(parts.clock?.wall() ?? Date.now()).toISOString(), withValues)
  return json({ status, version: parts.version, description: 'Gatehouse', details: withRedis(parts, details) })
}

/** Scripts of the incumbent read the state of its only store as that of `redis`: where aliases are in use it is that of ours, unless there is one. */
function withRedis({ config }: AdminParts, details: Record<string, JsonObject>): Record<string, JsonObject> {
  const { redis, store } = details
  if (ownWords(config.compat.vendor_aliases).length === 1 || redis !== undefined || store === undefined) return details
  return { ...details, redis: store }
}

/** @throws Fault `draining`, `not_ready`, `clock_wrong`, `store_damaged`, `store_emptied`, `store_away`, `store_full`, `store_read_only` (503), which name the cause */
async function ready(parts: AdminParts): Promise<AdminAnswer> {
  if (parts.draining()) throw fault('draining')
  if (!parts.ready()) throw fault('not_ready')
  const all = [...(await healthOf(parts.store)), ...processHealth(parts)]
  const refused = refusal(parts, all)
  if (refused !== undefined) throw fault(refused)
  const output = all.find(({ status }) => status !== 'pass')?.output
  return json({
    status: overallStatus(all, false) === 'pass' ? 'pass' : 'warn',
    ...{ version: parts.version, description: 'Gatehouse' },
    ...(output !== undefined && { output }),
  })
}

function refusal({ clustered }: AdminParts, all: readonly PartHealth[]) {
  return refusalOf(all, { clustered, role: 'gateway' })
}

/** The state of the other parts of this process: the dashboard, and gateway threads, where it runs them. */
export function processHealth({ dashboard, peers }: Pick<AdminParts, 'dashboard' | 'peers'>): PartHealth[] {
  const parts: PartHealth[] = []
  if (dashboard?.() === 'pass') parts.push({ part: 'dashboard', status: 'pass' })
  else if (dashboard !== undefined)
    parts.push({ part: 'dashboard', status: 'fail', output: 'the dashboard does not answer' })
  if (peers === undefined) return parts
  const { threads } = peers
  const up = peers.up()
  const output = `${up} of ${threads} gateway threads serve; the others are being started`
  parts.push({ part: 'workers', ...(up === threads ? { status: 'pass' } : { status: 'warn', output }) })
  return parts
}
