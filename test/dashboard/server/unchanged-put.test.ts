import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { makeEditedObjects } from '../../worlds/dashboard/edited-objects.ts'
import { keyWorld } from '../../worlds/dashboard/key-world.ts'
import { oasApi } from '../../worlds/gateway/admin-fixtures.ts'

/** A body as clients with a type for moments send it back: they write them in a spelling of their own. */
function respelled(read: unknown): unknown {
  return JSON.parse(JSON.stringify(read), (_, value) =>
    /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(String(value)) ? value.replace(/(?:\.0+)?Z$/, '+00:00') : value,
  )
}

test('a PUT of what is stored leaves version and audit log alone', async (t) => {
  const clock = new FakeClock()
  const world = await keyWorld(t, { clock })
  const { asked, call, root, store } = world
  const objects = await makeEditedObjects(world)
  await asked(200, 'POST', '/api/apis/oas', root, oasApi('described', '/described/', { id: 'described' }))
  const key = `/api/keys/${objects.key}?hashed=1&suppress_reset=1`
  const paths: [path: string, body?: (read: JsonObject) => unknown][] = [
    ...objects.paths.map((path): [string] => [path]),
    ['/api/apis/orders'],
    ['/api/apis/oas/described'],
    [key, ({ data }) => data],
  ]
  const wrong: string[] = []
  for (const [path, bodyOf = (read: JsonObject) => read] of paths) {
    const first = await asked(200, 'GET', path, root)
    // The first write brings members that the server fills in.
    const put = (body = bodyOf(first)) => call('PUT', path, { as: root, body })
    const filled = await put()
    if (filled.status !== 200) wrong.push(`${path}: ${filled.status} ${filled.text}`)
    const before = [await call('GET', path, { as: root }), await store.documents.revision()] as const
    const entries = await asked(200, 'GET', '/api/audit-logs', root)
    clock.advance(120_000)
    for (const body of [bodyOf(first), respelled(bodyOf(first))]) assert.equal((await put(body)).status, 200, path)
    const after = [await call('GET', path, { as: root }), await store.documents.revision()] as const
    if (after[1] !== before[1]) wrong.push(`${path}: another revision`)
    if (after[0].headers.etag !== before[0].headers.etag) wrong.push(`${path}: another ETag`)
    if (after[0].text !== before[0].text) wrong.push(`${path}: reads otherwise\n${before[0].text}\n${after[0].text}`)
    const now = await asked(200, 'GET', '/api/audit-logs', root)
    if (JSON.stringify(now) !== JSON.stringify(entries)) wrong.push(`${path}: an audit entry`)
  }
  assert.deepEqual(wrong, [])
})
