import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { RecordSampler } from '../../../src/gateway/record/record-sampler.ts'

const RUNS = { numRuns: process.env.GATEHOUSE_DEEP === '1' ? 5000 : 200 }

test('a second admits never more than its bound, and all requests below it', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50 }),
      fc.array(fc.double({ min: 0, max: 40, noNaN: true }), { minLength: 1, maxLength: 400 }),
      (perSecond, waits) => {
        const admission = new RecordSampler(perSecond)
        let now = 5000
        let from = Number.NEGATIVE_INFINITY
        let taken = 0
        for (const wait of waits) {
          now += wait
          if (now >= from + 1000) {
            from = now
            taken = 0
          }
          const half = perSecond / 2
          const allowed = Math.min(perSecond, Math.ceil(half + ((now - from) / 1000) * half))
          const admitted = admission.admit(now)
          assert.equal(admitted, taken < allowed, `at ${now - from} of the second, ${taken} taken`)
          if (admitted) taken++
        }
      },
    ),
    RUNS,
  )
})

test('of a busy second the sample speaks of all of it', () => {
  const admission = new RecordSampler(100)
  const admitted: number[] = []
  for (let now = 0; now < 3000; now += 0.1) if (admission.admit(1000 + now)) admitted.push(now)
  for (let second = 0; second < 3; second++) {
    const of = admitted.filter((now) => Math.floor(now / 1000) === second)
    assert.ok(of.length >= 99 && of.length <= 101, `${of.length} in second ${second}`)
    for (let tenth = 1; tenth < 10; tenth++)
      assert.ok(of.filter((now) => Math.floor((now % 1000) / 100) === tenth).length >= 4, `tenth ${tenth}`)
  }
})
