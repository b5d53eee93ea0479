import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../../src/model/json/json.ts'
import { eventually } from '../../../worlds/base/eventually.ts'
import { type MailServer, mailSettings, startMailServer } from '../../../worlds/dashboard/mail-server.ts'
import { assertRefused } from '../../../worlds/dashboard/people.ts'
import { cheapHash, person } from '../../../worlds/dashboard/sign-in-world.ts'
import { atPortal, DEVELOPERS, PASSWORD, type PeopleWorld, portalPeople } from '../../../worlds/portal/portal-people.ts'

const ADA = 'Ada@example.test'
const NEXT = 'another battery staple'
const VOID = 'The link is invalid, expired or already used'

async function mailWorld(t: TestContext): Promise<{ world: PeopleWorld; post: MailServer; id: string }> {
  const post = await startMailServer(t)
  const world = await portalPeople(t, { env: mailSettings(post) })
  await world.configure({ portal_url: 'https://portal.example.test/' })
  const id = await world.developer({ email: ADA, password: cheapHash(PASSWORD), fields: { Name: 'Ada' } })
  return { world, post, id }
}

const forgot = (world: PeopleWorld, email: unknown, headers: Record<string, string> = {}) =>
  world.call('POST', '/portal/password/forgot', { body: { email }, headers })
const reset = (world: PeopleWorld, token: string, password = NEXT) =>
  world.call('POST', '/portal/password/reset', { body: { token, new_password: password } })

async function mailed(world: PeopleWorld, post: MailServer): Promise<string> {
  const before = post.mails.length
  assert.equal((await forgot(world, ADA.toUpperCase())).status, 200)
  await world.parts.portalMailLinks.settled()
  assert.equal(post.mails.length, before + 1)
  return /https:\/\/portal\.example\.test\/portal\/reset-password#([\w-]{43})\b/.exec(post.mails.at(-1)!.text)![1]!
}

test('a mail brings a link that sets the password once, and ends the sessions', async (t) => {
  const { world, post } = await mailWorld(t)
  const browser = await atPortal(world, ADA)
  const token = await mailed(world, post)
  assert.deepEqual(post.mails[0]!.to, [ADA])
  assertRefused(await reset(world, token, 'short'), 400, /^Developer password validation failed: .*6 characters/)
  assert.equal(await browser.isIn(), true)
  const answers = await Promise.all(Array.from({ length: 5 }, (_, i) => reset(world, token, `password number ${i}`)))
  const winner = answers.findIndex(({ status }) => status === 200)
  assert.equal(answers.filter(({ status }) => status === 200).length, 1)
  for (const answer of answers) if (answer.status !== 200) assertRefused(answer, 400, VOID)
  assert.equal(await browser.isIn(), false)
  assertRefused(await reset(world, token), 400, VOID)
  assert.equal(await world.verify(ADA, `password number ${winner}`), 200)
})

test('a link expires after 1000 seconds, and with any change of the password or the developer', async (t) => {
  const { world, post, id } = await mailWorld(t)
  const [early, late] = [await mailed(world, post), await mailed(world, post)]
  world.clock.advance(999_999)
  assertRefused(await reset(world, early, 'short'), 400, /6 characters/)
  world.clock.advance(1)
  assertRefused(await reset(world, late), 400, VOID)
  const set = await mailed(world, post)
  await world.asked(200, 'POST', `${DEVELOPERS}/password/${id}`, { password: 'set by the portal' })
  assertRefused(await reset(world, set), 400, VOID)
  const gone = await mailed(world, post)
  await world.asked(200, 'DELETE', `${DEVELOPERS}/${id}`)
  assertRefused(await reset(world, gone), 400, VOID)
  for (const token of ['', 'x', 'A'.repeat(43), '__proto__', "' OR 1=1"])
    assertRefused(await reset(world, token), 400, VOID)
})

test('any change of the developer voids a link for good', async (t) => {
  const { world, post, id } = await mailWorld(t)
  const record = () => world.asked(200, 'GET', `${DEVELOPERS}/${id}`)
  const put = async (edit: JsonObject) =>
    world.asked(200, 'PUT', `${DEVELOPERS}/${id}`, { ...(await record()), ...edit })
  const ways: Record<string, () => Promise<unknown>> = {
    'address, and back': async () => {
      await put({ email: 'moved@example.test' })
      await put({ email: ADA })
    },
    'inactive and active': async () => {
      await put({ inactive: true })
      await put({ inactive: false })
    },
    'password in the record': () => put({ password: 'set by the portal' }),
    address: () => put({ email: 'moved@example.test' }),
  }
  for (const [name, way] of Object.entries(ways)) {
    const token = await mailed(world, post)
    await way()
    assertRefused(await reset(world, token), 400, VOID)
    assert.notEqual(await world.verify(ADA, NEXT), 200, name)
    world.clock.advance(1_000_000)
  }
})

test('every address gets the same answer, and only a developer gets a mail', async (t) => {
  const { world, post } = await mailWorld(t)
  const { email } = await person(world)
  const answers: string[] = []
  for (const address of [
    ADA,
    email,
    'nobody@example.test',
    'no address',
    'a@b.test\r\nBcc: c@d.test',
    '__proto__',
    "' OR 1=1",
  ]) {
    const { status, text } = await forgot(world, address)
    answers.push(`${status} ${text}`)
  }
  assert.equal(new Set(answers).size, 1, answers.join('\n'))
  await world.parts.portalMailLinks.settled()
  assert.deepEqual(
    post.mails.map(({ to }) => to),
    [[ADA]],
  )
  assert.equal((await forgot(world, 5)).status, 400)
})

test('the link leads where the settings say, whatever Host was sent, and nobody is flooded', async (t) => {
  const { world, post } = await mailWorld(t)
  for (let i = 0; i < 8; i++) await forgot(world, ADA, { host: 'evil.test', 'x-forwarded-host': 'evil.test' })
  await world.parts.portalMailLinks.settled()
  assert.equal(post.mails.length, 3)
  for (const { raw } of post.mails) assert.doesNotMatch(raw, /evil/)
})

test('a link of the dashboard sets no developer a password, nor the other way round', async (t) => {
  const { world, post } = await mailWorld(t)
  const token = await mailed(world, post)
  const other = await world.call('POST', '/api/password/reset', { body: { token, new_password: NEXT } })
  assertRefused(other, 400, VOID)
  assert.equal((await reset(world, token)).status, 200)
})

test('a mail welcomes who signs up, and nothing that was sent stands in its head', async (t) => {
  const { world, post } = await mailWorld(t)
  const fields = { Name: 'Eve\r\nBcc: victim@example.test' }
  const body = { email: 'new@example.test', password: 'long enough', fields }
  assert.equal((await world.call('POST', '/portal/register', { body })).status, 200)
  await eventually('a mail', () => post.mails.length === 1)
  assert.deepEqual(post.mails[0]!.to, ['new@example.test'])
  assert.doesNotMatch(post.mails[0]!.head, /^Bcc/im)
  assert.doesNotMatch(post.mails[0]!.raw, /long enough/)
})
