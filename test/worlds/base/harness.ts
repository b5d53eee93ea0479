import assert from 'node:assert/strict'
import { loadConfig } from '../../../src/config/load.ts'
import type { OnGatewayEvent } from '../../../src/gateway/events/events.ts'
import { type Gateway, startGateway } from '../../../src/gateway/server/gateway.ts'
import type { LineSink, LogFields } from '../../../src/model/logs/log.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import type { Store } from '../../../src/store/ports/ports.ts'
import { sealedStore } from '../../../src/store/sealed/sealed-store.ts'
import { type Answer, type CallOptions, call } from './client.ts'
import { ContractCheck } from './contract-check.ts'

/** Module state: the published description of the calls, read once. */
const CONTRACT = new ContractCheck('svc-openapi.json')

export const TEST_SECRET = 'secret-of-the-test-gateway'

export interface TestGatewayOptions {
  /** Environment names and values, as a person would set them. */
  readonly env?: Readonly<Record<string, string>>
  /** Shared with other gateways; the gateway then does not close it. */
  readonly store?: Store
  readonly clock?: FakeClock
  /** True = the access log is written, into `accessLines`. */
  readonly accessLog?: boolean
  readonly onGatewayEvent?: OnGatewayEvent
  /** How long administration calls wait for a change to be in force, in milliseconds. */
  readonly settleWithinMs?: number
}

/** A whole gateway in this process: real sockets, real steps, the embedded memory store, a fake clock. */
export interface TestGateway {
  readonly gateway: Gateway
  readonly port: number
  /** As it is stored: what the gateway seals is sealed here. */
  readonly store: Store
  readonly clock: FakeClock
  /** Every line that went to the log. */
  readonly log: { level: string; fields: LogFields; message: string }[]
  /** Lines of the access log, each without its line feed. */
  readonly accessLines: string[]
  /** A request to the traffic port. */
  call(path: string, options?: CallOptions): Promise<Answer>
  /** A call of the administration API, with the right secret unless `headers` bring another; it must be as the OpenAPI document says. */
  svc(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  close(): Promise<void>
}

export async function startTestGateway({
  env = {},
  store,
  clock = new FakeClock(),
  accessLog = false,
  onGatewayEvent,
  settleWithinMs,
}: TestGatewayOptions = {}): Promise<TestGateway> {
  const { config } = loadConfig({
    env: {
      SVC_GW_LISTENHOST: '127.0.0.1',
      SVC_GW_LISTENPORT: '0',
      SVC_GW_DRAINTIMEOUTMS: '200',
      SVC_GW_WORKERS: '1',
      SVC_SAMPLE: 'false',
      ...env,
    },
    cwd: import.meta.dirname,
  })
  const log: TestGateway['log'] = []
  const note = (level: string) => (fields: LogFields, message: string) => void log.push({ level, fields, message })
  const accessLines: string[] = []
  const sealKey = Buffer.alloc(32, 7)
  const ownStore = store ?? openMemoryStore({ clock })
  const gateway = await startGateway({
    config,
    store: sealedStore(ownStore, sealKey),
    clustered: false,
    clock,
    log: { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') },
    accessLog: accessLog ? lineSink(accessLines) : undefined,
    version: '0.0.0-test',
    nodeName: 'test-node',
    secrets: () => [TEST_SECRET],
    sealKey,
    defaultOrg: () => '',
    dashboard: undefined,
    ...(onGatewayEvent && { onGatewayEvent }),
    ...(settleWithinMs !== undefined && { settleWithinMs }),
  })
  const adminPort = gateway.controlPort ?? gateway.port
  return {
    gateway,
    port: gateway.port,
    store: ownStore,
    clock,
    log,
    accessLines,
    call: (path, options) => call(gateway.port, path, options),
    async svc(method, path, body, headers = {}) {
      const sent = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
      const answer = await call(adminPort, path, {
        method,
        headers: { 'x-svc-authorization': TEST_SECRET, ...headers },
        ...(sent !== undefined && { body: sent }),
      })
      // RFC 9110 section 15.5.6.
      assert.ok(answer.status !== 405 || answer.headers.allow !== undefined, `${method} ${path}: 405 without Allow`)
      if (/^\/svc\//.test(path)) CONTRACT.check({ method, path, body: sent }, answer)
      return answer
    },
    async close() {
      await gateway.stop()
      if (store === undefined) await ownStore.close()
    },
  }
}

function lineSink(lines: string[]): LineSink {
  return {
    backlogBytes: 0,
    write(text) {
      lines.push(...text.split('\n').slice(0, -1))
      return true
    },
    close: async () => {},
  }
}
