import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { METRICS, type MetricName, metricEntry } from '../../src/model/metrics/catalog.ts'
import { eventually } from '../worlds/base/eventually.ts'
import { credentialOf } from '../worlds/cluster/acts.ts'
import { type Node, startCluster } from '../worlds/cluster/nodes.ts'
import { oauthApi, policyOf } from '../worlds/gateway/oauth-fixtures.ts'
import { startOrigin } from '../worlds/servers/origin.ts'

const API = (id: string, upstream: string, more: object = {}) => ({
  openapi: '3.0.3',
  info: { title: id, version: '1' },
  paths: {},
  components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'Authorization' } } },
  security: [{ key: [] }],
  'x-svc-api-gateway': {
    info: { id, name: id, state: { active: true } },
    upstream: { url: upstream },
    server: {
      listenPath: { value: `/${id}/`, strip: true },
      authentication: { enabled: true, securitySchemes: { key: { enabled: true } } },
    },
    ...more,
  },
})

const live = (node: Node, path: string, headers: Record<string, string>, status: number) =>
  eventually(`${path} answers ${status}`, async () => (await node.call(path, headers)).status === status)

test('gateways and a dashboard of one cluster share everything', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const cluster = await startCluster(t)
  // At one moment, on an empty database.
  const [first, second, apart] = await Promise.all([
    cluster.start('all', { SVC_GW_NODENAME: 'first' }),
    cluster.start('gateway', { SVC_GW_NODENAME: 'second' }),
    cluster.start('dashboard'),
  ])

  const rights = { orders: { api_id: 'orders', api_name: 'orders', versions: ['Default'] } }

  await t.test('a definition stored at one is served by all', async () => {
    assert.equal((await first.svc('POST', '/svc/apis/oas', API('orders', origin.url))).status, 200)
    await live(second, '/orders/x', {}, 401)
  })

  await t.test('a rate is counted once for all, and a key revoked at one is refused by all', async () => {
    const made = await second.svc('POST', '/svc/keys/create', { rate: 6, per: 300, access_rights: rights })
    const { key } = made.json as { key: string }
    const headers = { authorization: key }
    const statuses: number[] = []
    for (let i = 0; i < 8; i++) statuses.push((await (i % 2 ? first : second).call('/orders/x', headers)).status)
    assert.deepEqual(statuses, [200, 200, 200, 200, 200, 200, 429, 429])
    assert.equal((await first.svc('DELETE', `/svc/keys/${key}`)).status, 200)
    await live(second, '/orders/x', headers, 403)
    await live(first, '/orders/x', headers, 403)
  })

  await t.test('a gateway tells what only a cluster has, with numbers', async () => {
    const { text } = await second.svc('GET', '/metrics')
    for (const name of Object.keys(METRICS) as MetricName[])
      if (metricEntry(name).only === 'in a cluster') assert.match(text, new RegExp(`^${name}(?:_count)? `, 'm'))
    assert.ok(Number(/^svc_redis_call_duration_seconds_count (\d+)$/m.exec(text)?.[1]) > 0)
    await eventually('the revision in force is that of the store', async () => {
      const page = (await second.svc('GET', '/metrics')).text
      return /^svc_store_revision (.+)$/m.exec(page)![1] === /^svc_revision (.+)$/m.exec(page)![1]
    })
  })

  const credential = await credentialOf(apart)
  await t.test('tokens of a signing key that is retired at one node are refused by all', async () => {
    const definition = oauthApi(origin.url, { id: 'shop', settings: { accessTokenFormat: 'jwt' } })
    assert.equal((await first.svc('POST', '/svc/apis/oas', definition)).status, 200)
    assert.equal((await first.svc('POST', '/svc/policies', policyOf('shop', ['shop']))).status, 200)
    const client = {
      ...{ client_id: 'app', secret: 's', api_id: 'shop', policies: ['shop'] },
      redirect_uris: [origin.url],
    }
    assert.equal((await first.svc('POST', '/svc/oauth/clients/create', client)).status, 200)
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    const form = 'grant_type=client_credentials&client_id=app&client_secret=s'
    const issued = await first.send('POST', '/shop/oauth/token', type, form)
    assert.equal(issued.status, 200, issued.text)
    const bearer = { authorization: `Bearer ${(issued.json as { access_token: string }).access_token}` }
    for (const node of [first, second]) await live(node, '/shop/x', bearer, 200)
    const keys = (await second.svc('GET', '/svc/oauth/signing-keys')).json as { keys: { kid: string }[] }
    // By a dashboard without a gateway.
    const path = `/api/oauth/signing-keys/${keys.keys[0]!.kid}`
    assert.equal((await apart.send('DELETE', path, { authorization: credential }, '')).status, 200)
    for (const node of [first, second]) {
      await live(node, '/shop/x', bearer, 401)
      assert.ok(!(await node.call('/shop/oauth/jwks')).text.includes(keys.keys[0]!.kid))
    }
  })

  await t.test('every node is listed, with what it loads', async () => {
    await eventually('both gateways are listed', async () => {
      const answer = await apart.call('/api/system/nodes', { authorization: credential })
      return /"first"/.test(answer.text) && /"second"/.test(answer.text)
    })
  })

  await t.test('of two gateways of one name the younger is listed under another, with a warning', async () => {
    const twin = await cluster.start('gateway', { SVC_GW_NODENAME: 'second' })
    const listed = async () => {
      const { json } = await apart.call('/api/system/nodes', { authorization: credential })
      return JSON.stringify(json).match(/"second(?:-[^"]{4})?"/g) ?? []
    }
    await eventually('it says so', () =>
      /another gateway has the same name: set gateway\.node_name/.test(twin.output()),
    )
    await eventually('both are listed', async () => new Set(await listed()).size === 2)
    const nameOf = async (node: Node) => ((await node.svc('GET', '/svc/node')).json as { name: string }).name
    assert.equal(await nameOf(second), 'second')
    assert.match(String(await nameOf(twin)), /^second-.{4}$/)
    assert.doesNotMatch(second.output(), /another gateway has the same name/)
    await twin.kill()
  })

  await t.test('a node with another seal key is refused, with what to do', async () => {
    const other = randomBytes(32).toString('base64url')
    await assert.rejects(cluster.start('gateway', { SVC_STORAGE_SEALKEY: other }), /set storage\.seal_key/)
  })

  await t.test('a gateway that is killed costs the other nothing', async () => {
    await second.kill()
    assert.equal((await first.call('/orders/x')).status, 401)
  })

  const made = await first.svc('POST', '/svc/keys/create', { access_rights: rights })
  const headers = { authorization: (made.json as { key: string }).key }
  const [third, fourth] = await Promise.all([
    cluster.start('gateway', { SVC_GW_NODENAME: 'third' }),
    cluster.start('gateway', { SVC_GW_NODENAME: 'fourth' }),
  ])
  for (const node of [third, fourth]) {
    await told(first, node, `marker-${node.port}`, origin.url)
    await live(node, '/orders/x', headers, 200)
  }
  assert.equal(await fourth.stop(), 0)
  await cluster.postgres.halt('SIGKILL')

  await t.test('with PostgreSQL gone a gateway serves what it has', async () => {
    for (let i = 0; i < 20; i++) {
      const { status, text } = await third.call('/orders/x', headers)
      assert.equal(status, 200, text)
    }
    assert.equal((await third.call('/ready')).status, 200, 'it can serve')
  })

  await t.test(
    'a gateway that starts without PostgreSQL serves its local copy, reports it, and catches up',
    async () => {
      const after = await cluster.start('gateway', { SVC_GW_NODENAME: 'fourth', SVC_STORAGE_PATH: fourth.folder })
      assert.equal((await after.call('/orders/x', headers)).status, 200)
      assert.equal((await after.call('/orders/x', { authorization: 'unknown' })).status, 503, 'it may exist')
      assert.match((await after.call('/hello')).text, /this node serves what it has/)
      await cluster.postgres.resume()
      await eventually(
        'a change is taken',
        async () => (await first.svc('POST', '/svc/apis/oas', API('later', origin.url))).status === 200,
      )
      await live(third, '/later/x', {}, 401)
      await eventually('it catches up', async () => !/serves what it has/.test((await after.call('/hello')).text))
      await live(after, '/later/x', {}, 401)
      assert.equal((await after.call('/orders/x', { authorization: 'unknown' })).status, 403)
      assert.equal(await third.stop(), 0)
    },
  )
})

/** Waits until the second node has seen every commit so far: it then reads from memory. */
async function told(writer: Node, reader: Node, marker: string, url: string): Promise<void> {
  assert.equal((await writer.svc('POST', '/svc/apis/oas', API(marker, url))).status, 200)
  await live(reader, `/${marker}/x`, {}, 401)
}
