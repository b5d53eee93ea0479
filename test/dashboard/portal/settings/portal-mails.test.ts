import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { PORTAL_SETTINGS } from '../../../../console/src/texts/portal-settings.ts'
import { sendPortalMail } from '../../../../src/dashboard/portal/settings/portal-mails.ts'
import type { JsonObject } from '../../../../src/model/json/json.ts'
import { Deliveries } from '../../../../src/oauth/webhooks/deliver-webhooks.ts'
import { eventually } from '../../../worlds/base/eventually.ts'
import { mailSettings, type ReceivedMail, startMailServer } from '../../../worlds/dashboard/mail-server.ts'
import { startReceiver } from '../../../worlds/oauth/receiver.ts'
import { APPROVE, hashOf, PROCESSED, REQUESTS, requestWorld } from '../../../worlds/portal/portal-requests-world.ts'

const PASSWORD = 'correct horse battery'

async function mailWorld(t: TestContext, env: Record<string, string> = {}) {
  const post = await startMailServer(t)
  const world = await requestWorld(t, { env: { ...mailSettings(post), ...env } })
  return {
    ...world,
    post,
    /** The mail that a call brings about. */
    async mailed(work: () => Promise<unknown>): Promise<ReceivedMail> {
      const before = post.mails.length
      await work()
      await eventually('a mail arrives', () => post.mails.length > before)
      return post.mails[before]!
    },
    copy: (texts: JsonObject) => world.configure({ mail_options: { email_copy: texts } }),
  }
}

/** The subject of a mail, decoded. */
function subjectOf({ head }: ReceivedMail): string {
  const [, folded = ''] = /^Subject: (.*(?:\r\n[ \t].*)*)/m.exec(head) ?? []
  return folded
    .replace(/\r\n[ \t]/g, '')
    .replace(/=\?UTF-8\?Q\?(.*?)\?=/gi, (_all, text: string) =>
      text
        .replaceAll('_', ' ')
        .replace(/=([0-9A-F]{2})/g, (_each, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    )
}

test('a key that was made is mailed in our words, or in those of the organisation', async (t) => {
  const { mailed, request, dev, copy, asked, root, configure, developer, catalogue, post } = await mailWorld(t)
  await catalogue({ name: 'Gold API', policy_id: 'gold' })
  let made: JsonObject = {}
  const first = await mailed(async () => {
    made = await request({ by_user: dev, for_plan: 'gold' })
  })
  const { RawKey } = made.Meta as JsonObject
  assert.deepEqual(first.to, ['dev@example.test'])
  assert.equal(subjectOf(first), 'Your access to Gold API')
  assert.match(first.text, /^Hello Dev,/)
  assert.ok(first.text.includes(`Your key: ${RawKey}`))
  await copy({
    key_email: { subject: 'Hi {{name}}', body: 'You have {{ api }}:\n{{key}}', sign_off: 'Bye, {{organisation}}' },
  })
  await configure({ require_key_approval: true })
  const other = await developer('other@example.test', { fields: { Name: 'Other' } })
  const waiting = await request({ by_user: other, for_plan: 'gold' })
  let key: JsonObject = {}
  const second = await mailed(async () => {
    key = await asked(200, 'PUT', `${APPROVE}/${waiting.Message}`, root)
  })
  assert.equal(subjectOf(second), 'Hi Other')
  assert.equal(
    second.text.trim().replace(/\r\n/g, '\n'),
    `You have Gold API:\n${key.RawKey}\n\nBye, First organisation`,
  )
  assert.equal(post.mails.length, 2)
})

test('the data for pages says that mail is configured exactly where a key is mailed', async (t) => {
  // Without an address of the dashboard no link to it can be sent: keys are mailed all the same.
  for (const [env, configured, links] of [
    [{}, true, true],
    [{ SVC_DB_PUBLICURL: '' }, true, false],
    [{ SVC_DB_EMAILBACKEND_ENABLEEMAILNOTIFICATIONS: 'false' }, false, false],
  ] as const) {
    const { call, mailed, request, dev } = await mailWorld(t, env)
    for (const path of ['/api/login/options', '/api/login/doors']) {
      const { mail_configured, sends_mail } = (await call('GET', path)).json as JsonObject
      assert.deepEqual([mail_configured, sends_mail], [configured, links], JSON.stringify(env))
    }
    const asking = () => request({ by_user: dev, for_plan: 'gold' })
    if (configured) assert.deepEqual((await mailed(asking)).to, ['dev@example.test'])
  }
})

test('mails can hide keys and secrets, and mails that are off are not sent', async (t) => {
  const { mailed, request, dev, copy, developer, post } = await mailWorld(t)
  await copy({ key_email: { body: 'Key: {{key}}.', hide_token_data: true } })
  let made: JsonObject = {}
  const mail = await mailed(async () => {
    made = await request({ by_user: dev, for_plan: 'gold' })
  })
  assert.ok(!mail.raw.includes(String((made.Meta as JsonObject).RawKey)))
  assert.equal(mail.text.trim(), 'Key: .')
  await copy({ key_email: { enabled: false } })
  const other = await developer('other@example.test')
  await request({ by_user: other, for_plan: 'gold' })
  await copy({})
  const third = await developer('third@example.test')
  const last = await mailed(() => request({ by_user: third, for_plan: 'gold' }))
  assert.deepEqual(last.to, ['third@example.test'])
  assert.equal(post.mails.length, 2)
})

test('text in developer records stays text: no header fields, no markup, no links', async (t) => {
  const { mailed, request, copy, developer, clock, post } = await mailWorld(t)
  await copy({ key_email: { subject: 'For {{name}}', body: 'Dear {{name}}, {{key}}' } })
  const names = [
    'Eve\r\nBcc: all@example.test\r\n\r\n<b>body</b>',
    '<script>alert(1)</script><a href="https://evil.test">x</a>',
    '{{key}} {{secret}} {{organisation}}',
    'Eve\u2028\u2029\u0085Bcc: x@example.test',
    `${'x'.repeat(4000)}`,
  ]
  for (const [number, Name] of names.entries()) {
    clock.advance(1000)
    const id = await developer(`eve${number}@example.test`, { fields: { Name } }).catch(() => undefined)
    if (id === undefined) continue
    let made: JsonObject = {}
    const mail = await mailed(async () => {
      made = await request({ by_user: id, for_plan: 'gold' })
    })
    assert.deepEqual(mail.to, [`eve${number}@example.test`])
    assert.ok(!/^(?:bcc|cc):/im.test(mail.head), mail.head)
    assert.ok(!/<script|<b>|<a /.test(mail.html), mail.html)
    assert.ok(!mail.text.includes('First organisation'))
    const { RawKey } = made.Meta as JsonObject
    assert.equal(mail.text.split(String(RawKey)).length, 2)
    assert.ok(subjectOf(mail).length <= 200)
  }
  assert.ok(post.mails.length >= 3, 'too few names were taken')
})

test('mails come from whom the organisation says', async (t) => {
  const { mailed, request, dev, configure } = await mailWorld(t)
  await configure({ mail_options: { mail_from_name: 'The "Portal" <x>', mail_from_email: 'portal@example.test' } })
  const mail = await mailed(() => request({ by_user: dev, for_plan: 'gold' }))
  assert.equal(mail.from, 'portal@example.test')
})

test('a mail server that is away does not stand in the way of a key, and is logged', async (t) => {
  const world = await requestWorld(t, { env: mailSettings({ port: 1 }) })
  const { RawKey } = (await world.request({ by_user: world.dev, for_plan: 'gold' })).Meta as JsonObject
  await eventually('it is logged', () => world.log.some(({ message }) => message === 'cannot send a portal mail'))
  assert.ok(!JSON.stringify(world.log).includes(String(RawKey)))
})

test('welcome and reset mails say what they are for', async (t) => {
  const { mailed, parts, dev, copy, orgId } = await mailWorld(t)
  const developer = (await parts.documents.get('developer', dev as never))!
  const welcome = await mailed(() => sendPortalMail(parts, { sort: 'welcome_email', developer, values: {} }))
  const shown = (name: keyof typeof PORTAL_SETTINGS, values: Record<string, string>) =>
    PORTAL_SETTINGS[name].replace(/\{\{(\w+)\}\}/g, (whole, each) => values[each] ?? whole).split('\n\n')
  const filled = { organisation: 'First organisation', email: String(developer.body.email) }
  assert.deepEqual([subjectOf(welcome)], shown('portal.usual.welcome_email.subject', filled))
  assert.ok(welcome.text.includes(shown('portal.usual.welcome_email.body', filled)[1]!), welcome.text)
  const link = 'https://portal.test/reset#secret'
  const values = { link }
  const reset = await mailed(() => sendPortalMail(parts, { sort: 'reset_password_email', developer, values }))
  assert.ok(reset.text.includes(shown('portal.usual.reset_password_email.body', {})[1]!), reset.text)
  assert.ok(reset.html.includes(`<a href="${link}">${link}</a>`), reset.html)
  await copy({ reset_password_email: { subject: 'Reset', body: 'Go:\n\n{{link}}\n\nSoon.' } })
  const own = await mailed(() => sendPortalMail(parts, { sort: 'reset_password_email', developer, values }))
  assert.equal(own.text.split(link).length, 2)
  assert.equal(developer.body.org_id, orgId)
})

/** Signs in at the portal. */
async function browser({ call }: Awaited<ReturnType<typeof mailWorld>>, email: string) {
  const answer = await call('POST', '/portal/login', { body: { email, password: PASSWORD } })
  assert.equal(answer.status, 200, answer.text)
  const cookie = String(answer.headers['set-cookie']).split(';')[0]!
  const { csrf_token } = answer.json as { csrf_token: string }
  return {
    read: (id: string) => call('GET', `/portal/requests/${id}/collect`, { headers: { cookie } }),
    collect: (id: string, code: string, token = csrf_token) =>
      call('POST', `/portal/requests/${id}/collect`, { headers: { cookie, authorization: token }, body: { code } }),
  }
}

const codeIn = ({ text }: ReceivedMail) => /\/portal\/requests\/([0-9a-f]{24})\/collect\?code=([\w-]{43})/.exec(text)!

test('with secure approval the developer collects the key by the link of a mail, signed in, once', async (t) => {
  const world = await mailWorld(t)
  const { mailed, request, dev, configure, asked, root, subscriptions, refused, read, developer, clock } = world
  await configure({ require_key_approval: true, secure_key_approval: true, portal_url: 'https://portal.test/dev/' })
  const id = String((await request({ by_user: dev, for_plan: 'gold' })).Message)
  const mail = await mailed(async () => {
    const answer = await asked(200, 'PUT', `${APPROVE}/${id}`, root)
    assert.deepEqual([answer.Status, answer.Meta], ['OK', null])
  })
  assert.ok(mail.text.includes(`https://portal.test/dev/portal/requests/${id}/collect?code=`))
  const [, requestId, code] = codeIn(mail)
  assert.equal(requestId, id)
  assert.deepEqual(await subscriptions(dev), {})
  assert.equal((await read(id)).approved, true)
  await developer('eve@example.test')
  const [own, eve] = [await browser(world, 'dev@example.test'), await browser(world, 'eve@example.test')]
  assert.deepEqual((await own.read(id)).json, { id, apply_policies: ['gold'], approved: true, collectable: true })
  assert.equal((await eve.read(id)).status, 404)
  assert.equal((await world.call('GET', `/portal/requests/${id}/collect`)).status, 401)
  assert.equal((await world.call('POST', `/portal/requests/${id}/collect`, { as: root, body: { code } })).status, 401)
  assert.equal((await own.collect(id, code!, 'wrong')).status, 403)
  assert.equal((await own.collect(id, 'x'.repeat(43))).status, 400)
  assert.equal((await eve.collect(id, code!)).status, 400)
  assert.deepEqual(await subscriptions(dev), {})
  const answers = await Promise.all([own.collect(id, code!), own.collect(id, code!), own.collect(id, code!)])
  const [won, ...more] = answers.filter(({ status }) => status === 200)
  assert.deepEqual(more, [])
  assert.match(String(won!.headers['cache-control']), /no-store/)
  assert.deepEqual(await subscriptions(dev), { gold: hashOf((won!.json as JsonObject).RawKey) })
  assert.equal((await own.collect(id, code!)).status, 400)
  assert.equal(((await own.read(id)).json as JsonObject).collectable, false)
  assert.equal(await refused(400, 'PUT', `${APPROVE}/${id}`), PROCESSED)
  clock.advance(60_000)
  assert.equal(await refused(400, 'PUT', `${APPROVE}/${id}`), PROCESSED)
})

test('approving again sends another link, which voids the one before; a link lapses after a week', async (t) => {
  const world = await mailWorld(t)
  const { mailed, request, dev, configure, asked, root, clock, post } = world
  await configure({ secure_key_approval: true })
  let id = ''
  const first = await mailed(async () => {
    const made = await request({ by_user: dev, for_plan: 'gold' })
    assert.equal(made.Meta, null)
    id = String(made.Message)
  })
  // the call of a portal that approves by itself, right afterwards
  await asked(200, 'PUT', `${APPROVE}/${id}`, root)
  assert.equal(post.mails.length, 1)
  clock.advance(60_000)
  const second = await mailed(() => asked(200, 'PUT', `${APPROVE}/${id}`, root))
  const own = await browser(world, 'dev@example.test')
  assert.equal((await own.collect(id, codeIn(first)[2]!)).status, 400)
  clock.advance(7 * 86_400_000)
  const later = await browser(world, 'dev@example.test')
  assert.equal((await later.collect(id, codeIn(second)[2]!)).status, 400)
  const third = await mailed(() => asked(200, 'PUT', `${APPROVE}/${id}`, root))
  assert.equal((await later.collect(id, codeIn(third)[2]!)).status, 200)
})

test('secure approval without mails is refused, and nothing is approved', async (t) => {
  const { request, dev, configure, refused, read, asked, root } = await requestWorld(t)
  await configure({ secure_key_approval: true })
  assert.match(await refused(409, 'POST', REQUESTS, { by_user: dev, for_plan: 'gold' }), /email_backend/)
  await configure({ require_key_approval: true })
  const id = String((await request({ by_user: dev, for_plan: 'gold' })).Message)
  await refused(409, 'PUT', `${APPROVE}/${id}`)
  assert.equal((await read(id)).approved, false)
  await configure({ secure_key_approval: false })
  assert.ok((await asked(200, 'PUT', `${APPROVE}/${id}`, root)).RawKey)
})

test('a link that the mail server does not take is made anew by approving again', async (t) => {
  let away = true
  const post = await startMailServer(t, {
    onRcptTo: (_address, _session, callback) => callback(away ? new Error('away') : undefined),
  })
  const world = await requestWorld(t, { env: mailSettings(post) })
  await world.configure({ secure_key_approval: true, require_key_approval: true })
  const id = String((await world.request({ by_user: world.dev, for_plan: 'gold' })).Message)
  // a failure to send is a 5xx, which the harness reports as an error: asked past it
  const failed = await fetch(`http://127.0.0.1:${world.port}${APPROVE}/${id}`, {
    method: 'PUT',
    headers: { authorization: world.root.key },
  })
  assert.equal(failed.status, 502)
  await failed.text()
  away = false
  await world.asked(200, 'PUT', `${APPROVE}/${id}`, world.root)
  assert.equal(post.mails.length, 1)
})

test('webhook and mail address of the organisation get requests without secrets', async (t) => {
  const receiver = await startReceiver()
  t.after(() => receiver.close())
  const world = await mailWorld(t, { SVC_WEBHOOKS_ALLOWPRIVATE: 'true' })
  const { store, orgId, configure, request, dev, asked, root, post, catalogue, clock } = world
  const organisation = (await store.documents.get('organisation', orgId as never))!
  const event_options = { key_request_event: { webhook: receiver.url, email: 'Boss@example.test', redis: false } }
  const put = {
    op: 'put',
    kind: 'organisation',
    id: organisation.id,
    body: { ...organisation.body, event_options },
  } as const
  await store.documents.commit([put], undefined)
  const { documents, outbox } = store
  const { log, sealKey } = world.parts
  const deliveries = new Deliveries({
    documents,
    outbox,
    clock,
    log,
    sealKey,
    findApi: () => undefined,
    allowPrivate: true,
  })
  t.after(() => deliveries.close())
  deliveries.start()
  await catalogue({ name: 'Gold API', policy_id: 'gold' })
  await configure({ require_key_approval: true })
  const id = String((await request({ by_user: dev, for_plan: 'gold' })).Message)
  const { RawKey } = await asked(200, 'PUT', `${APPROVE}/${id}`, root)
  deliveries.wake()
  await eventually('both messages arrive', () => receiver.received.length === 2)
  const [submitted, approved] = receiver.received.map(
    ({ body }) => JSON.parse(body) as { event: string; data: JsonObject },
  )
  assert.equal(submitted!.event, 'key_request_event.submitted')
  assert.equal((submitted!.data.portal_developer as JsonObject).email, 'dev@example.test')
  assert.equal((submitted!.data.catalogue_entry as JsonObject).name, 'Gold API')
  assert.equal(approved!.event, 'key_request_event.approved')
  assert.equal(approved!.data.approved, true)
  const bosses = () => post.mails.filter(({ to }) => to.includes('boss@example.test'))
  await eventually('both mails arrive', () => bosses().length === 2)
  assert.deepEqual(bosses().map(subjectOf), ['key_request_event.submitted', 'key_request_event.approved'])
  assert.match(bosses()[0]!.text, /developer: dev@example\.test/)
  const told = JSON.stringify([receiver.received, bosses()])
  assert.ok(!told.includes(String(RawKey)))
})
