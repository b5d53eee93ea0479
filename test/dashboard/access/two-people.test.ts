import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Route } from '../../../src/dashboard/routes/route.ts'
import { openSession } from '../../../src/dashboard/sign-in/sessions.ts'
import { EXPECTED } from '../../worlds/access-matrix/expectations.ts'
import { callOf } from '../../worlds/access-matrix/matrix-rows.ts'
import { startWorld, type World } from '../../worlds/access-matrix/matrix-world.ts'
import type { TestUser } from '../../worlds/dashboard/harness.ts'
import { cheapHash } from '../../worlds/dashboard/sign-in-world.ts'
import { atPortal, DEVELOPERS, PASSWORD } from '../../worlds/portal/portal-people.ts'

// A request whose session cookie is of one person and whose API credential is of another names both: it is nobody's.

const NEEDED = 'This call needs a session at the portal'

/** Path and body with which a route is called about things that exist. */
function requestOf({ open }: World, route: Route): { path: string; body: unknown } {
  const expected = EXPECTED.get(callOf(route))!
  let number = 0
  const path = route.path.replace(/\{[^}]*\}/g, () => encodeURIComponent(open[expected.names[number++] ?? 'none']))
  return {
    path: path + (expected.query ?? ''),
    body: route.method === 'GET' ? undefined : (expected.body ?? { code: 'x' }),
  }
}

test('no route of the dashboard takes a session cookie beside the credential of somebody else', async (t) => {
  const world = await startWorld()
  t.after(world.close)
  const [ann, bob] = [await world.user({ IsAdmin: 'admin' }), await world.user({ IsAdmin: 'admin' })]
  const open = ({ id, email, orgId }: TestUser) => openSession(world.parts, { id, email, orgId }, 'password')
  const [anns, bobs] = [await open(ann), await open(bob)]
  const ofAnn = `authorisation=${anns.value}`
  const ofBob = `authorisation=${bobs.value}`
  const cookies = [ofAnn, `theme=dark; ${ofAnn}`, `${ofAnn}; ${ofBob}`, `${ofBob}; ${ofAnn}`]
  const before = await world.fingerprint()
  for (const [turn, route] of world.dashboard.routes.entries()) {
    const { path, body } = requestOf(world, route)
    const field = turn % 2 === 0 ? 'authorization' : 'x-api-key'
    const credential = turn % 3 === 0 ? `Bearer ${bob.key}` : bob.key
    const headers = { cookie: cookies[turn % cookies.length]!, [field]: credential, 'x-csrf-token': anns.csrf }
    const { status, text } = await world.call(route.method, path, { headers, ...(body !== undefined && { body }) })
    assert.equal(status, 400, `${callOf(route)}: ${text}`)
    assert.match(text, /different people/, callOf(route))
  }
  assert.equal(await world.fingerprint(), before)
  // One person twice is one; a session that nobody has says nothing.
  for (const cookie of [ofBob, `authorisation=${'x'.repeat(43)}`, `portal_session=${anns.value}`])
    assert.equal((await world.call('GET', '/api/apis', { headers: { cookie, authorization: bob.key } })).status, 200)
  // A credential that nobody has is not made up for by a session.
  assert.equal(
    (await world.call('GET', '/api/apis', { headers: { cookie: ofAnn, authorization: 'x'.repeat(32) } })).status,
    401,
  )
  // However many cookies it takes.
  const many = Array.from({ length: 5 }, (_, at) => `authorisation=${String(at).repeat(43)}`).join('; ')
  assert.equal(
    (await world.call('GET', '/api/apis', { headers: { cookie: many, authorization: bob.key } })).status,
    400,
  )
})

test("no route of a developer's session takes another credential beside it", async (t) => {
  const world = await startWorld()
  t.after(world.close)
  const admin = await world.user({ IsAdmin: 'admin' })
  for (const name of ['ada', 'ben']) {
    const body = { email: `${name}@example.test`, password: cheapHash(PASSWORD) }
    const made = await world.call('POST', DEVELOPERS, { as: admin, body })
    assert.equal(made.status, 200, made.text)
  }
  const [ada, ben] = [await atPortal(world, 'ada@example.test'), await atPortal(world, 'ben@example.test')]
  const cookie = `portal_session=${ada.cookie}`
  const before = await world.fingerprint()
  const found: string[] = []
  for (const route of world.dashboard.routes) {
    const { path, body } = requestOf(world, route)
    const ask = (sent: Record<string, string>) =>
      world.call(route.method, path, { headers: sent, ...(body !== undefined && { body }) })
    if (route.access !== 'public') continue
    const alone = await ask({})
    if (!alone.text.includes(NEEDED)) continue
    found.push(callOf(route))
    for (const field of ['authorization', 'x-api-key']) {
      const other = await ask({ cookie, [field]: admin.key, 'x-csrf-token': ada.csrf })
      assert.equal(other.status, 400, `${callOf(route)} ${field}: ${other.text}`)
      assert.match(other.text, /different people/)
      const bens = await ask({ cookie, [field]: ben.csrf, 'x-csrf-token': ada.csrf })
      assert.equal(bens.status, 403, `${callOf(route)} ${field}: ${bens.text}`)
    }
  }
  assert.deepEqual(found.length, 6, found.join())
  assert.equal(await world.fingerprint(), before)
  assert.equal(await ada.isIn(), true)
})
