import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../../src/model/json/json.ts'
import { keyWorld } from '../../../worlds/dashboard/key-world.ts'
import { APPROVE, requestWorld } from '../../../worlds/portal/portal-requests-world.ts'

test('approving is PUT and nothing else', async (t) => {
  const { request, configure, call, read, root, dev } = await requestWorld(t)
  await configure({ require_key_approval: true })
  const id = String((await request({ by_user: dev, for_plan: 'gold' })).Message)
  for (const method of ['POST', 'GET', 'PATCH', 'DELETE']) {
    const { status } = await call(method, `${APPROVE}/${id}`, { as: root })
    assert.ok(status === 404 || status === 405, `${method} was answered ${status}`)
  }
  assert.equal((await read(id)).approved, false)
  assert.equal((await call('PUT', `${APPROVE}/${id}`, { as: root })).status, 200)
})

test('an old client makes pages, menus and style by POST, and reads texts out of every answer', async (t) => {
  const { asked, root, orgId } = await keyWorld(t)
  for (const [path, body] of [
    ['pages', { org_id: orgId, is_homepage: true, title: 'Home', slug: '/', template_name: '', fields: {} }],
    ['menus', { org_id: orgId, is_active: true, menus: { Main: [{ title: 'Home', url: '/' }] } }],
    ['css', { org_id: orgId, page_css: 'p{}', email_css: '' }],
  ] as const) {
    const made = await asked(200, 'POST', `/api/portal/${path}`, root, body)
    assert.deepEqual(Object.keys(made), ['Status', 'Message', 'Meta'], path)
    assert.deepEqual([made.Status, typeof made.Message, made.Meta], ['OK', 'string', null], path)
  }
})

test('a script that sends both credentials on every call reads usage by API', async (t) => {
  const { call, root } = await keyWorld(t)
  const headers = { 'admin-auth': 'whatever' }
  const answer = await call('GET', '/api/usage/apis/05/08/2017/5/8/2017?by=Hits&sort=1&p=-1', { as: root, headers })
  assert.deepEqual([answer.status, (answer.json as JsonObject).data], [200, []])
})
