import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { defined } from '../../worlds/base/definitions.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

async function open(t: TestContext) {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  const publish = async (draft: Omit<Parameters<typeof defined>[0], 'url'> & { url?: string }) => {
    const made = await gateway.svc('POST', '/svc/apis/oas', defined({ url: origin.url, ...draft }))
    assert.equal(made.status, 200, made.text)
  }
  return { origin, gateway, publish }
}

const SLASHES = ['%2F', '%2f', '%5C', '%5c']
const ALLOWED = { allowEncodedSlashes: true }

test('an encoded slash passes where both the API and the version or API that serves take it', async (t) => {
  const { origin, gateway, publish } = await open(t)
  for (const own of [true, false]) await publish({ id: `v${own}`, server: { allowEncodedSlashes: own } })
  const places = { header: 'X-V', 'url-param': 'v', url: '' }
  for (const base of [true, false]) {
    for (const [location, key] of Object.entries(places)) {
      const versions = [true, false].map((own) => ({ name: `v${own}`, id: `v${own}` }))
      for (const byDefault of [true, false]) {
        const versioning = { enabled: true, name: 'base', default: `v${byDefault}`, location, key, versions }
        const id = `${location.replace('-', '')}${base}${byDefault}`
        await publish({
          id,
          info: { versioning: { ...versioning, fallbackToDefault: true } },
          server: { allowEncodedSlashes: base },
        })
      }
    }
    for (const own of [true, false])
      await publish({ id: `led${base}${own}`, url: `svc://v${own}/`, server: { allowEncodedSlashes: base } })
  }
  for (const base of [true, false])
    for (const own of [true, false])
      for (const slash of SLASHES) {
        const expected = base && own ? 200 : 400
        const path = `/a${slash}b`
        const calls: readonly (readonly [string, Record<string, string>])[] = [
          [`/header${base}${!own}${path}`, { 'X-V': `v${own}` }],
          [`/header${base}${own}${path}`, {}],
          [`/header${base}${own}${path}`, { 'X-V': 'unknown' }],
          [`/urlparam${base}${!own}${path}?v=v${own}`, {}],
          [`/urlparam${base}${own}${path}`, {}],
          [`/url${base}${!own}/v${own}${path}`, {}],
          [`/led${base}${own}${path}`, {}],
        ]
        for (const [target, headers] of calls) {
          const before = origin.seen.length
          const answer = await gateway.call(target, { headers })
          assert.equal(answer.status, expected, `${target} ${JSON.stringify(headers)}: ${answer.text}`)
          assert.equal(origin.seen.length - before, expected === 200 ? 1 : 0, target)
        }
      }
})

/** Below the listen path, with what is asked for where it is spelled without escapes. */
const ENDPOINTS = [
  'oauth/token',
  'oauth/authorize',
  'oauth/token/',
  'oauth/register/abc',
  'oauth/jwks',
  'svc/batch',
  'svc/batch/',
].concat(['svc/oauth/authorize-client', '.well-known/oauth-authorization-server'])

test('no spelling of an endpoint of the API leads to its upstream', async (t) => {
  const { origin, gateway, publish } = await open(t)
  const server = {
    ...ALLOWED,
    batchProcessing: { enabled: true },
    authentication: {
      enabled: true,
      securitySchemes: { o: { enabled: true } },
    },
  }
  const api = defined({ id: 'bt', url: origin.url, server })
  const oauth = {
    components: {
      securitySchemes: {
        o: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: '/oauth/token', scopes: {} } } },
      },
    },
    security: [{ o: [] }],
    paths: { '/*': { get: { operationId: 'all', responses: {} }, post: { operationId: 'all2', responses: {} } } },
  }
  const ignore = { ignoreAuthentication: { enabled: true } }
  const extension = api['x-svc-api-gateway']
  assert.ok(typeof extension === 'object' && extension !== null)
  const document = {
    ...api,
    ...oauth,
    'x-svc-api-gateway': { ...extension, middleware: { operations: { all: ignore, all2: ignore } } },
  }
  const made = await gateway.svc('POST', '/svc/apis/oas', document)
  assert.equal(made.status, 200, made.text)
  await publish({ id: 'none', server: ALLOWED })
  for (const endpoint of ENDPOINTS) {
    const cuts = [...endpoint.matchAll(/\//g)].map(({ index }) => index)
    for (const slash of SLASHES)
      for (const at of cuts)
        for (const method of ['GET', 'POST']) {
          const spelled = `${endpoint.slice(0, at)}${slash}${endpoint.slice(at + 1)}`
          assert.equal((await gateway.call(`/bt/${spelled}`, { method })).status, 400, `${method} ${spelled}`)
        }
  }
  assert.deepEqual(origin.seen, [])
  // Elsewhere, and for APIs without them, such paths are the upstream's.
  for (const path of ['/bt/oauth%2Fother', '/bt/x/svc%2Fbatch', '/none/oauth%2Ftoken', '/none/svc%2Fbatch'])
    assert.equal((await gateway.call(path)).status, 200, path)
})

test('HEAD does not act, with a slash at the end neither', async (t) => {
  const { gateway } = await open(t)
  for (const path of [
    '/svc/reload',
    '/svc/reload/',
    '/svc/reload/?block=true',
    '/svc/reload/group',
    '/svc/reload/group/',
    '/svc//reload',
  ])
    assert.equal((await gateway.svc('HEAD', path)).status, 405, path)
})
