import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { defined } from '../../worlds/base/definitions.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { type Origin, startOrigin } from '../../worlds/servers/origin.ts'

const DEEP = process.env.GATEHOUSE_DEEP === '1'

/** Ways to an API behind: where callers enter, and what they reach there, as a path below its listen path. */
interface Way {
  readonly enter: (rest: string) => string
  readonly reach: (rest: string) => string
}

/** The fronts have a separate domain, so that none of them hides a path of the API behind. */
const HOST = 'fronts.example'
const ELSEWHERE = { customDomain: { enabled: true, name: HOST } }

const GO = { '/go/*': { get: { operationId: 'go', responses: { 200: { description: 'ok' } } } } }
const rewriting = (rule: JsonObject) => ({ paths: GO, operations: { go: { urlRewrite: { enabled: true, ...rule } } } })
const same = (rest: string) => rest

/** Fronts of the API `id`, whose listen path is `listen`; some have one that rights on `listen` name too. */
function fronts(
  id: string,
  listen: string,
): readonly (readonly [draft: Omit<Parameters<typeof defined>[0], 'url'> & { url?: string }, way: Way])[] {
  const below = `${listen}public/legacy/`
  return [
    [
      { id: `${id}leg`, path: below, url: `svc://${id}/` },
      { enter: (rest) => `${below.slice(0, -1)}${rest}`, reach: same },
    ],
    [
      {
        id: `${id}kept`,
        path: `${listen}public/kept/`,
        url: `svc://${id}/`,
        server: { listenPath: { value: `${listen}public/kept/`, strip: false } },
      },
      { enter: (rest) => `${listen}public/kept${rest}`, reach: (rest) => `${listen}public/kept${rest}` },
    ],
    [
      { id: `${id}deep`, url: `svc://${id}/public` },
      { enter: (rest) => `/${id}deep${rest}`, reach: (rest) => `/public${rest}` },
    ],
    [
      { id: `${id}in`, url: `svc://${id}/adm/`, info: { state: { active: true, internal: true } } },
      { enter: () => '', reach: same },
    ],
    [
      { id: `${id}via`, url: `svc://${id}in/` },
      { enter: (rest) => `/${id}via${rest}`, reach: (rest) => `/adm${rest}` },
    ],
    [
      { id: `${id}rw`, ...rewriting({ pattern: '^/go/(.*)$', rewriteTo: `svc://${id}/$1` }) },
      { enter: (rest) => `/${id}rw/go${rest}`, reach: same },
    ],
    [
      {
        id: `${id}tr`,
        ...rewriting({
          pattern: '^/go/(.*)$',
          rewriteTo: '/elsewhere',
          triggers: [
            {
              condition: 'any',
              rules: [{ in: 'header', name: 'X-Key', pattern: '.' }],
              rewriteTo: `svc://${id}/adm/$1`,
            },
          ],
        }),
      },
      { enter: (rest) => `/${id}tr/go${rest}`, reach: (rest) => `/adm${rest}` },
    ],
  ]
}

const BEHIND = [
  { id: 'b', path: '/b/' },
  { id: 'caf', path: '/caf%C3%A9/', server: { listenPath: { value: '/caf%C3%A9/', strip: false } } },
]

interface Scene {
  readonly gateway: TestGateway
  readonly origin: Origin
  readonly ways: readonly (readonly [listen: string, way: Way])[]
}

async function scene(t: TestContext): Promise<Scene> {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  const ways: [string, Way][] = []
  const publish = async (draft: Parameters<typeof defined>[0]) => {
    const made = await gateway.svc('POST', '/svc/apis/oas', defined(draft))
    assert.equal(made.status, 200, made.text)
  }
  for (const behind of BEHIND) {
    await publish({ ...behind, url: origin.url, keyIn: 'X-Key' })
    for (const [front, way] of fronts(behind.id, behind.path)) {
      await publish({ url: origin.url, ...front, server: { ...front.server, ...ELSEWHERE } })
      if (way.enter('/x') !== '') ways.push([behind.path, way])
    }
  }
  return { gateway, origin, ways }
}

async function keyFor(gateway: TestGateway, more: JsonObject): Promise<string> {
  const access_rights = Object.fromEntries(
    BEHIND.map(({ id }) => [id, { api_id: id, api_name: id, versions: ['Default'], ...more }]),
  )
  const made = await gateway.svc('POST', '/svc/keys', { access_rights })
  assert.equal(made.status, 200, made.text)
  return (made.json as { key: string }).key
}

const url = fc.constantFrom(
  ...[
    '^/b/public/.*',
    '^/b/public/legacy',
    '^/public',
    'secret',
    '^/b/adm/x$',
    '^/(b|café)/.*/x',
    'deep',
    '^/b/[^s]',
    '^/café/public/',
  ],
  ...['/go/', '^/b/public/kept', '^/café/(adm|public/kept)', '^/elsewhere', '^/brw/', '^/bvia'],
)
const segment = fc.constantFrom('public', 'secret', 'x', 'b', 'p%75blic', 'caf%C3%A9', 'legacy')
const request = fc.record({
  way: fc.nat(),
  rest: fc.array(segment, { minLength: 1, maxLength: 3 }).map((segments) => `/${segments.join('/')}`),
})

test('who is led to an API may do there what they may when they ask it directly', async (t) => {
  const { gateway, ways } = await scene(t)
  const seen = { 200: 0, 403: 0 }
  await fc.assert(
    fc.asyncProperty(
      fc.array(url, { minLength: 1, maxLength: 3 }),
      fc.array(request, { minLength: 10, maxLength: 20 }),
      async (urls, requests) => {
        const key = await keyFor(gateway, { allowed_urls: urls.map((each) => ({ url: each, methods: ['GET'] })) })
        const status = async (path: string, host = HOST) =>
          (await gateway.call(path, { headers: { 'X-Key': key, Host: host } })).status
        for (const { way: index, rest } of requests) {
          const [listen, way] = ways[index % ways.length]!
          const direct = await status(`${listen.slice(0, -1)}${way.reach(rest)}`, 'behind.example')
          assert.equal(await status(way.enter(rest)), direct, `${way.enter(rest)} at ${listen}: ${way.reach(rest)}`)
          assert.ok(direct === 200 || direct === 403, String(direct))
          seen[direct]++
        }
      },
    ),
    { numRuns: DEEP ? 500 : 25 },
  )
  assert.ok(seen[200] > 0 && seen[403] > 0, JSON.stringify(seen))
})

test('a front below the allowed path of the API behind opens nothing there', async (t) => {
  const { gateway, origin } = await scene(t)
  const key = await keyFor(gateway, { allowed_urls: [{ url: '^/b/public/.*', methods: ['GET'] }] })
  const status = async (path: string, host = HOST) =>
    (await gateway.call(path, { headers: { 'X-Key': key, Host: host } })).status
  assert.equal(await status('/b/public/legacy/secret'), 403)
  assert.deepEqual(origin.seen, [])
  assert.equal(await status('/b/public/legacy/public/x'), 200)
  assert.equal(await status('/bdeep/x'), 200)
})

test('limits by endpoint of the API behind count every way there', async (t) => {
  const { gateway, ways } = await scene(t)
  for (const [listen, way] of ways) {
    const reached = way.reach('/slow')
    const limit = { rate: 1, per: 60 }
    const key = await keyFor(gateway, {
      endpoints: [{ path: `^${reached.replaceAll('%C3%A9', 'é')}$`, methods: [{ name: 'GET', limit }] }],
    })
    const status = async (path: string, host = HOST) =>
      (await gateway.call(path, { headers: { 'X-Key': key, Host: host } })).status
    assert.deepEqual(
      [await status(`${listen.slice(0, -1)}${reached}`, 'behind.example'), await status(way.enter('/slow'))],
      [200, 429],
      way.enter('/slow'),
    )
  }
})
