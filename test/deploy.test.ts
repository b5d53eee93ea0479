import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse, parseAllDocuments } from 'yaml'
import { fromDebian } from '../scripts/debian.mjs'
import { explainSettings } from '../src/config/explain.ts'
import { loadConfig } from '../src/config/load.ts'

const ROOT = join(import.meta.dirname, '..')
const read = (name: string) => readFileSync(join(ROOT, 'deploy', name), 'utf8')
const ANALYZE = '/usr/bin/systemd-analyze'
const PAGES = ['Dockerfile', 'compose.yaml', 'gatehouse.service', 'kubernetes.yaml']
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
  assert.ok(Number(/^TimeoutStopSec=(\d+)$/m.exec(read('gatehouse.service'))?.[1]) > seconds)
  const all = parseAllDocuments(read('kubernetes.yaml')).map((document) => document.toJS())
  for (const { kind, spec } of all) {
    if (kind !== 'Deployment') continue
    const { terminationGracePeriodSeconds, containers } = spec.template.spec
    const [word, wait] = containers[0].lifecycle.preStop.exec.command
    assert.equal(word, 'sleep')
    assert.ok(terminationGracePeriodSeconds > seconds + Number(wait))
  }
})

test('the image copies what is there, and starts the launcher', () => {
  const lines = read('Dockerfile').split('\n')
  const copied = lines
    .flatMap((line) => (/^COPY --from=build (.+) \.\//.exec(line)?.[1] ?? '').split(' '))
    .filter(Boolean)
  assert.ok(copied.length > 5)
  for (const path of copied) assert.ok(existsSync(join(ROOT, path.replace('/app/', ''))), path)
  assert.match(read('Dockerfile'), /^ENTRYPOINT \["bin\/gatehouse"\]$/m)
})

test('systemd finds no fault in the unit', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-unit-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const unit = join(folder, 'gatehouse.service')
  writeFileSync(unit, read('gatehouse.service').replaceAll('/opt/gatehouse', ROOT))
  const analyze = await fromDebian('systemd', () => (existsSync(ANALYZE) ? ANALYZE : undefined))
  const { status, stderr } = spawnSync(analyze, ['verify', '--man=no', unit], { encoding: 'utf8' })
  assert.deepEqual([status, stderr.split('\n').filter((line) => line.includes('gatehouse.service'))], [0, []])
})
