import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  isLinearizable,
  type Operation,
  quotaFaults,
  type Refreshed,
  refreshModel,
  revocationFaults,
  type Taking,
  type Use,
} from '../worlds/cluster/history.ts'

type Refresh = Operation<string, Refreshed>

const refresh = (input: string, calledAt: number, answeredAt: number, output: Refreshed): Refresh => ({
  ...{ input, calledAt, answeredAt, output },
})
const unheard = (input: string, calledAt: number): Refresh => ({
  ...{ input, calledAt, answeredAt: Number.POSITIVE_INFINITY, output: undefined },
})

const HISTORIES: readonly { name: string; good: boolean; history: readonly Refresh[] }[] = [
  { name: 'one use', good: true, history: [refresh('a', 0, 1, { gave: 'b' })] },
  {
    name: 'two at once both get one',
    good: false,
    history: [refresh('a', 0, 9, { gave: 'b' }), refresh('a', 0, 9, { gave: 'c' })],
  },
  {
    name: 'of two at once one gets one',
    good: true,
    history: [refresh('a', 0, 9, { gave: 'b' }), refresh('a', 0, 9, 'refused')],
  },
  {
    name: 'the successor is good before the replay, not after it',
    good: true,
    history: [
      refresh('a', 0, 1, { gave: 'b' }),
      refresh('b', 2, 9, { gave: 'c' }),
      refresh('a', 3, 8, 'refused'),
      refresh('c', 10, 11, 'refused'),
    ],
  },
  {
    name: 'the successor outlives the replay',
    good: false,
    history: [refresh('a', 0, 1, { gave: 'b' }), refresh('a', 2, 3, 'refused'), refresh('b', 4, 5, { gave: 'c' })],
  },
  { name: 'refused for no reason', good: false, history: [refresh('a', 0, 1, 'refused')] },
  {
    name: 'refused after a use that nobody heard of',
    good: true,
    history: [unheard('a', 0), refresh('a', 5, 6, 'refused')],
  },
  {
    name: 'refused before a use that nobody heard of was made',
    good: false,
    history: [refresh('a', 0, 1, 'refused'), unheard('a', 2)],
  },
  {
    name: 'a use that nobody heard of had no effect, or a late one',
    good: true,
    history: [unheard('a', 0), refresh('a', 5, 6, { gave: 'b' }), refresh('b', 7, 8, 'refused')],
  },
]

for (const { name, good, history } of HISTORIES)
  test(`refreshes: ${name}: ${good ? 'possible' : 'impossible'}`, () => {
    assert.equal(isLinearizable(history, refreshModel('a')), good)
  })

/** The acts of the model itself, in some order, as clients that overlap would see it. */
const played = fc
  .array(
    fc.record({ back: fc.constantFrom(0, 0, 0, 1, 2), before: fc.nat(3), after: fc.nat(3), heard: fc.boolean() }),
    {
      minLength: 1,
      maxLength: 12,
    },
  )
  .map((turns) => {
    const tokens = ['t0']
    let good = 't0'
    return turns.map(({ back, before, after, heard }, at): Refresh => {
      const input = tokens[Math.max(0, tokens.length - 1 - back)]!
      const passes = input === good
      const next = `t${at + 1}`
      good = passes ? next : ''
      if (passes && heard) tokens.push(next)
      const output = passes ? { gave: next } : ('refused' as const)
      return heard ? refresh(input, at - before, at + after, output) : unheard(input, at - before)
    })
  })

test('whatever the model does itself is possible; with a second success put in it is not', () => {
  fc.assert(
    fc.property(played, (history) => {
      assert.equal(isLinearizable(history, refreshModel('t0')), true)
      const won = history.find(({ output }) => typeof output === 'object')
      if (won === undefined) return
      const twice = refresh(won.input, won.calledAt, won.answeredAt, { gave: 'another' })
      assert.equal(isLinearizable([...history, twice], refreshModel('t0')), false)
    }),
    { numRuns: 200 },
  )
})

test('revocations: each way to break the promise is named', () => {
  const use = (node: number, calledAt: number, accepted: boolean): Use => ({
    ...{ node, calledAt, answeredAt: calledAt + 1, accepted },
  })
  const faults = (...uses: Use[]) =>
    revocationFaults(uses, { node: 0, calledAt: 100, answeredAt: 110 }, (_node, at) => at + 1000)
  assert.deepEqual(faults(use(0, 50, true), use(1, 1100, true), use(0, 111, false), use(1, 1102, false)), [])
  assert.deepEqual(faults(use(1, 90, false)), ['node 1 refused it before it was revoked'])
  assert.deepEqual(faults(use(0, 111, true)), ['node 0 took it 1 ms after the answer'])
  assert.deepEqual(faults(use(1, 1111, true)), ['node 1 took it 1001 ms after the answer'])
  assert.deepEqual(faults(use(1, 200, false), use(1, 300, true)), ['node 1 took it after a refusal'])
})

test('quotas: one call too many is named, and a refusal that came too soon', () => {
  const calls = (count: number, outcome: Taking['outcome'], calledAt = 0): Taking[] =>
    Array.from({ length: count }, () => ({ calledAt, answeredAt: calledAt + 1, outcome }))
  const limits = { max: 10, held: 2 }
  assert.deepEqual(quotaFaults([...calls(10, 'taken'), ...calls(5, 'used up', 5)], limits), [])
  assert.deepEqual(quotaFaults([...calls(4, 'taken'), ...calls(4, undefined), ...calls(1, 'used up', 5)], limits), [])
  assert.deepEqual(quotaFaults(calls(11, 'taken'), limits), ['11 calls of a quota of 10'])
  assert.deepEqual(quotaFaults([...calls(7, 'taken'), ...calls(1, 'used up', 5)], limits), [
    'refused when at most 7 of 10 were taken',
  ])
})
