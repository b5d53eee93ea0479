import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { call } from './worlds/base/client.ts'
import { defined } from './worlds/base/definitions.ts'
import { eventually } from './worlds/base/eventually.ts'
import { environment, folder, ROOT, start } from './worlds/launcher/clone.ts'
import { freePort } from './worlds/servers/free-port.ts'
import { startOrigin } from './worlds/servers/origin.ts'

test('the package, installed in a project, runs by npx with its console and the pinned Node', async (t) => {
  const project = folder(t)
  const npm = (words: readonly string[], cwd: string) =>
    execFileSync('npm', [...words], { cwd, env: environment(), encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
  npm(['pack', '--pack-destination', project], ROOT)
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  writeFileSync(join(project, 'package.json'), '{ "name": "project", "private": true }')
  npm(['install', '--no-audit', '--no-fund', `./gatehouse-${version}.tgz`], project)
  const said = execFileSync('npx', ['gatehouse', '--version'], { cwd: project, env: environment(), encoding: 'utf8' })
  assert.equal(said, `gatehouse ${version} (Node ${process.version})\n`)

  const origin = await startOrigin()
  t.after(() => origin.close())
  const [port, dashboard] = [await freePort(), await freePort()]
  mkdirSync(join(project, 'data'))
  const env = { ...environment(), SVC_GW_LISTENPORT: String(port), SVC_DB_LISTENPORT: String(dashboard) }
  const { child, ended } = start(t, join(project, 'node_modules/.bin/gatehouse'), [], project, env)
  await eventually('it serves', () =>
    call(port, '/ready').then(
      ({ status }) => status === 200,
      () => false,
    ),
  )
  const { gateway_secret: secret } = JSON.parse(readFileSync(join(project, 'data/secrets.json'), 'utf8'))
  const made = await call(port, '/svc/apis/oas', {
    method: 'POST',
    headers: { 'x-svc-authorization': secret },
    body: JSON.stringify(defined({ id: 'a', url: origin.url })),
  })
  assert.equal(made.status, 200, made.text)
  assert.equal((await call(port, '/a/x')).status, 200)
  const page = await call(dashboard, '/', { headers: { accept: 'text/html' } })
  assert.equal(page.status, 200)
  const script = /src="(\/console\/assets\/[^"]+\.js)"/.exec(page.text)![1]!
  assert.equal((await call(dashboard, script)).status, 200)
  child.kill('SIGTERM')
  assert.equal((await ended).code, 0)
})
