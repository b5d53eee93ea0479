import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

const STATES: readonly (readonly [name: string, members: object, status: number])[] = [
  ['absent', {}, 200],
  ['null', { active: null }, 200],
  ['true', { active: true }, 200],
  ['false', { active: false }, 404],
]

test('a classic definition that does not say so is active, by call and in a file', async (t) => {
  const origin = await startOrigin()
  const folder = mkdtempSync(join(tmpdir(), 'active-'))
  const definition = (id: string, members: object) => ({
    ...{ api_id: id, name: id, use_keyless: true, ...members },
    proxy: { listen_path: `/${id}/`, target_url: origin.url, strip_listen_path: true },
    version_data: { not_versioned: true, versions: {} },
  })
  for (const [name, members] of STATES) {
    writeFileSync(join(folder, `file-${name}.json`), JSON.stringify(definition(`file-${name}`, members)))
  }
  const gateway = await startTestGateway({ env: { SVC_GW_APPPATH: folder } })
  t.after(async () => {
    await Promise.all([origin.close(), gateway.close()])
    rmSync(folder, { recursive: true })
  })
  for (const [name, members, status] of STATES) {
    const id = `call-${name}`
    const made = await gateway.svc('POST', '/svc/apis', definition(id, members))
    assert.equal(made.status, 200, made.text)
    assert.equal((await gateway.call(`/${id}/x`)).status, status, id)
    assert.equal((await gateway.svc('PUT', `/svc/apis/${id}`, definition(id, members))).status, 200)
    assert.equal((await gateway.call(`/${id}/x`)).status, status, `${id}, replaced`)
    assert.equal((await gateway.call(`/file-${name}/x`)).status, status, `file ${name}`)
  }
})
