import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { Browser, message, person, signedIn, signInWorld } from '../../worlds/dashboard/sign-in-world.ts'

const sessionsOf = async (browser: Browser) =>
  ((await browser.send('GET', '/api/sessions')).json as { sessions: JsonObject[] }).sessions
const idOf = ({ cookie }: Browser) => createHash('sha256').update(`login:${cookie}`).digest('hex')

test('one sees where one is signed in, the last used first, and ends one of these sessions', async (t) => {
  const world = await signInWorld(t)
  const ada = await person(world)
  const [desk, phone] = [await signedIn(world, ada), new Browser(world)]
  world.clock.advance(120_000)
  await phone.send(
    'POST',
    '/api/login',
    { email: ada.email, password: 'correct horse battery' },
    { 'user-agent': 'P'.repeat(300) },
  )
  const listed = await sessionsOf(phone)
  assert.deepEqual(
    listed.map(({ id, current, via, agent }) => [id, current, via, String(agent).length]),
    [
      [idOf(phone), true, 'password', 200],
      [idOf(desk), false, 'password', 0],
    ],
  )
  assert.equal(Date.parse(String(listed[0]!.created_at)) - Date.parse(String(listed[1]!.created_at)), 120_000)
  assert.ok(!JSON.stringify(listed).includes(phone.cookie), 'what opens a session is not in the list')

  const ended = await phone.send('DELETE', `/api/sessions/${idOf(desk)}`)
  assert.equal(message(ended), 'Session ended')
  assert.equal(await desk.isIn(), false)
  assert.equal(await phone.isIn(), true)
  assert.equal((await phone.send('DELETE', `/api/sessions/${idOf(desk)}`)).status, 404)
  const own = await phone.send('DELETE', `/api/sessions/${idOf(phone)}`)
  assert.equal(own.status, 200)
  assert.match(phone.setCookie, /^authorisation=; .*Max-Age=0/)
  assert.equal(await phone.isIn(), false)
})

test('nobody sees or ends the sessions of others, nor without the token of the page', async (t) => {
  const world = await signInWorld(t)
  const [ada, eve] = [await person(world), await person(world)]
  const [victim, attacker] = [await signedIn(world, ada), await signedIn(world, eve)]
  assert.deepEqual(
    (await sessionsOf(attacker)).map(({ id }) => id),
    [idOf(attacker)],
  )
  for (const id of [idOf(victim), idOf(victim).toUpperCase(), 'x', '%00', '0'.repeat(64)])
    assert.equal((await attacker.send('DELETE', `/api/sessions/${id}`)).status, 404)
  assert.equal(await victim.isIn(), true)
  const { csrf } = attacker
  attacker.csrf = ''
  assert.equal((await attacker.send('DELETE', `/api/sessions/${idOf(attacker)}`)).status, 403)
  attacker.csrf = csrf
  assert.equal((await world.call('GET', '/api/sessions')).status, 401)
  // expired ones are not listed
  world.clock.advance(1000 * world.parts.config.dashboard.session_idle_time)
  const fresh = await signedIn(world, eve)
  assert.deepEqual(
    (await sessionsOf(fresh)).map(({ id }) => id),
    [idOf(fresh)],
  )
})
