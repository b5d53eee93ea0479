import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startCachingHaproxy, startCachingNginx } from './caching-peers.ts'
import { fillGateway, requestsFile } from './fill-gateway.ts'
import { CACHEABLE, type Server, startUpstream } from './peers.ts'
import { type Admin, definition, startProduct } from './product.ts'
import { median, progress, show, table } from './report.ts'
import { sized } from './sizes.ts'
import { type Measured, measureLoad } from './wrk.ts'

const KEYS = sized(10_000, 1000)
const CONNECTIONS = 64
/** Long enough for every key to have met its answer. */
const WARM_UP_SECONDS = 6

export interface CachesOptions {
  /** Scratch folder. */
  readonly folder: string
  readonly seconds: number
  readonly rounds: number
}

/** One row of the report: a server, and the requests that it is sent. */
interface Runner {
  readonly name: string
  readonly server: Server
  readonly file: string
}

/**
 * A stored answer of 1 kB: the gateway without and with keys beside nginx `proxy_cache` and HAProxy's cache, in turn, on the same core.
 * Answers its part of the report. @throws Error when an answer was bad or did not come from the cache
 */
export async function compareCaches({ folder, seconds, rounds }: CachesOptions): Promise<string> {
  const upstream = await startUpstream(join(folder, 'upstream'))
  const nginx = await startCachingNginx(join(folder, 'nginx'), upstream.port)
  const haproxy = await startCachingHaproxy(join(folder, 'haproxy'), upstream.port)
  const own = join(folder, 'gateway')
  mkdirSync(own, { recursive: true })
  const product = await startProduct({ folder: own })
  try {
    progress(`making ${KEYS} keys`)
    const { keys, file: keyed } = await fillCached(product.admin, upstream.port, folder)
    const open = requestsFile(join(folder, 'open.tsv'), [''], () => '/open')
    const runners: Runner[] = [
      { name: 'Gatehouse, keyless', server: product, file: open },
      { name: 'Gatehouse, auth token, rate, quota, hits', server: product, file: keyed },
      { name: nginx.name, server: nginx, file: open },
      { name: haproxy.name, server: haproxy, file: open },
    ]
    await checkHit(product, '/open')
    await checkHit(product, '/api-0', keys[0])
    for (const peer of [nginx, haproxy]) await checkHit(peer, '/open')
    const results = new Map<string, Measured[]>(runners.map(({ name }) => [name, []]))
    for (let round = 0; round <= rounds; round++) {
      for (const runner of runners) {
        const run = await measure(runner, round === 0 ? WARM_UP_SECONDS : seconds)
        if (round === 0) continue
        results.get(runner.name)!.push(run)
        progress(`${runner.name}: ${show(run.perSecond)}/s, ${show(run.cpuMicros, 1)} µs CPU`)
      }
    }
    return report(results)
  } finally {
    for (const server of [product, nginx, haproxy]) await server.started.stop()
    await upstream.started.stop()
  }
}

async function fillCached(admin: Admin, upstreamPort: number, folder: string) {
  const filled = await fillGateway(admin, { apis: 1, keys: KEYS, upstreamPort, folder })
  await admin.call('PUT', '/apis/oas/api-0', cached(definition('api-0', upstreamPort), true))
  await admin.call('POST', '/apis/oas', cached(definition('open', upstreamPort), false))
  return filled
}

/** A definition whose answers are stored as the upstream says. */
function cached(document: Record<string, unknown>, keyed: boolean): Record<string, unknown> {
  const extension = document['x-svc-api-gateway'] as { server: object; middleware: { global: object } }
  const cache = { enabled: true, cacheAllSafeRequests: true, enableUpstreamCacheControl: true }
  const { authentication: _, ...open } = extension.server as { authentication?: object }
  return {
    ...document,
    ...(!keyed && { components: {}, security: [] }),
    'x-svc-api-gateway': {
      ...extension,
      server: keyed ? extension.server : open,
      middleware: { global: { ...extension.middleware.global, cache } },
    },
  }
}

/** @throws Error unless the second of two requests is answered from the cache */
async function checkHit({ name, url }: Server, path: string, key?: string): Promise<void> {
  let marked = false
  for (let i = 0; i < 2; i++) {
    const headers: Record<string, string> = key === undefined ? {} : { Authorization: key }
    const answer = await fetch(`${url}${path}${CACHEABLE}`, { headers })
    await answer.arrayBuffer()
    marked = answer.headers.get('x-cache') === 'HIT' || answer.headers.get('x-svc-cached-response') === '1'
  }
  if (!marked) throw new Error(`${name} does not answer from its cache`)
}

function measure({ name, server, file }: Runner, seconds: number): Promise<Measured> {
  return measureLoad(`${name}, stored`, server.started, {
    url: server.url,
    seconds,
    connections: CONNECTIONS,
    script: 'requests.lua',
    args: [file, CACHEABLE],
  })
}

function report(results: ReadonlyMap<string, readonly Measured[]>): string {
  const against = (peer: string, runs: readonly Measured[]) =>
    show(median(runs.map((run, i) => run.perSecond / results.get(peer)![i]!.perSecond)), 2)
  const rows = [...results].map(([name, runs]) => {
    const middle = (pick: (run: Measured) => number, digits = 0) => show(median(runs.map(pick)), digits)
    return [
      name,
      middle((run) => run.perSecond),
      against('nginx, proxy_cache', runs),
      against('HAProxy, cache', runs),
      middle((run) => run.cpuMicros, 1),
      ...[(run: Measured) => run.p50, (run: Measured) => run.p99].map((pick) => middle(pick, 2)),
    ]
  })
  const head = ['', 'requests/s', 'of nginx', 'of HAProxy', 'CPU µs/request', 'p50 ms', 'p99 ms']
  return `## A stored answer, beside other caches

1 kB, stored once and given again: the gateway to everybody, and with ${KEYS.toLocaleString('en-US')} keys used at random, each with answers of its own, its rate, quota and
hits; nginx (1 worker) with \`proxy_cache\` and open files, HAProxy (1 thread) with its cache, both to everybody. Each with all it runs on one
core, in turn; \`wrk -t1 -c${CONNECTIONS}\` on another. Medians of interleaved rounds.

${table(head, rows)}`
}
