import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import type { TestDashboard } from '../../worlds/dashboard/harness.ts'
import { type MailServer, mailSettings, startMailServer } from '../../worlds/dashboard/mail-server.ts'
import {
  Browser,
  cheapHash,
  message,
  PASSWORD,
  person,
  rewrite,
  signedIn,
  signInWorld,
} from '../../worlds/dashboard/sign-in-world.ts'

const NEXT = 'another battery staple'

async function mailWorld(
  t: TestContext,
  env: Record<string, string> = {},
): Promise<{ world: TestDashboard; post: MailServer }> {
  const post = await startMailServer(t)
  return { world: await signInWorld(t, { env: { ...mailSettings(post), ...env } }), post }
}

const forgot = (world: TestDashboard, email: string) => world.call('POST', '/api/password/forgot', { body: { email } })
const reset = (world: TestDashboard, token: string, password = NEXT) =>
  world.call('POST', '/api/password/reset', { body: { token, new_password: password } })

async function mailed(world: TestDashboard, post: MailServer, email: string): Promise<string> {
  const before = post.mails.length
  assert.equal((await forgot(world, email)).status, 200)
  await world.parts.mailLinks.settled()
  assert.equal(post.mails.length, before + 1)
  return /https:\/\/dashboard\.example\.test\/reset-password#([\w-]{43})\b/.exec(post.mails.at(-1)!.text)![1]!
}

test('a mail brings a link that sets a password once, and ends all sessions', async (t) => {
  const { world, post } = await mailWorld(t)
  const ada = await person(world)
  const browser = await signedIn(world, ada)
  const token = await mailed(world, post, ada.email.toUpperCase())
  const [mail] = post.mails
  assert.deepEqual(mail!.to, [ada.email])
  assert.match(mail!.head, /^Subject: Set a new password$/m)
  assert.match(mail!.html, new RegExp(`<a href="https://dashboard.example.test/reset-password#${token}">`))
  const weak = await reset(world, token, 'short')
  assert.equal(weak.status, 400)
  assert.match(message(weak), /6 characters/)
  assert.equal((await reset(world, token)).text, '{"Status":"OK","Message":"User password updated","Meta":null}')
  assert.equal(await browser.isIn(), false)
  const again = await reset(world, token, 'the second password')
  assert.equal(message(again), 'The link is invalid, expired or already used')
  assert.equal((await new Browser(world).login(ada.email, NEXT)).status, 200)
})

test('the link is valid for 1000 seconds', async (t) => {
  const { world, post } = await mailWorld(t)
  const ada = await person(world)
  const [early, late] = [await mailed(world, post, ada.email), await mailed(world, post, ada.email)]
  world.clock.advance(999_999)
  const { tokens } = world.store
  assert.equal((await reset(world, early, 'short')).status, 400)
  assert.match(message(await reset(world, early, 'short')), /6 characters/)
  world.clock.advance(1)
  assert.equal(message(await reset(world, late)), 'The link is invalid, expired or already used')
  assert.equal(await tokens.getTicket(hashKey(late)), undefined)
})

test('many uses at once: one succeeds', async (t) => {
  const { world, post } = await mailWorld(t)
  const token = await mailed(world, post, (await person(world)).email)
  const answers = await Promise.all(Array.from({ length: 6 }, (_, i) => reset(world, token, `password number ${i}`)))
  assert.equal(answers.filter(({ status }) => status === 200).length, 1)
  for (const { status } of answers) assert.ok(status === 200 || status === 400 || status === 409)
})

test('any change of the account voids a link for good', async (t) => {
  const { world, post } = await mailWorld(t, { SVC_DB_SECURITY_ALLOWADMINRESETPASSWORD: 'true' })
  const boss = await world.admin()
  const put = (body: object) => async (id: string) => {
    const answer = await world.call('PUT', `/api/users/${id}`, { as: boss, body })
    assert.equal(answer.status, 200, answer.text)
  }
  const group = await world.group({ apis: 'read' })
  const regroup = async (body: object) => {
    const answer = await world.call('PUT', `/api/usergroups/${group}`, { as: boss, body })
    assert.equal(answer.status, 200, answer.text)
  }
  const moved = put({ email_address: 'moved@example.test' })
  const ways: Record<string, (id: string, email: string) => Promise<unknown>> = {
    address: moved,
    'address, and back': async (id, email) => {
      await moved(id)
      await put({ email_address: email })(id)
    },
    'switched off': put({ active: false }),
    'switched off and on': async (id) => {
      await put({ active: false })(id)
      await put({ active: true })(id)
    },
    revoked: (id) => world.call('PUT', `/api/users/${id}/actions/revoke`, { as: boss }),
    'password by an administrator': (id) =>
      world.call('POST', `/api/users/${id}/actions/reset`, { as: boss, body: { new_password: 'set by the boss' } }),
    deleted: (id) => world.call('DELETE', `/api/users/${id}`, { as: boss }),
    'address by the installation': (id) =>
      world.call('PUT', `/admin/users/${id}`, { as: 'installation', body: { email_address: 'by-admin@example.test' } }),
    stored: (id) => rewrite(world, id, { password_hash: cheapHash(NEXT) }),
    'group off and on': async () => {
      await regroup({ active: false })
      await regroup({ active: true })
    },
    'other permissions of the group': () => regroup({ user_permissions: { apis: 'write' } }),
  }
  for (const [name, way] of Object.entries(ways)) {
    const ada = await person(world, { group_id: group })
    const token = await mailed(world, post, ada.email)
    await way(ada.id, ada.email)
    const { status } = await reset(world, token)
    assert.equal(status, 400, name)
    assert.notEqual((await new Browser(world).login(ada.email, NEXT)).status, name === 'stored' ? 0 : 200, name)
    const left = await world.store.documents.get('user', ada.id as never)
    if (left !== undefined && name.startsWith('address'))
      await world.call('DELETE', `/api/users/${ada.id}`, { as: boss })
  }
})

test('one of two links is used: the other one is void', async (t) => {
  const { world, post } = await mailWorld(t)
  const ada = await person(world)
  const [first, second] = [await mailed(world, post, ada.email), await mailed(world, post, ada.email)]
  assert.equal((await reset(world, first)).status, 200)
  assert.equal((await reset(world, second, 'the second password')).status, 400)
})

test('made-up links, and those of other sorts, open nothing', async (t) => {
  const { world } = await mailWorld(t)
  const browser = await signedIn(world, await person(world))
  for (const token of ['', 'x', 'A'.repeat(43), browser.cookie, '__proto__'])
    assert.equal((await reset(world, token)).status, 400, token)
})

test('every address gets the same answer, before anything is looked up', async (t) => {
  const { world, post } = await mailWorld(t)
  const reads: string[] = []
  const { documents } = world.parts
  const [list, commit] = [documents.list, documents.commit]
  documents.list = (kind, query) => {
    reads.push(kind)
    return list(kind, query)
  }
  documents.commit = (changes, audit) => {
    reads.push('commit')
    return commit(changes, audit)
  }
  const ada = await person(world)
  const off = await person(world, { active: false })
  reads.length = 0
  const answers: string[] = []
  for (const email of [ada.email, off.email, 'nobody@example.test', 'no address', `a@b.test\r\nBcc: c@d.test`]) {
    const { status, text } = await forgot(world, email)
    answers.push(`${status} ${text}`)
  }
  assert.deepEqual(reads, [], 'nothing was looked up when the answers were there')
  assert.equal(new Set(answers).size, 1, answers.join('\n'))
  await world.parts.mailLinks.settled()
  assert.equal(reads.filter((kind) => kind === 'user').length, 5, 'each is looked up')
  assert.deepEqual(
    post.mails.map(({ to }) => to),
    [[ada.email]],
  )
})

test('without mail server or own address the answer is the same and no mail is sent', async (t) => {
  const post = await startMailServer(t)
  const { SVC_DB_PUBLICURL: _url, ...nowhere } = mailSettings(post)
  const texts: string[] = []
  for (const env of [{}, nowhere, mailSettings({ port: 1 })]) {
    const world = await signInWorld(t, { env })
    const ada = await person(world)
    texts.push((await forgot(world, ada.email)).text)
    await world.parts.mailLinks.settled()
    assert.equal(world.log.filter(({ level }) => level === 'warn' || level === 'error').length, 1)
    assert.doesNotMatch(JSON.stringify(world.log), /reset-password/)
  }
  assert.equal(new Set(texts).size, 1)
  assert.equal(post.mails.length, 0)
})

test('the address in the link is that of the settings, whatever Host was sent', async (t) => {
  const { world, post } = await mailWorld(t)
  const ada = await person(world)
  const headers = { host: 'evil.test', 'x-forwarded-host': 'evil.test' }
  await world.call('POST', '/api/password/forgot', { body: { email: ada.email }, headers })
  await world.parts.mailLinks.settled()
  assert.doesNotMatch(post.mails[0]!.raw, /evil/)
})

test('nobody is flooded with mails', async (t) => {
  const { world, post } = await mailWorld(t)
  const ada = await person(world)
  const answers = await Promise.all(Array.from({ length: 8 }, () => forgot(world, ada.email)))
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
  await world.parts.mailLinks.settled()
  assert.equal(post.mails.length, 3)
  world.clock.advance(1_000_000)
  await forgot(world, ada.email)
  await world.parts.mailLinks.settled()
  assert.equal(post.mails.length, 4)
})

test('one link for a person in several organisations', async (t) => {
  const { world, post } = await mailWorld(t, { SVC_DB_ENABLEMULTIORGUSERS: 'true' })
  const email_address = 'many@example.test'
  await person(world, { email_address })
  await person(world, { email_address, org_id: await world.organisation(), password_hash: cheapHash('something else') })
  const token = await mailed(world, post, email_address)
  assert.equal((await reset(world, token)).status, 200)
  const asked = await new Browser(world).login(email_address, NEXT)
  assert.match(asked.text, /"needs":"organisation"/)
  assert.equal((await new Browser(world).login(email_address, PASSWORD)).status, 401)
})
