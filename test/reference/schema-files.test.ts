import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Ajv } from 'ajv'
import { MOVE_COMMANDS } from '../../src/cli/moves/move-commands.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { JsonObject } from '../../src/model/json/json.ts'
import { classic, defined, rights } from '../worlds/base/definitions.ts'
import { startTestGateway } from '../worlds/base/harness.ts'
import { runLine } from '../worlds/flows/moves-world.ts'

const $schema = 'https://example.org/gatehouse/docs/reference/any.schema.json'
const url = 'http://127.0.0.1:9/'

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-reference-'))
  t.after(() => rmSync(dir, { recursive: true }))
  return dir
}

const schemaOf = (name: string) =>
  JSON.parse(readFileSync(join(import.meta.dirname, `../../docs/reference/${name}.schema.json`), 'utf8')) as JsonObject

test('files and bodies may name their JSON Schema, which is not stored', async (t) => {
  const dir = folder(t)
  writeFileSync(join(dir, 'filed.json'), JSON.stringify({ $schema, ...defined({ id: 'filed', url }) }))
  const gateway = await startTestGateway({ env: { SVC_GW_APPPATH: dir } })
  t.after(() => gateway.close())
  const sent: [string, string, JsonObject][] = [
    ['/svc/apis/oas', '/svc/apis/oas/sent', defined({ id: 'sent', url })],
    ['/svc/apis', '/svc/apis/old', classic('old', '/old/', url)],
    ['/svc/policies', '/svc/policies/gold', { id: 'gold', access_rights: rights('sent') }],
  ]
  for (const [path, , body] of sent) {
    const made = await gateway.svc('POST', path, { $schema, ...body })
    assert.equal(made.status, 200, made.text)
    assert.equal((made.json as JsonObject).warnings, undefined, made.text)
  }
  for (const path of ['/svc/apis/oas/filed', ...sent.map(([, read]) => read)]) {
    const { status, json } = await gateway.svc('GET', path)
    assert.deepEqual([path, status, (json as JsonObject).$schema], [path, 200, undefined])
  }
})

test('files of a move and of settings may name their JSON Schema', async (t) => {
  const dir = folder(t)
  writeFileSync(join(dir, 'gatehouse.json'), JSON.stringify({ $schema, gateway: { listen_port: 9000 } }))
  assert.equal(loadConfig({ env: {}, cwd: dir }).config.gateway.listen_port, 9000)
  const files = folder(t)
  mkdirSync(join(files, 'policies'))
  const policy = { $schema, _id: '5e9d9544a1dcd60001d0ed20', id: 'gold', name: 'Gold', access_rights: {} }
  writeFileSync(join(files, 'policies', 'gold.json'), JSON.stringify(policy))
  const { status, out, err } = await runLine(['validate', '-p', files], {}, MOVE_COMMANDS)
  assert.deepEqual([status, out, err], [0, '1 object without a mistake.', ''])
})

test('the JSON Schemas for editors take what the product takes, and find a mistake', () => {
  const ajv = new Ajv({ strict: false, allErrors: true })
  const flaws = (name: string, value: unknown) => {
    const check = ajv.compile(schemaOf(name))
    return check(value) ? [] : check.errors!.map(({ instancePath, message }) => `${instancePath} ${message}`)
  }
  const api = defined({ id: 'k', url, keyIn: 'X-Key' })
  assert.deepEqual(flaws('api-definition', { $schema, ...api }), [])
  assert.deepEqual(flaws('classic-definition', classic('c', '/c/', url)), [])
  assert.deepEqual(flaws('policy', { id: 'p', rate: 1, per: 60, access_rights: rights('k') }), [])
  assert.deepEqual(flaws('key', { apply_policies: ['p'], expires: 0 }), [])
  assert.deepEqual(flaws('client', { api_id: 'k', policy_id: 'p', auth_method: 'none' }), [])
  assert.deepEqual(flaws('settings', { gateway: { listen_port: 9000, tls: { enabled: false } } }), [])
  assert.equal(flaws('policy', { rate: 'fast' }).length, 1)
  assert.equal(flaws('settings', { gateway: { listen_prot: 1 } }).length, 1)
  assert.equal(flaws('api-definition', { ...api, 'x-svc-api-gateway': {} }).length, 3)
})
