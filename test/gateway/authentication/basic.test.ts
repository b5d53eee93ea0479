import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { hashSync } from 'bcryptjs'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { classicApi, rightsOn } from '../../worlds/gateway/admin-fixtures.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

const PASSWORD = 'correct horse: battery'
/** Cheap to check: where it is not about the hash itself. */
const HASHED = hashSync(PASSWORD, 4)
const CHALLENGE = 'Basic realm="api", charset="UTF-8"'

async function world(t: TestContext, more: JsonObject = {}) {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const store = openMemoryStore()
  t.after(() => store.close())
  const gate = await startTestGateway({ store })
  t.after(() => gate.close())
  const api = classicApi('B', '/b/', {
    ...{ api_id: 'b', use_keyless: false, use_basic_auth: true, auth_configs: { basic: {} } },
    proxy: { listen_path: '/b/', target_url: origin.url, strip_listen_path: true },
    ...more,
  })
  const made = await gate.svc('POST', '/svc/apis', api)
  assert.equal(made.status, 200, made.text)
  const send = (authorization: string) => gate.call('/b/x', { headers: authorization === '' ? {} : { authorization } })
  return {
    ...{ origin, gate, send },
    get: (name: string, password: string) => send(`Basic ${encode(`${name}:${password}`)}`),
    save: (name: string, session: JsonObject = {}, password = HASHED) =>
      gate.svc('POST', `/svc/keys/${encodeURIComponent(name)}`, user(password, session)),
  }
}

const encode = (text: string) => Buffer.from(text).toString('base64')
const user = (password: string, more: JsonObject = {}): JsonObject => ({
  access_rights: rightsOn('b'),
  basic_auth_data: { password },
  ...more,
})

test('a user is let in by name and password and by nothing else; the answers ask for Basic', async (t) => {
  const { gate, get, save, send, origin } = await world(t, { strip_auth_data: true })
  assert.equal((await save('ann')).status, 200)
  for (let i = 0; i < 3; i++) assert.equal((await get('ann', PASSWORD)).status, 200)
  assert.equal(origin.seen.at(-1)!.headers.authorization, undefined)
  const missing = await send('')
  assert.equal(missing.status, 401)
  assert.deepEqual(missing.json, { error: 'Authorization field missing' })
  const wrong = await get('ann', `${PASSWORD} `)
  assert.equal(wrong.status, 401)
  assert.deepEqual(wrong.json, { error: 'User not authorised' })
  const nobody = await get('eve', PASSWORD)
  assert.deepEqual(nobody.json, wrong.json)
  for (const answer of [missing, wrong, nobody]) assert.equal(answer.headers['www-authenticate'], CHALLENGE)
  const shown = await gate.svc('GET', '/svc/keys/ann')
  assert.equal((await send(String((shown.json as JsonObject).key_hash))).status, 401)
  assert.ok(!JSON.stringify(gate.log).includes(PASSWORD))
})

test('credentials that are malformed are refused as such', async (t) => {
  const { save, send, get } = await world(t)
  assert.equal((await save('ann')).status, 200)
  const good = encode(`ann:${PASSWORD}`)
  assert.equal((await send(`basic ${good}`)).status, 200)
  for (const sent of [
    ...['Basic', 'Basic ', `Bearer ${good}`, good, `Basic  ${good} x`, `Basic ${good}!`, `Basic ${good}====`],
    ...[`Basic ${encode('ann')}`, `Basic ${encode(`:${PASSWORD}`)}`, `Basic ${encode(`a\nn:${PASSWORD}`)}`],
    ...[`Basic ${Buffer.from('ann\xff:x', 'latin1').toString('base64')}`, `Basic ${'A'.repeat(6_000)}`],
  ]) {
    const answer = await send(sent)
    assert.equal(answer.status, 401, sent)
    assert.deepEqual(answer.json, { error: 'The Basic credentials are malformed' }, sent)
  }
  assert.equal((await get('ann', PASSWORD)).status, 200)
})

test('a correct password is cached until it changes, its time is over, or the user is deleted', async (t) => {
  const { gate, get, save } = await world(t, { basic_auth: { cache_ttl: 5 } })
  assert.equal((await save('ann')).status, 200)
  for (let i = 0; i < 5; i++) assert.equal((await get('ann', PASSWORD)).status, 200)
  assert.equal((await save('ann', {}, 'another password')).status, 200)
  assert.equal((await get('ann', PASSWORD)).status, 401)
  assert.equal((await get('ann', 'another password')).status, 200)
  gate.clock.advance(5_000)
  assert.equal((await get('ann', 'another password')).status, 200)
  assert.equal((await gate.svc('PUT', '/svc/keys/ann', user('another password', { is_inactive: true }))).status, 200)
  assert.equal((await get('ann', 'another password')).status, 403)
  assert.equal((await gate.svc('DELETE', '/svc/keys/ann')).status, 200)
  assert.equal((await get('ann', 'another password')).status, 401)
})

test('names and passwords may be of any language; a colon belongs to the password', async (t) => {
  const { get, save } = await world(t)
  for (const [name, password] of [
    ['jürgen', 'schön:es Wetter'],
    ['日本', '合言葉です、長い'],
  ] as const) {
    assert.equal((await save(name, {}, password)).status, 200)
    assert.equal((await get(name, password)).status, 200)
    assert.equal((await get(name, `${password}:`)).status, 401)
  }
})

test('rights, rates and expiry are those of the session of the user', async (t) => {
  const { gate, get, save } = await world(t)
  assert.equal((await save('ann', { rate: 2, per: 60 })).status, 200)
  assert.equal((await save('bob', { access_rights: rightsOn('other') })).status, 200)
  assert.equal((await save('cyd', { expires: 1_700_000_010 })).status, 200)
  assert.deepEqual([(await get('ann', PASSWORD)).status, (await get('ann', PASSWORD)).status], [200, 200])
  assert.equal((await get('ann', PASSWORD)).status, 429)
  assert.equal((await get('bob', PASSWORD)).status, 403)
  assert.equal((await get('cyd', PASSWORD)).status, 200)
  gate.clock.advance(10_000)
  assert.equal((await get('cyd', PASSWORD)).status, 401)
})

test('whoever fails often waits; the others do not', async (t) => {
  const { gate, get, save } = await world(t)
  assert.equal((await save('ann')).status, 200)
  assert.equal((await save('bob')).status, 200)
  let last = await get('ann', 'x')
  for (let i = 0; i < 10 && last.status === 401; i++) last = await get('ann', 'x')
  assert.equal(last.status, 429)
  assert.match(String(last.headers['retry-after']), /^\d+$/)
  assert.equal((await get('bob', PASSWORD)).status, 200)
  gate.clock.advance(60_000)
  assert.equal((await get('ann', PASSWORD)).status, 200)
})
