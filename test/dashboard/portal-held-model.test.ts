import { test } from 'node:test'
import fc from 'fast-check'
import { oauthDefinition } from './held-api.ts'
import { assertModel, begin, steps } from './held-model.ts'
import { assertSound } from './held-world.ts'
import { keyWorld } from './key-world.ts'

const RUNS = process.env.GATEHOUSE_DEEP === '1' ? 400 : 15

test('developers, keys, apps, policies and deletions in any order: nothing parts', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(...steps), { minLength: 30, maxLength: 60 }), async (commands) => {
      const world = await keyWorld(t)
      await world.api('orders')
      await world.api('shop', { definition: oauthDefinition() })
      const configuration = { enable_multi_selection: true }
      await world.asked(200, 'PUT', '/api/portal/configuration', world.root, configuration)
      const model = await begin(world)
      await fc.asyncModelRun(() => ({ model, real: world }), commands)
      await assertModel(model, world)
      await assertSound(world.store)
    }),
    { numRuns: RUNS },
  )
})
