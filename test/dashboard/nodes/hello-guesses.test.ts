import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import { ADMIN_SECRET, startTestDashboard } from '../../worlds/dashboard/harness.ts'

/** Wrong secrets that an address may send before it has to wait. */
const FREE = 100

test('who signs in beside guessing at a secret at /hello is slowed down as others are', async (t) => {
  for (const path of ['/hello', '/health'])
    for (const isUser of [true, false]) {
      const clock = new FakeClock()
      const health = () => [{ part: 'disk', status: 'pass', value: 7, unit: 'bytes' }] as const
      const store = Object.assign(openMemoryStore({ clock }), { health })
      const at = await startTestDashboard({ store, clock })
      t.after(() => at.close())
      const as = isUser ? { as: await at.user({ apis: 'read' }) } : {}
      const showsNumbers = async (secret: string, by: object) => {
        const { status, text } = await at.call('GET', path, { ...by, headers: { 'admin-auth': secret } })
        assert.equal(status, 200, text)
        return text.includes('observedValue')
      }
      for (let guess = 0; guess <= FREE; guess++) assert.equal(await showsNumbers(`guess ${guess}`, as), false)
      assert.equal(await showsNumbers(ADMIN_SECRET, as), false, `${path} ${isUser}`)
      clock.advance(120_000)
      assert.equal(await showsNumbers(ADMIN_SECRET, as), true)
      const boss = await at.admin()
      assert.equal(await showsNumbers('', { as: boss }), true)
    }
})
