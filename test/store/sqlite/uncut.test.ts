import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ThreadEndGuard } from '../../../src/store/sqlite/hits/thread-end-guard.ts'
import { startChild } from '../../worlds/store/child.ts'

const KILLS = process.env.GATEHOUSE_DEEP === '1' ? 400 : 60

test(`${KILLS} threads that are ended amid packing take their process down with none of them`, async (t) => {
  const child = startChild('uncut-kills.ts', [String(KILLS)])
  t.after(() => child.process.kill('SIGKILL'))
  await child.ended
  assert.deepEqual([child.process.exitCode, child.process.signalCode], [0, null])
})

test('a turn that is never given back is waited for within a bound', () => {
  const uncut = new ThreadEndGuard()
  uncut.take()
  uncut.take(1)
  assert.equal(Atomics.load(uncut.cell, 0), 1)
})
