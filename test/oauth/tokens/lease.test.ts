import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { Lease } from '../../../src/oauth/tokens/lease.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'

/** Longer than a lease lasts. */
const PAUSE_MS = 20_000

function world() {
  const clock = new FakeClock()
  const { documents, tokens } = openMemoryStore({ clock })
  return { clock, lease: () => new Lease({ documents, tokens, clock }, 'outbox') }
}

test('one holder has a lease until it releases it, or is paused for too long', async () => {
  const { clock, lease } = world()
  const [one, other] = [lease(), lease()]
  assert.deepEqual([await one.acquire(), await other.acquire(), await one.acquire()], [true, false, true])
  await one.release()
  assert.deepEqual([await other.acquire(), await one.acquire()], [true, false])
  clock.advance(PAUSE_MS)
  assert.deepEqual([await one.acquire(), await other.acquire()], [true, false])
})

test('who was paused for too long releases nothing that another holds', async () => {
  const { clock, lease } = world()
  const [paused, next, third] = [lease(), lease(), lease()]
  assert.equal(await paused.acquire(), true)
  clock.advance(PAUSE_MS)
  assert.equal(await next.acquire(), true)
  await paused.release()
  assert.deepEqual([await third.acquire(), await next.acquire()], [false, true])
})
