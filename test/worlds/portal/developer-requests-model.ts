import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { type KeyWorld, refusal } from '../dashboard/key-world.ts'
import {
  call,
  dropWaiting,
  expected,
  give,
  index,
  type Model,
  pick,
  Stepped,
  some,
  sortFor,
} from './developer-model.ts'
import { CONFIGURATION, PROCESSED, REQUESTS } from './portal-requests-world.ts'

const sorted = (policies: readonly string[]) => [...policies].sort().join()

async function configure(world: KeyWorld, require_key_approval: boolean): Promise<void> {
  const configuration = { enable_multi_selection: true, require_key_approval }
  expected(await call(world, 'PUT', CONFIGURATION, configuration), 200)
}

/** A request that waits; one for the same policies is answered in its place. */
const ask = fc.tuple(index, some).map(
  ([d, policies]) =>
    new Stepped(`ask ${policies} for ${d}`, async (model, world) => {
      const developer = pick(model.developers, d)
      if (developer === undefined) return
      const sort = sortFor(model, developer, policies)
      await configure(world, true)
      const oauth_info = { redirect_uri: 'https://app.test/cb' }
      const wish = { by_user: developer.id, apply_policies: policies, oauth_info }
      const made = expected(await call(world, 'POST', REQUESTS, wish), sort === undefined ? 400 : 200)
      await configure(world, false)
      if (sort === undefined) return
      assert.equal(made.Meta, null)
      const same = model.waiting.find(
        (request) => request.developer === developer.id && sorted(request.policies) === sorted(policies),
      )
      if (same !== undefined) assert.equal(made.Message, same.id)
      else model.waiting.push({ id: String(made.Message), developer: developer.id, policies })
    }),
)

/** A request without approval. One that waits for the same policies is approved in its place. */
const askAtOnce = fc.tuple(index, some).map(
  ([d, policies]) =>
    new Stepped(`ask at once ${policies} for ${d}`, async (model, world) => {
      const developer = pick(model.developers, d)
      if (developer === undefined) return
      const sort = sortFor(model, developer, policies)
      await configure(world, false)
      const oauth_info = { redirect_uri: 'https://app.test/cb' }
      const wish = { by_user: developer.id, apply_policies: policies, oauth_info }
      const made = expected(await call(world, 'POST', REQUESTS, wish), sort === undefined ? 400 : 200)
      if (sort === undefined) return
      give(developer, made.Meta as JsonObject, policies)
      const same = dropWaiting(model, developer, policies)
      if (same !== undefined) assert.equal(made.Message, same.id)
    }),
)

/** Approved, twice: the second time nothing comes of it. */
const approve = index.map(
  (r) =>
    new Stepped(`approve ${r}`, async (model, world) => {
      const request = pick(model.waiting, r)
      if (request === undefined) return
      const developer = model.developers.find(({ id }) => id === request.developer)!
      const sort = sortFor(model, developer, request.policies)
      const path = `${REQUESTS}/approve/${request.id}`
      const access: JsonObject = expected(await call(world, 'PUT', path), sort === undefined ? 400 : 200)
      if (sort === undefined) return
      give(developer, access, request.policies)
      model.waiting = model.waiting.filter((each) => each !== request)
      assert.deepEqual(refusal(await call(world, 'PUT', path)), [400, PROCESSED])
    }),
)

const decline = index.map(
  (r) =>
    new Stepped(`decline ${r}`, async (model: Model, world) => {
      const request = pick(model.waiting, r)
      if (request === undefined) return
      expected(await call(world, 'DELETE', `${REQUESTS}/${request.id}`), 200)
      model.waiting = model.waiting.filter((each) => each !== request)
      expected(await call(world, 'PUT', `${REQUESTS}/approve/${request.id}`), 404)
    }),
)

/** The events of requests that wait. */
export const requestSteps: fc.Arbitrary<fc.AsyncCommand<Model, KeyWorld>>[] = [
  ...[ask, ask, ask, askAtOnce, approve, approve, decline],
]
