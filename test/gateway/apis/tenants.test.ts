import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { sharedHosts, territoriesOverlap, territoryOf } from '../../../src/model/apis/definition/territory.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { answering, classic, defined } from '../../worlds/base/definitions.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { oauthApi } from '../../worlds/gateway/oauth-fixtures.ts'
import { type Origin, startOrigin } from '../../worlds/servers/origin.ts'

/** An API of an organisation, as the tests draw it. */
interface Drawn {
  readonly org: string
  readonly domain: string
  readonly path: string
  readonly ignoreCase: boolean
  readonly active: boolean
}

const PUBLIC_HOST = 'gw.example.org'
const ENV = { SVC_GW_PUBLICURL: `https://${PUBLIC_HOST}` }
const DOMAINS = ['', '', '', 'pay.example', 'shop.example', PUBLIC_HOST]
const HOSTS = ['any.example', 'pay.example', 'PAY.example.', 'shop.example', PUBLIC_HOST, '127.0.0.1']

const segment = fc.constantFrom('pay', 'PAY', 'svc', 'oauth', 'admin', '{x}', '{x:[a-z]+}')
const path = fc
  .array(segment, { maxLength: 3 })
  .map((words) => `/${words.map((word, i) => `${word.replace('x', `x${i}`)}/`).join('')}`)
  .filter((text) => !text.startsWith('/svc/'))
const drawn: fc.Arbitrary<Drawn> = fc.record({
  org: fc.constantFrom('a', 'b', 'c'),
  domain: fc.constantFrom(...DOMAINS),
  path,
  ignoreCase: fc.boolean(),
  active: fc.boolean(),
})
const asked: fc.Arbitrary<Asked> = fc.record({
  host: fc.constantFrom(...HOSTS),
  words: fc
    .array(fc.constantFrom('pay', 'Pay', '%70ay', 'svc', 'oauth', 'admin', 'other', '7'), { maxLength: 4 })
    // the product's own calls
    .filter(([first]) => first !== 'svc'),
})
interface Asked {
  readonly host: string
  readonly words: readonly string[]
}

const definitionOf = (id: string, { org, domain, path: listenPath, ignoreCase, active }: Drawn, url: string) =>
  defined({
    id,
    path: listenPath,
    url,
    info: { orgId: org, state: { active } },
    server: {
      listenPath: { value: listenPath, strip: true },
      ...(domain !== '' && { customDomain: { enabled: true, name: domain } }),
    },
    global: { ...answering('X-Served-By', id), ...(ignoreCase && { ignoreCase: { enabled: true } }) },
  })

/** The oracle: whether a request is at or below the listen path of an API, at its domain. Knows nothing of the router. */
function isBelow(api: Drawn, { host, words }: Asked): boolean {
  const name = host.toLowerCase().replace(/\.$/, '')
  if (api.domain !== '' && api.domain !== name) return false
  const wanted = api.path.split('/').filter((word) => word !== '')
  const given = words.map((word) => decodeURIComponent(word))
  if (wanted.length > given.length) return false
  return wanted.every((word, i) => {
    const sent = api.ignoreCase ? given[i]!.toLowerCase() : given[i]!
    if (word.startsWith('{')) return word.includes('[a-z]+') ? /^[a-z]+$/.test(sent) : true
    return sent === (api.ignoreCase ? word.toLowerCase() : word)
  })
}

/** The organisations that could expect a request: those with an API above it; where a domain is owned, its owner alone. */
function organisationsOf(apis: readonly Drawn[], request: Asked): Set<string> {
  const name = request.host.toLowerCase().replace(/\.$/, '')
  const owner = apis.find(({ domain }) => domain === name && domain !== PUBLIC_HOST)?.org
  return new Set(
    apis.filter((api) => isBelow(api, request) && (owner === undefined || owner === api.org)).map(({ org }) => org),
  )
}

async function world(t: TestContext, env: Record<string, string> = {}) {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await startTestGateway({ env: { ...ENV, ...env } })
  t.after(() => gateway.close())
  return { origin, gateway }
}

const ask = (gateway: TestGateway, { host, words }: Asked) => gateway.call(`/${words.join('/')}`, { headers: { host } })

const save = (gateway: TestGateway, id: string, api: Drawn, origin: Origin) =>
  gateway.svc('POST', '/svc/apis/oas', definitionOf(id, api, origin.url))

const remove = async (gateway: TestGateway, ids: Iterable<string>) => {
  for (const id of ids) await gateway.svc('DELETE', `/svc/apis/oas/${id}`)
}

test('property: of all organisations whose APIs were taken, one alone can see a request', async (t) => {
  const { origin, gateway } = await world(t)
  let refusals = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(drawn, { minLength: 2, maxLength: 7 }),
      fc.array(asked, { minLength: 8, maxLength: 8 }),
      async (apis, requests) => {
        const taken = new Map<string, Drawn>()
        try {
          for (const [i, api] of apis.entries()) {
            const { status, text } = await save(gateway, `api-${i}`, api, origin)
            assert.ok(status === 200 || status === 409, text)
            if (status === 200) taken.set(`api-${i}`, api)
            else refusals++
          }
          for (const request of requests) {
            const orgs = organisationsOf([...taken.values()], request)
            assert.ok(orgs.size <= 1, `${request.host}/${request.words.join('/')} is of ${[...orgs]}`)
            const answer = await ask(gateway, request)
            const servedBy = answer.headers['x-served-by']
            if (typeof servedBy !== 'string') continue
            assert.ok(orgs.has(taken.get(servedBy)!.org), `${servedBy} served ${request.host}/${request.words}`)
          }
        } finally {
          await remove(gateway, taken.keys())
        }
      },
    ),
    { numRuns: 40 },
  )
  assert.ok(refusals > 0)
})

test('property: of overlapping stored APIs the older one is served, also after a restart', async (t) => {
  const { origin, gateway } = await world(t, { SVC_GW_ENABLEDUPLICATESLUGS: 'true' })
  await fc.assert(
    fc.asyncProperty(
      fc.array(drawn, { minLength: 2, maxLength: 6 }),
      fc.array(asked, { minLength: 8, maxLength: 8 }),
      async (apis, requests) => {
        const stored: [string, Drawn][] = []
        try {
          for (const [i, api] of apis.entries()) {
            assert.equal((await save(gateway, `api-${i}`, api, origin)).status, 200)
            stored.push([`api-${i}`, api])
            gateway.clock.advance(1000)
          }
          const inForce = new Map<string, Drawn>()
          for (const [id, api] of stored) {
            const older = [...inForce.values()].filter(({ org }) => org !== api.org)
            if (!older.some((each) => territoriesOverlap(placeOf(each), placeOf(api), SHARED))) inForce.set(id, api)
          }
          const restarted = await startTestGateway({ env: ENV, store: gateway.store, clock: gateway.clock })
          try {
            for (const node of [gateway, restarted]) {
              for (const request of requests) {
                const servedBy = (await ask(node, request)).headers['x-served-by']
                const below = [...inForce.values()].filter((api) => api.active && isBelow(api, request))
                const wanted = organisationsOf([...inForce.values()], request)
                const label = `${request.host}/${request.words.join('/')} by ${servedBy}`
                if (typeof servedBy === 'string') assert.ok(wanted.has(inForce.get(servedBy)?.org ?? ''), label)
                else assert.ok(!below.some(({ org }) => wanted.has(org)), label)
              }
              const { json } = await node.svc('GET', '/svc/node')
              for (const { api_id, state, reason } of (json as { apis: JsonObject[] }).apis) {
                const lost = !inForce.has(String(api_id)) && stored.find(([id]) => id === api_id)![1].active
                assert.equal(
                  state === 'taken' && /another organisation/.test(String(reason)),
                  lost,
                  `${api_id} ${reason}`,
                )
              }
            }
          } finally {
            await restarted.close()
          }
        } finally {
          await remove(
            gateway,
            stored.map(([id]) => id),
          )
        }
      },
    ),
    { numRuns: 15 },
  )
})

const SHARED = sharedHosts([ENV.SVC_GW_PUBLICURL])
const placeOf = ({ path: listenPath, domain, ignoreCase }: Drawn) => territoryOf({ listenPath, domain, ignoreCase })

/** The attacks on `/pay/` and `pay.example` of another organisation: below, above, at and beside them. */
const ATTACKS: readonly [name: string, JsonObject][] = [
  ['the same path', { path: '/pay/' }],
  ['without its slash', { path: '/pay' }],
  ['one level below', { path: '/pay/admin/' }],
  ['its authorization server', { path: '/pay/oauth/' }],
  ['its administration', { path: '/pay/svc/' }],
  ['a placeholder below', { path: '/pay/{any}/' }],
  ['a placeholder in its place', { path: '/{any}/svc/oauth/' }],
  ['two placeholders', { path: '/{a}/{b}/' }],
  ['a placeholder alone', { path: '/{a}/' }],
  ['a pattern that fits', { path: '/{a:p.*}/svc/' }],
  ['everything', { path: '/' }],
  ['its domain', { path: '/elsewhere/', domain: 'pay.example' }],
  ['its domain in another case', { path: '/elsewhere/', domain: 'PAY.Example' }],
  ['the name of the gateway', { path: '/', domain: PUBLIC_HOST }],
  ['an address', { path: '/', domain: '127.0.0.1' }],
  ['a name that nobody owns', { path: '/pay/x/', domain: 'localhost' }],
  ['another case', { path: '/PAY/x/', ignoreCase: true }],
]

const HOLDERS: readonly Drawn[] = [
  { org: 'a', domain: '', path: '/pay/', ignoreCase: false, active: true },
  { org: 'a', domain: 'pay.example', path: '/pay/', ignoreCase: false, active: true },
]

const drawnOf = ({ path: listenPath, domain = '', ignoreCase = false }: JsonObject): Drawn => ({
  org: 'b',
  domain: String(domain),
  path: String(listenPath),
  ignoreCase: ignoreCase === true,
  active: true,
})

for (const active of [true, false]) {
  test(`no way in leads to the requests of ${active ? 'an API' : 'a switched off API'} of others`, async (t) => {
    const { origin, gateway } = await world(t)
    for (const [i, holder] of HOLDERS.entries())
      assert.equal((await save(gateway, `holder-${i}`, { ...holder, active }, origin)).status, 200)
    const free = drawnOf({ path: '/b/' })
    assert.equal((await save(gateway, 'free', free, origin)).status, 200)
    const freeClassic = classic('free-classic', '/bc/', origin.url, { org_id: 'b' })
    assert.equal((await gateway.svc('POST', '/svc/apis', freeClassic)).status, 200)
    for (const [name, attack] of ATTACKS) {
      const api = drawnOf(attack)
      const oas = (id: string) => definitionOf(id, api, origin.url)
      const old = (id: string) =>
        classic(id, api.path, origin.url, {
          org_id: 'b',
          domain: api.domain,
          ...(api.ignoreCase && {
            version_data: {
              not_versioned: true,
              versions: { Default: { name: 'Default', ignore_endpoint_case: true } },
            },
          }),
        })
      const ways: readonly [string, string, JsonObject][] = [
        ['POST', '/svc/apis/oas', oas('new')],
        ['PUT', '/svc/apis/oas/free', oas('free')],
        ['POST', '/svc/apis', old('new')],
        ['PUT', '/svc/apis/free-classic', old('free-classic')],
      ]
      for (const [method, to, body] of ways) {
        const { status, text } = await gateway.svc(method, to, body)
        assert.equal(status, 409, `${name}: ${method} ${to}: ${text}`)
        assert.match(text, /of another organisation|by another organisation/, name)
        assert.doesNotMatch(text, /holder/, name)
      }
    }
    // within the organisation all of it may be nested, and disjoint paths and domains are free
    await remove(gateway, ['free', 'free-classic'])
    for (const [i, [name, attack]] of ATTACKS.entries()) {
      const same = attack.path === '/pay/' || attack.path === '/pay'
      const { status, text } = await save(gateway, `own-${i}`, { ...drawnOf(attack), org: 'a' }, origin)
      assert.equal(status, same && active ? 409 : 200, `${name}: ${text}`)
      await remove(gateway, [`own-${i}`])
    }
    for (const [i, other] of [{ path: '/pays/' }, { path: '/', domain: 'shop.example' }].entries())
      assert.equal((await save(gateway, `other-${i}`, drawnOf(other), origin)).status, 200)
  })
}

test('an API stays in its organisation and keeps its listen path while inactive', async (t) => {
  const { origin, gateway } = await world(t)
  const at = (org: string, listenPath: string, active = true): Drawn => ({
    ...drawnOf({ path: listenPath }),
    ...{ org, active },
  })
  assert.equal((await save(gateway, 'pay', at('a', '/pay/'), origin)).status, 200)
  assert.equal((await save(gateway, 'nested', at('a', '/pay/v2/'), origin)).status, 200)
  const moved = await gateway.svc(
    'PUT',
    '/svc/apis/oas/nested',
    definitionOf('nested', at('b', '/pay/v2/'), origin.url),
  )
  assert.equal(moved.status, 400, moved.text)
  assert.equal((await save(gateway, 'off', at('b', '/pay/off/', false), origin)).status, 409)
  assert.equal(
    (await gateway.svc('PUT', '/svc/apis/oas/pay', definitionOf('pay', at('a', '/pay/', false), origin.url))).status,
    200,
  )
  assert.equal((await save(gateway, 'off', at('b', '/pay/off/'), origin)).status, 409)
  assert.equal((await gateway.call('/pay/x')).status, 404)
})

/** An API with an authorization server, whose id may be a segment of another organisation's listen path. */
interface NamedApi extends Drawn {
  readonly id: string
  readonly secured: boolean
}

const WORDS = ['pay', 'Pay', 'shop']
const OWNED = 'pay.example'
const named: fc.Arbitrary<NamedApi> = fc
  .record({
    org: fc.constantFrom('a', 'b'),
    id: fc.constantFrom(...WORDS, 'one', 'two'),
    domain: fc.constantFrom('', '', '', OWNED),
    path: fc.constantFrom('/pay/', '/pay/v2/', '/shop/', '/else/', '/{x}/', '/shop/{y}/'),
    ignoreCase: fc.boolean(),
    secured: fc.boolean(),
  })
  .map((api) => ({ ...api, active: true }))

function namedDefinition(api: NamedApi, url: string): JsonObject {
  if (!api.secured) return definitionOf(api.id, api, url)
  const { org: orgId, active } = api
  const definition = oauthApi(url, { id: api.id, path: api.path, info: { orgId, state: { active } } })
  const extension = definition['x-svc-api-gateway'] as JsonObject
  const { server } = definitionOf(api.id, api, url)['x-svc-api-gateway'] as JsonObject
  extension.server = { ...(extension.server as JsonObject), ...(server as JsonObject) }
  if (api.ignoreCase) extension.middleware = { global: { ignoreCase: { enabled: true } } }
  return definition
}

test('property: ids and listen paths take no requests from each other, and block no changes', async (t) => {
  const { origin, gateway } = await world(t)
  const probes = [
    ...[...WORDS, 'one'].map((word) => ({ host: 'any.example', word })),
    ...['pay', 'shop'].map((word) => ({ host: OWNED, word })),
  ]
  let [byId, refusals] = [0, 0]
  const holders = async (taken: ReadonlyMap<string, NamedApi>) => {
    const found = new Map<string, string>()
    for (const { host, word } of probes) {
      // Until an organisation claims the domain, APIs without one answer there.
      if (host === OWNED && ![...taken.values()].some(({ domain }) => domain === host)) continue
      const metadata = await gateway.call(`/${word}/.well-known/oauth-authorization-server`, { headers: { host } })
      const plain = await gateway.call(`/${word}/oauth/none`, { headers: { host } })
      const { issuer } = (metadata.status === 200 ? metadata.json : {}) as JsonObject
      const path = typeof issuer === 'string' ? `${new URL(issuer).pathname}/` : undefined
      const api = [...taken.values()].find((each) => each.secured && each.path === path)
      if (api?.id === word) byId++
      if (api !== undefined) found.set(`${host}/${word} metadata`, api.org)
      const servedBy = plain.headers['x-served-by']
      if (typeof servedBy === 'string') found.set(`${host}/${word} plain`, taken.get(servedBy)!.org)
    }
    return found
  }
  await fc.assert(
    fc.asyncProperty(fc.array(named, { minLength: 2, maxLength: 5 }), async (apis) => {
      const taken = new Map<string, NamedApi>()
      try {
        let before = new Map<string, string>()
        for (const api of apis) {
          if (taken.has(api.id)) continue
          const made = await gateway.svc('POST', '/svc/apis/oas', namedDefinition(api, origin.url))
          assert.ok(made.status === 200 || made.status === 409, made.text)
          for (const { id } of taken.values()) assert.ok(!made.text.includes(`"${id}"`), made.text)
          if (made.status === 409) refusals++
          else taken.set(api.id, api)
          const after = await holders(taken)
          for (const [probe, org] of before)
            if (org !== api.org) assert.equal(after.get(probe), org, `${probe} after ${JSON.stringify(api)}`)
          before = after
          for (const each of taken.values()) {
            const again = await gateway.svc('PUT', `/svc/apis/oas/${each.id}`, namedDefinition(each, origin.url))
            assert.equal(again.status, 200, again.text)
          }
        }
        // The places of a deactivated API stay its own.
        for (const each of taken.values()) {
          const off = namedDefinition({ ...each, active: false }, origin.url)
          assert.equal((await gateway.svc('PUT', `/svc/apis/oas/${each.id}`, off)).status, 200)
          const after = await holders(taken)
          for (const [probe, org] of before)
            assert.ok([org, undefined].includes(after.get(probe)), `${probe} while ${each.id} is off`)
        }
      } finally {
        await remove(gateway, taken.keys())
      }
    }),
    {
      numRuns: process.env.GATEHOUSE_DEEP === '1' ? 60 : 12,
      examples: [
        [[nameOf('a', 'one', '/pay/'), nameOf('b', 'pay', '/else/')]],
        [[nameOf('b', 'pay', '/else/'), nameOf('a', 'one', '/pay/')]],
        [[nameOf('b', 'pay', '/else/'), { ...nameOf('a', 'one', '/Pay/'), ignoreCase: true }]],
        [[{ ...nameOf('a', 'one', '/shop/'), domain: OWNED }, nameOf('b', 'shop', '/else/')]],
        [[{ ...nameOf('a', 'one', '/shop/'), domain: OWNED }, nameOf('b', 'pay', '/else/')]],
      ],
    },
  )
  assert.ok(byId > 0 && refusals > 0)
})

function nameOf(org: string, id: string, listenPath: string): NamedApi {
  return { org, id, path: listenPath, domain: '', ignoreCase: false, active: true, secured: true }
}

test('an organisation extends its path although the id of an API of others is its first segment', async (t) => {
  const { origin, gateway } = await world(t)
  const make = (api: NamedApi) => gateway.svc('POST', '/svc/apis/oas', namedDefinition(api, origin.url))
  assert.equal((await make(nameOf('a', 'one', '/pay/'))).status, 200)
  assert.equal((await make(nameOf('b', 'pay', '/else/'))).status, 200)
  assert.equal((await make(nameOf('a', 'two', '/pay/v2/'))).status, 200)
  // Below an id that is nobody's path only what the authorization server answers is taken.
  assert.equal((await make(nameOf('b', 'shop', '/mine/'))).status, 200)
  assert.equal((await make(nameOf('a', 'three', '/shop/v1/'))).status, 200)
  for (const path of [
    '/shop/',
    '/shop/oauth/',
    '/shop/oauth/token/x/',
    '/shop/.well-known/',
    '/shop/{any}/',
    '/shop/svc/',
  ])
    assert.equal((await make(nameOf('a', 'four', path))).status, 409, path)
  assert.equal((await make(nameOf('b', 'hello', '/greeting/'))).status, 200)
  assert.equal((await gateway.call('/hello/.well-known/oauth-authorization-server')).status, 404)
  for (const id of ['.', '..']) assert.match((await make(nameOf('b', id, '/odd/'))).text, /cannot be/)
  // Within one organisation the API that is switched off may be another owner's.
  assert.equal((await make(nameOf('a', 'mine', '/yours/'))).status, 200)
  assert.equal((await make(nameOf('a', 'yours', '/theirs/'))).status, 200)
  const off = namedDefinition({ ...nameOf('a', 'mine', '/yours/'), active: false }, origin.url)
  assert.equal((await gateway.svc('PUT', '/svc/apis/oas/mine', off)).status, 200)
  assert.equal((await gateway.call('/yours/.well-known/oauth-authorization-server')).status, 404)
  assert.equal((await gateway.call('/theirs/.well-known/oauth-authorization-server')).status, 200)
  const metadata = await gateway.call('/shop/.well-known/oauth-authorization-server')
  assert.equal(metadata.status, 200, 'answers beside a longer listen path')
})

test('an unserved definition keeps its listen path from other organisations', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-tenants-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const { origin, gateway } = await world(t)
  const paths = ['/oas/', '/classic/', '/apart/']
  for (const [i, under] of paths.entries())
    assert.equal((await save(gateway, `stored-${i}`, drawnOf({ path: `${under}x/` }), origin)).status, 200)
  const oas = definitionOf('filed', { ...HOLDERS[0]!, path: '/oas/' }, origin.url)
  const extension = oas['x-svc-api-gateway'] as JsonObject
  const upstream = { url: origin.url, authentication: { enabled: true } }
  const broken = { ...oas, 'x-svc-api-gateway': { ...extension, upstream } }
  const old = { ...classic('old', '/classic/', origin.url), org_id: HOLDERS[0]!.org, auth_configs: 7 }
  writeFileSync(join(folder, 'oas.json'), JSON.stringify(broken))
  writeFileSync(join(folder, 'classic.json'), JSON.stringify(old))
  writeFileSync(join(folder, 'noise.json'), '{"x-svc-api-gateway": 7}')
  const restarted = await startTestGateway({ env: { ...ENV, SVC_GW_APPPATH: folder }, store: gateway.store })
  t.after(() => restarted.close())
  const { json } = await restarted.svc('GET', '/svc/node')
  const states = Object.fromEntries((json as { apis: JsonObject[] }).apis.map(({ api_id, state }) => [api_id, state]))
  assert.deepEqual([states.filed, states.old], ['failed', 'failed'])
  assert.deepEqual([states['stored-0'], states['stored-1'], states['stored-2']], ['taken', 'taken', 'loaded'])
  for (const path of ['/oas/x/1', '/classic/x/1']) assert.equal((await restarted.call(path)).status, 404, path)
  assert.equal((await restarted.call('/apart/x/1')).status, 200)
})

test('files go before what is stored, and the node says which API gave way', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-tenants-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const { origin, gateway } = await world(t)
  assert.equal((await save(gateway, 'stored', drawnOf({ path: '/pay/x/' }), origin)).status, 200)
  assert.equal((await save(gateway, 'apart', drawnOf({ path: '/apart/' }), origin)).status, 200)
  writeFileSync(join(folder, 'pay.json'), JSON.stringify(definitionOf('filed', HOLDERS[0]!, origin.url)))
  const restarted = await startTestGateway({ env: { ...ENV, SVC_GW_APPPATH: folder }, store: gateway.store })
  t.after(() => restarted.close())
  assert.equal((await restarted.call('/pay/x/1')).headers['x-served-by'], 'filed')
  assert.equal((await restarted.call('/apart/1')).headers['x-served-by'], 'apart')
  const { json } = await restarted.svc('GET', '/svc/node')
  const node = (json as { apis: JsonObject[] }).apis.find(({ api_id }) => api_id === 'stored')
  assert.equal(node?.state, 'taken')
  assert.match(String(node?.reason), /overlaps a listen path of another organisation/)
  assert.ok(restarted.log.some(({ fields }) => fields.api_id === 'stored' && fields.state === 'taken'))
  // once the file is gone the other is served again
  rmSync(join(folder, 'pay.json'))
  await restarted.svc('GET', '/svc/reload?block=true')
  assert.equal((await restarted.call('/pay/x/1')).headers['x-served-by'], 'stored')
})

test('nobody else answers at a custom domain, not even without a domain of their own', async (t) => {
  const { origin, gateway } = await world(t)
  const shop = drawnOf({ path: '/shop/', domain: 'shop.example' })
  assert.equal((await save(gateway, 'shop', shop, origin)).status, 200)
  assert.equal((await save(gateway, 'other', { ...HOLDERS[0]!, path: '/other/' }, origin)).status, 200)
  assert.equal((await save(gateway, 'own', drawnOf({ path: '/own/' }), origin)).status, 200)
  const served = async (host: string, words: string[]) => (await ask(gateway, { host, words })).headers['x-served-by']
  for (const host of ['shop.example', 'SHOP.example', 'shop.example.', 'shop.example:81']) {
    assert.equal(await served(host, ['shop', 'x']), 'shop', host)
    assert.equal(await served(host, ['own', 'x']), 'own', host)
    assert.equal(await served(host, ['other', 'x']), undefined, host)
  }
  assert.equal(await served('any.example', ['other', 'x']), 'other')
})
