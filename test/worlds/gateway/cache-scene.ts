import type { TestContext } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { defined, rights } from '../base/definitions.ts'
import { startTestGateway, type TestGateway } from '../base/harness.ts'
import { type Origin, startOrigin } from '../servers/origin.ts'

/** A gateway with an upstream whose `Date` goes by the clock of the test. */
export interface CacheScene {
  readonly gateway: TestGateway
  readonly origin: Origin
  /** Publishes an API at `/{id}/` with these settings of `middleware.global.cache`. */
  publish(id: string, cache: JsonObject | undefined, more?: Partial<Parameters<typeof defined>[0]>): Promise<void>
  /** Makes a key with rights on these APIs. */
  key(apis: readonly string[], more?: JsonObject): Promise<string>
  /** A number of the metrics page. */
  metric(name: string): Promise<number>
}

/** Long enough that a request that waits for another's response continues only for the tested reason. */
const WAIT_LONG = '3600000'

/** Starts both; they end with the test. */
export async function openCacheScene(
  t: TestContext | { after(fn: () => unknown): void },
  env: Record<string, string> = {},
): Promise<CacheScene> {
  const origin = await startOrigin()
  const gateway = await startTestGateway({ env: { SVC_GW_CACHEWAITMS: WAIT_LONG, ...env } })
  t.after(async () => {
    await gateway.close()
    await origin.close()
  })
  const done = (answer: { status: number; text: string; json: unknown }) => {
    if (answer.status !== 200) throw new Error(answer.text)
    return answer.json as JsonObject
  }
  return {
    gateway,
    origin,
    async publish(id, cache, more = {}) {
      const global = { ...(cache !== undefined && { cache }), ...more.global }
      done(await gateway.svc('POST', '/svc/apis/oas', defined({ id, url: origin.url, ...more, global })))
    },
    async key(apis, more = {}) {
      return String(
        done(await gateway.svc('POST', '/svc/keys/create', { access_rights: rights(...apis), ...more })).key,
      )
    },
    async metric(name) {
      const page = (await gateway.svc('GET', '/metrics')).text
      return Number(new RegExp(`^${name}(?:_total)? (\\S+)$`, 'm').exec(page)?.[1])
    },
  }
}
