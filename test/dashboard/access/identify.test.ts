import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bare } from '../../../src/dashboard/routes/answer.ts'
import { openSession } from '../../../src/dashboard/sign-in/sessions.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { ECHO, route, started } from '../../worlds/access-matrix/made-up-routes.ts'
import { sendExactly } from '../../worlds/gateway/exact-fields.ts'

test('who calls: by bare credential, after Bearer, and never by a wrong one', async (t) => {
  const routes = [
    route({ method: 'GET', path: '/api/me', access: 'signed-in', run: (call) => bare({ id: call.actor!.userId }) }),
    route({ method: 'GET', path: '/api/open', run: (call) => bare({ id: call.actor?.userId ?? null }) }),
  ]
  const { call, user, group } = await started(t, { routes: () => routes })
  const ada = await user({ apis: 'read' })
  const as = (headers: Record<string, string>) => call('GET', '/api/me', { headers })
  for (const authorization of [ada.key, `Bearer ${ada.key}`, `bearer  ${ada.key}`])
    assert.deepEqual((await as({ authorization })).json, { id: ada.id })
  assert.deepEqual((await as({ 'x-api-key': ada.key })).json, { id: ada.id })
  assert.deepEqual((await as({ authorization: ada.key, 'admin-auth': 'wrong' })).json, { id: ada.id })
  const inactive = await user({ apis: 'read' }, { active: false })
  const idle = await user({}, { groupId: await group({ apis: 'read' }, { active: false }) })
  for (const authorization of [
    '',
    'x',
    `Basic ${ada.key}`,
    ada.key.slice(1),
    inactive.key,
    idle.key,
    'y'.repeat(5000),
  ]) {
    const { status, text } = await as({ authorization })
    assert.equal(status, 401)
    assert.equal(text, '{"Status":"Error","Message":"Not authorised","Meta":null}')
  }
  assert.deepEqual((await call('GET', '/api/open', { headers: { authorization: 'x' } })).json, { id: null })
  assert.deepEqual((await call('GET', '/api/open', { as: ada })).json, { id: ada.id })
})

test('a session works by its cookie, and writes only with its token', async (t) => {
  const routes = [
    route({ method: 'GET', path: '/api/x', access: 'signed-in', run: (call) => bare({ id: call.actor!.userId }) }),
    route({ method: 'POST', path: '/api/x', access: 'signed-in', run: (call) => bare({ id: call.actor!.userId }) }),
    route({ method: 'POST', path: '/api/open', run: (call) => bare({ id: call.actor?.userId ?? null }) }),
  ]
  const { call, user, parts, store } = await started(t, { routes: () => routes })
  const [ada, bob] = [await user({ apis: 'read' }), await user({ apis: 'read' })]
  const open = async (who: typeof ada) =>
    openSession(parts, { id: who.id, email: who.email, orgId: who.orgId }, 'password')
  const [session, another] = [await open(ada), await open(bob)]
  const cookie = `theme=dark; ${session.cookie.split(';')[0]}`
  const status = async (method: string, headers: Record<string, string>, path = '/api/x') =>
    (await call(method, path, { headers: { cookie, ...headers } })).status
  assert.equal(await status('GET', {}), 200)
  assert.equal(await status('POST', { 'x-csrf-token': session.csrf }), 200)
  for (const token of ['', 'x', another.csrf, session.value]) {
    assert.equal(await status('POST', { 'x-csrf-token': token }), 403)
    assert.deepEqual((await call('POST', '/api/open', { headers: { cookie, 'x-csrf-token': token } })).json, {
      id: null,
    })
  }
  assert.equal(await status('POST', {}), 403)
  // Two sessions count as none, in any order; a value that cannot be one is ignored.
  const pair = (...values: string[]) => values.map((value) => `authorisation=${value}`).join('; ')
  for (const both of [pair(session.value, another.value), pair(another.value, session.value)])
    assert.equal((await call('GET', '/api/x', { headers: { cookie: both } })).status, 401)
  for (const one of [pair('x', session.value), pair(session.value, session.value), pair(session.value, '')])
    assert.equal((await call('GET', '/api/x', { headers: { cookie: one } })).status, 200)
  // A credential that was sent counts alone: no cookie replaces a wrong one.
  assert.equal(await status('GET', { authorization: 'wrong' }), 401)
  assert.deepEqual((await call('POST', '/api/x', { headers: { cookie, authorization: ada.key } })).json, { id: ada.id })
  assert.equal(await status('GET', { authorization: bob.key }), 400, 'of two people')
  const stored = await store.documents.get('user', ada.id as never)
  const body = { ...stored!.body, active: false }
  await store.documents.commit([{ op: 'put', kind: 'user', id: stored!.id, body }], undefined)
  assert.equal(await status('GET', {}), 401)
})

test('rights count from the moment they change', async (t) => {
  const routes = [route({ method: 'GET', path: '/api/x', access: { permission: 'apis' }, run: () => bare({}) })]
  const { call, user, store } = await started(t, { routes: () => routes })
  const ada = await user({ apis: 'read' })
  assert.equal((await call('GET', '/api/x', { as: ada })).status, 200)
  const stored = await store.documents.get('user', ada.id as never)
  const body = { ...stored!.body, user_permissions: { keys: 'read' } }
  await store.documents.commit([{ op: 'put', kind: 'user', id: stored!.id, body }], undefined)
  const { status, text } = await call('GET', '/api/x?a=1', { as: ada })
  assert.equal(status, 403)
  assert.match(text, /"access denied: You do not have permission to access {2}\/api\/x"/)
})

test('the client address is what trusted proxies say', async (t) => {
  const plain = await started(t, { routes: () => ECHO })
  const headers = { 'x-forwarded-for': '203.0.113.7, 198.51.100.2' }
  const from = async (dashboard: typeof plain, sent: Record<string, string>) =>
    ((await dashboard.call('GET', '/api/things/a', { headers: sent })).json as JsonObject).from
  assert.equal(await from(plain, headers), '127.0.0.1')
  const env = { SVC_DB_TRUSTEDPROXIES: '127.0.0.0/8,198.51.100.0/24' }
  const behind = await started(t, { routes: () => ECHO, env })
  assert.equal(await from(behind, headers), '203.0.113.7')
  assert.equal(await from(behind, { 'x-forwarded-for': '192.0.2.1, 203.0.113.7' }), '203.0.113.7')
  assert.equal(await from(behind, { 'x-forwarded-for': '203.0.113.7, junk, 198.51.100.2' }), '198.51.100.2')
  assert.equal(await from(behind, {}), '127.0.0.1')
})

test('one credential of a kind in one request', async (t) => {
  const routes = [
    route({ method: 'GET', path: '/api/me', access: 'signed-in', run: (call) => bare({ id: call.actor!.userId }) }),
  ]
  const { user, dashboard } = await started(t, { routes: () => routes })
  const [ada, bob] = [await user({ apis: 'read' }), await user({ apis: 'read' })]
  const status = async (...fields: (readonly [string, string])[]) =>
    (await sendExactly(dashboard.port, '1.1', { path: '/api/me', fields })).status
  for (const name of ['Authorization', 'X-Api-Key', 'admin-auth', 'X-CSRF-Token']) {
    const known = ['Authorization', ada.key] as const
    assert.equal(await status(known, ...(name === 'Authorization' ? [] : [['x-b', ''] as const])), 200)
    assert.equal(await status([name, ada.key], [name.toLowerCase(), bob.key]), 400, name)
    assert.equal(await status([name, ada.key], [name, ada.key]), 400, name)
  }
  assert.equal(await status(['Authorization', `Bearer ${ada.key}`], ['X-Api-Key', ada.key]), 200)
  assert.equal(await status(['Authorization', ada.key], ['X-Api-Key', bob.key]), 400)
})
