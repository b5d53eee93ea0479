import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { defined } from '../../worlds/base/definitions.ts'
import { openCacheScene } from '../../worlds/gateway/cache-scene.ts'
import { base64, claims, hsToken, SECRET } from '../../worlds/gateway/jwt-fixtures.ts'

const DEEP = process.env.GATEHOUSE_DEEP === '1'
const CACHE = { enabled: true, timeout: 60, cacheAllSafeRequests: true }
const SCHEMES: JsonObject = {
  key: { type: 'apiKey', in: 'header', name: 'X-Key' },
  jwt: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
}
const JWT: JsonObject = {
  ...{ enabled: true, signingMethod: 'hmac', source: base64(SECRET), identityBaseField: 'sub', defaultPolicies: ['p'] },
  header: { enabled: true, name: 'X-Token' },
  cookie: { enabled: true, name: 'session' },
}

/** APIs by the methods that each asks for, all of them at once. */
const APIS: Readonly<Record<string, readonly string[]>> = { key: ['key'], jwt: ['jwt'], both: ['key', 'jwt'] }
const TOKENS = [
  hsToken(claims({ sub: 'ann' })),
  hsToken(claims({ sub: 'ann', role: 'admin' })),
  hsToken(claims({ sub: 'bob' })),
]

const request = fc.record({
  api: fc.constantFrom(...Object.keys(APIS)),
  // Below an API itself, through one that leads there, and at an operation without authentication.
  way: fc.constantFrom('', 'front-', 'free'),
  key: fc.nat(1),
  token: fc.nat(TOKENS.length - 1),
  inCookie: fc.boolean(),
  bare: fc.boolean(),
})

test('nobody is given an answer that was made with the credentials of another', async (t) => {
  const { gateway, origin, key, publish } = await openCacheScene(t)
  origin.script = ({ headers, target }, response) => {
    const { 'x-key': key, 'x-token': token, cookie } = headers
    response.end(JSON.stringify([target, key ?? null, token ?? null, cookie ?? null]))
  }
  for (const [id, methods] of Object.entries(APIS)) {
    const document = (of: string, url: string, more: JsonObject): JsonObject => {
      const draft = defined({
        ...{ id: of, url },
        global: { ...more, cache: of === id ? CACHE : { enabled: false } },
        paths: { '/free': { get: { operationId: 'free', responses: { 200: { description: 'ok' } } } } },
        operations: { free: { ignoreAuthentication: { enabled: true } } },
        server: {
          authentication: {
            enabled: true,
            securitySchemes: Object.fromEntries(
              methods.map((name) => [name, name === 'jwt' ? JWT : { enabled: true }]),
            ),
          },
        },
      })
      return {
        ...draft,
        components: { securitySchemes: Object.fromEntries(methods.map((name) => [name, SCHEMES[name]!])) },
        security: [Object.fromEntries(methods.map((name) => [name, []]))],
      }
    }
    const made = await gateway.svc('POST', '/svc/apis/oas', document(id, origin.url, {}))
    assert.equal(made.status, 200, made.text)
    await publish(`inner-${id}`, CACHE, { info: { state: { active: true, internal: true } } })
    const front = await gateway.svc('POST', '/svc/apis/oas', document(`front-${id}`, `svc://inner-${id}/`, {}))
    assert.equal(front.status, 200, front.text)
  }
  const ids = Object.keys(APIS).flatMap((id) => [id, `front-${id}`])
  const access_rights = Object.fromEntries(ids.map((id) => [id, { api_id: id, versions: ['Default'] }]))
  const policy = await gateway.svc('POST', '/svc/policies', { id: 'p', name: 'p', active: true, access_rights })
  assert.equal(policy.status, 200, policy.text)
  const keys = [await key(ids), await key(ids)]
  let hits = 0
  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: 40, maxLength: 80 }), async (requests) => {
      for (const { api, way, key, token, inCookie, bare } of requests) {
        const methods = way === 'free' && bare ? [] : APIS[api]!
        const sentKey = methods.includes('key') ? keys[key]! : null
        const sentToken = methods.includes('jwt') ? TOKENS[token]! : null
        const headers: Record<string, string> = {
          ...(sentKey !== null && { 'X-Key': sentKey }),
          ...(sentToken !== null && (inCookie ? { Cookie: `session=${sentToken}` } : { 'X-Token': sentToken })),
        }
        const path = way === 'front-' ? `/front-${api}/x` : `/${api}/${way === 'free' ? 'free' : 'x'}`
        const answer = await gateway.call(path, { headers })
        if (answer.headers['x-svc-cached-response'] === '1') hits++
        const cookie = sentToken !== null && inCookie ? `session=${sentToken}` : null
        const target = way === 'free' ? '/free' : '/x'
        assert.deepEqual(answer.json, [target, sentKey, inCookie ? null : sentToken, cookie], `${path} ${answer.text}`)
      }
    }),
    { numRuns: DEEP ? 500 : 10 },
  )
  assert.ok(hits > 0, 'nothing was ever stored')
})
