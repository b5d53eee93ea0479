import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Route } from '../../../src/dashboard/routes/route.ts'
import { openSession } from '../../../src/dashboard/sign-in/sessions.ts'
import { type ActorKind, EXPECTED } from '../../worlds/access-matrix/expectations.ts'
import { callOf } from '../../worlds/access-matrix/matrix-rows.ts'
import { startWorld, type World } from '../../worlds/access-matrix/matrix-world.ts'
import type { TestUser } from '../../worlds/dashboard/harness.ts'

const WRONG_TOKEN = /^\{"Status":"Error","Message":"[^"]*CSRF[^"]*","Meta":null\}$/

/** A browser session of a user. */
async function openAs(world: World, kind: ActorKind) {
  const { id, email, orgId } = (await world.actor(kind, { who: 'apis', names: [] })) as TestUser
  return openSession(world.parts, { id, email, orgId }, 'password')
}

/** A call of a route about what nobody owns, with these fields. */
async function callRoute(world: World, route: Route, headers: Record<string, string>) {
  const expected = EXPECTED.get(callOf(route))!
  let number = 0
  const path = route.path.replace(/\{[^}]*\}/g, () =>
    encodeURIComponent(world.open[expected.names[number++] ?? 'none']),
  )
  const body = route.method === 'GET' ? undefined : (expected.body ?? {})
  const before = await world.store.documents.revision()
  const answer = await world.call(route.method, path + (expected.query ?? ''), { headers, body })
  return { ...answer, changed: (await world.store.documents.revision()) !== before }
}

test('a browser writes with the token of its own session alone, by every call', async (t) => {
  const world = await startWorld()
  t.after(world.close)
  const { value, csrf } = await openAs(world, 'admin')
  const strange = await openAs(world, 'admin about what others own')
  const cookie = `authorisation=${value}`
  const wrong: Record<string, string>[] = [{ cookie }, { cookie, 'x-csrf-token': strange.csrf }]
  const writing = world.dashboard.routes.filter(({ method, access }) => method !== 'GET' && access !== 'public')
  for (const route of writing) {
    for (const headers of wrong) {
      const { status, text, changed } = await callRoute(world, route, headers)
      assert.ok(status === 403 && WRONG_TOKEN.test(text), `${callOf(route)} ${status} ${text}`)
      assert.equal(changed, false, callOf(route))
    }
  }
  assert.ok(writing.length > 100)
  const hooks = writing.find((route) => callOf(route) === 'POST /api/hooks')!
  const made = await callRoute(world, hooks, { cookie, 'x-csrf-token': csrf })
  assert.deepEqual([made.status, made.changed], [200, true])
})

test('no call by GET changes what is stored: a link on another site does nothing', async (t) => {
  const world = await startWorld()
  t.after(world.close)
  const { value } = await openAs(world, 'admin')
  const cookie = `authorisation=${value}`
  for (const route of world.dashboard.routes.filter(({ method }) => method === 'GET')) {
    const { changed, status, text } = await callRoute(world, route, { cookie, 'sec-fetch-site': 'cross-site' })
    assert.equal(changed, false, `${callOf(route)} ${status} ${text.slice(0, 100)}`)
  }
})
