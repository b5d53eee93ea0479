import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { PersistentMap } from '../../../src/gateway/routing/persistent-map.ts'

test('a copy with a change has it, and leaves its origin as it was', () => {
  const text = fc.oneof(fc.string({ maxLength: 3 }), fc.nat(3_000).map(String))
  const step = fc.record({ text, value: fc.option(fc.nat(), { nil: undefined }) })
  fc.assert(
    fc.property(fc.uniqueArray(text, { maxLength: 400 }), fc.array(step, { maxLength: 60 }), (filled, steps) => {
      const first = new PersistentMap<number>()
      for (const [at, each] of filled.entries()) first.put(each, at)
      const states = [{ map: first, plain: new Map(filled.map((each, at) => [each, at])) }]
      for (const { text, value } of steps) {
        const { map, plain } = states.at(-1)!
        const next = new Map(plain)
        if (value === undefined) next.delete(text)
        else next.set(text, value)
        states.push({ map: value === undefined ? map.without(text) : map.with(text, value), plain: next })
      }
      for (const { map, plain } of states) {
        assert.equal(map.size, plain.size)
        assert.deepEqual([...map.values()].sort(), [...plain.values()].sort())
        for (const each of new Set([...filled, ...steps.map(({ text }) => text)])) {
          assert.equal(map.get(each), plain.get(each))
          assert.equal(map.has(each), plain.has(each))
          assert.equal(map.find(`/${each}/${each}`, 1, 1 + each.length), plain.get(each))
        }
      }
    }),
  )
})
