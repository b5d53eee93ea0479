import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { loadConfig } from '../../src/config/load.ts'
import { examine } from '../../src/process/examine.ts'
import { temporaryFolder } from '../contract/adapters.ts'
import { call } from '../worlds/base/client.ts'
import { eventually } from '../worlds/base/eventually.ts'
import { startProduct } from '../worlds/flows/product.ts'

const SECRET = 'a-secret-of-the-scraper'

interface Hello {
  readonly status: string
  readonly details: Readonly<Record<string, { readonly status: string; readonly output?: string }>>
}

test('metrics tell of the parts what /hello tells, and a frozen store shows everywhere', async (t) => {
  const cwd = temporaryFolder(t)
  const product = await startProduct(t, cwd, { SVC_METRICS_SECRET: SECRET })
  const helloOf = async (port: number) => (await call(port, '/hello')).json as unknown as Hello
  const metricsOf = async (port: number) => {
    const { text } = await call(port, '/metrics', { headers: { authorization: `Bearer ${SECRET}` } })
    return Object.fromEntries(
      [...text.matchAll(/^svc_part_up\{part="(\w+)"\} ([01])$/gm)].map(([, part, up]) => [part, up]),
    )
  }
  const ports = [product.port, product.dashboardPort]
  const compare = async (port: number) => {
    const told = Object.entries((await helloOf(port)).details).map(([part, { status }]) => [
      part,
      status === 'fail' ? '0' : '1',
    ])
    assert.deepEqual(await metricsOf(port), Object.fromEntries(told))
  }
  // The disk is first looked at beside the start.
  for (const port of ports) await eventually('the disk', async () => 'disk' in (await helloOf(port)).details)
  for (const port of ports) await compare(port)
  assert.ok('dashboard' in (await metricsOf(product.port)))

  const db = new DatabaseSync(join(cwd, 'data/gatehouse.db'))
  t.after(() => db.close())
  db.exec('PRAGMA user_version = 2')
  // Each gateway thread looks by itself.
  const isEverywhere = async (port: number, status: string) => {
    const hellos = await Promise.all(Array.from({ length: 12 }, () => helloOf(port)))
    return hellos.every(({ details }) => details.store?.status === status)
  }
  for (const port of ports) {
    await eventually('the freeze', () => isEverywhere(port, 'warn'))
    assert.match((await helloOf(port)).details.store?.output ?? '', /migrate-store/)
    assert.equal((await helloOf(port)).status, 'warn')
    assert.equal((await call(port, '/ready')).status, 200)
    await compare(port)
  }
  const access_rights = { protected: { api_id: 'protected', versions: ['Default'] } }
  assert.equal((await product.svc('POST', '/svc/keys/create', { access_rights })).status, 503)
  const findings = await examine(() => loadConfig({ env: { SVC_STORAGE_PATH: join(cwd, 'data') }, cwd }), false)
  assert.ok(
    findings.some(({ what }) => /was moved/.test(what)),
    JSON.stringify(findings),
  )
  db.exec('PRAGMA user_version = 0')
  for (const port of ports) await eventually('the end of the freeze', () => isEverywhere(port, 'pass'))
})

/** Every number in a JSON value. */
function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : []
}

test('/hello shows numbers to callers with a secret, and statuses to everybody', async (t) => {
  const cwd = temporaryFolder(t)
  const product = await startProduct(t, cwd, { SVC_METRICS_SECRET: SECRET })
  const secrets = JSON.parse(readFileSync(join(cwd, 'data/secrets.json'), 'utf8')) as Record<string, string>
  const { gateway_secret: gateway = '', admin_secret: admin = '' } = secrets
  const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` })
  const SHOWN: readonly (readonly [
    headers: Record<string, string>,
    port: 'gateway' | 'dashboard' | 'both' | 'none',
  ])[] = [
    [{}, 'none'],
    [bearer(SECRET), 'both'],
    [bearer('wrong'), 'none'],
    [bearer(gateway), 'none'],
    [bearer(admin), 'none'],
    [{ authorization: SECRET }, 'none'],
    [{ 'x-svc-authorization': gateway }, 'gateway'],
    [{ 'x-svc-authorization': admin }, 'none'],
    [{ 'admin-auth': admin }, 'dashboard'],
    [{ 'admin-auth': gateway }, 'none'],
    [{ 'x-svc-authorization': SECRET, 'admin-auth': SECRET }, 'none'],
  ]
  const PLACES = [
    ['gateway', product.port, '/hello'],
    ['gateway', product.port, '/ready'],
    ['dashboard', product.dashboardPort, '/hello'],
    ['dashboard', product.dashboardPort, '/health'],
    ['dashboard', product.dashboardPort, '/ready'],
  ] as const
  const disk = async (port: number) => 'disk' in ((await call(port, '/hello')).json as unknown as Hello).details
  for (const port of [product.port, product.dashboardPort]) await eventually('the disk', () => disk(port))
  for (const [side, port, path] of PLACES)
    for (const [headers, shown] of SHOWN) {
      const { status, json, text } = await call(port, path, { headers })
      assert.equal(status, 200, text)
      const expected = path !== '/ready' && (shown === side || shown === 'both')
      assert.equal(numbersIn(json).length > 0, expected, `${side} ${path} ${Object.keys(headers)} ${shown} ${text}`)
      if (path !== '/ready') assert.equal((json as unknown as Hello).details.disk?.status, 'pass', text)
    }
  // A client that guesses is slowed down, and sees what everybody sees.
  for (let i = 0; i < 12; i++)
    for (const [, port, path] of PLACES)
      assert.deepEqual(numbersIn((await call(port, path, { headers: bearer(`guess ${i}`) })).json), [])
})
