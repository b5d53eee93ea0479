import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { defined, rights } from '../worlds/base/definitions.ts'
import { eventually } from '../worlds/base/eventually.ts'
import { startProduct } from '../worlds/flows/product.ts'
import { startOrigin } from '../worlds/servers/origin.ts'

const ROOT = join(import.meta.dirname, '../..')
const BASIC = { authorization: `Basic ${btoa('ada:Correct-horse-7')}` }

test('with a new seal key keys and users work on, and the old one is not needed any more', async (t) => {
  const cwd = mkdtempSync(join(tmpdir(), 'gatehouse-seal-'))
  t.after(() => rmSync(cwd, { recursive: true, force: true }))
  symlinkSync(join(ROOT, 'bin'), join(cwd, 'bin'))
  const origin = await startOrigin()
  t.after(() => origin.close())
  const file = join(cwd, 'data/secrets.json')
  let product = await startProduct(t, cwd)
  const done = async (method: string, path: string, body: unknown) => {
    const { status, text, json } = await product.svc(method, path, body)
    assert.equal(status, 200, text)
    return json as Record<string, string>
  }
  await done('POST', '/svc/apis/oas', defined({ id: 'orders', url: origin.url, keyIn: 'authorization' }))
  const basic = defined({
    id: 'people',
    url: origin.url,
    server: {
      listenPath: { value: '/people/', strip: true },
      authentication: { enabled: true, securitySchemes: { basic: { enabled: true } } },
    },
  })
  await done('POST', '/svc/apis/oas', {
    ...basic,
    components: { securitySchemes: { basic: { type: 'http', scheme: 'basic' } } },
    security: [{ basic: [] }],
  })
  const { key } = await done('POST', '/svc/keys/create', { access_rights: rights('orders') })
  await done('POST', '/svc/keys/ada', {
    access_rights: rights('people'),
    basic_auth_data: { password: 'Correct-horse-7' },
  })
  const works = async () => {
    await eventually(
      'the key works',
      async () => (await product.call('/orders/x', { authorization: key! })).status === 200,
    )
    assert.equal((await product.call('/people/x', BASIC)).status, 200)
  }
  await works()
  const rotate = async (...words: string[]) => {
    const { status, stderr } = spawnSync('bin/gatehouse', ['rotate-secret', 'seal', ...words], {
      cwd,
      encoding: 'utf8',
    })
    assert.equal(status, 0, stderr)
    await works()
    assert.equal(await product.stop(), 0)
    product = await startProduct(t, cwd)
    await works()
  }
  const before = readFileSync(file, 'utf8')
  await rotate()
  await eventually('all is sealed under the new key', () =>
    /"sessions_left":0[^\n]*all documents are sealed under the current seal key/.test(product.output()),
  )
  await rotate('--end')
  assert.deepEqual(Object.keys(JSON.parse(readFileSync(file, 'utf8'))), ['gateway_secret', 'admin_secret', 'seal_key'])
  await product.stop()
  writeFileSync(file, before)
  await assert.rejects(startProduct(t, cwd), /sealed under another key/)
})
