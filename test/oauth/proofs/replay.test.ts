import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { consumeOnce } from '../../../src/oauth/proofs/replay.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'
import { makeWorld } from '../../worlds/oauth/proof-world.ts'

const MINUTE_MS = 60_000

test('an id is used up until the slowest clock would refuse it, then deleted', async (t) => {
  const world = makeWorld(t.after.bind(t))
  const once = { owner: 'a', id: 'bc', apiId: 'orders', until: world.clock.wall() + MINUTE_MS }
  assert.equal(await consumeOnce(world, once), true)
  assert.equal(await consumeOnce(world, { ...once, owner: 'ab', id: 'c' }), true)
  assert.equal(await consumeOnce(world, { ...once, apiId: 'other' }), false)
  world.clock.advance(2 * MINUTE_MS - 1)
  assert.equal(await consumeOnce(world, once), false)
  world.clock.advance(1)
  assert.equal(await consumeOnce(world, { ...once, until: world.clock.wall() + MINUTE_MS }), true)
})

test('an id that was used is known after a restart; of 100 uses at once one is the first', async (t) => {
  const path = mkdtempSync(join(tmpdir(), 'gatehouse-replay-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  const clock = new FakeClock(Date.now())
  const once = { owner: 'a', id: 'b', apiId: 'orders', until: clock.wall() + MINUTE_MS }
  const before = await openStore({ path, clock })
  const answers = await Promise.all(Array.from({ length: 100 }, () => consumeOnce(before, once)))
  await before.close()
  assert.equal(answers.filter((first) => first).length, 1)
  const after = await openStore({ path, clock })
  t.after(() => after.close())
  assert.equal(await consumeOnce(after, once), false)
})
