import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { fault } from '../../../src/errors/fault.ts'
import type { Exchange } from '../../../src/gateway/server/exchange.ts'
import { type TunnelParts, Tunnels } from '../../../src/gateway/server/tunnels.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { defined, rights } from '../../worlds/base/definitions.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { base64, claims, hsToken, SECRET } from '../../worlds/gateway/jwt-fixtures.ts'
import { bareOrigin } from '../../worlds/gateway/upstream-fixtures.ts'
import { Client, get, statusOf } from '../../worlds/wire/raw.ts'

const SWITCH = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: raw\r\nConnection: Upgrade\r\n\r\n'

/** An upstream that takes each upgrade and sends back what it gets, and APIs with keys, with tokens, and without either. */
async function world(t: TestContext) {
  const upstream = await bareOrigin(t, (socket) => {
    socket.write(SWITCH)
    socket.pipe(socket)
  })
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  const policy = { id: 'p', access_rights: rights('key', 'jwt'), active: true }
  const saved = async (path: string, body: JsonObject, method = 'POST') => {
    const answer = await gateway.svc(method, path, body)
    assert.equal(answer.status, 200, answer.text)
  }
  const keyed = (active: boolean) =>
    defined({ id: 'key', url: upstream.url, keyIn: 'X-Key', info: { state: { active } } })
  const jwt = {
    ...defined({
      ...{ id: 'jwt', url: upstream.url },
      server: {
        authentication: {
          enabled: true,
          securitySchemes: {
            s: { enabled: true, source: base64(SECRET), signingMethod: 'hmac', defaultPolicies: ['p'] },
          },
        },
      },
    }),
    components: { securitySchemes: { s: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } } },
    security: [{ s: [] }],
  }
  await saved('/svc/policies', policy)
  await saved('/svc/apis/oas', keyed(true))
  await saved('/svc/apis/oas', jwt)
  await saved('/svc/apis/oas', defined({ id: 'open', url: upstream.url }))
  return { gateway, saved, keyed, policy }
}

async function tunnel(t: TestContext, gateway: TestGateway, api: string, field = '') {
  const client = await Client.connect(gateway.gateway.port)
  t.after(() => client.destroy())
  const answer = await client.ask(get(`/${api}/x`, `Upgrade: raw\r\nConnection: Upgrade\r\n${field}`))
  assert.equal(statusOf(answer), 101)
  return client
}

async function echoes(client: Client): Promise<void> {
  client.write('ping')
  assert.equal((await client.inbox.take('an echo', () => 4)).bytes.toString(), 'ping')
}

const ended = (client: Client) => client.inbox.toEnd()

test('a tunnel ends with what let it in, and no other does', async (t) => {
  const { gateway, saved, keyed, policy } = await world(t)
  const key = async (more: JsonObject = {}) => {
    const body = { access_rights: rights('key'), ...more }
    return String(((await gateway.svc('POST', '/svc/keys/create', body)).json as JsonObject).key)
  }
  const others = [
    await tunnel(t, gateway, 'open'),
    await tunnel(t, gateway, 'key', `X-Key: ${await key()}\r\n`),
    await tunnel(t, gateway, 'jwt', `Authorization: Bearer ${tokenAt(gateway.clock.wallMs)}\r\n`),
  ]
  const expires = Math.floor(gateway.clock.wallMs / 1000) + 600
  const ways: Readonly<Record<string, (key: string) => Promise<unknown>>> = {
    deleted: (text) => gateway.svc('DELETE', `/svc/keys/${text}`),
    'switched off': (text) => saved(`/svc/keys/${text}`, { access_rights: rights('key'), is_inactive: true }, 'PUT'),
    'without rights': (text) => saved(`/svc/keys/${text}`, { access_rights: rights('jwt') }, 'PUT'),
    'expired before': (text) =>
      saved(`/svc/keys/${text}`, { access_rights: rights('key'), expires: expires - 1200 }, 'PUT'),
    expired: async () => {
      gateway.clock.wallMs += 700_000
    },
  }
  for (const [name, end] of Object.entries(ways)) {
    const text = await key(name === 'expired' ? { expires } : {})
    const client = await tunnel(t, gateway, 'key', `X-Key: ${text}\r\n`)
    await echoes(client)
    await end(text)
    await ended(client)
    for (const other of others.slice(0, 2)) await echoes(other)
  }
  await ended(others[2]!) // its token ended with the clock
  const late = tokenAt(gateway.clock.wallMs)
  const byToken = await tunnel(t, gateway, 'jwt', `Authorization: Bearer ${late}\r\n`)
  await echoes(byToken)
  await saved('/svc/policies/p', { ...policy, access_rights: rights('key') }, 'PUT')
  await ended(byToken)
  await saved('/svc/apis/oas/key', keyed(false), 'PUT')
  await ended(others[1]!)
  await echoes(others[0]!)
  assert.equal((await gateway.svc('DELETE', '/svc/apis/oas/open')).status, 200)
  await ended(others[0]!)
})

test('a store that fails in the check of a tunnel ends neither it nor the checks of others', async (t) => {
  const damage = fault('store_damaged', 'a page is damaged')
  const ways: Readonly<Record<string, () => unknown>> = {
    'throws at once': () => {
      throw damage
    },
    rejects: () => Promise.reject(damage),
    'answers what cannot be read': () => Promise.resolve({ planFor: undefined, evictAt: 0, expiresAt: 0 }),
  }
  t.mock.timers.enable({ apis: ['setInterval'] })
  for (const [name, findAgain] of Object.entries(ways)) {
    const parts = {
      sessions: { findAgain: (hash: string) => (hash === 'gone' ? undefined : findAgain()) },
      snapshot: () => ({ apis: new Map([['a', {}]]), policyGeneration: 1 }),
      clock: { wall: () => 1 },
    }
    const tunnels = new Tunnels(parts as unknown as TunnelParts)
    const cut: string[] = []
    const opened = ['unreadable', 'gone'].map((keyHash) => {
      const session = { isDerived: false, keyHash }
      const link = { cutTunnel: () => cut.push(keyHash) }
      const x = {
        chain: { api: { apiId: 'a' } },
        credentialEndsAt: 0,
        ownToken: '',
        session,
        link,
      } as unknown as Exchange
      tunnels.opened(x)
      return x
    })
    t.mock.timers.tick(500)
    await nextTurn()
    for (const x of opened) tunnels.closed(x)
    assert.deepEqual(cut, ['gone'], name)
  }
})

/** A token that is good for ten minutes. */
function tokenAt(wallMs: number): string {
  const now = Math.floor(wallMs / 1000)
  return hsToken(claims({ iat: now - 10, exp: now + 600 }))
}
