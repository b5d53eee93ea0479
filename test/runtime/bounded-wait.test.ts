import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endsWithin } from '../../src/runtime/bounded-wait.ts'

test('says whether work ends in time, and keeps no timer when it does', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const work = Promise.withResolvers<void>()
  const late = endsWithin(work.promise, 100)
  const inTime = endsWithin(work.promise, 101)
  t.mock.timers.tick(100)
  assert.equal(await late, false)
  work.resolve()
  assert.equal(await inTime, true)
  await assert.rejects(endsWithin(Promise.reject(new Error('broken')), 100), { message: 'broken' })
})
