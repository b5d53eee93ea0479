import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { answering, defined } from '../../worlds/base/definitions.ts'
import { TEST_SECRET } from '../../worlds/base/harness.ts'
import { oauthApi, startWorld } from '../../worlds/gateway/oauth-fixtures.ts'

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

/** Every endpoint below a listen path: method, path, and the status without a valid client. */
const ENDPOINTS: readonly (readonly [method: string, path: string])[] = [
  ['GET', '/oauth/authorize'],
  ['POST', '/oauth/authorize/'],
  ['POST', '/oauth/token'],
  ['POST', '/oauth/token/'],
  ['POST', '/oauth/revoke'],
  ['POST', '/oauth/revoke_all'],
  ['POST', '/oauth/introspect'],
  ['GET', '/oauth/jwks'],
  ['POST', '/oauth/par'],
  ['POST', '/oauth/device_authorization'],
  ['POST', '/oauth/register'],
  ['GET', '/oauth/register/some-client'],
  ['GET', '/.well-known/oauth-authorization-server'],
  ['POST', '/svc/oauth/authorize-client'],
  ['POST', '/svc/oauth/authorize-client/'],
  ['POST', '/old/oauth/authorize-client/'],
  ['POST', '/svc/batch'],
  ['POST', '/svc/batch/'],
  ['GET', '/svc/rate-limits'],
  ['HEAD', '/svc/rate-limits/'],
  ['POST', '/%6Fauth/%74oken'],
  ['POST', '/oauth/./token'],
  ['POST', '//svc//oauth/authorize-client'],
]

/** Longer listen paths of the same organisation, where nesting is allowed. */
const NESTED: readonly (readonly [path: string, more?: JsonObject])[] = [
  ['/oauth/'],
  ['/svc/'],
  ['/svc/oauth/authorize-client/'],
  ['/oauth/{any}/'],
  ['/{any}/'],
  ['/{a}/{b}/'],
  ['/{a}/{b}/{c}/'],
  ['/.well-known/'],
  ['/.well-known/{any}/'],
  ['/OAuth/', { ignoreCase: true }],
  ['/SVC/Batch/', { ignoreCase: true }],
  ['/svc/{any}/'],
  ['/svc/rate-limits/'],
  ['/oauth/', { domain: 'own.example' }],
  ['/{any}/{b:.*}/', { domain: 'own.example' }],
]

for (const base of ['/pay', '/{tenant}', '/PAY', '']) {
  const at = base.replace('{tenant}', 'pay')
  test(`no longer listen path takes the endpoints below ${base || '/'}`, async (t) => {
    const world = await startWorld(t, { env: { SVC_COMPAT_VENDORALIASES: 'old' } })
    const { gateway, origin } = world
    const server = { listenPath: { value: `${base}/`, strip: true }, batchProcessing: { enabled: true } }
    const owner = oauthApi(origin.url, { id: 'owner', path: `${base}/` })
    const extension = owner['x-svc-api-gateway'] as JsonObject
    await world.publish({
      ...owner,
      'x-svc-api-gateway': {
        ...extension,
        server: { ...(extension.server as JsonObject), ...server },
        middleware: {
          global: { ...(base === '/PAY' && { ignoreCase: { enabled: true } }), ...answering('X-By', 'owner') },
        },
      },
    })
    const answersOf = async (prefix: string, host: string) => {
      const answers: [string, number][] = []
      for (const [method, path] of ENDPOINTS) {
        const body = method === 'POST' ? { body: 'client_id=x' } : {}
        const headers = { ...FORM, host, 'x-svc-authorization': TEST_SECRET }
        const answer = await gateway.call(prefix + path, { method, headers, ...body })
        assert.equal(answer.headers['x-by'] === 'nested', false, `${method} ${prefix}${path} at ${host}`)
        answers.push([path, answer.status])
      }
      return answers
    }
    const hosts = ['any.example', 'own.example']
    const alone = await answersOf(at, 'any.example')
    for (const [i, [path, more = {}]] of NESTED.entries()) {
      if (base === '' && /^\/(?:svc|\.well-known)/i.test(path)) continue
      const { ignoreCase = false, domain = '' } = more
      const nested = defined({
        ...{ id: `nested-${i}`, path: base.replace('{tenant}', '{z}') + path, url: origin.url },
        server: {
          listenPath: { value: base.replace('{tenant}', '{z}') + path, strip: true },
          ...(domain !== '' && { customDomain: { enabled: true, name: domain } }),
        },
        global: {
          ...answering('X-By', 'nested'),
          ...(ignoreCase === true && { ignoreCase: { enabled: true } }),
        },
      })
      const made = await gateway.svc('POST', '/svc/apis/oas', nested)
      assert.equal(made.status, 200, `${path}: ${made.text}`)
      for (const host of hosts) assert.deepEqual(await answersOf(at, host), alone, `beside ${path} at ${host}`)
      await gateway.svc('DELETE', `/svc/apis/oas/nested-${i}`)
    }
    assert.equal(origin.seen.length, 0)
  })
}

test('an API with a placeholder as first segment gets no authorization server’s requests', async (t) => {
  const world = await startWorld(t)
  const { gateway, origin } = world
  await world.publish(oauthApi(origin.url, { id: 'owner', path: '/pay/' }))
  for (const path of ['/', '/{any}/', '/{any}/oauth/', '/{a}/{b}/']) {
    const all = defined({ id: 'all', path, url: origin.url })
    assert.equal((await gateway.svc('POST', '/svc/apis/oas', all)).status, 200)
    const asked = await gateway.call('/owner/oauth/token', { method: 'POST', headers: FORM, body: 'client_id=x' })
    assert.equal(asked.status, 401, path)
    assert.equal(origin.seen.length, 0, path)
    // what is no endpoint is that API's
    assert.equal((await gateway.call('/owner/oauth/other')).status, 200, path)
    origin.seen.length = 0
    await gateway.svc('DELETE', '/svc/apis/oas/all')
  }
})

/** Listen paths of another owner at the endpoints of an API by its id, and whether they have what is asked there. */
const OF_OTHERS: readonly (readonly [path: string, has: boolean, domain?: string])[] = [
  ['/owner/oauth/', true],
  ['/owner/oauth/token/', true],
  ['/owner/{any}/', true],
  ['/owner/', true],
  ['/{any}/oauth/', true],
  ['/{any:own.*}/', true],
  ['/{a}/{b:o.*}/{c}', true],
  ['/owner/oauth/', true, 'own.example'],
  ['/{any}/oauth/', true, 'own.example'],
  ['/owner/oauth/token/deeper/', false],
  ['/{any}/other/', false],
  ['/owner/oauth/', false, 'another.example'],
]

test('the id of an API takes nothing from listen paths of another owner', async (t) => {
  const world = await startWorld(t)
  const { gateway, origin } = world
  const { documents } = gateway.store
  const token = async () => {
    origin.seen.length = 0
    const asked = { method: 'POST', headers: { ...FORM, host: 'own.example' }, body: 'client_id=x' }
    const { status } = await gateway.call('/owner/oauth/token', asked)
    return origin.seen.length === 0 ? status : 'upstream'
  }
  for (const [value, has, name] of OF_OTHERS) {
    const server = { listenPath: { value, strip: true }, ...(name && { customDomain: { enabled: true, name } }) }
    await gateway.svc('POST', '/svc/apis/oas', defined({ id: 'other', path: value, url: origin.url, server }))
    const { id, body } = (await documents.find('api', 'api_id', 'other'))!
    const put = { op: 'put', kind: 'api', id, body: { ...body, user_owners: ['somebody'] } } as const
    await documents.commit([put], undefined)
    await world.publish(oauthApi(origin.url, { id: 'owner', path: '/pay/v1/' }))
    assert.equal(await token(), has ? 'upstream' : 401, `${value} ${name}`)
    await documents.commit([{ ...put, body }], undefined)
    await gateway.svc('PUT', '/svc/apis/oas/owner', oauthApi(origin.url, { id: 'owner', path: '/pay/v1/' }))
    if (value !== '/owner/') assert.equal(await token(), 401, `of the same owner: ${value} ${name}`)
    for (const api of ['other', 'owner']) await gateway.svc('DELETE', `/svc/apis/oas/${api}`)
  }
})
