import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { TestContext } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { publishApi } from '../../../src/publish/apis/apis.ts'
import type { Store } from '../../../src/store/ports/ports.ts'
import { classic, defined, rights } from '../base/definitions.ts'
import { eventually } from '../base/eventually.ts'
import { startTestGateway, type TestGateway } from '../base/harness.ts'
import { oauthApi } from '../gateway/oauth-fixtures.ts'
import { startOrigin } from '../servers/origin.ts'
import { type KeyWorld, keyWorld } from './key-world.ts'

/** A request as the test remembers it: what the gateway must have counted. */
export interface Counted {
  readonly apiId: string
  readonly version: string
  /** Hash of the key or token, '' without one. */
  readonly key: string
  readonly clientId: string
  readonly tags: readonly string[]
  /** `METHOD /path` of a tracked endpoint. */
  readonly endpoint: string
  readonly code: number
  /** Unix ms. */
  readonly at: number
}

/** The form of a request; `send` makes it and notes what must be counted. */
export interface Kind {
  readonly path: (status: number) => string
  readonly headers: Readonly<Record<string, string>>
  readonly counted: Omit<Counted, 'code' | 'at'>
  /** The status of the gateway's own answer. */
  readonly own?: number
}

export interface AnalyticsWorld extends KeyWorld {
  readonly gateway: TestGateway
  readonly kinds: readonly Kind[]
  readonly sent: Counted[]
  readonly developerId: string
  readonly clientId: string
  /** Hashes of the keys by name. */
  readonly hashes: Readonly<Record<'plain' | 'gold', string>>
  send(kind: Kind, status: number): Promise<void>
  /** Waits until analytics know of everything that was sent. */
  known(): Promise<void>
}

/** 28 February 2024, 22:30 UTC: a leap day, and soon another month. */
export const START_MS = Date.UTC(2024, 1, 28, 22, 30)

/** A gateway and a dashboard over one store, with one of every dimension. */
export async function analyticsWorld(
  t: TestContext,
  open: (clock: FakeClock) => Promise<Store>,
  env: Record<string, string> = {},
): Promise<AnalyticsWorld> {
  const clock = new FakeClock(START_MS)
  const store = await open(clock)
  t.after(() => store.close())
  const origin = await startOrigin()
  t.after(() => origin.close())
  origin.script = ({ target }, response) => {
    response.writeHead(Number(/\/(\d{3})/.exec(target)?.[1] ?? 200))
    response.end()
  }
  // Days pass in these tests, and tokens stay.
  const gateway = await startTestGateway({ store, clock, env: { SVC_GW_OAUTHTOKENEXPIRE: '31536000', ...env } })
  t.after(() => gateway.close())
  const settled = async (revision: number) => void (await gateway.gateway.live.settled(revision))
  const world = await keyWorld(t, { store, clock, env, parts: { sealKey: Buffer.alloc(32, 7), settled } })
  const publish = async (format: 'classic' | 'oas', definition: JsonObject) => {
    const made = await publishApi(world.parts, { format, definition, orgId: world.orgId, actor: 'test' })
    await settled(made.revision)
  }
  await publish('oas', keyed(origin.url))
  await publish('oas', defined({ id: 'open', url: origin.url, info: { orgId: world.orgId } }))
  await publish('classic', versioned(origin.url))
  await publish('oas', oauthApi(origin.url, { id: 'tokened', global: { trafficLogs: { enabled: true } } }))
  const developer = '00000000000000000000d0d0'
  await store.documents.commit(
    [
      {
        op: 'put',
        kind: 'developer',
        id: developer as never,
        body: { org_id: world.orgId, email: 'dev@example.test' },
      },
    ],
    undefined,
  )
  await world.policy('gold', ['k'], { tags: ['tier-1'], meta_data: { svc_developer_id: developer }, rate: 0, per: 0 })
  await world.policy('machine', ['tokened'], { rate: 0, per: 0 })
  const plain = await world.key({ access_rights: rights('k', 'v'), alias: '=plain', tags: ['own', 'aa'], rate: 0 })
  const gold = await world.key({ apply_policies: ['gold'], alias: 'gold one' })
  const client = await world.asked(200, 'POST', '/api/apis/oauth/tokened', world.root, {
    ...{ redirect_uri: 'https://app.test/cb', policy_id: 'machine' },
  })
  const clientId = String(client.client_id)
  const token = await tokenOf(gateway, clientId, String(client.secret))
  const sent: Counted[] = []
  return {
    ...{ ...world, gateway, sent, clientId, developerId: developer },
    hashes: { plain: plain.hash, gold: gold.hash },
    kinds: kindsOf({ plain: plain.key, gold: gold.key, token, clientId, developer }),
    async send({ path, headers, counted, own }, status) {
      const answer = await gateway.call(path(status), { headers })
      assert.equal(answer.status, own ?? status, `${path(status)}: ${answer.text}`)
      sent.push({ ...counted, code: answer.status, at: clock.wall() })
    },
    known: () =>
      eventually('all requests are counted', async () => {
        const answer = await world.asked(200, 'GET', '/api/usage/1/1/2024/31/12/2024?res=month&p=-1', world.root)
        return (answer.data as JsonObject[]).reduce((sum, row) => sum + Number(row.hits), 0) >= sent.length
      }),
  }
}

async function tokenOf(gateway: TestGateway, clientId: string, secret: string): Promise<string> {
  const answer = await gateway.call('/tokened/oauth/token', {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: 'grant_type=client_credentials',
  })
  assert.equal(answer.status, 200, answer.text)
  return String((answer.json as JsonObject).access_token)
}

function keyed(url: string): JsonObject {
  return defined({
    ...{ id: 'k', url, keyIn: 'X-Key' },
    global: { trafficLogs: { enabled: true, tagHeaders: ['X-Tenant'] } },
    paths: {
      '/tracked/{status}': { get: { operationId: 'tracked' } },
      '/silent/{status}': { get: { operationId: 'silent' } },
    },
    operations: {
      tracked: { trackEndpoint: { enabled: true } },
      silent: { doNotTrackEndpoint: { enabled: true } },
    },
  })
}

function versioned(url: string): JsonObject {
  return classic('v', '/v/', url, {
    definition: { location: 'header', key: 'x-version' },
    version_data: {
      not_versioned: false,
      default_version: 'v1',
      versions: { v1: { name: 'v1' }, v2: { name: 'v2' } },
    },
  })
}

interface Given {
  readonly plain: string
  readonly gold: string
  readonly token: string
  readonly clientId: string
  readonly developer: string
}

function kindsOf({ plain, gold, token, clientId, developer }: Given): Kind[] {
  const hash = (text: string) => createHash('sha256').update(text).digest('hex')
  const none = { key: '', clientId: '', tags: [], endpoint: '', version: 'Non Versioned' }
  const byPlain = { ...none, apiId: 'k', key: hash(plain), tags: ['aa', 'own'] }
  const byGold = { ...none, apiId: 'k', key: hash(gold), tags: [`dev-${developer}`, 'pol-gold', 'tier-1'] }
  const at = (place: string) => (status: number) => `${place}/${status}`
  return [
    { path: at('/k/x'), headers: { 'x-key': plain }, counted: byPlain },
    {
      path: at('/k/x'),
      headers: { 'x-key': plain, 'x-tenant': 'acme' },
      counted: { ...byPlain, tags: ['aa', 'own', 'x-tenant-acme'] },
    },
    {
      path: at('/k/tracked'),
      headers: { 'x-key': plain },
      counted: { ...byPlain, endpoint: 'GET /tracked/{status}' },
    },
    { path: at('/k/x'), headers: { 'x-key': gold }, counted: byGold },
    { path: at('/k/tracked'), headers: { 'x-key': gold }, counted: { ...byGold, endpoint: 'GET /tracked/{status}' } },
    { path: at('/k/x'), headers: {}, own: 401, counted: { ...none, apiId: 'k' } },
    { path: at('/open/x'), headers: {}, counted: { ...none, apiId: 'open' } },
    { path: at('/v/x'), headers: {}, counted: { ...none, apiId: 'v', version: 'v1' } },
    { path: at('/v/x'), headers: { 'x-version': 'v2' }, counted: { ...none, apiId: 'v', version: 'v2' } },
    {
      path: at('/tokened/x'),
      headers: { authorization: `Bearer ${token}` },
      counted: { ...none, apiId: 'tokened', key: hash(token), clientId, tags: ['pol-machine'] },
    },
  ]
}
