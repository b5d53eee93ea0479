import { fault, toFault } from '../../errors/fault.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { type AdminAnswer, json } from './answer.ts'
import type { AdminParts } from './parts.ts'
import type { AdminRoute } from './route.ts'

/** How long a store check is cached, so that callers without a secret cannot keep the store busy. */
/** A node whose clock is this wrong has something wrong with it, though dates are judged by the clock of the database. */
const MOST_AHEAD_MS = 30_000
const STORE_CHECK_MS = 10_000

const FULL = 'The store is full: nothing new is kept'
const DAMAGED = 'The store is damaged and takes no writes: restore the last backup'
const BEHIND = 'The store is away: this node serves what it has'

interface Check {
  readonly status: 'pass' | 'fail'
  readonly output?: string
  /** RFC 3339. */
  readonly time: string
}

/** `/hello` and `/ready`, open to everybody. */
export function healthRoutes(parts: AdminParts): AdminRoute[] {
  const store = storeCheck(parts)
  return [
    { method: 'GET', path: '/hello', run: async () => hello(parts, await store()) },
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

/** Always 200: `pass` when every part is healthy, `fail` when none is, or the store is damaged, else `warn`. */
function hello(parts: AdminParts, store: Check): AdminAnswer {
  const details: { [name: string]: JsonObject } = { store: { ...store, componentType: 'datastore' } }
  if (parts.dashboard !== undefined) {
    const status = parts.dashboard()
    const output = status === 'fail' ? { output: 'the dashboard does not answer' } : {}
    details.dashboard = { status, componentType: 'system', time: now(parts), ...output }
  }
  const all = Object.values(details)
  const failed = all.filter(({ status }) => status === 'fail').length
  const none = failed === all.length || parts.store.damaged?.() === true
  const status = failed === 0 ? 'pass' : none ? 'fail' : 'warn'
  return json({ status, version: parts.version, description: 'Gatehouse', details })
}

/** @throws Fault `draining`, `not_ready`, `clock_wrong`, `store_damaged`, `store_away`, `store_full` (503), which name the cause */
async function ready(parts: AdminParts): Promise<AdminAnswer> {
  if (parts.draining()) throw fault('draining')
  if (!parts.ready()) throw fault('not_ready')
  if (Math.abs(parts.store.clock?.aheadMs ?? 0) > MOST_AHEAD_MS) throw fault('clock_wrong')
  if (parts.store.damaged?.()) throw fault('store_damaged')
  // In a cluster a node serves what it has while the store is away: taking it out of service would help nobody.
  if (!parts.clustered) await parts.store.documents.revision()
  const full = (await parts.store.full?.()) === true
  if (full && !parts.clustered) throw fault('store_full')
  const how = full ? { status: 'warn', output: FULL } : { status: 'pass' }
  return json({ ...how, version: parts.version, description: 'Gatehouse' })
}

function storeCheck(parts: AdminParts): () => Promise<Check> {
  let last: Check | undefined
  let checkedAt = 0
  let running: Promise<Check> | undefined
  const check = async (): Promise<Check> => {
    try {
      await parts.store.documents.revision()
      if (parts.store.behind?.()) return { status: 'fail', output: BEHIND, time: now(parts) }
      return { status: 'pass', time: now(parts) }
    } catch (error) {
      return { status: 'fail', output: toFault(error).entry.text, time: now(parts) }
    }
  }
  return async () => {
    if (parts.store.damaged?.()) return { status: 'fail', output: DAMAGED, time: now(parts) }
    if (await parts.store.full?.()) return { status: 'fail', output: FULL, time: now(parts) }
    if (last !== undefined && performance.now() - checkedAt < STORE_CHECK_MS) return last
    running ??= check().then((done) => {
      last = done
      checkedAt = performance.now()
      running = undefined
      return done
    })
    return running
  }
}

function now(parts: AdminParts): string {
  return new Date(parts.clock?.wall() ?? Date.now()).toISOString()
}
