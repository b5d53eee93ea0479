import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { startAll } from '../../../src/compose.ts'
import { loadConfig } from '../../../src/config/load.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { GatewayThreads } from '../../../src/process/gateway-threads.ts'
import { temporaryFolder } from '../../contract/adapters.ts'
import { type Answer, call } from '../base/client.ts'
import { startOrigin } from '../servers/origin.ts'

const MOST_CONNECTIONS = 400

/** The whole product in this process, its gateway on several threads. */
export interface ThreadsWorld {
  readonly gateway: GatewayThreads
  readonly dashboardPort: number
  /** Address of a service that answers everything. */
  readonly upstream: string
  /** The data folder. */
  readonly folder: string
  /** A request on a connection to the thread of this number, from 1. */
  on(thread: number, path: string, headers?: Record<string, string>, method?: string, body?: unknown): Promise<Answer>
  /** The same as a call of the administration. */
  svc(thread: number, method: string, path: string, body?: unknown): Promise<Answer>
  /** Opens connections until there is one to every thread. */
  connect(): Promise<void>
  /** How many threads serve now. */
  serving(): Promise<number>
  stop(): Promise<void>
}

/** Starts it with an API at `/orders/` that asks for a key. */
export async function startThreads(
  t: TestContext,
  threads: number,
  env: Record<string, string> = {},
): Promise<ThreadsWorld> {
  const folder = temporaryFolder(t)
  const settings = {
    SVC_GW_WORKERS: String(threads),
    SVC_GW_LISTENHOST: '127.0.0.1',
    SVC_GW_LISTENPORT: '0',
    SVC_GW_ACCESSLOG: 'false',
    SVC_DB_LISTENHOST: '127.0.0.1',
    SVC_DB_LISTENPORT: '0',
    SVC_STORAGE_PATH: folder,
    SVC_SAMPLE: 'false',
    SVC_LOG_LEVEL: 'silent',
    ...env,
  }
  const running = await startAll(loadConfig({ env: settings, cwd: folder }))
  const origin = await startOrigin()
  const agents = new Map<number, Agent>()
  const close = () => {
    for (const agent of agents.values()) agent.destroy()
    agents.clear()
  }
  t.after(async () => {
    close()
    await running.stop()
    await origin.close()
  })
  const { gateway, dashboardPort } = running
  assert.ok(gateway instanceof GatewayThreads)
  const secrets = JSON.parse(readFileSync(join(folder, 'secrets.json'), 'utf8')) as JsonObject
  const secret = { 'x-svc-authorization': env.SVC_GW_SECRET ?? String(secrets.gateway_secret) }
  const world: ThreadsWorld = {
    ...{ gateway, dashboardPort, folder, upstream: origin.url },
    on(thread, path, headers = {}, method = 'GET', body) {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) }
      return call(gateway.port, path, { method, headers, agent: agents.get(thread)!, ...sent })
    },
    svc: (thread, method, path, body) => world.on(thread, path, secret, method, body),
    async connect() {
      close()
      for (let i = 0; agents.size < threads; i++) {
        assert.ok(i < MOST_CONNECTIONS, `connections reach ${agents.size} threads alone`)
        const agent = new Agent({ keepAlive: true, maxSockets: 1 })
        const node = await call(gateway.port, '/svc/node', { headers: secret, agent })
        const thread = Number(/-(\d+)$/.exec(String((node.json as JsonObject).name))?.[1])
        if (agents.has(thread)) agent.destroy()
        else agents.set(thread, agent)
      }
    },
    async serving() {
      const { text } = await call(gateway.port, '/hello').catch(() => ({ text: 'no answer' }))
      if (text.includes('"workers":{"status":"pass"')) return threads
      return Number(/(\d+) of \d+ gateway threads serve/.exec(text)?.[1] ?? 0)
    },
    stop: () => running.stop(),
  }
  await world.connect()
  const definition = {
    api_id: 'orders',
    name: 'orders',
    active: true,
    use_keyless: false,
    auth: { auth_header_name: 'X-Key' },
    proxy: { listen_path: '/orders/', target_url: origin.url, strip_listen_path: true },
    version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
  }
  const made = await world.svc(1, 'POST', '/svc/apis', definition)
  assert.equal(made.status, 200, made.text)
  return world
}

/** Creates a key for the API at `/orders/`. */
export async function newKey(world: ThreadsWorld, limits: JsonObject = {}): Promise<string> {
  const rights = { orders: { api_id: 'orders', api_name: 'orders', versions: ['Default'] } }
  const made = await world.svc(1, 'POST', '/svc/keys', { rate: 0, per: 0, access_rights: rights, ...limits })
  assert.equal(made.status, 200, made.text)
  return String((made.json as JsonObject).key)
}
