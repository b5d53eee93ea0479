import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { openCacheScene } from '../../worlds/gateway/cache-scene.ts'

const DEEP = process.env.GATEHOUSE_DEEP === '1'
const ALL = { enabled: true, cacheAllSafeRequests: true, timeout: 60, cacheByHeaders: ['X-Tenant'] }

// Few values of each, so that the same comes again.
const request = fc.record({
  key: fc.constantFrom('a', 'b'),
  path: fc.constantFrom('x', 'x/', 'x%2F', 'x/y', 'x//y', '%78'),
  query: fc.constantFrom('', '?', '?x=1', '?x=1&y'),
  host: fc.constantFrom('one.example', 'one.example', 'two.example'),
  tenant: fc.constantFrom(undefined, undefined, '', '2'),
  language: fc.constantFrom(undefined, 'de', 'de, en'),
  method: fc.constantFrom('GET', 'GET', 'GET', 'GET', 'HEAD', 'POST'),
  afterS: fc.constantFrom(0, 0, 0, 0, 0, 0, 1, 61),
})

test('whatever is stored, nobody is given what was made for another', async (t) => {
  const { gateway, origin, publish, key } = await openCacheScene(t)
  await publish('p', ALL, { keyIn: 'X-Key', server: { allowEncodedSlashes: true } })
  const keys = { a: await key(['p']), b: await key(['p']) }
  origin.script = ({ headers, target }, response) => {
    const { 'x-key': who, 'x-tenant': tenant, 'accept-language': language, 'x-forwarded-host': host } = headers
    response.setHeader('Vary', 'Accept-Language')
    response.end(JSON.stringify([who, target, tenant ?? null, language ?? null, host]))
  }
  let hits = 0
  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: 40, maxLength: 80 }), async (requests) => {
      for (const { key: name, path, query, host, tenant, language, method, afterS } of requests) {
        gateway.clock.advance(afterS * 1000)
        const headers = {
          'X-Key': keys[name],
          Host: host,
          ...(tenant !== undefined && { 'X-Tenant': tenant }),
          ...(language !== undefined && { 'Accept-Language': language }),
        }
        const answer = await gateway.call(`/p/${path}${query}`, { method, headers })
        if (answer.headers['x-svc-cached-response'] === '1') hits++
        if (method === 'HEAD') continue
        assert.deepEqual(answer.json, [keys[name], `/${path}${query}`, tenant ?? null, language ?? null, host])
      }
    }),
    { numRuns: DEEP ? 2000 : 25 },
  )
  assert.ok(hits > 0, 'nothing was ever stored')
})

/** Fields about the client, and what each says. */
const told = fc.record(
  {
    'X-Forwarded-Host': fc.constantFrom('evil.example', 'a.example'),
    'X-Forwarded-Proto': fc.constantFrom('http', 'https'),
    'X-Forwarded-Prefix': fc.constantFrom('/evil', '/p'),
    'X-Forwarded-Port': fc.constantFrom('1', '2'),
    'x-forwarded-else': fc.constantFrom('1', '2'),
    Forwarded: fc.constantFrom('for=6.6.6.6;host=evil.example;proto=wss', 'host=evil.example, for=_x'),
  },
  { requiredKeys: [] },
)

test('what one client gets a trusted proxy to hand on, no other client is given an answer to', async (t) => {
  const { gateway, origin, publish } = await openCacheScene(t, { SVC_GW_TRUSTEDPROXIES: '127.0.0.1' })
  await publish('p', ALL)
  const addresses = /for=(?:"[^"]*"|[^;,]*)/g
  origin.script = ({ headers }, response) => {
    const seen = Object.entries(headers).filter(([name]) => /forwarded/.test(name) && name !== 'x-forwarded-for')
    response.end(JSON.stringify(seen.map(([name, value]) => [name, String(value).replaceAll(addresses, '')]).sort()))
  }
  let hits = 0
  await fc.assert(
    fc.asyncProperty(fc.array(told, { minLength: 10, maxLength: 20 }), async (requests) => {
      for (const fields of requests) {
        const ask = async (headers: Record<string, string>) =>
          gateway.call('/p/x', { headers: { Host: 'gate.example', ...(fields as Record<string, string>), ...headers } })
        const answer = await ask({})
        const direct = await ask({ 'Cache-Control': 'no-store' })
        if (answer.headers['x-svc-cached-response'] === '1') hits++
        assert.equal(direct.headers['x-svc-cached-response'], undefined)
        assert.deepEqual(answer.json, direct.json)
      }
    }),
    { numRuns: DEEP ? 500 : 10 },
  )
  assert.ok(hits > 0, 'nothing was ever stored')
})

test('what is stored stays within its bound, and what was used last stays longest', async (t) => {
  const env = { SVC_GW_CACHEBYTES: '50000', SVC_GW_CACHEENTRYBYTES: '9000' }
  const { gateway, origin, publish, metric } = await openCacheScene(t, env)
  await publish('p', ALL)
  origin.script = ({ target }, response) => {
    const size = Number(/\d+/.exec(target)![0])
    response.end('x'.repeat(size))
  }
  const one = fc.record({ size: fc.nat(12_000), path: fc.nat(9), delete: fc.nat(20).map((n) => n === 0) })
  await fc.assert(
    fc.asyncProperty(fc.array(one, { maxLength: 15 }), async (requests) => {
      for (const { size, path, delete: wipes } of requests) {
        const target = `/p/${size}?${path}`
        if (wipes) await gateway.svc('DELETE', '/svc/cache/p')
        assert.equal((await gateway.call(target)).text.length, size)
        const again = await gateway.call(target)
        assert.equal(again.text.length, size)
        assert.equal(again.headers['x-svc-cached-response'], size > 9000 ? undefined : '1', `${size} bytes`)
      }
      const bytes = await metric('svc_cache_bytes')
      assert.ok(bytes >= 0 && bytes <= 50_000, `${bytes} bytes`)
    }),
    { numRuns: DEEP ? 1000 : 30 },
  )
  assert.ok((await metric('svc_cache_evictions')) > 0)
  await gateway.svc('DELETE', '/svc/cache/p')
  assert.deepEqual([await metric('svc_cache_bytes'), await metric('svc_cache_entries')], [0, 0])
  // Three of these fit. For a fourth goes the one that was used longest ago.
  for (let i = 0; i < 3; i++) await gateway.call(`/p/7000?${i}`)
  assert.equal((await gateway.call('/p/7000?0')).headers['x-svc-cached-response'], '1')
  await gateway.call('/p/7000?3')
  assert.equal((await gateway.call('/p/7000?0')).headers['x-svc-cached-response'], '1')
  assert.equal((await gateway.call('/p/7000?1')).headers['x-svc-cached-response'], undefined)
})

test('without memory nothing is stored', async (t) => {
  const { gateway, origin, publish } = await openCacheScene(t, { SVC_GW_CACHEBYTES: '0' })
  await publish('p', ALL)
  for (let i = 0; i < 2; i++) await gateway.call('/p/x')
  assert.equal(origin.seen.length, 2)
})
