import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { FakeClock } from '../../../../src/model/time/clock.ts'
import { openStore } from '../../../../src/store/sqlite/connection/open.ts'
import { temporaryFolder } from '../../../contract/adapters.ts'
import { type KeyWorld, keyWorld } from '../../../worlds/dashboard/key-world.ts'
import { oauthDefinition } from '../../../worlds/portal/developer-api.ts'
import { crash } from '../../../worlds/portal/developer-crash-model.ts'
import { assertModel, begin, type Model, steps } from '../../../worlds/portal/developer-model.ts'
import { requestSteps } from '../../../worlds/portal/developer-requests-model.ts'
import { assertSound } from '../../../worlds/portal/developer-world.ts'
import { CONFIGURATION } from '../../../worlds/portal/portal-requests-world.ts'

const DEEP = process.env.GATEHOUSE_DEEP === '1'

/** A dashboard over a separate store, and the model's initial state. */
async function beginning(world: KeyWorld): Promise<Model> {
  await world.api('orders')
  await world.api('shop', { definition: oauthDefinition() })
  await world.asked(200, 'PUT', CONFIGURATION, world.root, { enable_multi_selection: true })
  return begin(world)
}

async function run(world: KeyWorld, commands: Iterable<fc.AsyncCommand<Model, KeyWorld>>): Promise<void> {
  const model = await beginning(world)
  await fc.asyncModelRun(() => ({ model, real: world }), commands)
  await assertModel(model, world)
  await assertSound(world.store)
}

/** Checks in rounds: what a round opened is closed, and forgotten, at its end. A dashboard is some megabytes. */
async function inRounds(t: TestContext, rounds: number, check: (round: TestContext) => Promise<void>): Promise<void> {
  for (let i = 0; i < rounds; i++) await t.test(`round ${i + 1}`, check)
}

test('developers, keys, requests, apps, policies and deletions in any order: nothing parts', async (t) => {
  const some = fc.array(fc.oneof(...steps, ...requestSteps), { minLength: 30, maxLength: 60 })
  await inRounds(t, DEEP ? 10 : 1, (round) =>
    fc.assert(
      fc.asyncProperty(some, async (commands) => run(await keyWorld(round), commands)),
      { numRuns: DEEP ? 12 : 6 },
    ),
  )
})

test('the same with a writer that dies amid what is done: it is done or not, and nothing parts', async (t) => {
  const some = fc.array(fc.oneof(...steps, ...requestSteps, ...new Array<typeof crash>(9).fill(crash)), {
    minLength: 25,
    maxLength: 40,
  })
  await inRounds(t, DEEP ? 8 : 1, (round) =>
    fc.assert(
      fc.asyncProperty(some, async (commands) => {
        const clock = new FakeClock()
        const store = await openStore({ path: temporaryFolder(round), clock, keepWriter: false })
        const world = await keyWorld(round, { store, clock })
        try {
          await run(world, commands)
        } finally {
          await world.close()
          await store.close()
        }
      }),
      { numRuns: DEEP ? 5 : 2 },
    ),
  )
})
