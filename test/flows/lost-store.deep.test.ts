import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'

const MAIN = join(import.meta.dirname, '../../src/main.ts')
const LINK = /\/bootstrap#token=([\w-]{43})\s/

/** Starts the product in a folder and stops it once it serves; or waits for its end where it does not. */
function begin(t: TestContext, cwd: string, words: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, [MAIN, ...words], {
    cwd,
    env: { ...process.env, SVC_GW_LISTENPORT: '0', SVC_DB_LISTENPORT: '0', SVC_GW_ACCESSLOG: 'false', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.after(() => child.kill('SIGKILL'))
  let text = ''
  let asked = false
  const look = (chunk: Buffer) => {
    text += chunk
    const address = /^gateway {4}(\S+)\n(?:.*\n)*?secret {5}.*\n/m.exec(text)?.[1]
    if (address === undefined || asked) return
    asked = true
    // Once it answers it has printed everything, and listens for signals.
    void fetch(`${address}/hello`).finally(() => child.kill('SIGTERM'))
  }
  child.stdout.on('data', look)
  child.stderr.on('data', look)
  return new Promise<{ served: boolean; text: string }>((resolve) => {
    child.on('close', (status) => resolve({ served: status === 0, text }))
  })
}

function folderFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-lost-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('beside secrets.json no store begins that is missing or empty, unless --new says so', async (t) => {
  const cwd = folderFor(t)
  const data = join(cwd, 'data')
  const database = join(data, 'gatehouse.db')
  const first = await begin(t, cwd)
  assert.ok(first.served, first.text)
  assert.equal(existsSync(join(data, 'first-start')), false)
  const secrets = readFileSync(join(data, 'secrets.json'), 'utf8')
  renameSync(database, join(cwd, 'kept.db'))

  const refused = async (words: readonly string[] = []) => {
    const { served, text } = await begin(t, cwd, words)
    assert.equal(served, false, text)
    assert.doesNotMatch(text, LINK)
    assert.equal(readFileSync(join(data, 'secrets.json'), 'utf8'), secrets)
    return text
  }
  assert.match(await refused(), /gatehouse\.db is missing.*secrets\.json.*backup.*--new/)
  assert.equal(existsSync(database), false, 'nothing is put in its place')
  writeFileSync(database, '')
  assert.match(await refused(), /the store is empty.*secrets\.json.*backup.*--new/)

  const again = await begin(t, cwd, ['--new'])
  assert.ok(again.served, again.text)
  assert.notEqual(LINK.exec(again.text)?.[1] ?? '', LINK.exec(first.text)?.[1] ?? '', 'the old link opens nothing')
  const [kept = ''] = readdirSync(data).filter((name) => name.startsWith('secrets.json.'))
  assert.equal(readFileSync(join(data, kept), 'utf8'), secrets)

  const full = await begin(t, cwd, ['all', '--new'])
  assert.equal(full.served, false)
  assert.match(full.text, /--new is for an empty store/)

  // The schema alone is no store to begin in either.
  const db = new DatabaseSync(database)
  for (const { name } of db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all())
    if (!String(name).startsWith('sqlite_')) db.exec(`DELETE FROM "${name}"`)
  db.close()
  const emptied = await begin(t, cwd)
  assert.equal(emptied.served, false)
  assert.match(emptied.text, /rows of .*gatehouse\.db were deleted.*backup.*--new/)
  assert.doesNotMatch(emptied.text, /^ +at /m)
  assert.ok((await begin(t, cwd, ['--new'])).served)
  assert.ok(readdirSync(data).some((name) => /^gatehouse\.db\.\d/.test(name)))

  renameSync(join(data, kept), join(data, 'secrets.json'))
  const other = await begin(t, cwd)
  assert.equal(other.served, false)
  assert.match(other.text, /sealed under another key/)
  for (const end of ['', '-wal', '-shm']) rmSync(database + end, { force: true })
  renameSync(join(cwd, 'kept.db'), database)
  assert.ok((await begin(t, cwd)).served, 'the backup is in its place')
})

test('a first start that was cut short is repeated', async (t) => {
  const cwd = folderFor(t)
  assert.ok((await begin(t, cwd)).served)
  const data = join(cwd, 'data')
  for (const end of ['', '-wal', '-shm']) rmSync(join(data, `gatehouse.db${end}`), { force: true })
  writeFileSync(join(data, 'first-start'), '')
  const { served, text } = await begin(t, cwd)
  assert.ok(served, text)
  assert.match(text, /sample\/hello/)
  assert.equal(existsSync(join(data, 'first-start')), false)
})

test('samples come into a new installation only', async (t) => {
  const cwd = folderFor(t)
  const without = await begin(t, cwd, [], { SVC_SAMPLE: 'false' })
  assert.ok(without.served, without.text)
  const later = await begin(t, cwd)
  assert.ok(later.served, later.text)
  assert.doesNotMatch(later.text, /sample\/hello/)
})

test('a secret that is short stops the start, unless the sample is asked for by name', async (t) => {
  const cwd = folderFor(t)
  for (const [name, path] of [
    ['SVC_GW_SECRET', 'gateway.secret'],
    ['SVC_DB_ADMINSECRET', 'dashboard.admin_secret'],
    ['SVC_GW_OAUTHREGISTRATIONTOKEN', 'gateway.oauth_registration_token'],
  ] as const) {
    const { served, text } = await begin(t, cwd, [], { [name]: 'fifteen-letters' })
    assert.equal(served, false, name)
    assert.ok(text.includes(`${path} is shorter than 16 characters`), text)
    assert.doesNotMatch(text, /fifteen-letters/)
  }
  assert.equal(existsSync(join(cwd, 'data')), false, 'nothing is made')
  assert.ok((await begin(t, cwd, [], { SVC_GW_SECRET: 'fifteen-letters', SVC_SAMPLE: 'true' })).served)
})
