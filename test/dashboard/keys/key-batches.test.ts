import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import type { Change } from '../../../src/store/ports/ports.ts'
import { startTestDashboard } from '../../worlds/dashboard/harness.ts'

test('a list of all keys reads few batches of small keys, and small batches of large ones', async (t) => {
  const clock = new FakeClock()
  const store = openMemoryStore({ clock })
  const { tokens } = store
  const sizes: number[] = []
  const listSessions: typeof tokens.listSessions = async (query) => {
    const page = await tokens.listSessions(query)
    sizes.push(page.rows.length)
    return page
  }
  const counted = new Proxy(tokens, {
    get(of, name) {
      if (name === 'listSessions') return listSessions
      const value = Reflect.get(of, name) as unknown
      return typeof value === 'function' ? value.bind(of) : value
    },
  })
  const at = await startTestDashboard({ clock, store: { ...store, tokens: counted } })
  t.after(async () => {
    await at.close()
    await store.close()
  })
  const boss = await at.admin()
  const made = async (count: number, alias: string, note: string) => {
    const links = { orgId: at.orgId, apiIds: ['a'], policyIds: [], clientId: '', evictAt: 0 }
    const body = { org_id: at.orgId, alias, meta_data: { note } }
    const changes = Array.from({ length: count }, (): Change => {
      return { op: 'putSession', hash: randomBytes(32), row: { ...links, body } }
    })
    await store.documents.commit(changes, undefined)
  }
  const batches = async () => {
    sizes.length = 0
    const { status, json } = await at.call('GET', '/api/apis/keys?p=0', { as: boss })
    assert.equal(status, 200)
    return { keys: (json as { data: { keys: unknown[] } }).data.keys.length, sizes: [...sizes] }
  }
  await made(1000, 'small', 'x')
  const small = await batches()
  assert.equal(small.keys, 1000)
  assert.ok(small.sizes.length <= 9, `${small.sizes}`)
  // The first batch of large ones is read before their size is known.
  await made(300, 'large', 'x'.repeat(20_000))
  const both = await batches()
  assert.equal(both.keys, 1300)
  const rest = both.sizes.slice(small.sizes.length)
  assert.ok(rest.length > 1 && rest.every((size) => size <= 32), `${both.sizes}`)
})
