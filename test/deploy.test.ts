import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse, parseAllDocuments } from 'yaml'
import { fromDebian } from '../scripts/debian.mjs'
import { explainSettings } from '../src/config/explain.ts'
import { loadConfig } from '../src/config/load.ts'
import { inContext, stages } from './worlds/deploy/image.ts'

const ROOT = join(import.meta.dirname, '..')
const read = (name: string) => readFileSync(join(ROOT, 'deploy', name), 'utf8')
const ANALYZE = '/usr/bin/systemd-analyze'
const PAGES = ['Dockerfile', 'compose.yaml', 'systemd/gatehouse.service', 'systemd/credentials.conf', 'kubernetes.yaml']
const ROLES = new Set(['all', 'gateway', 'dashboard'])

test('every setting that deployments name exists', () => {
  const settings = explainSettings(loadConfig({ env: {}, cwd: ROOT }))
  const known = new Set(settings.flatMap(({ env, secret }) => (secret ? [env, `${env}_FILE`] : [env])))
  const named = PAGES.flatMap((page) => read(page).match(/SVC_[A-Z_]+/g) ?? [])
  assert.ok(named.length > 10)
  assert.deepEqual(
    named.filter((name) => !known.has(name)),
    [],
  )
})

test('the compose file runs each role, and its stores before them', () => {
  const { services } = parse(read('compose.yaml'), { merge: true })
  for (const role of ['gateway', 'dashboard']) {
    assert.deepEqual(services[role].command, [role])
    assert.ok(services[role].environment.SVC_STORAGE_SEALKEY)
    const { read_only, tmpfs, cap_drop, security_opt, volumes } = services[role]
    assert.deepEqual([read_only, tmpfs, cap_drop, volumes], [true, ['/tmp'], ['ALL'], ['/data']])
    assert.deepEqual(security_opt, ['no-new-privileges:true'])
    for (const store of Object.keys(services[role].depends_on)) assert.ok(services[store].healthcheck.test, store)
  }
  assert.ok(existsSync(join(ROOT, 'deploy', services.gateway.build.context, services.gateway.build.dockerfile)))
})

test('what ends a process waits longer than it drains', () => {
  const { gateway } = loadConfig({ env: {}, cwd: ROOT }).config
  const seconds = (gateway.drain_delay_ms + gateway.drain_timeout_ms) / 1000
  const { services } = parse(read('compose.yaml'), { merge: true })
  for (const role of ROLES) {
    if (role !== 'all') assert.ok(Number.parseInt(services[role].stop_grace_period, 10) > seconds, role)
  }
  assert.ok(Number(/^TimeoutStopSec=(\d+)$/m.exec(read('systemd/gatehouse.service'))?.[1]) > seconds)
  const all = parseAllDocuments(read('kubernetes.yaml')).map((document) => document.toJS())
  for (const { kind, spec } of all) {
    if (kind !== 'Deployment') continue
    const { terminationGracePeriodSeconds, containers } = spec.template.spec
    const [word, wait] = containers[0].lifecycle.preStop.exec.command
    assert.equal(word, 'sleep')
    assert.ok(terminationGracePeriodSeconds > seconds + Number(wait))
  }
})

test('the image copies files that are there, and its build gets sources alone', () => {
  const [build, final] = stages()
  const copied = final!.filter(({ name }) => name === 'COPY').flatMap(({ words }) => words.match(/\/app\/\S+/g) ?? [])
  assert.ok(copied.length > 5)
  const run = build!.find(({ name }) => name === 'RUN')!.words
  for (const path of copied.map((each) => each.replace('/app/', ''))) {
    const made = path.startsWith('node_modules') || path === 'console/dist' || run.includes(`> ${path}`)
    assert.ok(made || (existsSync(join(ROOT, path)) && inContext(path)), path)
  }
  assert.equal(final!.find(({ name }) => name === 'ENTRYPOINT')!.words, '["bin/gatehouse"]')
  // Who reads what needs no rights.
  assert.match(final!.find(({ name }) => name === 'USER')!.words, /^[1-9]\d*$/)
  const needed = [
    'src/main.ts',
    'bin/gatehouse',
    'scripts/setup.mjs',
    'console/src/main.tsx',
    'package-lock.json',
    '.npmrc',
  ]
  for (const path of needed) assert.ok(inContext(path), path)
  const secrets = [
    'data/secrets.json',
    'data/gatehouse.db',
    'gatehouse.json',
    '.env',
    'src/.env.local',
    'console/dist/x',
  ]
  const others = [
    '.git/config',
    'node_modules/pg/index.js',
    'console/node_modules/a',
    'test/deploy.test.ts',
    'backup.tar',
    'src/x.log',
  ]
  for (const path of [...secrets, ...others]) assert.ok(!inContext(path), path)
})

test('the package has the built server, the launcher and the console, and no more', () => {
  const { files } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const launched = new Set(['launch.mjs', 'setup.mjs'])
  // The files that the launcher imports, and those that they import.
  for (const name of launched)
    for (const [, other] of readFileSync(join(ROOT, 'scripts', name), 'utf8').matchAll(
      /from '\.\/([^']+)'|'scripts', '([^']+\.mjs)'/g,
    ))
      if (other !== undefined) launched.add(other)
  launched.add('follow-parent.mjs')
  for (const name of launched) assert.ok(files.includes(`scripts/${name}`), name)
  for (const path of files)
    assert.match(path, /^(?:bin|dist\/\*\*\/\*\.js|console\/dist|scripts\/[a-z-]+\.mjs|docs\/\*\*\/\*\.md|[A-Z]+\.md)$/)
})

test('systemd finds no fault in the unit and its credentials, and little that it could reach', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-unit-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const unit = join(folder, 'gatehouse.service')
  writeFileSync(unit, read('systemd/gatehouse.service').replaceAll('/opt/gatehouse', ROOT))
  mkdirSync(`${unit}.d`)
  writeFileSync(join(`${unit}.d`, 'credentials.conf'), read('systemd/credentials.conf'))
  const program = await fromDebian('systemd', () => (existsSync(ANALYZE) ? ANALYZE : undefined))
  const analyze = (...words: string[]) => spawnSync(program, words, { encoding: 'utf8' })
  const { status, stderr } = analyze('verify', '--man=no', unit)
  assert.deepEqual(
    [status, stderr.split('\n').filter((line) => /gatehouse\.service|credentials\.conf/.test(line))],
    [0, []],
  )
  // Its own scale: 0 = nothing, 100 = all that root can.
  const exposure = analyze('security', '--offline=yes', '--threshold=20', unit)
  assert.equal(exposure.status, 0, exposure.stdout + exposure.stderr)
})

test('each credential is loaded and named by a secret of the settings', () => {
  const text = read('systemd/credentials.conf')
  const loaded = [...text.matchAll(/^LoadCredential=([a-z-]+):\/etc\/gatehouse\/credentials\/\1$/gm)].map(
    ([, name]) => name,
  )
  const used = [...text.matchAll(/^Environment=(SVC_\w+)_FILE=%d\/([a-z-]+)$/gm)]
  assert.deepEqual(
    used.map(([, , name]) => name),
    loaded,
  )
  assert.equal(text.match(/^[^#\n[]/gm)?.length, 2 * loaded.length)
  const settings = explainSettings(loadConfig({ env: {}, cwd: ROOT }))
  for (const [, name] of used) assert.equal(settings.find(({ env }) => env === name)?.secret, true, String(name))
})
