import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import type { JsonObject } from '../../src/model/json/json.ts'
import { newSecret } from '../../src/model/secrets/secret.ts'
import { call } from '../worlds/base/client.ts'
import { classic, rights } from '../worlds/base/definitions.ts'
import { eventually } from '../worlds/base/eventually.ts'
import { type Product, startProduct } from '../worlds/flows/product.ts'
import { freePort } from '../worlds/servers/free-port.ts'

const ROOT = join(import.meta.dirname, '../..')
const LINK = /http:\/\/127\.0\.0\.1:\d+\/bootstrap#token=([\w-]{43})\s/

function folderFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-first-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Runs `gatehouse bootstrap` in the folder of a product. */
function bootstrap(cwd: string, words: readonly string[], env: Readonly<Record<string, string>>, input = '') {
  return command(cwd, ['bootstrap', ...words], env, input)
}

function command(cwd: string, words: readonly string[], env: Readonly<Record<string, string>>, input = '') {
  return new Promise<{ status: number | null; text: string; errors: string }>((resolve) => {
    const child = spawn(process.execPath, [join(ROOT, 'src/main.ts'), ...words], {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    let text = ''
    let errors = ''
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk
    })
    child.stderr.on('data', (chunk: Buffer) => {
      text += chunk
      errors += chunk
    })
    child.on('close', (status) => resolve({ status, text, errors }))
    child.stdin.end(input)
  })
}

const json = async (port: number, method: string, path: string, headers: Record<string, string>, body?: unknown) => {
  const answer = await call(port, path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
  return { status: answer.status, body: answer.json as JsonObject }
}

async function organisationsOfApis(product: Product): Promise<unknown[]> {
  const { json: apis } = await product.svc('GET', '/svc/apis')
  return (apis as JsonObject[]).map((api) => api.org_id)
}

test('the first start gives a link and an organisation for the samples, once', async (t) => {
  const cwd = folderFor(t)
  const first = await startProduct(t, cwd)
  await eventually('the link is printed', () => LINK.test(first.output()))
  const token = LINK.exec(first.output())![1]!
  const { svc } = first
  const early = (await svc('POST', '/svc/keys', { access_rights: rights('protected') })).json as JsonObject
  const samples = new Set(await organisationsOfApis(first))
  assert.equal(samples.size, 1)
  const [orgId] = samples

  const env = { SVC_DB_LISTENPORT: String(first.dashboardPort) }
  const printed = await bootstrap(cwd, [], env)
  assert.deepEqual([printed.status, LINK.exec(printed.text)?.[1]], [0, token])
  // Scripts take the credential from standard output, so a reason has to be on the other one.
  const weak = await bootstrap(cwd, ['Acme', 'ada@example.test'], env, 'abc\n')
  assert.deepEqual([weak.status, weak.errors], [1, weak.text])
  assert.match(weak.errors, /password/)
  const made = await bootstrap(cwd, ['Acme', 'ada@example.test'], env, 'correct horse battery\n')
  assert.equal(made.status, 0, made.text)
  const key = /^credential +([0-9a-f]{64})$/m.exec(made.text)?.[1] ?? ''
  assert.match(made.text, new RegExp(`^organisation +${orgId}$`, 'm'))
  for (const words of [[], ['Acme', 'ada@example.test']]) {
    const closed = await bootstrap(cwd, words, env, 'correct horse battery\n')
    assert.deepEqual([closed.status, closed.errors], [1, closed.text])
    assert.match(closed.errors, /set up already: sign in/)
  }
  assert.equal((await bootstrap(cwd, ['Acme'], env)).status, 1)
  assert.match(
    first.output(),
    /^network {4}open to other machines; SVC_GW_LISTENHOST=127\.0\.0\.1 SVC_DB_LISTENHOST=127\.0\.0\.1 for this machine alone$/m,
  )
  const explained = await command(cwd, ['explain', '/protected/hello'], { SVC_GW_LISTENPORT: String(first.port) })
  assert.equal(explained.status, 2, explained.text)
  assert.match(explained.text, /^ {2}authenticate\w* +refused: .*\n(?:.*\n)*refused with status 401/m)

  const headers = { authorization: key }
  const me = await json(first.dashboardPort, 'GET', '/api/users/me', headers)
  assert.deepEqual([me.status, me.body.org_id, me.body.email_address], [200, orgId, 'ada@example.test'])
  const again = { token, organisation: 'B', email: 'b@example.test', password: 'correct horse battery' }
  assert.equal((await json(first.dashboardPort, 'POST', '/api/bootstrap', {}, again)).status, 403)
  // The thread of the dashboard asks that of the gateway what it made of a saved API.
  const custom_middleware = { driver: 'typescript', pre: [{ name: 'act', path: 'm.ts' }] }
  const api_definition = classic('m', '/m/', 'http://127.0.0.1:1/', { custom_middleware })
  const saved = await json(first.dashboardPort, 'POST', '/api/apis', headers, { api_definition })
  assert.match(
    JSON.stringify(saved.body.Warnings),
    /is stored, but not served: it calls modules: set gateway\.modules\.path/,
  )
  // Documents that were created before the organisation belong to it and work as before.
  const passed = await first.call('/protected/hello', { authorization: String(early.key) })
  assert.equal(passed.status, 200, passed.text)
  assert.equal(await first.stop(), 0)

  const second = await startProduct(t, cwd)
  assert.deepEqual(new Set(await organisationsOfApis(second)), samples)
  assert.equal((await second.call('/protected/hello', { authorization: String(early.key) })).status, 200)
  assert.equal((await json(second.dashboardPort, 'GET', '/api/users/me', headers)).status, 200)
  assert.equal(await second.stop(), 0)
  assert.doesNotMatch(second.output(), LINK)
})

test('the printed link opens an installation whose seal key is a setting', async (t) => {
  const cwd = folderFor(t)
  const sealKey = { SVC_STORAGE_SEALKEY: newSecret() }
  const product = await startProduct(t, cwd, sealKey)
  await eventually('the link is printed', () => LINK.test(product.output()))
  const env = { ...sealKey, SVC_DB_LISTENPORT: String(product.dashboardPort) }
  // The key is enough: a dashboard of another machine has no data folder here.
  for (const folder of [cwd, folderFor(t)]) {
    const printed = await bootstrap(folder, [], env)
    assert.deepEqual([printed.status, LINK.exec(printed.text)?.[1]], [0, LINK.exec(product.output())![1]], printed.text)
  }
  const made = await bootstrap(cwd, ['Acme', 'ada@example.test'], env, 'correct horse battery\n')
  assert.equal(made.status, 0, made.text)
})

test('/ready of a process that runs both answers 200 only when the dashboard listens', async (t) => {
  const port = await freePort(2)
  const env = { SVC_GW_LISTENPORT: String(port), SVC_DB_LISTENPORT: String(port + 1) }
  const started = startProduct(t, folderFor(t), env)
  const statusAt = (place: number) =>
    call(place, '/ready').then(
      ({ status }) => status,
      () => 0,
    )
  await eventually('the gateway is ready', async () => (await statusAt(port)) === 200)
  assert.equal(await statusAt(port + 1), 200)
  await started

  // The commands of the page, as printed, and a row of its table for each part.
  const page = readFileSync(join(ROOT, 'docs/operate/health.md'), 'utf8')
  const commands = /```sh\n([\s\S]*?)```/.exec(page)![1]!.trim().split('\n')
  assert.equal(commands.length, 2)
  for (const command of commands) {
    const own = command.replace(':8080', `:${port}`).replace(':3000', `:${port + 1}`)
    const { stdout } = await promisify(execFile)('sh', ['-c', own])
    const { status, details } = JSON.parse(stdout) as { status: string; details: Record<string, { status: string }> }
    assert.match(status, /^(?:pass|ok|warn)$/)
    assert.equal(details.store?.status, 'pass', stdout)
    assert.deepEqual(
      Object.keys(details).filter((part) => !page.includes(`| \`${part}\` |`)),
      [],
    )
  }
})

test('set-up by settings makes the first user at the first start, and only then', async (t) => {
  const cwd = folderFor(t)
  const env = {
    SVC_BOOTSTRAP_ORGANISATION: 'Acme',
    SVC_BOOTSTRAP_EMAIL: 'ada@example.test',
    SVC_BOOTSTRAP_PASSWORD: 'correct horse battery',
  }
  const first = await startProduct(t, cwd, env)
  const open = await json(first.dashboardPort, 'GET', '/api/bootstrap', {})
  assert.deepEqual(open.body, { open: false })
  const body = { email: 'ada@example.test', password: 'correct horse battery' }
  const login = await json(first.dashboardPort, 'POST', '/api/login', {}, body)
  assert.equal(login.status, 200)
  assert.equal(await first.stop(), 0)
  assert.doesNotMatch(first.output(), /correct horse|#token=/)
  const second = await startProduct(t, cwd, { ...env, SVC_BOOTSTRAP_EMAIL: 'second@example.test' })
  const other = await json(second.dashboardPort, 'POST', '/api/login', {}, { ...body, email: 'second@example.test' })
  assert.equal(other.status, 401)
  assert.equal(await second.stop(), 0)
})

test('a first user that cannot be made stops the start with the reason', async (t) => {
  const env = { SVC_BOOTSTRAP_EMAIL: 'ada@example.test', SVC_BOOTSTRAP_PASSWORD: 'abc' }
  await assert.rejects(startProduct(t, folderFor(t), env), /bootstrap: the first user cannot be made/)
})
