import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { classic, defined } from '../../worlds/base/definitions.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import {
  type ExactAnswer,
  type Pairs,
  sendExactly,
  VERSIONS,
  type Version,
  valuesOf,
} from '../../worlds/gateway/exact-fields.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

const DEEP = process.env.GATEHOUSE_DEEP === '1'

// --- a browser, as the Fetch standard has it

interface Page {
  readonly origin: string
  /** With cookies and the like (credentials mode "include"). */
  readonly credentials: boolean
}

/** "CORS check" (section 4.10): true when the page may read the answer. */
function sharesWith({ origin, credentials }: Page, answer: ExactAnswer): boolean {
  const allowed = valuesOf(answer, 'access-control-allow-origin').join(', ')
  if (allowed === '') return false
  if (!credentials && allowed === '*') return true
  if (allowed !== origin) return false
  return !credentials || valuesOf(answer, 'access-control-allow-credentials').join(', ') === 'true'
}

const membersOf = (answer: ExactAnswer, name: string) =>
  valuesOf(answer, name)
    .flatMap((value) => value.split(','))
    .map((member) => member.trim())
    .filter((member) => member !== '')

/** "CORS-preflight fetch" (section 4.8): true when the browser then sends the request. */
function letsThrough(page: Page, method: string, headers: readonly string[], answer: ExactAnswer): boolean {
  if (!sharesWith(page, answer) || answer.status < 200 || answer.status > 299) return false
  const methods = membersOf(answer, 'access-control-allow-methods')
  const names = membersOf(answer, 'access-control-allow-headers').map((name) => name.toLowerCase())
  const anyMethod = methods.includes('*') && !page.credentials
  const anyName = names.includes('*') && !page.credentials
  if (!methods.includes(method) && !['GET', 'HEAD', 'POST'].includes(method) && !anyMethod) return false
  return headers.every((name) => names.includes(name) || (anyName && name !== 'authorization'))
}

// --- what a definition promises

interface Rules {
  readonly origins: readonly string[]
  readonly methods: readonly string[]
  readonly headers: readonly string[]
  readonly credentials: boolean
}

const isAny = ({ origins }: Rules) => origins.length === 0 || origins.includes('*')

function isListed({ origins }: Rules, origin: string): boolean {
  return origins.some((each) => {
    const star = each.indexOf('://*.')
    if (star === -1) return each.toLowerCase() === origin.toLowerCase()
    const [scheme, domain] = [each.slice(0, star + 3).toLowerCase(), each.slice(star + 4).toLowerCase()]
    const lower = origin.toLowerCase()
    return (
      lower.startsWith(scheme) &&
      lower.endsWith(domain) &&
      /^[a-z0-9.-]+$/.test(lower.slice(scheme.length, -domain.length))
    )
  })
}

function promised(rules: Rules, { origin, credentials }: Page): boolean {
  if (isAny(rules)) return !credentials
  return isListed(rules, origin) && (!credentials || rules.credentials)
}

const USUAL_HEADERS = ['origin', 'accept', 'content-type', 'x-requested-with', 'authorization']

function promisedPreflight(rules: Rules, page: Page, method: string, headers: readonly string[]): boolean {
  const methods = rules.methods.length === 0 ? ['GET', 'POST', 'HEAD'] : rules.methods
  const names = rules.headers.length === 0 ? USUAL_HEADERS : rules.headers.map((name) => name.toLowerCase())
  if (!promised(rules, page)) return false
  if (!methods.includes(method) && !methods.includes('*') && !['GET', 'HEAD', 'POST'].includes(method)) return false
  return names.includes('*') || headers.every((name) => names.includes(name))
}

const ORIGINS = [
  ...['https://app.example', 'https://a.sub.example.org', 'https://sub.example.org', 'http://app.example'],
  ...[
    'https://app.example:8443',
    'https://evil.example',
    'https://app.example.evil.example',
    'null',
    'HTTPS://APP.EXAMPLE',
  ],
] as const

const rulesOf: fc.Arbitrary<Rules> = fc
  .record({
    origins: fc.oneof(
      fc.constant<string[]>([]),
      fc.constant(['*']),
      fc.subarray(
        ['https://app.example', 'https://*.example.org', 'https://other.example', 'https://App.Example:8443'],
        { minLength: 1 },
      ),
      fc.constant(['https://app.example', '*']),
    ),
    methods: fc.subarray(['*', 'GET', 'PUT', 'DELETE']),
    headers: fc.subarray(['*', 'X-One', 'Authorization']),
    credentials: fc.boolean(),
  })
  .map((rules) => ({ ...rules, credentials: rules.credentials && !isAny(rules) }))

/** The fields that an upstream sends by itself, which must be dropped. */
const upstreamFields = fc.subarray([
  ['Access-Control-Allow-Origin', '*'],
  ['access-control-allow-origin', 'https://evil.example'],
  ['Access-Control-Allow-Origin', 'null'],
  ['ACCESS-CONTROL-ALLOW-CREDENTIALS', 'true'],
  ['Access-Control-Allow-Methods', 'DELETE, *'],
  ['Access-Control-Allow-Headers', '*'],
  ['Access-Control-Expose-Headers', '*'],
  ['Access-Control-Max-Age', '86400'],
  ['Access-Control-Allow-Private-Network', 'true'],
] as const)

const cachedFor = { enabled: true, cacheAllSafeRequests: true, timeout: 60 }

async function world(t: TestContext) {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gate = await startTestGateway()
  t.after(() => gate.close())
  const save = async (document: JsonObject) =>
    gate.svc('POST', document.openapi === undefined ? '/svc/apis' : '/svc/apis/oas', document)
  const made = async (document: JsonObject) => {
    const answer = await save(document)
    assert.equal(answer.status, 200, answer.text)
  }
  return { origin, gate, save, made }
}

const corsOf = ({ origins, methods, headers, credentials }: Rules): JsonObject => ({
  ...{ enabled: true, allowedOrigins: [...origins], allowedMethods: [...methods], allowedHeaders: [...headers] },
  allowCredentials: credentials,
})

const classicCors = ({ origins, methods, headers, credentials }: Rules): JsonObject => ({
  ...{ enable: true, allowed_origins: [...origins], allowed_methods: [...methods], allowed_headers: [...headers] },
  allow_credentials: credentials,
})

test('a browser shares an answer exactly where the definition says so, stored answers too', async (t) => {
  const { origin, gate, made } = await world(t)
  let number = 0
  await fc.assert(
    fc.asyncProperty(
      ...([rulesOf, fc.constantFrom('oas', 'classic'), fc.boolean(), upstreamFields] as const),
      fc.array(fc.tuple(fc.constantFrom(undefined, ...ORIGINS), fc.boolean(), fc.constantFrom<Version>(...VERSIONS)), {
        minLength: 2,
        maxLength: 5,
      }),
      async (rules, format, cached, said, requests) => {
        const id = `c${number++}`
        const cache = cached ? cachedFor : { enabled: false }
        if (format === 'oas') await made(defined({ id, url: origin.url, global: { cors: corsOf(rules), cache } }))
        else
          await made(
            classic(id, `/${id}/`, origin.url, {
              CORS: classicCors(rules),
              cache_options: { enable_cache: cached, cache_all_safe_requests: true, cache_timeout: 60 },
            }),
          )
        origin.script = (_request, response) => response.writeHead(200, said.flat() as unknown as string[]).end('body')
        for (const [from, credentials, version] of requests) {
          const fields: Pairs = from === undefined ? [] : [['Origin', from]]
          const answer = await sendExactly(gate.port, version, { path: `/${id}/x`, fields })
          const how = JSON.stringify({ rules, from, credentials, cached, answer })
          const allowed = valuesOf(answer, 'access-control-allow-origin')
          assert.ok(allowed.length <= 1, `two voices: ${how}`)
          const heard = answer.fields.filter(([name]) => name.startsWith('access-control-')).map(([name]) => name)
          const known = ['access-control-allow-origin', 'access-control-allow-credentials']
          assert.deepEqual(
            heard.filter((name) => !known.includes(name)),
            [],
            how,
          )
          if (!isAny(rules)) assert.ok(membersOf(answer, 'vary').includes('Origin'), `Vary: ${how}`)
          if (from === undefined) continue
          assert.equal(
            sharesWith({ origin: from, credentials }, answer),
            promised(rules, { origin: from, credentials }),
            how,
          )
        }
      },
    ),
    { numRuns: DEEP ? 1000 : 60 },
  )
})

test('a browser sends a request exactly where the preflight of the definition says so', async (t) => {
  const { origin, gate, made } = await world(t)
  let number = 0
  await fc.assert(
    fc.asyncProperty(
      ...([rulesOf, fc.constantFrom(...ORIGINS), fc.boolean(), fc.constantFrom<Version>(...VERSIONS)] as const),
      fc.constantFrom('GET', 'PUT', 'DELETE', 'PATCH'),
      fc.subarray(['authorization', 'content-type', 'x-one', 'x-two']),
      async (rules, from, credentials, version, method, headers) => {
        const id = `p${number++}`
        await made(defined({ id, url: origin.url, global: { cors: corsOf(rules) } }))
        const asked: Pairs = [
          ['Origin', from],
          ['Access-Control-Request-Method', method],
          ...(headers.length === 0 ? [] : [['Access-Control-Request-Headers', headers.join(',')] as const]),
        ]
        const answer = await sendExactly(gate.port, version, { method: 'OPTIONS', path: `/${id}/x`, fields: asked })
        assert.equal(answer.status, 204)
        const page = { origin: from, credentials }
        const how = JSON.stringify({ rules, page, method, headers, answer })
        assert.equal(letsThrough(page, method, headers, answer), promisedPreflight(rules, page, method, headers), how)
        assert.equal(origin.seen.length, 0)
      },
    ),
    { numRuns: DEEP ? 1000 : 60 },
  )
})

const APP = 'https://app.example'
const LISTED: Rules = { origins: [APP], methods: ['*'], headers: ['*'], credentials: true }

test('refusals carry the fields, whichever step refuses', async (t) => {
  const { origin, gate, made } = await world(t)
  const cors = corsOf(LISTED)
  const limit = { server: { listenPath: { value: '/busy/', strip: true } } }
  await made(defined({ id: 'key', url: origin.url, keyIn: 'Authorization', global: { cors } }))
  await made(
    defined({
      id: 'ip',
      url: origin.url,
      global: { cors },
      server: { ipAccessControl: { enabled: true, allow: ['192.0.2.1'] } },
    }),
  )
  const small = {
    paths: { '/x': { post: { operationId: 'x' } } },
    operations: { x: { requestSizeLimit: { enabled: true, value: 3 } } },
  }
  await made(defined({ id: 'size', url: origin.url, global: { cors }, ...small }))
  const listed = { paths: { '/only': { get: { operationId: 'o' } } }, operations: { o: { allow: { enabled: true } } } }
  await made(defined({ id: 'allow', url: origin.url, global: { cors }, ...listed }))
  await made(
    classic('busy', limit.server.listenPath.value, origin.url, {
      CORS: classicCors(LISTED),
      global_rate_limit: { rate: 1, per: 60 },
    }),
  )
  await made(defined({ id: 'away', url: 'http://127.0.0.1:1', global: { cors } }))
  const versioning = { enabled: true, name: 'one', key: 'X-V', default: '', versions: [{ name: 'two', id: 'key' }] }
  for (const location of ['header', 'url', 'url-param'])
    await made(
      defined({ id: location, url: origin.url, global: { cors }, info: { versioning: { ...versioning, location } } }),
    )
  const fields: Pairs = [['Origin', APP]]
  for (const version of VERSIONS) {
    const refusals: readonly (readonly [path: string, status: number, more?: Pairs])[] = [
      ['/key/x', 401],
      ['/key/x', 403, [['Authorization', 'nobody']]],
      ['/ip/x', 403],
      ['/allow/x', 403],
      ['/busy/x', version === '1.1' ? 200 : 429],
      ['/busy/x', 429],
      ['/away/x', 502],
      ['/header/x', 404],
      ['/header/x', 404, [['X-V', 'three']]],
      ['/header/x', 401, [['X-V', 'two']]],
      ['/url/three/x', 404],
      ['/url-param/x?X-V=three', 404],
      ...['/key/a%2fb', '/key/a%5Cb', '/url/two%2fx'].map((path) => [path, 400] as const),
    ]
    for (const [path, status, more = []] of refusals) {
      const answer = await sendExactly(gate.port, version, { path, fields: [...fields, ...more] })
      const how = `${path} ${JSON.stringify(answer)}`
      assert.ok(answer.status === status || (status === 404 && answer.status >= 400 && answer.status < 500), how)
      assert.ok(sharesWith({ origin: APP, credentials: true }, answer), how)
      assert.deepEqual(membersOf(answer, 'vary'), ['Origin'], how)
      const stranger = await sendExactly(gate.port, version, {
        path,
        fields: [['Origin', 'https://evil.example'], ...more],
      })
      assert.deepEqual(
        stranger.fields.filter(([name]) => name.startsWith('access-control-')),
        [],
        how,
      )
    }
    const large = await gate.call('/size/x', { method: 'POST', headers: { origin: APP }, body: 'more than three' })
    assert.deepEqual([large.status, large.headers['access-control-allow-origin']], [400, APP])
  }
})

test('a preflight of an API versioned by header is answered by the rules of the API itself', async (t) => {
  const { origin, gate, made } = await world(t)
  await made(defined({ id: 'two', url: origin.url, keyIn: 'Authorization' }))
  await made(
    defined({
      id: 'three',
      url: origin.url,
      global: { cors: corsOf({ ...LISTED, origins: ['https://three.example'] }) },
    }),
  )
  const versions = ['two', 'three'].map((id) => ({ name: id, id }))
  const versioning = { enabled: true, name: 'one', location: 'header', key: 'X-V', default: '', versions }
  await made(defined({ id: 'base', url: origin.url, global: { cors: corsOf(LISTED) }, info: { versioning } }))
  for (const version of VERSIONS) {
    const asked: Pairs = [
      ['Origin', APP],
      ['Access-Control-Request-Method', 'PUT'],
      ['Access-Control-Request-Headers', 'x-v'],
    ]
    const answer = await sendExactly(gate.port, version, { method: 'OPTIONS', path: '/base/x', fields: asked })
    assert.ok(letsThrough({ origin: APP, credentials: true }, 'PUT', ['x-v'], answer), JSON.stringify(answer))
    const actual = async (name: string, from: string) =>
      sharesWith(
        { origin: from, credentials: true },
        await sendExactly(gate.port, version, {
          path: '/base/x',
          fields: [
            ['Origin', from],
            ['X-V', name],
          ],
        }),
      )
    assert.equal(await actual('one', APP), true)
    assert.equal(await actual('two', APP), true, 'a version without rules has those of the base')
    assert.equal(await actual('three', APP), false)
    assert.equal(await actual('three', 'https://three.example'), true)
  }
  assert.equal(origin.seen.filter(({ method }) => method === 'OPTIONS').length, 0)
})

test('the upstream answers preflights where the definition says so, for origins that it allows', async (t) => {
  const { origin, gate, made } = await world(t)
  await made(
    defined({ id: 'pass', url: origin.url, global: { cors: { ...corsOf(LISTED), optionsPassthrough: true } } }),
  )
  origin.script = (_request, response) =>
    response
      .writeHead(200, {
        'Access-Control-Allow-Origin': '*',
        'Access-Control-Allow-Methods': 'PUT',
        'Access-Control-Max-Age': '5',
      })
      .end()
  const asked = async (from: string) => {
    const fields: Pairs = [
      ['Origin', from],
      ['Access-Control-Request-Method', 'PUT'],
    ]
    return sendExactly(gate.port, '1.1', { method: 'OPTIONS', path: '/pass/x', fields })
  }
  assert.ok(letsThrough({ origin: APP, credentials: true }, 'PUT', [], await asked(APP)))
  const stranger = await asked('https://evil.example')
  assert.deepEqual(
    stranger.fields.filter(([name]) => name.startsWith('access-control-')),
    [],
  )
})

test('one API led through another: no upstream is a voice where either has CORS on', async (t) => {
  const { origin, gate, made } = await world(t)
  const said = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Credentials': 'true' }
  origin.script = (_request, response) => response.writeHead(200, said).end('body')
  for (const [id, on] of [
    ['on', true],
    ['off', false],
  ] as const) {
    const cache = cachedFor
    await made(defined({ id, url: origin.url, global: { cache, ...(on && { cors: corsOf(LISTED) }) } }))
    await made(defined({ id: `to-${id}`, url: `svc://${id}/` }))
    await made(defined({ id: `cors-to-${id}`, url: `svc://${id}/`, global: { cors: corsOf(LISTED) } }))
  }
  const allowed = async (id: string, from = APP) =>
    valuesOf(
      await sendExactly(gate.port, '1.1', { path: `/${id}/x`, fields: [['Origin', from]] }),
      'access-control-allow-origin',
    )
  // Twice: the second answer is a stored one.
  for (let turn = 0; turn < 2; turn++) {
    assert.deepEqual(await allowed('off'), ['*'])
    assert.deepEqual(await allowed('to-off'), ['*'])
    assert.deepEqual(await allowed('cors-to-off'), [APP])
    assert.deepEqual(await allowed('on'), [APP])
    assert.deepEqual(await allowed('to-on'), [])
    assert.deepEqual(await allowed('cors-to-on'), [APP])
    assert.deepEqual(await allowed('cors-to-off', 'null'), [])
  }
})

test('credentials with unnamed origins are refused, and served where they were stored before', async (t) => {
  const { origin, gate, save } = await world(t)
  const unnamed: readonly (readonly string[])[] = [
    [],
    ['*'],
    [APP, '*'],
    ['null'],
    ['https://*'],
    ['https://*.com'],
    ['*://app.example'],
    ['https://app.*'],
    ['http*://a.example'],
    ['https://*.127.0.0.1'],
    ['https://*.0x7f.1:8080'],
  ]
  for (const origins of unnamed) {
    const rules = { ...LISTED, origins }
    const oas = await save(defined({ id: 'o', url: origin.url, global: { cors: corsOf(rules) } }))
    assert.equal(oas.status, 400, JSON.stringify(origins))
    if (!oas.text.includes('must be an origin'))
      assert.match(oas.text, /cors\.allowCredentials: needs origins by name: /)
    const old = await save(classic('k', '/k/', origin.url, { CORS: classicCors(rules) }))
    assert.equal(old.status, 400, JSON.stringify(origins))
    if (!old.text.includes('must be an origin'))
      assert.match(old.text, /CORS\.allow_credentials: needs origins by name: /)
  }
  const exposes = { ...corsOf(LISTED), exposedHeaders: ['X-A', '*'] }
  const exposing = await save(defined({ id: 'o', url: origin.url, global: { cors: exposes } }))
  assert.match(exposing.text, /cors\.exposedHeaders: must name the headers/)
  const split = await save(
    defined({ id: 'o', url: origin.url, global: { cors: { ...corsOf(LISTED), exposedHeaders: ['a\r\nX-B: c'] } } }),
  )
  assert.equal(split.status, 400)
  for (const [member, value, flaw] of [
    ['allowedOrigins', ['https://%2a'], /%2a.* is no origin/],
    ['exposedHeaders', ['a b'], /exposedHeaders: .*a b.* is no name/],
    ['allowedHeaders', ['X-A, b: c'], /allowedHeaders: .*b: c.* is no name/],
  ] as const) {
    const cors = { ...corsOf(LISTED), [member]: [...value] }
    assert.match((await save(defined({ id: 'o', url: origin.url, global: { cors } }))).text, flaw)
  }
  // Switched off, or without credentials, nothing is wrong with it.
  const off = { ...corsOf({ ...LISTED, origins: ['*'] }), enabled: false }
  assert.equal((await save(defined({ id: 'off', url: origin.url, global: { cors: off } }))).status, 200)
  const open = corsOf({ ...LISTED, origins: ['*'], credentials: false })
  assert.equal((await save(defined({ id: 'fine', url: origin.url, global: { cors: open } }))).status, 200)
  const stored = (await gate.store.documents.find('api', 'api_id', 'fine'))!
  const text = JSON.stringify(stored.body).replaceAll('"allowCredentials":false', '"allowCredentials":true')
  for (const [listed, allows] of [
    ['*', '*'],
    ['https://*', APP],
    ['https://*.example', APP],
    ['null', 'null'],
  ] as const) {
    const body = JSON.parse(text.replaceAll('"allowedOrigins":["*"]', `"allowedOrigins":["${listed}"]`)) as JsonObject
    const revision = await gate.store.documents.commit([{ op: 'put', kind: 'api', id: stored.id, body }], undefined)
    await gate.gateway.live.settled(revision)
    assert.match((await gate.svc('GET', '/svc/apis/oas/fine')).text, /"allowCredentials":true/)
    const from = listed === 'null' ? 'null' : APP
    const answer = await sendExactly(gate.port, '1.1', { path: '/fine/x', fields: [['Origin', from]] })
    assert.deepEqual(valuesOf(answer, 'access-control-allow-origin'), [allows])
    assert.deepEqual(valuesOf(answer, 'access-control-allow-credentials'), [], listed)
  }
})

test('fields that a definition adds to answers say nothing of CORS where it is on', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gate = await startTestGateway()
  t.after(() => gate.close())
  const add = [
    { name: 'Access-Control-Allow-Origin', value: '*' },
    { name: 'ACCESS-CONTROL-ALLOW-CREDENTIALS', value: 'true' },
    { name: 'X-Added', value: 'yes' },
  ]
  const transformResponseHeaders = { enabled: true, add }
  for (const [id, cors] of [
    ['on', { enabled: true, allowedOrigins: ['https://app.example'] }],
    ['off', { enabled: false }],
  ] as const) {
    const global = { cors: { ...cors } as JsonObject, transformResponseHeaders }
    const made = await gate.svc('POST', '/svc/apis/oas', defined({ id, url: origin.url, global }))
    assert.equal(made.status, 200, made.text)
    for (const version of VERSIONS)
      for (const from of ['https://evil.example', 'https://app.example']) {
        const answer = await sendExactly(gate.port, version, { path: `/${id}/x`, fields: [['Origin', from]] })
        const allowed = id === 'off' ? ['*'] : from === 'https://app.example' ? [from] : []
        assert.deepEqual(valuesOf(answer, 'access-control-allow-origin'), allowed)
        assert.deepEqual(valuesOf(answer, 'access-control-allow-credentials'), id === 'off' ? ['true'] : [])
        assert.deepEqual(valuesOf(answer, 'x-added'), ['yes'])
      }
  }
})
