import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Ajv } from 'ajv'
import { parse, parseAllDocuments } from 'yaml'
import { chartValues, renderChart } from '../scripts/chart.ts'
import { explainSettings } from '../src/config/explain.ts'
import { loadConfig } from '../src/config/load.ts'

const ROOT = join(import.meta.dirname, '..')
const CHART = join(ROOT, 'deploy/helm/gatehouse')

// biome-ignore lint/suspicious/noExplicitAny: manifests are read as they come
type Manifest = any

/** Manifests by kind and name: `Deployment gatehouse-gateway`. */
function rendered(own = {}): Map<string, Manifest> {
  const documents = parseAllDocuments(renderChart('gatehouse', own), { uniqueKeys: true })
  assert.deepEqual(
    documents.flatMap(({ errors }) => errors),
    [],
  )
  return new Map(
    documents.map((document) => {
      const manifest = document.toJS()
      return [`${manifest.kind} ${manifest.metadata.name}`, manifest]
    }),
  )
}

const podsOf = (manifests: Map<string, Manifest>) =>
  [...manifests].filter(([name]) => name.startsWith('Deployment ')).map(([, { spec }]) => spec.template)

const isPart = (of: Record<string, string>, labels: Record<string, string>) =>
  Object.entries(of).every(([name, value]) => labels[name] === value)

/** Values that switch on and off all that can be. */
const VARIANTS = {
  default: {},
  all: {
    image: { repository: 'registry.example.test/gatehouse', tag: '9' },
    imagePullSecrets: [{ name: 'pull' }],
    nodeSelector: { pool: 'edge' },
    tolerations: [{ key: 'edge', operator: 'Exists' }],
    gateway: {
      env: [{ name: 'SVC_LOG_LEVEL', value: 'warn' }],
      service: { type: 'LoadBalancer', annotations: { a: 'b' } },
    },
    dashboard: { env: [{ name: 'SVC_LOG_LEVEL', value: 'warn' }], service: { annotations: { a: 'b' } } },
    serviceMonitor: { enabled: true },
  },
  bare: { gateway: { autoscaling: { enabled: false } }, networkPolicy: { enabled: false } },
  closed: { networkPolicy: { controlFrom: [] } },
}

for (const [name, own] of Object.entries(VARIANTS)) {
  test(`chart (${name}): pods run without rights, and selectors, ports, probes and volumes fit`, () => {
    const manifests = rendered(own)
    const pods = podsOf(manifests)
    assert.equal(pods.length, 2)
    for (const { metadata, spec } of pods) {
      assert.equal(spec.automountServiceAccountToken, false)
      const { runAsNonRoot, runAsUser, seccompProfile } = spec.securityContext
      assert.deepEqual([runAsNonRoot, runAsUser > 0, seccompProfile.type], [true, true, 'RuntimeDefault'])
      assert.ok(spec.topologySpreadConstraints.length > 0)
      for (const { labelSelector } of spec.topologySpreadConstraints)
        assert.ok(isPart(labelSelector.matchLabels, metadata.labels))
      const [container, ...others] = spec.containers
      assert.equal(others.length, 0)
      assert.deepEqual(container.securityContext, {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
      assert.ok(container.resources.requests.cpu && container.resources.requests.memory)
      assert.ok(container.resources.limits.memory)
      const ports = container.ports.map((port: Manifest) => port.name)
      for (const probe of [container.startupProbe, container.readinessProbe, container.livenessProbe])
        assert.ok(ports.includes(probe.httpGet.port))
      // A store that is away must not make Kubernetes restart what still serves.
      for (const restarts of [container.startupProbe, container.livenessProbe])
        assert.equal(restarts.httpGet.path, '/hello')
      assert.equal(container.readinessProbe.httpGet.path, '/ready')
      const volumes = spec.volumes.map((volume: Manifest) => volume.name)
      assert.deepEqual(container.volumeMounts.map((mount: Manifest) => mount.name).sort(), volumes.sort())
    }
    for (const { kind, metadata, spec } of manifests.values()) {
      if (kind === 'Deployment') assert.ok(isPart(spec.selector.matchLabels, spec.template.metadata.labels))
      const selector = kind === 'Service' ? spec.selector : (spec.podSelector ?? spec.selector)?.matchLabels
      if (kind === 'ServiceMonitor') {
        const [service] = [...manifests.values()].filter(
          (each) => each.kind === 'Service' && isPart(selector, each.metadata.labels),
        )
        const [endpoint] = spec.endpoints
        assert.ok(service.spec.ports.some((port: Manifest) => port.name === endpoint.port))
        assert.equal(endpoint.authorization.credentials.key, 'metrics-secret')
        // The rules look for jobs of this name.
        assert.match(endpoint.relabelings[0].replacement, /^gatehouse-/)
        continue
      }
      if (kind === 'HorizontalPodAutoscaler') {
        assert.ok(manifests.has(`${spec.scaleTargetRef.kind} ${spec.scaleTargetRef.name}`))
        assert.ok(!('replicas' in manifests.get(`Deployment ${spec.scaleTargetRef.name}`).spec))
        continue
      }
      const chosen = pods.filter((pod) => isPart(selector, pod.metadata.labels))
      assert.equal(chosen.length, 1, `${kind} ${metadata.name}`)
      const ports = chosen[0].spec.containers[0].ports.map((port: Manifest) => port.name)
      if (kind === 'Service') for (const port of spec.ports) assert.ok(ports.includes(port.targetPort), metadata.name)
      if (kind === 'NetworkPolicy')
        for (const rule of spec.ingress)
          for (const { port } of rule.ports) assert.ok(ports.includes(port), metadata.name)
    }
  })
}

test('the chart gives each part its secrets alone, by reference, as settings that there are', () => {
  const known = new Map(explainSettings(loadConfig({ env: {}, cwd: ROOT })).map(({ env, secret }) => [env, secret]))
  const manifests = rendered(VARIANTS.all)
  const keys = (name: string) => {
    const { spec } = manifests.get(`Deployment gatehouse-${name}`).spec.template
    const { secret } = spec.volumes.find((volume: Manifest) => volume.name === 'secrets')
    const files = secret.items.map(({ path }: Manifest) => `/secrets/${path}`)
    const env: { name: string; value: string }[] = spec.containers[0].env
    for (const { name: setting, value } of env) {
      const file = setting.endsWith('_FILE')
      const secretly = known.get(setting.replace(/_FILE$/, ''))
      assert.notEqual(secretly, undefined, setting)
      assert.equal(file, secretly, `${setting}: secrets come from files`)
      if (file) assert.ok(files.includes(value), setting)
    }
    assert.deepEqual(env.filter(({ name: setting }) => setting.endsWith('_FILE')).length, files.length)
    return secret.items.map(({ key }: Manifest) => key)
  }
  const both = ['metrics-secret', 'postgres-url', 'redis-url', 'seal-key']
  assert.deepEqual(keys('gateway').sort(), ['gateway-secret', ...both])
  assert.deepEqual(keys('dashboard').sort(), ['admin-secret', ...both])
})

test('the control port is in no public Service, and only peers that are named reach it', () => {
  const manifests = rendered(VARIANTS.all)
  for (const [name, { kind, spec }] of manifests) {
    if (kind !== 'Service') continue
    const control = spec.ports.some((port: Manifest) => port.targetPort === 'control')
    if (control) assert.deepEqual([spec.type, spec.clusterIP], ['ClusterIP', 'None'], name)
  }
  const rules = (own = {}) =>
    rendered(own)
      .get('NetworkPolicy gatehouse-gateway')
      .spec.ingress.filter((rule: Manifest) => rule.ports.some(({ port }: Manifest) => port === 'control'))
  assert.equal(rules().length, 1)
  for (const { from } of rules()) assert.ok(from.length > 0)
  assert.deepEqual(rules(VARIANTS.closed), [])
  // Settings that put it on its port.
  const env = manifests.get('Deployment gatehouse-gateway').spec.template.spec.containers[0].env
  assert.ok(env.some(({ name, value }: Manifest) => name === 'SVC_GW_CONTROLPORT' && value === '8081'))
})

test('values are checked by a schema, and the chart is of this version', () => {
  const schema = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8'))
  const check = new Ajv({ allowUnionTypes: true }).compile(schema)
  for (const [name, own] of Object.entries(VARIANTS))
    assert.ok(check(chartValues(own)), `${name}: ${JSON.stringify(check.errors)}`)
  for (const wrong of [
    { gatway: {} },
    { gateway: { replica: 2 } },
    { gateway: { env: [{ name: 'PATH' }] } },
    { secretName: '' },
  ])
    assert.ok(!check(chartValues(wrong)), JSON.stringify(wrong))
  const { version, appVersion } = parse(readFileSync(join(CHART, 'Chart.yaml'), 'utf8'))
  const product = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version
  assert.deepEqual([version, appVersion], [product, product])
  assert.ok(existsSync(join(CHART, 'templates')))
})
