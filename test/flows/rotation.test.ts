import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { call } from '../worlds/base/client.ts'
import { eventually } from '../worlds/base/eventually.ts'
import { mailSettings, startMailServer } from '../worlds/dashboard/mail-server.ts'
import { startProduct } from '../worlds/flows/product.ts'
import { oauthApi } from '../worlds/gateway/oauth-fixtures.ts'

const ROOT = join(import.meta.dirname, '../..')
const PAGE = readFileSync(join(ROOT, 'docs/operate/rotation.md'), 'utf8')
/** Between two calls: the machine of the test has other things to do. */
const PAUSE_MS = 20
/** As the page prints them. */
const COMMANDS = [...PAGE.matchAll(/^```sh\n([\s\S]+?)^```$/gm)].flatMap(([, block]) => block!.trim().split('\n'))

const folderOf = (t: TestContext) => {
  const cwd = mkdtempSync(join(tmpdir(), 'gatehouse-rotation-'))
  t.after(() => rmSync(cwd, { recursive: true, force: true }))
  return cwd
}

async function run(cwd: string, command: string): Promise<string> {
  const child = spawn('sh', ['-c', command], { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk))
  const [status] = await once(child, 'close')
  assert.equal(status, 0, text)
  return text
}

/** Calls with the secret that `secret` answers, one after the other, until it is stopped. All must be accepted. */
function callers(ask: (secret: string) => Promise<{ status: number }>, secret: () => string) {
  const state = { stopped: false, statuses: new Map<number, number>() }
  const done = (async () => {
    while (!state.stopped) {
      const { status } = await ask(secret())
      state.statuses.set(status, (state.statuses.get(status) ?? 0) + 1)
      await wait(PAUSE_MS)
    }
  })()
  return async () => {
    state.stopped = true
    await done
    assert.deepEqual([...state.statuses.keys()], [200])
  }
}

test('commands of the page rotate gateway and admin secret and no right call is refused', async (t) => {
  const cwd = folderOf(t)
  symlinkSync(join(ROOT, 'bin'), join(cwd, 'bin'))
  const product = await startProduct(t, cwd)
  const asks = {
    gateway: (secret: string) => call(product.port, '/svc/apis', { headers: { 'x-svc-authorization': secret } }),
    admin: (secret: string) =>
      call(product.dashboardPort, '/admin/organisations', { headers: { 'admin-auth': secret } }),
  }
  const secretsNow = () => JSON.parse(readFileSync(join(cwd, 'data/secrets.json'), 'utf8')) as Record<string, string>
  assert.deepEqual(
    COMMANDS,
    ['gateway', 'admin'].flatMap((which) => ['', ' --end'].map((end) => `bin/gatehouse rotate-secret ${which}${end}`)),
  )
  for (const which of ['gateway', 'admin'] as const) {
    const ask = asks[which]
    const name = `${which}_secret`
    const old = secretsNow()[name]!
    let used = old
    const stop = callers(ask, () => used)
    const [rotate, end] = COMMANDS.filter((command) => command.includes(which)) as [string, string]
    await run(cwd, rotate)
    const next = secretsNow()[name]!
    assert.notEqual(next, old)
    assert.deepEqual([(await ask(old)).status, (await ask(next)).status], [200, 200], which)
    used = next
    // Twice would leave callers with neither.
    await assert.rejects(run(cwd, rotate), /has not been ended/)
    await run(cwd, end)
    assert.notEqual((await ask(old)).status, 200)
    await stop()
    assert.deepEqual(Object.keys(secretsNow()).sort(), ['admin_secret', 'gateway_secret', 'seal_key'])
  }
  await assert.rejects(run(cwd, 'bin/gatehouse rotate-secret other'), /usage/)
})

test('a secrets.json that vanishes is not made again, neither under way nor at a start', async (t) => {
  const cwd = folderOf(t)
  const file = join(cwd, 'data/secrets.json')
  const product = await startProduct(t, cwd)
  const text = readFileSync(file, 'utf8')
  const { gateway_secret: secret } = JSON.parse(text) as Record<string, string>
  const ask = () => call(product.port, '/svc/apis', { headers: { 'x-svc-authorization': secret! } })
  rmSync(file)
  await eventually('it is logged', () => /"level":50[^\n]*there is no secrets\.json/.test(product.output()))
  assert.deepEqual([(await ask()).status, existsSync(file)], [200, false])
  writeFileSync(file, text)
  await eventually('it is read again', () => /secrets read again/.test(product.output()))
  assert.equal((await ask()).status, 200)
  assert.equal(await product.stop(), 0)
  rmSync(file)
  await assert.rejects(startProduct(t, cwd), /has no secrets\.json/)
  assert.equal(existsSync(file), false)
})

test('secrets of files are read again when these change, and a broken file changes nothing', async (t) => {
  const cwd = folderOf(t)
  const [current, previous] = [join(cwd, 'admin'), join(cwd, 'admin-previous')]
  const [first, second, third] = ['first', 'second', 'third'].map((name) => `${name}-secret-of-the-administrator`) as [
    string,
    string,
    string,
  ]
  writeFileSync(current, `${first}\n`)
  writeFileSync(previous, '')
  const product = await startProduct(t, cwd, {
    SVC_DB_ADMINSECRET_FILE: current,
    SVC_DB_ADMINSECRETPREVIOUS_FILE: previous,
  })
  const ask = (secret: string) =>
    call(product.dashboardPort, '/admin/organisations', { headers: { 'admin-auth': secret } })
  const accepts = async (...secrets: string[]) => {
    const answers = await Promise.all([first, second, third].map(ask))
    const accepted = [first, second, third].filter((_, i) => answers[i]!.status === 200)
    return accepted.join() === secrets.join()
  }
  let used = first
  const stop = callers(ask, () => used)
  writeFileSync(previous, second)
  await eventually('both are accepted', () => accepts(first, second))
  used = second
  writeFileSync(current, second)
  writeFileSync(previous, '')
  await eventually('the second alone is accepted', () => accepts(second))
  writeFileSync(current, 'short')
  await eventually('a short one is logged', () => /"level":50[^\n]*shorter than 16/.test(product.output()))
  rmSync(current)
  await eventually('a missing one is logged', () => /"level":50[^\n]*is missing/.test(product.output()))
  assert.ok(await accepts(second))
  writeFileSync(current, third)
  writeFileSync(previous, second)
  await eventually('the third is accepted too', () => accepts(second, third))
  await stop()
})

test('secrets of scrapers and registrations overlap in their files, and no right call is refused', async (t) => {
  const cwd = folderOf(t)
  const [first, second] = ['first-secret-of-the-caller', 'second-secret-of-the-caller']
  const files = { scraper: join(cwd, 'scraper'), registration: join(cwd, 'registration') }
  for (const file of Object.values(files)) writeFileSync(file, `${first}\n`)
  const product = await startProduct(t, cwd, {
    SVC_METRICS_SECRET_FILE: files.scraper,
    SVC_GW_OAUTHREGISTRATIONTOKEN_FILE: files.registration,
  })
  const api = oauthApi('http://127.0.0.1:9/', { id: 'tok' })
  assert.equal((await product.svc('POST', '/svc/apis/oas', api)).status, 200)
  const client = JSON.stringify({ redirect_uris: ['https://app.example.org/cb'], client_name: 'Notes' })
  const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` })
  const metrics = (port: number) => (secret: string) => call(port, '/metrics', { headers: bearer(secret) })
  const register = async (secret: string) => {
    const headers = { ...bearer(secret), 'content-type': 'application/json' }
    const { status } = await call(product.port, '/tok/oauth/register', { method: 'POST', headers, body: client })
    return { status: status === 201 ? 200 : status }
  }
  const ASKS = [
    [files.scraper, metrics(product.port)],
    [files.scraper, metrics(product.dashboardPort)],
    [files.registration, register],
  ] as const
  const used = new Map<string, string>(Object.values(files).map((file) => [file, first]))
  const stops = ASKS.map(([file, ask]) => callers(ask, () => used.get(file)!))
  for (const file of Object.values(files)) writeFileSync(file, `${first}\n${second}\n`)
  for (const [, ask] of ASKS) await eventually('both are accepted', async () => (await ask(second)).status === 200)
  for (const file of used.keys()) used.set(file, second)
  for (const bad of ['', 'short', `${second}\nshort`]) {
    for (const file of Object.values(files)) writeFileSync(file, bad)
    const before = product.output().length
    await eventually('it is logged', () => /"level":50[^\n]*shorter than 16/.test(product.output().slice(before)))
  }
  for (const file of Object.values(files)) writeFileSync(file, second)
  for (const [, ask] of ASKS) await eventually('the first is refused', async () => (await ask(first)).status !== 200)
  await Promise.all(stops.map((stop) => stop()))
  for (const secret of [first, second]) assert.ok(!product.output().includes(secret))
})

test('the password at the mail server is read again from its file', async (t) => {
  const cwd = folderOf(t)
  const post = await startMailServer(t, { authOptional: false, allowInsecureAuth: true })
  const file = join(cwd, 'mail')
  writeFileSync(file, 'another password\n')
  const product = await startProduct(t, cwd, {
    ...mailSettings(post),
    SVC_DB_EMAILBACKEND_SETTINGS_SMTPUSERNAME: 'gatehouse',
    SVC_DB_EMAILBACKEND_SETTINGS_SMTPPASSWORD_FILE: file,
  })
  const { admin_secret: secret = '' } = JSON.parse(readFileSync(join(cwd, 'data/secrets.json'), 'utf8')) as {
    admin_secret?: string
  }
  const admin = { 'admin-auth': secret }
  const send = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    call(product.dashboardPort, path, { method: 'POST', headers, body: JSON.stringify(body) })
  const made = await send('/admin/organisations', { owner_name: 'Ada' }, admin)
  assert.equal(made.status, 200, made.text)
  const { Meta: org_id } = made.json as { Meta: string }
  const forget = async (email_address: string) => {
    const user = { org_id, email_address, password: 'Correct-horse-7', active: true }
    assert.equal((await send('/admin/users', user, admin)).status, 200)
    const { status, text } = await send('/api/password/forgot', { email: email_address })
    assert.equal(status, 200, text)
  }
  await forget('ada@example.test')
  await eventually('the mail server refuses', () => /cannot send a password reset mail/.test(product.output()))
  writeFileSync(file, 'mail password\n')
  await eventually('it is read again', () => /secrets read again/.test(product.output()))
  await forget('bob@example.test')
  await eventually('the mail', () => post.mails.length === 1)
  assert.deepEqual(post.mails[0]!.to, ['bob@example.test'])
  assert.ok(!product.output().includes('mail password'))
})
