import assert from 'node:assert/strict'
import { createPublicKey, hash } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/model/json/json.ts'
import type { Answer } from '../../worlds/base/client.ts'
import { classic, defined } from '../../worlds/base/definitions.ts'
import { base64, claims, compact, es, SECRET, signer } from '../../worlds/gateway/jwt-fixtures.ts'
import { type OAuthWorld, policyOf, startPlain } from '../../worlds/gateway/oauth-fixtures.ts'
import { newProofKey, type ProofKey, proofOf } from '../../worlds/gateway/oauth-proofs.ts'
import { bareOrigin } from '../../worlds/gateway/upstream-fixtures.ts'
import { Client, get, statusOf } from '../../worlds/wire/raw.ts'

const RUNS = process.env.GATEHOUSE_DEEP === '1' ? 2_000 : 80

interface World {
  readonly world: OAuthWorld
  readonly key: ProofKey
  /** Signs tokens of another issuer, which `f`, `m` and `i` trust. */
  foreign(more: JsonObject): string
  /** Our token at API `a`; bound to the key by default. */
  own(bound?: boolean): Promise<string>
  send(path: string, headers: Record<string, string>, method?: string): Promise<Answer>
  proof(path: string, more: { token: string; key?: ProofKey; htm?: string; jti?: string }): string
}

/** Takes JSON Web Tokens of this public key. */
function jwtApi(id: string, url: string, pem: string, more: JsonObject = {}): JsonObject {
  return classic(id, `/${id}/`, url, {
    ...{ use_keyless: false, enable_jwt: true, jwt_signing_method: 'ecdsa', jwt_source: base64(pem) },
    ...{ jwt_default_policies: ['p'] },
    ...more,
  })
}

/** Takes either a JSON Web Token of this public key or a key, both in `Authorization`. */
function eitherApi(id: string, url: string, pem: string): JsonObject {
  const token = { enabled: true, header: { enabled: true, name: 'Authorization' }, source: base64(pem) }
  return {
    openapi: '3.0.3',
    info: { title: id, version: '1' },
    paths: {},
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        key: { type: 'apiKey', in: 'header', name: 'Authorization' },
      },
    },
    security: [{ token: [] }, { key: [] }],
    'x-svc-api-gateway': {
      info: { id, name: id, state: { active: true } },
      upstream: { url },
      server: {
        listenPath: { value: `/${id}/`, strip: true },
        authentication: {
          enabled: true,
          securityProcessingMode: 'compliant',
          securitySchemes: {
            token: { ...token, signingMethod: 'ecdsa', defaultPolicies: ['p'] },
            key: { enabled: true },
          },
        },
      },
    },
  }
}

async function start(t: TestContext, settings: JsonObject = { accessTokenFormat: 'jwt' }): Promise<World> {
  const world = await startPlain(t, { settings: { dpop: 'allowed', ...settings } })
  const { gateway, origin } = world
  const key = newProofKey()
  const base = `http://127.0.0.1:${gateway.port}`
  const nowMs = () => gateway.clock.wall()
  const own = async (bound = true) => {
    const dpop = proofOf(key, { htm: 'POST', htu: `${base}/a/oauth/token`, nowMs: nowMs() })
    const asked = await world.ask('/a/', 'app', {}, bound ? { dpop } : {})
    assert.equal(asked.status, 200, asked.text)
    return (asked.json as { access_token: string }).access_token
  }
  await own(false)
  const set = (await gateway.call('/a/oauth/jwks')).json as { keys?: JsonObject[] }
  const [jwk] = set.keys ?? []
  const idp = signer('ES256', 'idp')
  const pem =
    jwk === undefined ? idp.pem : createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' })
  const url = origin.url
  const publish = async (definition: JsonObject) => {
    const path = 'openapi' in definition ? '/svc/apis/oas' : '/svc/apis'
    const made = await gateway.svc('POST', path, definition)
    assert.equal(made.status, 200, made.text)
  }
  await publish(defined({ id: 'k', url, keyIn: 'Authorization' }))
  await publish(jwtApi('j', url, String(pem)))
  await publish(jwtApi('f', url, idp.pem))
  await publish(eitherApi('m', url, idp.pem))
  // An API in front of `f`: both ask who calls.
  await publish(jwtApi('i', 'svc://f', idp.pem, { enable_batch_request_support: true }))
  await gateway.svc('PUT', '/svc/policies/p', policyOf('p', ['a', 'k', 'j', 'f', 'm', 'i']))
  return {
    world,
    key,
    foreign: (more) => compact({ alg: 'ES256', typ: 'JWT' }, claims(more), es(idp.privateKey)),
    own,
    send: (path, headers, method = 'GET') => gateway.call(path, { method, headers }),
    proof: (path, { token, key: other = key, htm = 'GET', jti }) =>
      proofOf(other, { htm, htu: `${base}${path}`, nowMs: nowMs(), token, ...(jti !== undefined && { jti }) }),
  }
}

/** Ways to present a token, and whether a right holder would: written from RFC 9449 section 7.1. */
const PRESENTED = {
  bearer: 'Bearer without a proof',
  bare: 'without a scheme',
  dpop: 'DPoP with the right proof',
  'dpop-without': 'DPoP without a proof',
  'bearer-proved': 'Bearer with the right proof',
  'bare-proved': 'without a scheme, with the right proof',
  'dpop-method': 'DPoP, proof for another method',
  'dpop-address': 'DPoP, proof for another address',
  'dpop-token': 'DPoP, proof for another token',
  'dpop-key': 'DPoP, proof by another key',
  'dpop-two': 'DPoP with two proofs in one field',
} as const
type Way = keyof typeof PRESENTED
const WAYS = Object.keys(PRESENTED) as Way[]

function headersFor({ proof }: World, way: Way, path: string, token: string): Record<string, string> {
  const [word] = way.split('-')
  const authorization = word === 'bare' ? token : `${word === 'dpop' ? 'DPoP' : 'Bearer'} ${token}`
  const right = () => proof(path, { token })
  const proofs: Partial<Record<Way, () => string>> = {
    dpop: right,
    'bearer-proved': right,
    'bare-proved': right,
    'dpop-method': () => proof(path, { token, htm: 'POST' }),
    'dpop-address': () => proof(`${path}/else`, { token }),
    'dpop-token': () => proof(path, { token: `${token}x` }),
    'dpop-key': () => proof(path, { token, key: newProofKey() }),
    'dpop-two': () => `${right()}, ${right()}`,
  }
  const dpop = proofs[way]?.()
  return { authorization, ...(dpop !== undefined && { dpop }) }
}

test('a bound token opens an API of any method with the right proof alone', async (t) => {
  for (const format of ['jwt', 'opaque']) {
    const made = await start(t, { accessTokenFormat: format })
    const bound = await made.own()
    const free = await made.own(false)
    for (const path of format === 'jwt' ? ['/a/x', '/k/x', '/j/x'] : ['/a/x', '/k/x'])
      for (const way of WAYS) {
        const about = `${format} ${path} ${PRESENTED[way]}`
        const answer = await made.send(path, headersFor(made, way, path, bound))
        assert.equal(answer.status, way === 'dpop' ? 200 : 401, about)
        if (answer.status === 401 && !(path === '/a/x' && way.startsWith('bare')))
          assert.match(String(answer.headers['www-authenticate']), /DPoP algs=.*error="invalid_/, about)
        const plain = await made.send(path, headersFor(made, way, path, free))
        const isBearer = way.startsWith('bearer') || (way.startsWith('bare') && path !== '/a/x')
        assert.equal(plain.status, isBearer ? 200 : 401, `not bound, ${about}`)
      }
  }
})

test('a proof counts once at every method, also where an API leads to another that asks again', async (t) => {
  const made = await start(t)
  const bound = await made.own()
  const foreign = made.foreign({ cnf: { jkt: made.key.thumbprint } })
  for (const [path, token] of [
    ['/a/x', bound],
    ['/k/x', bound],
    ['/j/x', bound],
    ['/f/x', foreign],
    ['/m/x', foreign],
    ['/i/x', foreign],
  ] as const) {
    const headers = { authorization: `DPoP ${token}`, dpop: made.proof(path, { token }) }
    const first = await made.send(path, headers)
    assert.equal(first.status, 200, `${path} ${first.text}`)
    assert.equal((await made.send(path, headers)).status, 401, path)
    const asked = { method: 'GET', url: path, headers: { ...headers, dpop: made.proof(path, { token }) } }
    const explained = await made.world.gateway.svc('POST', '/svc/explain', asked)
    assert.equal((explained.json as { result: { outcome: string } }).result.outcome, 'forwarded', path)
  }
})

test('each part of a batch proves its token for itself', async (t) => {
  const made = await start(t)
  const token = made.foreign({ cnf: { jkt: made.key.thumbprint } })
  const part = (headers: JsonObject) => ({ method: 'GET', relative_url: 'x', headers, body: '' })
  const requests = [
    part({ authorization: `DPoP ${token}`, dpop: made.proof('/i/x', { token }) }),
    part({ authorization: `Bearer ${token}` }),
    part({ authorization: `DPoP ${token}` }),
    part({ authorization: `Bearer ${made.foreign({})}` }),
  ]
  const body = JSON.stringify({ requests, suppress_parallel_execution: true })
  const answer = await made.world.gateway.call('/i/svc/batch/', { method: 'POST', body })
  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual(
    (answer.json as unknown as { code: number }[]).map(({ code }) => code),
    [200, 401, 401, 200],
  )
})

test('property: a foreign token is accepted when everything in its cnf is proved', async (t) => {
  const made = await start(t)
  let count = 0
  const mine = made.key.thumbprint
  const other = newProofKey().thumbprint
  const hashed = hash('sha256', 'certificate', 'base64url')
  const member = fc.tuple(
    fc.constantFrom('jkt', 'x5t#S256', 'jwk', 'kid', 'jku', 'jwe', 'JKT', 'x5t', 'osc', ''),
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom<unknown>(mine) },
      fc.constantFrom<unknown>(other, hashed, '', ' ', `${mine} `, 0, null, [mine], { jkt: mine }, made.key.jwk),
    ),
  )
  const cnf = fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom<unknown>(undefined, { jkt: mine }) },
    fc.array(member, { maxLength: 3 }).map((members) => Object.fromEntries(members) as unknown),
    fc.constantFrom<unknown>(null, '', mine, [], [{ jkt: mine }], 1, true),
  )
  await fc.assert(
    fc.asyncProperty(
      cnf,
      fc.constantFrom(...WAYS),
      fc.constantFrom('/f/x', '/m/x', '/i/x'),
      async (held, way, path) => {
        const token = made.foreign((held === undefined ? {} : { cnf: held, jti: `${++count}` }) as JsonObject)
        const { status } = await made.send(path, headersFor(made, way, path, token))
        const asksNothing = held === undefined && (way.startsWith('bearer') || way.startsWith('bare'))
        const isMine =
          way === 'dpop' && typeof held === 'object' && JSON.stringify(held) === JSON.stringify({ jkt: mine })
        if (asksNothing || isMine) assert.equal(status, 200, `${JSON.stringify(held)} ${PRESENTED[way]}`)
        else assert.equal(status, 401, JSON.stringify([held, way, path]))
      },
    ),
    { numRuns: RUNS },
  )
})

test('a revoked token of ours is refused at once where an API takes JSON Web Tokens', async (t) => {
  const made = await start(t)
  const { gateway } = made.world
  const revoke = (token: string) =>
    gateway.call('/a/oauth/revoke', {
      method: 'POST',
      headers: {
        authorization: `Basic ${base64('app:secret-of-app')}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams({ token }).toString(),
    })
  const [one, two] = [await made.own(false), await made.own(false)]
  const status = async (token: string, path = '/j/x') => (await made.world.get(path, token)).status
  assert.deepEqual([await status(one), await status(two)], [200, 200])
  assert.equal((await revoke(one)).status, 200)
  assert.deepEqual([await status(one), await status(one, '/a/x'), await status(two)], [401, 401, 200])
  assert.match(String((await made.world.get('/j/x', one)).headers['www-authenticate']), /error="invalid_token"/)
  // Never looked at before it was revoked.
  const unseen = await made.own(false)
  await revoke(unseen)
  assert.equal(await status(unseen), 401)
  // The client changes its epoch, goes away from the API, is deleted.
  assert.equal((await gateway.svc('DELETE', '/svc/oauth/clients/a/app')).status, 200)
  assert.deepEqual([await status(two), await status(two, '/k/x')], [401, 403])
  await made.world.client('app', { api_id: 'a', policies: ['p'] })
  assert.equal(await status(two), 401)
  assert.equal(await status(await made.own(false)), 200)
})

test('a tunnel of a token of ours ends with the token, whatever method took it', async (t) => {
  const made = await start(t)
  const { gateway } = made.world
  const echo = await bareOrigin(t, (socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: raw\r\nConnection: Upgrade\r\n\r\n')
    socket.pipe(socket)
  })
  const [jwk] = ((await gateway.call('/a/oauth/jwks')).json as { keys: JsonObject[] }).keys
  const pem = String(createPublicKey({ key: jwk!, format: 'jwk' }).export({ type: 'spki', format: 'pem' }))
  const external: JsonObject = {
    ...defined({ id: 'te', url: echo.url }),
    components: { securitySchemes: { s: { type: 'oauth2', flows: {} } } },
    security: [{ s: [] }],
  }
  const providers = [{ jwt: { enabled: true, signingMethod: 'ecdsa', source: base64(pem) } }]
  Object.assign((external['x-svc-api-gateway'] as { server: JsonObject }).server, {
    authentication: { enabled: true, securitySchemes: { s: { enabled: true, providers } } },
  })
  for (const [path, definition] of [
    ['/svc/apis', jwtApi('tj', echo.url, pem)],
    ['/svc/apis/oas', external],
  ] as const) {
    const saved = await gateway.svc('POST', path, definition as JsonObject)
    assert.equal(saved.status, 200, saved.text)
  }
  await gateway.svc('PUT', '/svc/policies/p', policyOf('p', ['a', 'tj', 'te', 'k', 'j', 'f', 'm', 'i']))
  const open = async (api: string, token: string) => {
    const client = await Client.connect(gateway.port)
    t.after(() => client.destroy())
    const fields = `Upgrade: raw\r\nConnection: Upgrade\r\nAuthorization: Bearer ${token}\r\n`
    assert.equal(statusOf(await client.ask(get(`/${api}/x`, fields))), 101, api)
    return client
  }
  const ways: Readonly<Record<string, (token: string) => Promise<unknown>>> = {
    revoked: (token) => gateway.svc('POST', '/svc/oauth/revoke', { token, client_id: 'app' }),
    'client deleted': () => gateway.svc('DELETE', '/svc/oauth/clients/a/app'),
  }
  for (const [name, end] of Object.entries(ways)) {
    const token = await made.own(false)
    const tunnels = [await open('tj', token), await open('te', token)]
    for (const tunnel of tunnels) {
      tunnel.write('ping')
      assert.equal((await tunnel.inbox.take('an echo', () => 4)).bytes.toString(), 'ping', name)
    }
    await end(token)
    for (const tunnel of tunnels) await tunnel.inbox.toEnd()
  }
})

test('a secret of somebody else is not mistaken for a key of ours', async (t) => {
  const made = await start(t)
  const { gateway, origin } = made.world
  const definition = jwtApi('h', origin.url, '', { jwt_signing_method: 'hmac', jwt_source: base64(SECRET) })
  assert.equal((await gateway.svc('POST', '/svc/apis', definition)).status, 200)
  const own = await made.own(false)
  assert.equal((await made.world.get('/h/x', own)).status, 401)
})
