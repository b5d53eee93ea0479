import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type BudgetHolder, SharedBudget } from '../../src/runtime/shared-budget.ts'

const MOST = 4096

/** Takes pieces of this size until one is refused; their number. */
function fill(budget: SharedBudget, holder: BudgetHolder, size: number, known = true): number {
  let pieces = 0
  while (budget.take(holder, size, 0, known)) pieces++
  return pieces
}

const greedy = fc.record({
  address: fc.constantFrom('1', '2'),
  caller: fc.constantFrom('', 'ann', 'bob'),
  organisation: fc.constantFrom('', 'a', 'b'),
  size: fc.integer({ min: 1, max: MOST }),
})

test('whatever some take, another address, caller and organisation gets a part', () => {
  fc.assert(
    fc.property(fc.array(greedy, { maxLength: 8 }), (holders) => {
      const budget = new SharedBudget(MOST)
      const taken: [BudgetHolder, number][] = []
      for (const { size, ...holder } of holders) {
        // A single piece larger than all would be alone, which always fits.
        const pieces = fill(budget, holder, Math.min(size, MOST / 4))
        for (let i = 0; i < pieces; i++) taken.push([holder, Math.min(size, MOST / 4)])
      }
      assert.ok(taken.reduce((sum, [, size]) => sum + size, 0) <= MOST)
      const other = { address: '3', caller: 'cid', organisation: 'c' }
      const got = fill(budget, other, 1)
      assert.ok(got >= 8)
      budget.giveBack(other, got)
      for (const [holder, size] of taken) budget.giveBack(holder, size)
      // All of it is free again.
      assert.equal(fill(budget, { address: '4' }, 1), MOST / 2)
    }),
  )
})

for (const [name, holderOf] of Object.entries({
  address: (): BudgetHolder => ({ address: 'same' }),
  caller: (i: number): BudgetHolder => ({ address: String(i), caller: 'same' }),
  organisation: (i: number): BudgetHolder => ({ address: String(i), caller: String(i), organisation: 'same' }),
}))
  test(`one ${name} alone cannot take all, however many pieces it makes`, () => {
    const budget = new SharedBudget(MOST)
    let taken = 0
    for (let i = 0; i < MOST; i++) if (budget.take(holderOf(i), 1, 0, true)) taken++
    assert.ok(taken <= (MOST * 3) / 4, String(taken))
    assert.ok(taken >= MOST / 2, String(taken))
  })

test('a part is kept for those who are known', () => {
  const budget = new SharedBudget(MOST)
  for (let i = 0; i < 100; i++) fill(budget, { address: String(i) }, 1, false)
  assert.ok(fill(budget, { address: 'known' }, 1) >= MOST / 8)
})

test('callers of the only organisation may use all together, those of one among several not', () => {
  const use = (several: boolean) => {
    const budget = new SharedBudget(MOST, () => several)
    let taken = 0
    for (let i = 0; i < 200; i++)
      taken += fill(budget, { address: String(i), caller: String(i), organisation: 'same' }, 1)
    return taken
  }
  assert.ok(use(false) > MOST - 16, String(use(false)))
  assert.ok(use(true) <= (MOST * 3) / 4, String(use(true)))
})

test('the first pieces of two callers fit into what both need together and little more', () => {
  const budget = new SharedBudget(25_165_824, () => false)
  const [ann, bob] = ['ann', 'bob'].map((caller) => ({ address: caller, caller, organisation: 'same' }))
  let own = 0
  for (; own < 12_000_000; own += 100_000)
    for (const holder of [ann!, bob!]) assert.ok(budget.take(holder, 100_000, own, true), `${holder.caller} ${own}`)
})

test('one piece alone fits, whatever its size', () => {
  const budget = new SharedBudget(MOST)
  const holder = { address: 'a', caller: 'b', organisation: 'c' }
  assert.ok(budget.take(holder, MOST, 0, false))
  assert.ok(budget.take(holder, MOST, MOST, false))
  assert.ok(!budget.take({ address: 'b' }, 1, 0, true))
})
