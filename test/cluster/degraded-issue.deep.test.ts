import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import type { JsonObject } from '../../src/model/json/json.ts'
import { eventually } from '../worlds/base/eventually.ts'
import { type Node, startCluster } from '../worlds/cluster/nodes.ts'
import { oauthApi, policyOf } from '../worlds/gateway/oauth-fixtures.ts'
import { startOrigin } from '../worlds/servers/origin.ts'

test('tokens are issued while the stores are away, and revocations stay in force', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const cluster = await startCluster(t)
  const { postgres, redis } = cluster
  const first = await cluster.start('gateway', { SVC_GW_NODENAME: 'first' })
  const settings = (accessTokenFormat: string) => ({ accessTokenFormat }) as JsonObject
  await made(first, '/svc/apis/oas', oauthApi(origin.url, { id: 'jwt', settings: settings('jwt') }))
  await made(first, '/svc/apis/oas', oauthApi(origin.url, { id: 'opaque' }))
  await made(first, '/svc/policies', policyOf('p', ['jwt', 'opaque']))
  for (const [name, api] of [
    ['app', 'jwt'],
    ['stranger', 'jwt'],
    ['plain', 'opaque'],
  ] as const)
    await made(first, '/svc/oauth/clients/create', clientOf(name, api))
  const before = await token(first, 'jwt')
  assert.equal((await ask(first, 'opaque', 'plain')).status, 200)
  assert.equal(await use(first, before), 200)
  const halt = () => Promise.all([postgres.halt('SIGKILL'), redis.kill()])
  const resume = () => Promise.all([postgres.resume(), redis.start()])
  await halt()

  let alone = ''
  await t.test('one that is issued then is good here', async () => {
    alone = await token(first, 'jwt')
    assert.equal(alone.split('.').length, 3)
    assert.equal(await use(first, alone), 200)
    assert.equal(await use(first, before), 200)
  })

  await t.test('what cannot be checked, or is not to be verified by itself, is refused', async () => {
    for (const [api, client] of [
      ['jwt', 'stranger'],
      ['opaque', 'plain'],
    ] as const) {
      const refused = await ask(first, api, client)
      assert.deepEqual([refused.status, (refused.json as JsonObject).error], [503, 'temporarily_unavailable'])
    }
    assert.equal((await ask(first, 'jwt', 'app', 'wrong')).status, 401)
    assert.equal((await revoke(first, alone)).status, 503, 'it would not be known anywhere')
    assert.equal(await use(first, alone), 200)
  })

  assert.equal(await first.stop(), 0)
  const restarted = await cluster.start('gateway', { SVC_GW_NODENAME: 'first', SVC_STORAGE_PATH: first.folder })
  assert.equal(await use(restarted, alone), 200)
  const later = await token(restarted, 'jwt')
  const revoked = await token(restarted, 'jwt')
  assert.equal(await use(restarted, revoked), 200)
  await eventually('it stands in its copy', () => owedIn(first.folder) === 3)
  await restarted.kill()

  await resume()
  const second = await cluster.start('gateway', { SVC_GW_NODENAME: 'second' })
  assert.equal(await use(second, alone), 401, 'nobody has told it yet')
  assert.equal((await revoke(second, revoked)).status, 200)
  const back = await cluster.start('gateway', { SVC_GW_NODENAME: 'first', SVC_STORAGE_PATH: first.folder })
  await eventually('it is stored', async () => (await use(second, alone)) === 200)
  await eventually('so is the other', async () => (await use(second, later)) === 200)

  await t.test('one that was revoked before it was stored is refused everywhere', async () => {
    for (const node of [back, second]) assert.equal(await use(node, revoked), 401)
    assert.equal(await use(back, alone), 200)
  })

  await t.test('from then on it is revoked as any other', async () => {
    assert.equal((await revoke(back, alone)).status, 200)
    for (const node of [back, second]) await eventually('it is refused', async () => (await use(node, alone)) === 401)
    assert.equal(await use(second, await token(back, 'jwt')), 200)
  })
})

async function made(node: Node, path: string, body: JsonObject): Promise<void> {
  const { status, text } = await node.svc('POST', path, body)
  assert.equal(status, 200, text)
}

function clientOf(id: string, api: string): JsonObject {
  return {
    ...{ client_id: id, secret: `secret-of-${id}`, redirect_uri: 'https://app.example.org/cb' },
    ...{ api_id: api, policies: ['p'] },
  }
}

function ask(node: Node, api: string, client: string, secret = `secret-of-${client}`) {
  return form(node, `/${api}/oauth/token`, { grant_type: 'client_credentials' }, client, secret)
}

function revoke(node: Node, text: string) {
  return form(node, '/jwt/oauth/revoke', { token: text }, 'app')
}

function form(
  node: Node,
  path: string,
  fields: Record<string, string>,
  client: string,
  secret = `secret-of-${client}`,
) {
  const headers = {
    authorization: `Basic ${Buffer.from(`${client}:${secret}`).toString('base64')}`,
    'content-type': 'application/x-www-form-urlencoded',
  }
  return node.send('POST', path, headers, new URLSearchParams(fields).toString())
}

async function token(node: Node, api: string): Promise<string> {
  const { status, text, json } = await ask(node, api, 'app')
  assert.equal(status, 200, text)
  return (json as { access_token: string }).access_token
}

/** How many tokens wait in the copy of a node. */
function owedIn(folder: string): number {
  const db = new DatabaseSync(join(folder, 'copy.db'), { readOnly: true })
  try {
    return db.prepare('SELECT count(*) AS n FROM owed').get()!.n as number
  } finally {
    db.close()
  }
}

async function use(node: Node, text: string): Promise<number> {
  return (await node.call('/jwt/x', { authorization: `Bearer ${text}` })).status
}
