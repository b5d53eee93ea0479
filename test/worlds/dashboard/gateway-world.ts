import type { TestContext } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { publishApi } from '../../../src/publish/apis/apis.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import { startTestGateway, type TestGateway } from '../base/harness.ts'
import { type OAuthDraft, oauthApi } from '../gateway/oauth-fixtures.ts'
import { type Origin, startOrigin } from '../servers/origin.ts'
import { type KeyWorld, keyWorld } from './key-world.ts'

/** A dashboard and a gateway over one store, as one process has them, and an upstream. */
export interface GatewayWorld extends KeyWorld {
  readonly gateway: TestGateway
  readonly origin: Origin
  /** An API with an authorization server. */
  oauth(draft: OAuthDraft, orgId?: string): Promise<void>
  /** A token of client credentials. */
  token(apiId: string, clientId: string, secret: string): Promise<string>
  /** Status of a request with a bearer token. */
  use(path: string, token: string): Promise<number>
}

export async function gatewayWorld(t: TestContext, env: Record<string, string> = {}): Promise<GatewayWorld> {
  const clock = new FakeClock()
  const store = openMemoryStore({ clock })
  const origin = await startOrigin()
  const gateway = await startTestGateway({ store, clock, env })
  const world = await keyWorld(t, {
    ...{ store, clock, env },
    parts: {
      sealKey: Buffer.alloc(32, 7),
      settled: async (revision) => {
        await gateway.gateway.live.settled(revision)
      },
      nodeFlaws: async (revision, id) => {
        await gateway.gateway.live.settled(revision)
        return gateway.gateway.nodeFlaws(id)
      },
      tryRequest: (trial) => gateway.gateway.tryRequest(trial),
    },
  })
  t.after(async () => {
    await gateway.close()
    await origin.close()
    await store.close()
  })
  return {
    ...world,
    gateway,
    origin,
    async oauth(draft, orgId = world.orgId) {
      const definition = oauthApi(origin.url, draft)
      const { revision } = await publishApi(world.parts, { format: 'oas', definition, orgId, actor: 'test' })
      await gateway.gateway.live.settled(revision)
    },
    async token(apiId, clientId, secret) {
      const answer = await gateway.call(`/${apiId}/oauth/token`, {
        method: 'POST',
        headers: {
          authorization: `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`,
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: 'grant_type=client_credentials',
      })
      return String((answer.json as JsonObject).access_token)
    },
    async use(path, token) {
      return (await gateway.call(path, { headers: { authorization: `Bearer ${token}` } })).status
    },
  }
}
