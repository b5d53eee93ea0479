import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { FairQueue } from '../../../src/model/threads/fair-queue.ts'

interface Item {
  readonly caller: string
  readonly isKnown: boolean
  readonly at: number
}

const step = fc.oneof(
  fc.record({ caller: fc.constantFrom('a', 'b', 'c', 'd'), isKnown: fc.boolean() }),
  fc.constant('take' as const),
)

test('property: callers take turns, and who has most waiting is refused', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), fc.array(step, { maxLength: 60 }), (most, steps) => {
      const queue = new FairQueue<Item>(most)
      const waiting: Item[] = []
      const remove = (item: Item) => void waiting.splice(waiting.indexOf(item), 1)
      const countOf = ({ caller, isKnown }: Item) =>
        waiting.filter((each) => each.caller === caller && each.isKnown === isKnown).length
      for (const [at, one] of steps.entries()) {
        if (one === 'take') {
          const taken = queue.take()
          assert.equal(taken === undefined, waiting.length === 0)
          if (taken === undefined) continue
          const own = waiting.filter(({ caller, isKnown }) => caller === taken.caller && isKnown === taken.isKnown)
          assert.equal(taken, own[0], 'the oldest of its caller')
          remove(taken)
          continue
        }
        const item = { ...one, at }
        const refused = queue.add(item.caller, item, item.isKnown)
        waiting.push(item)
        assert.equal(refused !== undefined, waiting.length > most)
        if (refused === undefined) continue
        const strangers = waiting.filter(({ isKnown }) => !isKnown)
        const known = waiting.filter(({ isKnown }) => isKnown)
        const isGreedy = Math.max(0, ...known.map(countOf)) > most / 5
        assert.equal(refused.isKnown, strangers.length === 0 || isGreedy, 'strangers first, but for the greedy')
        const rivals = refused.isKnown ? known : strangers
        assert.equal(countOf(refused), Math.max(...rivals.map(countOf)), 'of who has most')
        remove(refused)
      }
      assert.equal(queue.size, waiting.length)
    }),
  )
})

test('property: between two turns of a caller every other that waits has one', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 40 }), (callers) => {
      const queue = new FairQueue<string>(100)
      for (const caller of callers) queue.add(caller, caller)
      const left: string[] = [...callers]
      const taken: string[] = []
      for (let next = queue.take(); next !== undefined; next = queue.take()) {
        const since = taken.slice(taken.lastIndexOf(next) + 1)
        if (taken.includes(next)) for (const other of new Set(left)) assert.ok(other === next || since.includes(other))
        left.splice(left.indexOf(next), 1)
        taken.push(next)
      }
    }),
  )
})
