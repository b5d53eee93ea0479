import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { PeriodicJob } from '../../src/runtime/periodic-job.ts'

/** A job every 100 ms of a clock that does not move, whose runs end when the test says so. */
function jobOf(t: TestContext, atOnce = false) {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const runs: PromiseWithResolvers<void>[] = []
  const errors: unknown[] = []
  const job = new PeriodicJob({
    ...{ everyMs: 100, atOnce, onError: (error) => errors.push(error) },
    run() {
      const run = Promise.withResolvers<void>()
      runs.push(run)
      return run.promise
    },
  })
  const turn = () => new Promise(setImmediate)
  return { job, runs, errors, turn, tick: (ms: number) => t.mock.timers.tick(ms) }
}

test('runs at every interval, one run at a time, also after one that failed', async (t) => {
  const { runs, errors, job, turn, tick } = jobOf(t)
  assert.equal(runs.length, 0)
  tick(100)
  tick(300)
  assert.equal(runs.length, 1, 'the first run is still under way')
  runs[0]!.reject(new Error('broken'))
  await turn()
  assert.deepEqual(errors, [new Error('broken')])
  tick(100)
  assert.equal(runs.length, 2)
  runs[1]!.resolve()
  await job.close()
  tick(1000)
  assert.equal(runs.length, 2, 'none begins after the end')
})

test('closing waits for the run that is under way', async (t) => {
  const { runs, job, turn } = jobOf(t, true)
  assert.equal(runs.length, 1)
  let closed = false
  const closing = job.close().then(() => {
    closed = true
  })
  await turn()
  assert.equal(closed, false)
  runs[0]!.resolve()
  await closing
})
