import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { loadConfig } from '../../../src/config/load.ts'
import { Mailer, toHtml } from '../../../src/dashboard/server/mail.ts'
import { Fault } from '../../../src/errors/fault.ts'
import { mailSettings, startMailServer } from '../../worlds/dashboard/mail-server.ts'

const SETTINGS = 'SVC_DB_EMAILBACKEND_SETTINGS'

function mailer(env: Record<string, string>): Mailer {
  return new Mailer(loadConfig({ env, cwd: import.meta.dirname }).config.dashboard.email_backend)
}

const code = (expected: string) => (error: unknown) => error instanceof Fault && error.code === expected

test('sends text and HTML, with the names of both sides', async (t) => {
  const post = await startMailServer(t)
  const sender = mailer({ ...mailSettings(post), SVC_DB_EMAILBACKEND_DEFAULTFROMNAME: 'Gatehouse, "the" <door>' })
  await sender.send({ to: 'ada@example.test', subject: 'Grüße', text: 'One <b>\n\nTwo & "three"' })
  const [mail] = post.mails
  assert.equal(mail!.from, 'gatehouse@example.test')
  assert.deepEqual(mail!.to, ['ada@example.test'])
  assert.match(mail!.head, /^To: ada@example\.test$/m)
  assert.match(mail!.text, /One <b>\r?\n\r?\nTwo & "three"/)
  assert.match(mail!.html, /<p>One &#60;b&#62;<\/p>\r?\n<p>Two &#38; &#34;three&#34;<\/p>/)
})

test('nothing that is sent can add a header field or a recipient', async (t) => {
  const post = await startMailServer(t)
  const sender = mailer(mailSettings(post))
  const mail = { to: 'ada@example.test', subject: 'Hello', text: 'Text' }
  const bad = [
    { to: 'ada@example.test\r\nBcc: eve@example.test' },
    { to: 'ada@example.test, eve@example.test' },
    { to: 'Ada <ada@example.test>' },
    { to: 'ada@example.test\nRCPT TO:<eve@example.test>' },
    { to: '' },
    { subject: 'Hello\r\nBcc: eve@example.test' },
    { subject: 'Hello\u0000' },
    { subject: 'x'.repeat(201) },
  ]
  for (const wrong of bad)
    await assert.rejects(sender.send({ ...mail, ...wrong }), code('mail_invalid'), JSON.stringify(wrong))
  await sender.send({ ...mail, text: 'Text\r\n.\r\nMAIL FROM:<eve@example.test>\r\n\r\nBcc: eve@example.test' })
  assert.equal(post.mails.length, 1)
  assert.deepEqual(post.mails[0]!.to, ['ada@example.test'])
  assert.doesNotMatch(post.mails[0]!.head, /eve/)
})

test('text is escaped in HTML, and only an address alone becomes a link', () => {
  const html = toHtml('<script>"x"</script>\nhttps://a.test/?b=1\n\nhttps://a.test/?b="&c\n\njavascript:alert(1)')
  assert.doesNotMatch(html, /<script>/)
  assert.equal(html.match(/<a /g)?.length, 1)
  assert.match(html, /<a href="https:\/\/a\.test\/\?b=&#34;&#38;c">/)
})

test('is off until everything it needs is set', async () => {
  const full = mailSettings({ port: 2525 })
  assert.equal(mailer(full).isOn, true)
  for (const name of Object.keys(full).filter((key) => /ENABLE|FROMEMAIL|SMTPHOST/.test(key))) {
    const { [name]: _left, ...rest } = full
    const sender = mailer(rest)
    assert.equal(sender.isOn, false, name)
    await assert.rejects(sender.send({ to: 'a@b.test', subject: 'x', text: 'x' }), code('mail_off'))
  }
})

const certificate = (() => {
  let made: { key: Buffer; cert: Buffer; file: string } | undefined
  return (t: TestContext) => {
    if (made !== undefined) return made
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-mail-'))
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
    const [key, file] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    execFileSync(
      'openssl',
      [
        ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'],
        ...[
          '-subj',
          '/CN=localhost',
          '-addext',
          'subjectAltName=DNS:localhost,IP:127.0.0.1',
          '-keyout',
          key,
          '-out',
          file,
        ],
      ],
      { stdio: 'ignore' },
    )
    t.diagnostic('made a certificate')
    made = { key: readFileSync(key), cert: readFileSync(file), file }
    return made
  }
})()

test('by TLS, from the start or by STARTTLS, with user and password; never in clear instead', async (t) => {
  const { key, cert, file } = certificate(t)
  const mail = { to: 'ada@example.test', subject: 'Hello', text: 'Text' }
  const user = { [`${SETTINGS}_SMTPUSERNAME`]: 'gate', [`${SETTINGS}_SMTPPASSWORD`]: 'mail password' }
  for (const [tls, options] of [
    ['implicit', { secure: true, key, cert }],
    ['starttls', { key, cert }],
  ] as const) {
    const post = await startMailServer(t, options)
    const env = { ...mailSettings(post), ...user, [`${SETTINGS}_SMTPTLS`]: tls }
    await mailer({ ...env, [`${SETTINGS}_SMTPCAFILE`]: file }).send(mail)
    assert.equal(post.mails[0]!.secure, true)
    assert.equal(post.mails[0]!.user, 'gate')
    await assert.rejects(mailer(env).send(mail), code('mail_failed'), 'nobody vouches for the certificate')
    const wrong = { ...env, [`${SETTINGS}_SMTPCAFILE`]: file, [`${SETTINGS}_SMTPPASSWORD`]: 'wrong' }
    await assert.rejects(
      mailer(wrong).send(mail),
      (error) => code('mail_failed')(error) && !/wrong/.test(String(error)),
    )
  }
  const bare = await startMailServer(t, { hideSTARTTLS: true, disabledCommands: ['STARTTLS'] })
  const env = { ...mailSettings(bare), [`${SETTINGS}_SMTPTLS`]: 'starttls' }
  await assert.rejects(mailer(env).send(mail), code('mail_failed'))
  assert.equal(bare.mails.length, 0)
})

test('a server that says nothing holds nobody up', async (t) => {
  const silent = createServer(() => {})
  t.after(() => silent.close())
  const port = await new Promise<number>((resolve) => {
    silent.listen(0, '127.0.0.1', () => resolve((silent.address() as AddressInfo).port))
  })
  const sender = mailer({ ...mailSettings({ port }), [`${SETTINGS}_TIMEOUTMS`]: '200' })
  await assert.rejects(sender.send({ to: 'a@b.test', subject: 'x', text: 'x' }), code('mail_failed'))
})
