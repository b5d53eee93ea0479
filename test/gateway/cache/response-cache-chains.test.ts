import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { openCacheScene } from '../../worlds/gateway/cache-scene.ts'

const DEEP = process.env.GATEHOUSE_DEEP === '1'
const CACHE = { enabled: true, timeout: 60, cacheAllSafeRequests: true }
const OK = { responses: { 200: { description: 'ok' } } }

// Few values, so that edits of several APIs collide.
const edit = fc.record({
  add: fc.array(
    fc.record({
      name: fc.constantFrom('X-Role', 'Authorization', 'Cookie', 'X-Tenant'),
      value: fc.constantFrom('a', 'b'),
    }),
    { maxLength: 2 },
  ),
  remove: fc.subarray(['X-Tenant', 'X-Role', 'Authorization'], { maxLength: 1 }),
})

interface Edit {
  readonly add: readonly { readonly name: string; readonly value: string }[]
  readonly remove: readonly string[]
}

/** An API of a chain: what it adds for all, and at `/op/`, which leads to the one behind (or to itself) by a rewrite. */
const link = fc.record({ to: fc.nat(), all: edit, op: edit, self: fc.boolean() })
const request = fc.record({
  at: fc.nat(),
  path: fc.constantFrom('x', 'y', 'op/x', 'op/y', 'op/op/x'),
})

/** The fields that every caller sends, so that answers differ by what the gateway makes of them. */
const headers = { 'X-Tenant': 'sent', 'X-Role': 'sent' }

const transform = ({ add, remove }: Edit): JsonObject => ({
  transformRequestHeaders: { enabled: true, add: [...add], remove: [...remove] },
})

test('nobody is given a stored answer to a request that the gateway would have made otherwise', async (t) => {
  const { gateway, origin, publish } = await openCacheScene(t)
  origin.script = ({ headers, target }, response) => {
    const { 'x-role': role, authorization, cookie, 'x-tenant': tenant } = headers
    response.setHeader('Cache-Control', 'public, max-age=60')
    response.end(JSON.stringify({ target, role, authorization, cookie, tenant }))
  }
  let run = 0
  const hits = { direct: 0, led: 0 }
  await fc.assert(
    fc.asyncProperty(
      fc.array(link, { minLength: 2, maxLength: 5 }),
      fc.array(request, { minLength: 20, maxLength: 40 }),
      async (links, requests) => {
        run++
        for (const kind of ['cached', 'plain'])
          for (const [i, { to, all, op, self }] of links.entries()) {
            const id = (index: number) => `${kind}${run}n${index}`
            const behind = i === 0 || self ? 'self' : id(to % i)
            await publish(id(i), kind === 'cached' ? CACHE : undefined, {
              ...(i > 0 && { url: `svc://${id(to % i)}/` }),
              global: transform(all),
              paths: { '/op/*': { get: { operationId: 'op', ...OK } } },
              operations: {
                op: {
                  ...transform(op),
                  urlRewrite: { enabled: true, pattern: '^/op/(.*)$', rewriteTo: `svc://${behind}/$1` },
                },
              },
            })
          }
        for (const { at, path } of requests) {
          const n = at % links.length
          const [given, right] = await Promise.all(
            ['cached', 'plain'].map((kind) => gateway.call(`/${kind}${run}n${n}/${path}`, { headers })),
          )
          assert.deepEqual([given!.status, given!.json], [right!.status, right!.json], `/n${n}/${path}`)
          if (given!.headers['x-svc-cached-response'] === '1') hits[n === 0 ? 'direct' : 'led']++
        }
      },
    ),
    { numRuns: DEEP ? 500 : 20 },
  )
  assert.ok(hits.direct > 0 && hits.led > 0, JSON.stringify(hits))
})

test('an answer made with fields of a front is not given to those who come without them', async (t) => {
  const { gateway, origin, publish } = await openCacheScene(t)
  origin.script = ({ headers }, response) => response.end(String(headers['x-role']))
  const admin = transform({ add: [{ name: 'X-Role', value: 'admin' }], remove: [] })
  await publish('behind', CACHE, {
    paths: { '/adm/*': { get: { operationId: 'adm', ...OK } } },
    operations: {
      adm: { ...admin, urlRewrite: { enabled: true, pattern: '^/adm/(.*)$', rewriteTo: 'svc://self/data/$1' } },
    },
  })
  await publish('front', undefined, { url: 'svc://behind/', global: admin })
  const text = async (path: string) => (await gateway.call(path)).text
  const both = ['admin', 'undefined', 'admin', 'undefined']
  const asked = async (one: string, other: string) => [
    await text(one),
    await text(other),
    await text(one),
    await text(other),
  ]
  assert.deepEqual(await asked('/front/x', '/behind/x'), both)
  assert.deepEqual(await asked('/behind/y', '/front/y'), ['undefined', 'admin', 'undefined', 'admin'])
  assert.deepEqual(await asked('/behind/adm/q', '/behind/data/q'), both)
  assert.equal(origin.seen.length, 6, 'each of the two is stored')
})
