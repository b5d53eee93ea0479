import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { keyWorld } from '../../worlds/dashboard/key-world.ts'
import { oasApi } from '../../worlds/gateway/admin-fixtures.ts'

test('a PUT of what is stored leaves version and audit log alone', async (t) => {
  const clock = new FakeClock()
  const world = await keyWorld(t, { clock })
  const { asked, call, root, store } = world
  await world.api('orders')
  await asked(200, 'POST', '/api/apis/oas', root, oasApi('described', '/described/', { id: 'described' }))
  await world.policy('gold', ['orders'])
  const group = await world.group({ apis: 'read' })
  const user = await world.user({ apis: 'read' })
  const developer = await asked(200, 'POST', '/api/portal/developers', root, { email: 'dev@example.com' })
  await asked(200, 'POST', '/api/hooks', root, { name: 'Hook', method: 'POST', target_path: 'https://example.com/' })
  const { hooks } = (await asked(200, 'GET', '/api/hooks', root)) as unknown as { hooks: { id: string }[] }
  await asked(200, 'POST', '/api/portal/catalogue', root, { apis: [] })
  await asked(200, 'PUT', '/api/portal/configuration', root, {})
  const { hash } = await world.key({ apply_policies: ['gold'] })
  const key = `/api/keys/${hash}?hashed=1&suppress_reset=1`
  const paths: [path: string, body?: (read: JsonObject) => unknown][] = [
    ['/api/portal/policies/gold'],
    [`/api/usergroups/${group}`],
    [`/api/users/${user.id}`],
    [`/api/portal/developers/${developer.Message}`],
    [`/api/hooks/${hooks[0]!.id}`],
    ['/api/portal/catalogue'],
    ['/api/portal/configuration'],
    ['/api/apis/orders'],
    ['/api/apis/oas/described'],
    [key, ({ data }) => data],
  ]
  const wrong: string[] = []
  for (const [path, bodyOf = (read: JsonObject) => read] of paths) {
    const first = await asked(200, 'GET', path, root)
    // The first write brings members that the server fills in.
    const put = () => call('PUT', path, { as: root, body: bodyOf(first) })
    const filled = await put()
    if (filled.status !== 200) wrong.push(`${path}: ${filled.status} ${filled.text}`)
    const before = [await call('GET', path, { as: root }), await store.documents.revision()] as const
    const entries = await asked(200, 'GET', '/api/audit-logs', root)
    clock.advance(120_000)
    const again = await put()
    assert.equal(again.status, 200, path)
    const after = [await call('GET', path, { as: root }), await store.documents.revision()] as const
    if (after[1] !== before[1]) wrong.push(`${path}: another revision`)
    if (after[0].headers.etag !== before[0].headers.etag) wrong.push(`${path}: another ETag`)
    if (after[0].text !== before[0].text) wrong.push(`${path}: reads otherwise\n${before[0].text}\n${after[0].text}`)
    const now = await asked(200, 'GET', '/api/audit-logs', root)
    if (JSON.stringify(now) !== JSON.stringify(entries)) wrong.push(`${path}: an audit entry`)
  }
  assert.deepEqual(wrong, [])
})
