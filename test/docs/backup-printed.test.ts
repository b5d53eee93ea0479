import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../contract/adapters.ts'
import { call } from '../worlds/base/client.ts'
import { printedCommands, ROOT, runShell } from '../worlds/docs/printed.ts'
import { startProduct } from '../worlds/flows/product.ts'

const USER = { email: 'ada@example.com', password: 'Correct-horse-7' }
/** The sample API that asks for a key. */
const PROTECTED = 'protected'
const SETTINGS = {
  SVC_BOOTSTRAP_ORGANISATION: 'Acme',
  SVC_BOOTSTRAP_EMAIL: USER.email,
  SVC_BOOTSTRAP_PASSWORD: USER.password,
}

test('backup and restore work as their pages print them', async (t) => {
  const cwd = temporaryFolder(t)
  const place = (text: string) => text.replaceAll('/var/', `${cwd}/var/`)
  symlinkSync(join(ROOT, 'bin'), join(cwd, 'bin'))
  mkdirSync(join(cwd, 'programs'))
  // The other machine is this one.
  writeFileSync(join(cwd, 'programs/ssh'), '#!/bin/sh\nshift\nexec sh -c "$*"\n')
  chmodSync(join(cwd, 'programs/ssh'), 0o755)
  const env = { ...process.env, PATH: `${join(cwd, 'programs')}:${process.env.PATH}` }

  const first = await startProduct(t, cwd, SETTINGS)
  const made = await first.svc('POST', '/svc/keys/create', {
    ...{ quota_max: 10, quota_renewal_rate: 3600 },
    access_rights: { [PROTECTED]: { api_id: PROTECTED, versions: ['Default'] } },
  })
  const { key } = made.json as { key: string }
  for (let n = 0; n < 3; n++) assert.equal((await first.call('/protected/hello', { authorization: key })).status, 200)

  const backups = printedCommands('docs/operate/backup.md')
  assert.ok(backups.length >= 4)
  for (const script of backups) {
    const { code, stdout, stderr } = await runShell(place(script), cwd, env)
    assert.equal(code, 0, `${script}\n${stdout}${stderr}`)
  }
  assert.deepEqual(readdirSync(join(cwd, 'var/backups/gatehouse')).sort(), ['monday.backup', 'with-secrets.backup'])
  assert.equal(statSync(join(cwd, 'var/backups/gatehouse/monday.backup')).mode & 0o777, 0o600)
  const beside = await runShell('bin/gatehouse restore monday.backup', cwd, env)
  assert.match(beside.stderr, /is in use by process/)
  await first.stop()

  const [restore = '', start = ''] = printedCommands('docs/operate/restore.md')
  const { code, stdout, stderr } = await runShell(place(restore), cwd, env)
  assert.equal(code, 0, stdout + stderr)
  assert.equal(start, 'bin/gatehouse\n')
  const second = await startProduct(t, cwd, { SVC_STORAGE_PATH: join(cwd, 'var/lib/gatehouse-restored') })
  const answer = await second.call('/protected/hello', { authorization: key })
  assert.equal(answer.status, 200)
  assert.equal(answer.headers['x-ratelimit-remaining'], '6', 'three calls before the backup, and this one')
  const signIn = await call(second.dashboardPort, '/api/login', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(USER),
  })
  assert.equal(signIn.status, 200, signIn.text)
  assert.equal((await second.call('/protected/hello', { authorization: 'unknown' })).status, 403)
})
