import { fault } from '../../errors/fault.ts'
import { EXTENSION_SCHEMA } from '../../model/apis/schema/schema-oas.ts'
import { isObject, presentMembers } from '../../model/json/json.ts'
import type { GatewayCommand } from '../../model/nodes/node.ts'
import { systemClock } from '../../model/time/clock.ts'
import { sendGatewayCommand } from '../../publish/nodes/gateway-commands.ts'
import { type ApiMetrics, DURATION_TYPES } from '../record/api-metrics.ts'
import { type AdminAnswer, done, json } from './answer.ts'
import { type AdminParts, waitUntilServed, withinFiveSeconds } from './parts.ts'
import type { AdminRequest } from './request.ts'
import type { AdminRoute } from './route.ts'

/** Counts are compared with those of a call that is at most so old, or with the first one after it. */
const WINDOW_MS = 60_000

/** The counts of an API up to an instant of the monotonic clock. */
interface Counted {
  readonly atMs: number
  readonly requests: number
  readonly throttled: number
  readonly keyFailures: number
  readonly upstream: number
  readonly upstreamMs: number
}

const NOTHING: Omit<Counted, 'atMs'> = { requests: 0, throttled: 0, keyFailures: 0, upstream: 0, upstreamMs: 0 }

/** The node itself: reload, its APIs, the schema of definitions, explanations. */
export function nodeRoutes(parts: AdminParts): AdminRoute[] {
  const reload = reloads(parts)
  const tell = async (order: GatewayCommand) => {
    await waitUntilServed(parts, await sendGatewayCommand(parts, order))
    return done('cache invalidated')
  }
  const forget = () => tell({ order: 'key_sets', subject: '' })
  return [
    { method: 'GET', path: '/reload', acts: true, run: reload },
    { method: 'GET', path: '/reload/group', acts: true, run: reload },
    { method: 'GET', path: '/node', run: () => node(parts) },
    { method: 'DELETE', path: '/cache/jwks', run: forget },
    { method: 'DELETE', path: '/cache/jwks/{api}', run: forget },
    {
      method: 'DELETE',
      path: '/cache/{api}',
      run: (request) => tell({ order: 'responses', subject: request.param('api') }),
    },
    {
      method: 'GET',
      path: '/schema',
      run: (request) => {
        const schema = { $schema: 'http://json-schema.org/draft-07/schema#', ...EXTENSION_SCHEMA }
        return json(request.isAlias ? { status: 'Success', message: '', schema } : schema)
      },
    },
    { method: 'GET', path: '/health', run: apiHealth(parts) },
    { method: 'POST', path: '/explain', run: async (request) => json(await parts.explain(await question(request))) },
  ]
}

async function rereadAll({ rescan, live, peers }: AdminParts): Promise<void> {
  await rescan?.()
  await Promise.all([live.reload(), peers?.reload()])
}

/** Many calls while one reload runs become one more reload. */
function reloads(parts: AdminParts) {
  let next: Promise<void> | undefined
  let running: Promise<void> = Promise.resolve()
  const reload = (): Promise<void> => {
    next ??= running
      .catch(() => {})
      .then(() => {
        next = undefined
        running = rereadAll(parts)
        return running
      })
    return next
  }
  return async (request: AdminRequest) => {
    const ended = reload()
    if (request.flag('block')) await withinFiveSeconds(parts, ended, 'Asked for, but not yet done on this node')
    else ended.catch((error) => parts.log.error({ cause: error }, 'requested reload failed'))
    return done()
  }
}

function node(parts: AdminParts) {
  const { live, catalogue, shard } = parts
  const upstreams = parts.upstreamCares?.states() ?? []
  return json({
    name: parts.nodeName(),
    version: parts.version,
    segmented: shard.segmented,
    tags: [...shard.tags],
    revision: live.snapshot.revision,
    ready: parts.ready(),
    behind: live.behind,
    apis: catalogue
      .states()
      .map(({ apiId, name, state, reason, revision }) => ({ api_id: apiId, name, state, reason, revision })),
    ...(upstreams.length > 0 && { upstreams }),
  })
}

/** Reads `{method, url, headers, address}`; method is GET unless given. @throws Fault `body_malformed` (400) */
async function question(request: AdminRequest) {
  const { method = 'GET', url, headers = {}, address } = presentMembers(await request.object())
  if (typeof method !== 'string' || !/^[A-Za-z]{1,32}$/.test(method))
    throw fault('body_malformed', 'method: must be an HTTP method')
  if (typeof url !== 'string' || !/^(\/|https?:\/\/)[\x21-\x7e]*$/i.test(url)) {
    throw fault('body_malformed', 'url: must be an absolute http or https URL, or a path')
  }
  if (!isObject(headers)) throw fault('body_malformed', 'headers: must be an object of texts')
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name))
      throw fault('body_malformed', 'headers: a name is not the name of a header')
    if (typeof value !== 'string' || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
      throw fault('body_malformed', `headers.${name}: must be a text that a header can hold`)
  }
  if (address !== undefined && typeof address !== 'string')
    throw fault('body_malformed', 'address: must be an IP address')
  return { method, url, headers: headers as Record<string, string>, ...(address !== undefined && { address }) }
}

/**
 * `GET /health?api_id=` of the incumbent, under an alias: requests and refusals a second on this node, since a call about a minute ago, else
 * since the start. Refusals by rate and by quota (429) are one number there, those of credentials are 401 and 403.
 */
function apiHealth(parts: AdminParts): (request: AdminRequest) => AdminAnswer {
  const clock = parts.clock ?? systemClock
  const begun: Counted = { ...NOTHING, atMs: clock.mono() }
  const before = new WeakMap<ApiMetrics, Counted>()
  return (request) => {
    if (!request.isAlias) throw fault('not_found')
    const apiId = request.text('api_id')
    if (apiId === '') throw fault('query_invalid', 'missing api_id parameter')
    const metrics = parts.live.snapshot.apis.get(apiId)?.main.metrics
    if (metrics === undefined) throw fault('not_found', 'API ID not found')
    const base = before.get(metrics) ?? begun
    const now = countedBy(metrics, clock.mono())
    if (base === begun || now.atMs - base.atMs >= WINDOW_MS) before.set(metrics, now)
    const seconds = Math.max(1, (now.atMs - base.atMs) / 1000)
    const perSecond = (name: keyof Counted) => (now[name] - base[name]) / seconds
    const upstream = now.upstream - base.upstream
    return json({
      throttle_reqests_per_second: perSecond('throttled'),
      quota_violations_per_second: 0,
      key_failures_per_second: perSecond('keyFailures'),
      average_upstream_latency: upstream === 0 ? 0 : (now.upstreamMs - base.upstreamMs) / upstream,
      average_requests_per_second: perSecond('requests'),
    })
  }
}

function countedBy(metrics: ApiMetrics, atMs: number): Counted {
  if (metrics.counts === undefined) return { ...NOTHING, atMs }
  const count = (...statuses: number[]) =>
    metrics.statuses.reduce((sum, each, at) => (statuses.includes(each) ? sum + metrics.statusCounts[at]! : sum), 0)
  const duration = (type: (typeof DURATION_TYPES)[number]) => {
    const { counts, sum } = metrics.durations(DURATION_TYPES.indexOf(type))
    return { count: counts.reduce((all, each) => all + each, 0), ms: sum * 1000 }
  }
  const upstream = duration('upstream')
  return {
    atMs,
    requests: duration('total').count,
    throttled: count(429),
    keyFailures: count(401, 403),
    upstream: upstream.count,
    upstreamMs: upstream.ms,
  }
}
