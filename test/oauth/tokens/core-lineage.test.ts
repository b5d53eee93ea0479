import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import type { Store } from '../../../src/store/ports/ports.ts'
import { openWorld, STORES } from '../../worlds/oauth/core-world.ts'
import { Lineages, rounds, type Tally } from '../../worlds/oauth/lineages.ts'

const deep = process.env.GATEHOUSE_DEEP === '1'
const memory = STORES.find(({ name }) => name === 'memory')!
const sqlite = STORES.find(({ name }) => name === 'sqlite')!

function count(total: Tally, { exchanged, refreshed, replayed }: Tally): void {
  total.exchanged += exchanged
  total.refreshed += refreshed
  total.replayed += replayed
}

/** Checks that enough was tested: the draws of a seed differ by a third from run to run. */
function assertTested({ exchanged, refreshed, replayed }: Tally, least: number): void {
  assert.ok(
    exchanged > least && refreshed > least && replayed > least,
    JSON.stringify({ exchanged, refreshed, replayed }),
  )
}

test('one life per lineage in any order of events, none after a replay', async (t) => {
  const total: Tally = { exchanged: 0, refreshed: 0, replayed: 0 }
  const runs = deep ? 2000 : 120
  await fc.assert(
    fc.asyncProperty(rounds, fc.scheduler(), async (plan, scheduler) => {
      const { clock, store, close } = delayed(scheduler)
      try {
        const world = await scheduler.waitFor(openWorld(t, memory, { store, clock }))
        const lineages = new Lineages(world)
        await scheduler.waitFor(lineages.begin())
        for (const round of plan) {
          await lineages.play(round, (all) => scheduler.waitFor(all))
          await scheduler.waitFor(lineages.check())
        }
        // A sweep in the background would meet a closed store.
        await scheduler.waitFor(world.parts.locks.run('token_sweep', async () => {}))
        count(total, lineages.tally)
      } finally {
        await close()
      }
    }),
    { numRuns: runs },
  )
  assertTested(total, runs / 8)
})

test('the same on the embedded store, many connections at once', async (t) => {
  const total: Tally = { exchanged: 0, refreshed: 0, replayed: 0 }
  const runs = deep ? 100 : 8
  await fc.assert(
    fc.asyncProperty(fc.array(rounds, { minLength: 4, maxLength: 4 }), async (plans) => {
      const world = await openWorld(t, sqlite)
      const lineages = new Lineages(world)
      await lineages.begin()
      for (const plan of plans)
        for (const round of plan) {
          await lineages.play(round, (all) => all)
          await lineages.check()
        }
      count(total, lineages.tally)
      await world.store.close()
    }),
    { numRuns: runs, endOnFailure: true },
  )
  assertTested(total, runs / 4)
})

/** A memory store whose reads of tickets and whose commits are answered in the order that the scheduler chooses. */
function delayed(scheduler: fc.Scheduler): { clock: FakeClock; store: Store; close: () => Promise<void> } {
  const clock = new FakeClock()
  const inner = openMemoryStore({ clock })
  const store: Store = {
    ...inner,
    documents: { ...inner.documents, commit: scheduler.scheduleFunction(inner.documents.commit) },
    tokens: {
      ...inner.tokens,
      getTicket: scheduler.scheduleFunction(async (hash: Uint8Array) => inner.tokens.getTicket(hash)),
    },
  }
  return { clock, store, close: () => inner.close() }
}
