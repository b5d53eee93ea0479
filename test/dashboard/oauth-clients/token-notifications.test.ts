import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { gatewayWorld } from '../../worlds/dashboard/gateway-world.ts'
import { keyWorld } from '../../worlds/dashboard/key-world.ts'
import { oauthApi } from '../../worlds/gateway/oauth-fixtures.ts'
import { startReceiver } from '../../worlds/oauth/receiver.ts'

const REDIRECT = 'https://app.test/cb'

test('notifications of tokens that were not delivered are listed, and sent again when asked', async (t) => {
  const receiver = await startReceiver()
  t.after(() => receiver.close())
  const world = await gatewayWorld(t, { SVC_WEBHOOKS_ALLOWPRIVATE: 'true' })
  const { call, asked, root, store, gateway, user, organisation } = world
  const settings = { notifications: { onKeyChangeUrl: receiver.url, sharedSecret: 'shared secret' } }
  await world.oauth({ id: 'shop', settings })
  await world.oauth({ id: 'other' })
  await world.policy('gold', ['shop'])
  const client = { client_id: 'app', secret: 'secret', redirect_uri: REDIRECT, policy_id: 'gold' }
  await asked(200, 'POST', '/api/apis/oauth/shop', root, client)
  receiver.script = (_message, response) => void response.writeHead(500).end()
  const form = new URLSearchParams({ response_type: 'code', client_id: 'app', redirect_uri: REDIRECT }).toString()
  const { code } = await asked(200, 'POST', '/api/apis/shop/authorize-client', root, form)
  const answer = await gateway.call('/shop/oauth/token', {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from('app:secret').toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      redirect_uri: REDIRECT,
      code: String(code),
    }).toString(),
  })
  assert.equal(answer.status, 200, answer.text)
  const token = String((answer.json as JsonObject).access_token)

  const list = async (query = '', as = root, api = 'shop') => {
    const found = await call('GET', `/api/apis/${api}/notifications${query}`, { as })
    assert.equal(found.text.includes(token), false)
    return { status: found.status, rows: ((found.json as JsonObject).deliveries ?? []) as JsonObject[] }
  }
  await eventually('it was tried', async () => (await list()).rows[0]?.attempts === 1)
  const [waiting] = (await list()).rows
  const id = Number(waiting!.id)
  assert.deepEqual([waiting!.dead, typeof waiting!.next_at], [false, 'string'])
  assert.deepEqual((await list('?dead=true')).rows, [])
  assert.deepEqual((await list('', root, 'other')).rows, [])

  const resend = (path: string, as = root) => call('POST', `/api/apis/${path}/resend`, { as })
  assert.equal((await resend(`shop/notifications/${id}`)).status, 404, 'it was not given up')
  const outcome = { is: 'dead', error: 'answered 500' } as const
  await store.documents.commit([{ op: 'settleDelivery', id, outcome }], undefined)
  const [dead] = (await list('?dead=true')).rows
  assert.deepEqual([dead!.dead, dead!.error, 'next_at' in dead!], [true, 'answered 500', false])

  const reader = await user({ oauth: 'read' })
  const foreign = await user({ IsAdmin: 'admin' }, { orgId: await organisation() })
  assert.equal((await list('', reader)).rows.length, 1)
  assert.equal((await resend(`shop/notifications/${id}`, reader)).status, 403)
  assert.equal((await list('', foreign)).status, 404)
  for (const path of [`other/notifications/${id}`, `shop/notifications/${id + 1}`, 'shop/notifications/x'])
    assert.equal((await resend(path)).status, 404, path)
  assert.equal((await resend(`shop/notifications/${id}`, foreign)).status, 404)

  receiver.script = undefined
  assert.equal((await resend(`shop/notifications/${id}`)).status, 200)
  assert.equal((await store.audit.list({ limit: 1 })).rows[0]!.action, 'oauth_delivery.resend')
  await eventually('nothing is left', async () => (await list()).rows.length === 0)
})

test('an API that is called as a queue of events shows and sends none of them', async (t) => {
  const { call, asked, root, store, orgId } = await keyWorld(t)
  const queue = `event:${orgId}:api_event`
  const row = { queue, createdAt: Date.now(), sealed: Buffer.from('sealed') }
  await store.documents.commit([{ op: 'putDelivery', row }], undefined)
  const [{ id } = { id: 0 }] = await store.outbox.list({ queue, dead: false, after: 0, limit: 1 })
  const outcome = { is: 'dead', error: 'of others' } as const
  await store.documents.commit([{ op: 'settleDelivery', id, outcome }], undefined)
  const definition = oauthApi('http://127.0.0.1:1', { id: queue })
  assert.equal((await call('POST', '/api/apis/oas', { as: root, body: definition })).status, 400)
  // One that an older version stored.
  await asked(200, 'POST', '/api/apis/oas', root, oauthApi('http://127.0.0.1:1', { id: 'older' }))
  const stored = await store.documents.find('api', 'api_id', 'older')
  const body = { ...stored!.body, api_id: queue }
  await store.documents.commit([{ op: 'put', kind: 'api', id: stored!.id, body }], undefined)
  const path = `/api/apis/${encodeURIComponent(queue)}/notifications`
  assert.deepEqual((await call('GET', path, { as: root })).json, { deliveries: [] })
  assert.equal((await call('POST', `${path}/${id}/resend`, { as: root })).status, 404)
})

test('receivers on forbidden addresses and secrets that no header carries are refused at save', async (t) => {
  const world = await keyWorld(t)
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  const place = 'notifications'
  const definitionsOf = (id: string, url: string, secret: string): readonly (readonly [string, JsonObject])[] => [
    [
      'oas',
      oauthApi('http://127.0.0.1:1', {
        id,
        settings: { notifications: { onKeyChangeUrl: url, sharedSecret: secret } },
      }),
    ],
    [
      'classic',
      {
        ...{ api_id: `${id}c`, name: id, active: true, use_oauth2: true, use_keyless: false },
        oauth_meta: { allowed_access_types: ['authorization_code'] },
        proxy: { listen_path: `/${id}c/`, target_url: 'http://127.0.0.1:1/' },
        version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
        notifications: { oauth_on_keychange_url: url, shared_secret: secret },
      },
    ],
  ]
  const save = async (format: string, definition: JsonObject) => {
    const isOas = format === 'oas'
    const body = isOas ? definition : { api_definition: definition }
    const ways = [
      await world.call('POST', isOas ? '/api/apis/oas' : '/api/apis', { as: world.root, body }),
      await gateway.svc('POST', isOas ? '/svc/apis/oas' : '/svc/apis', definition),
    ]
    return ways.map(({ status, text }) => ({ status, text }))
  }
  const forbidden = ['127.0.0.1', '10.1.2.3', '169.254.169.254', '[::1]', '0x7f.1', '192.168.0.1:8080', 'localhost']
  const unfit = ['two\r\nlines', 'nul\0', 'tab\tbed', ' before', 'behind ', 'caf\u00e9', '\u20ac', '\u{1f511}']
  const cases: readonly (readonly [url: string, secret: string, name: RegExp | undefined])[] = [
    ...forbidden.map((host) => [`http://${host}/hook`, 's', /on(?:_k|K)ey(?:c|C)hange(?:_u|U)rl/] as const),
    ...unfit.map((secret) => ['https://hooks.example/', secret, /shared_?[sS]ecret/] as const),
    ['https://hooks.example/', 'a secret ~!', undefined],
    ['https://93.184.216.34/', 's', undefined],
    ['', '', undefined],
  ]
  for (const [index, [url, secret, name]] of cases.entries())
    for (const [format, definition] of definitionsOf(`d${index}`, url, secret))
      for (const { status, text } of await save(format, definition)) {
        assert.equal(status, name === undefined ? 200 : 400, `${format} ${url} ${JSON.stringify(secret)}: ${text}`)
        if (name !== undefined) assert.match(text, name, `${format} ${place}`)
      }
})
