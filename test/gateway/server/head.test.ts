import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { watchedStore } from '../../worlds/dashboard/watched-store.ts'
import { rightsOn } from '../../worlds/gateway/admin-fixtures.ts'
import { startPlain } from '../../worlds/gateway/oauth-fixtures.ts'
import { makeCertificate } from '../../worlds/wire/certificates.ts'

test('HEAD reloads nothing, and is refused where GET acts', async (t) => {
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  const { live } = gateway.gateway
  const before = live.reloads
  for (const path of ['/svc/reload', '/svc/reload/', '/svc/reload/group', '/svc/reload?block=true']) {
    const { status, headers } = await gateway.svc('HEAD', path)
    assert.deepEqual([status, headers.allow], [405, 'GET'], path)
  }
  assert.equal(live.reloads, before)
  assert.equal((await gateway.svc('GET', '/svc/reload?block=true')).status, 200)
  assert.ok(live.reloads > before)
})

test('HEAD of every call below /svc/ changes nothing, and is refused where GET changes something', async (t) => {
  const writes: string[] = []
  const clock = new FakeClock()
  const store = watchedStore(openMemoryStore({ clock }), (write) => writes.push(write))
  const world = await startPlain(t, {}, { store, clock })
  const { gateway } = world
  t.after(() => store.close())
  const { live, calls } = gateway.gateway
  const ok = async (method: string, path: string, body: unknown) => {
    const { status, text, json } = await gateway.svc(method, path, body)
    assert.equal(status, 200, text)
    return json as JsonObject
  }
  const { key, key_hash: hash } = await ok('POST', '/svc/keys', { access_rights: rightsOn('a') })
  const { id: certificate } = await ok('POST', '/svc/certs', makeCertificate('head.test').cert)
  await ok('POST', '/svc/org/keys/org', { rate: 1000, per: 1 })
  const token = await world.token('/a/', 'app')
  const things: Readonly<Record<string, unknown>> = {
    ...{ api: 'a', apiID: 'a', cid: 'app', org: 'org', key, hash, token, kid: 'none' },
  }
  const idOf = (path: string, name: string) => {
    if (name !== 'id') return things[name]
    return path.startsWith('/certs') ? certificate : 'p'
  }
  const state = () => JSON.stringify([writes, live.reloads])
  const found: Record<string, string> = {}
  const wrong: string[] = []
  for (const { method, path } of calls) {
    const named = path.replace(/\{([^}]*)\}/g, (_all, name: string) => {
      const value = idOf(path, name)
      assert.ok(value !== undefined, `${path}: what is {${name}}?`)
      return encodeURIComponent(String(value))
    })
    writes.length = 0
    const before = state()
    const head = await gateway.svc('HEAD', `/svc${named}`)
    if (state() !== before) wrong.push(`HEAD ${path} changes something: ${writes}`)
    if (head.status === 405) {
      if (!head.headers.allow?.split(', ').includes(method))
        wrong.push(`${method} ${path}: Allow: ${head.headers.allow}`)
      continue
    }
    if (method !== 'GET') continue
    const get = await gateway.svc('GET', `/svc${named}`)
    found[path] = `${get.status}`
    if (state() !== before) wrong.push(`GET ${path} changes something, HEAD is answered ${head.status}: ${writes}`)
    if (get.status !== head.status) wrong.push(`${path}: HEAD ${head.status}, GET ${get.status}`)
  }
  assert.deepEqual(wrong, [])
  // The paths that the walk asked for were there.
  // There under the path of an alias alone.
  const { '/health': health, ...rest } = found
  assert.equal(health, '404')
  const missing = Object.keys(rest).filter((path) => found[path] !== '200')
  assert.deepEqual(missing, [])
})
