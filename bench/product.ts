import { openSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Certificate, Server } from './peers.ts'
import { freePort, PROXY_CORE, startPinned } from './processes.ts'

const LAUNCHER = fileURLToPath(new URL('../bin/gatehouse', import.meta.url))
const SECRET = 'bench-secret-that-nobody-else-has'
/** Opens `/admin` of the dashboard. */
export const ADMIN_SECRET = 'bench-secret-of-the-installation-01'
const READY_WITHIN_MS = 120_000

export interface ProductOptions {
  /** Folder for data and log. */
  readonly folder: string
  readonly certificate?: Certificate
  /** More settings, by environment name. */
  readonly env?: Record<string, string>
  /** Lets `heldBytes` collect the garbage. */
  readonly inspect?: boolean
  /** Gateway and dashboard unless given. */
  readonly role?: 'all' | 'gateway'
  readonly core?: number
}

/** The product under test: as a user would start it, all threads on one core. */
export interface Product extends Server {
  readonly admin: Admin
  readonly dashboardUrl: string
  /** From the start of the process to the first 200 of `/ready`. */
  readonly readyMs: number
  readonly inspectPort: number
}

/** Starts the product on its own data folder and waits until it is ready. */
export async function startProduct(options: ProductOptions): Promise<Product> {
  const [port, tls, dashboard, inspectPort] = [await freePort(), await freePort(), await freePort(), await freePort()]
  const tlsEnv: Record<string, string> =
    options.certificate === undefined
      ? {}
      : {
          SVC_GW_TLS_ENABLED: 'true',
          SVC_GW_TLS_LISTENPORT: String(tls),
          SVC_GW_TLS_CERTFILE: options.certificate.certFile,
          SVC_GW_TLS_KEYFILE: options.certificate.keyFile,
        }
  const startedAt = performance.now()
  const command = [process.execPath, LAUNCHER, options.role ?? 'all']
  const started = startPinned('gateway', options.core ?? PROXY_CORE, command, {
    env: {
      SVC_GW_LISTENHOST: '127.0.0.1',
      SVC_GW_LISTENPORT: String(port),
      SVC_DB_LISTENHOST: '127.0.0.1',
      SVC_DB_LISTENPORT: String(dashboard),
      SVC_STORAGE_PATH: join(options.folder, 'data'),
      SVC_GW_SECRET: SECRET,
      SVC_DB_ADMINSECRET: ADMIN_SECRET,
      SVC_SAMPLE: 'false',
      SVC_GW_ACCESSLOG: 'false',
      ...tlsEnv,
      ...(options.inspect ? { NODE_OPTIONS: `--inspect=127.0.0.1:${inspectPort}` } : {}),
      ...options.env,
    },
    output: openSync(join(options.folder, 'gateway.log'), 'a'),
  })
  const url = `http://127.0.0.1:${port}`
  const endsAt = startedAt + READY_WITHIN_MS
  while (!(await isReady(url))) {
    if (started.ended || performance.now() > endsAt)
      throw new Error(`the gateway is not ready; see ${options.folder}/gateway.log`)
    await wait(5)
  }
  const readyMs = performance.now() - startedAt
  return {
    name: 'Gatehouse',
    started,
    url,
    tlsUrl: `https://127.0.0.1:${tls}`,
    admin: new Admin(url),
    dashboardUrl: `http://127.0.0.1:${dashboard}`,
    readyMs,
    inspectPort,
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/ready`)
    await answer.arrayBuffer()
    return answer.status === 200
  } catch {
    return false
  }
}

/** Calls of the administration API. */
export class Admin {
  readonly #url: string

  constructor(url: string) {
    this.#url = url
  }

  /** @throws Error unless the answer is 2xx */
  async call(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
    const answer = await fetch(`${this.#url}/svc${path}`, {
      method,
      headers: { 'X-Svc-Authorization': SECRET, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return JSON.parse(text) as Record<string, unknown>
  }

  /** Sends a document as it is, JSON or YAML. @throws Error unless the answer is 2xx */
  async importDocument(path: string, text: string): Promise<void> {
    const type = text.startsWith('{') ? 'application/json' : 'application/yaml'
    const headers = { 'X-Svc-Authorization': SECRET, 'Content-Type': type }
    const answer = await fetch(`${this.#url}/svc${path}`, { method: 'POST', headers, body: text })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${(await answer.text()).slice(0, 500)}`)
    await answer.arrayBuffer()
  }

  /** Does `work` for 0 to count - 1, so many at a time. */
  static async times(count: number, work: (i: number) => Promise<void>, atOnce = 16): Promise<void> {
    let next = 0
    const one = async () => {
      while (next < count) await work(next++)
    }
    await Promise.all(Array.from({ length: atOnce }, one))
  }
}

/** As `definition`, without keys and hits: what a plain proxy does. */
export function openDefinition(apiId: string, upstreamPort: number): Record<string, unknown> {
  const whole = definition(apiId, upstreamPort, undefined, false)
  const extension = whole['x-svc-api-gateway'] as { server: Record<string, unknown> }
  const server = { ...extension.server, authentication: { enabled: false } }
  return { ...whole, security: [], 'x-svc-api-gateway': { ...extension, server } }
}

/**
 * An OpenAPI definition with auth token, limits and hits, at `/<id>/`. `revision` shows in what client and upstream see; `counted`
 * false leaves the hits out.
 */
export function definition(
  apiId: string,
  upstreamPort: number,
  revision?: number,
  counted = true,
): Record<string, unknown> {
  const fields = revision === undefined ? [] : [{ name: 'X-Revision', value: String(revision) }]
  const edits = revision === undefined ? {} : editsOf(fields, revision)
  return {
    openapi: '3.0.3',
    info: { title: apiId, version: '1' },
    paths: {},
    components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'Authorization' } } },
    security: [{ key: [] }],
    'x-svc-api-gateway': {
      info: { id: apiId, name: apiId, state: { active: true } },
      upstream: { url: `http://127.0.0.1:${upstreamPort}/` },
      server: {
        listenPath: { value: `/${apiId}/`, strip: true },
        authentication: {
          enabled: true,
          stripAuthorizationData: true,
          securitySchemes: { key: { enabled: true } },
        },
      },
      middleware: { global: { trafficLogs: { enabled: counted }, ...edits } },
    },
  }
}

function editsOf(fields: { name: string; value: string }[], revision: number): Record<string, unknown> {
  return {
    transformRequestHeaders: { enabled: true, add: fields },
    transformResponseHeaders: { enabled: true, add: [...fields, { name: 'X-Revision-Too', value: String(revision) }] },
  }
}

export const RATE = { rate: 1000, per: 10 } as const
export const QUOTA_MAX = 1_000_000_000

/** A policy with rate and quota for these APIs. */
export function policy(id: string, apiIds: readonly string[]): Record<string, unknown> {
  return {
    id,
    name: id,
    active: true,
    ...RATE,
    quota_max: QUOTA_MAX,
    quota_renewal_rate: 86_400,
    access_rights: Object.fromEntries(
      apiIds.map((apiId) => [apiId, { api_id: apiId, api_name: apiId, versions: ['Default'] }]),
    ),
  }
}
