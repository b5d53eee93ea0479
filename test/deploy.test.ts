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
  const known = new Set(explainSettings(loadConfig({ env: {}, cwd: ROOT })).map(({ env }) => env))
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

test('the manifests are well formed: selectors find their pods, services their ports, probes their paths', () => {
  const documents = parseAllDocuments(read('kubernetes.yaml'))
  assert.deepEqual(
    documents.flatMap(({ errors }) => errors),
    [],
  )
  const all = documents.map((document) => document.toJS())
  const deployments = all.filter(({ kind }) => kind === 'Deployment')
  assert.deepEqual(all.map(({ kind }) => kind).sort(), ['Deployment', 'Deployment', 'Service', 'Service'])
  for (const { spec } of deployments) {
    const { metadata, spec: pod } = spec.template
    assert.deepEqual(metadata.labels, spec.selector.matchLabels)
    const [container] = pod.containers
    assert.ok(ROLES.has(container.args[0]))
    const probes = [container.startupProbe, container.readinessProbe, container.livenessProbe].filter(Boolean)
    for (const { httpGet } of probes) {
      assert.ok(['/ready', '/hello'].includes(httpGet.path))
      assert.ok(container.ports.some(({ name }: { name: string }) => name === httpGet.port))
    }
    const volumes = new Set(pod.volumes.map(({ name }: { name: string }) => name))
    for (const { name } of container.volumeMounts) assert.ok(volumes.has(name))
  }
  for (const { spec } of all.filter(({ kind }) => kind === 'Service')) {
    const found = deployments.find((each) => each.spec.template.metadata.labels.part === spec.selector.part)
    const ports = found.spec.template.spec.containers[0].ports.map(({ name }: { name: string }) => name)
    assert.ok(ports.includes(spec.ports[0].targetPort))
  }
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
