import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { classic, defined } from '../../worlds/base/definitions.ts'
import { openCacheScene } from '../../worlds/gateway/cache-scene.ts'

interface Switches {
  readonly on: boolean | undefined
  readonly timeout: number | undefined
  readonly all: boolean | undefined
  /** undefined = the operation does not ask to be cached. */
  readonly operation: { readonly timeout: number | undefined } | undefined
}

const NUMBERS = [undefined, 0, 5]
const FLAGS = [undefined, false, true]

function* combinations(): Generator<Switches> {
  for (const on of FLAGS)
    for (const timeout of NUMBERS)
      for (const all of [undefined, true])
        for (const own of ['none', ...NUMBERS])
          yield { on, timeout, all, operation: own === 'none' ? undefined : { timeout: own as number | undefined } }
}

/** Without members that are undefined. */
const object = (members: Record<string, unknown>) => JSON.parse(JSON.stringify(members)) as JsonObject

const FORMATS = {
  '/svc/apis/oas': (id: string, url: string, { on, timeout, all, operation }: Switches) =>
    defined({
      ...{ id, url, paths: { '/x': { get: { operationId: 'x' } } } },
      global: { cache: object({ enabled: on, timeout, cacheAllSafeRequests: all }) },
      operations: operation ? { x: { cache: object({ enabled: true, timeout: operation.timeout }) } } : {},
    }),
  '/svc/apis': (id: string, url: string, { on, timeout, all, operation }: Switches) => {
    const lists = operation && { advance_cache_config: [{ path: '/x', method: 'GET', ...object({ ...operation }) }] }
    const version = { name: 'Default', use_extended_paths: true, extended_paths: lists ?? {} }
    return classic(id, `/${id}/`, url, {
      cache_options: object({ enable_cache: on, cache_timeout: timeout, cache_all_safe_requests: all }),
      version_data: { not_versioned: true, versions: { Default: version } },
    })
  },
}

test('answers are stored where the API is on and a timeout is set, and saves warn of the rest', async (t) => {
  const { gateway, origin } = await openCacheScene(t)
  let count = 0
  let stored = 0
  for (const [path, definitionOf] of Object.entries(FORMATS))
    for (const switches of combinations()) {
      const { on, timeout = 0, all, operation } = switches
      const id = `a${count++}`
      const made = await gateway.svc('POST', path, definitionOf(id, origin.url, switches))
      const says = `${path} ${JSON.stringify(switches)} ${made.text}`
      assert.equal(made.status, 200, says)
      const own = operation?.timeout ?? 0
      const isStored = on === true && (operation === undefined ? all === true && timeout > 0 : own + timeout > 0)
      const isIdle = on
        ? timeout === 0 && (all === true || operation !== undefined) && (all === true || own === 0)
        : operation
      assert.equal(/cache.*stores nothing/.test(made.text), Boolean(isIdle), says)
      await gateway.call(`/${id}/x`)
      assert.equal((await gateway.call(`/${id}/x`)).headers['x-svc-cached-response'], isStored ? '1' : undefined, says)
      if (isStored) stored++
    }
  assert.ok(stored > 20 && stored < count - 20, String(stored))
})

test('paths in the plain list are stored for a minute where a switched-on API says no time', async (t) => {
  const { gateway, origin } = await openCacheScene(t)
  for (const on of FLAGS) {
    const versions = { Default: { name: 'Default', use_extended_paths: true, extended_paths: { cache: ['x'] } } }
    const definition = classic(`p${on}`, `/p${on}/`, origin.url, {
      cache_options: object({ enable_cache: on }),
      version_data: { not_versioned: true, versions },
    })
    const made = await gateway.svc('POST', '/svc/apis', definition)
    assert.equal(/stores nothing/.test(made.text), on !== true, made.text)
    const isHit = async () => (await gateway.call(`/p${on}/x`)).headers['x-svc-cached-response'] === '1'
    assert.deepEqual([await isHit(), await isHit()], [false, on === true])
    gateway.clock.advance(60_000)
    assert.equal(await isHit(), false)
  }
})
