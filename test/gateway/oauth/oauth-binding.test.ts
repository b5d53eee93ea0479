import assert from 'node:assert/strict'
import { createPublicKey } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { classic, defined } from '../../worlds/base/definitions.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { challengesOf, type OAuthWorld, policyOf, startPlain } from '../../worlds/gateway/oauth-fixtures.ts'
import { newProofKey, type ProofKey, proofOf } from '../../worlds/gateway/oauth-proofs.ts'
import { type Certificate, makeCertificate } from '../../worlds/wire/certificates.ts'
import { Client, type Message, statusOf } from '../../worlds/wire/raw.ts'

const UNPROVED = 'The token is bound to a key or certificate that the request did not prove'
const ALGS = 'algs="ES256 PS256 RS256"'

interface Bound {
  readonly world: OAuthWorld
  readonly key: ProofKey
  readonly base: string
  readonly token: string
  /** A request with these fields. */
  send(path: string, authorization: string, proof?: string, method?: string): ReturnType<OAuthWorld['get']>
  proof(path: string, more?: { htm?: string; key?: ProofKey; token?: string; jti?: string }): string
}

/** A DPoP-bound token at API `a`; API `k` takes auth tokens. */
async function startBound(
  t: TestContext,
  dpop: 'allowed' | 'required',
  env: Record<string, string> = {},
): Promise<Bound> {
  const world = await startPlain(t, { settings: { dpop } }, { env })
  const { gateway } = world
  await world.publish(defined({ id: 'k', url: world.origin.url, keyIn: 'Authorization' }))
  await gateway.svc('PUT', '/svc/policies/p', policyOf('p', ['a', 'k']))
  const key = newProofKey()
  const base = env.SVC_GW_PUBLICURL ?? `http://127.0.0.1:${gateway.port}`
  const now = () => gateway.clock.wall()
  const asked = await world.ask(
    '/a/',
    'app',
    {},
    { dpop: proofOf(key, { htm: 'POST', htu: `${base}/a/oauth/token`, nowMs: now() }) },
  )
  assert.equal(asked.status, 200, asked.text)
  const { access_token: token, token_type: type } = asked.json as { access_token: string; token_type: string }
  assert.equal(type, 'DPoP')
  return {
    world,
    key,
    base,
    token,
    send: (path, authorization, proof, method = 'GET') =>
      gateway.call(path, { method, headers: { authorization, ...(proof !== undefined && { dpop: proof }) } }),
    proof: (path, more = {}) =>
      proofOf(more.key ?? key, {
        htm: more.htm ?? 'GET',
        htu: `${base}${path}`,
        nowMs: now(),
        token: more.token ?? token,
        ...(more.jti !== undefined && { jti: more.jti }),
      }),
  }
}

describe('a token bound to a key', () => {
  test('opens its API with a new proof each time, and only so', async (t) => {
    const { send, proof, token } = await startBound(t, 'allowed')
    assert.equal((await send('/a/x', `DPoP ${token}`, proof('/a/x'))).status, 200)
    assert.equal((await send('/a/x?q=1', `dpop ${token}`, proof('/a/x'))).status, 200)
    const used = proof('/a/x')
    assert.equal((await send('/a/x', `DPoP ${token}`, used)).status, 200)

    const invalid = (why: string) => `DPoP ${ALGS}, error="invalid_dpop_proof", error_description="${why}"`
    const unproved = `DPoP ${ALGS}, error="invalid_token", error_description="${UNPROVED}"`
    const cases: readonly [string, string, string | undefined, string][] = [
      ['without a proof', `DPoP ${token}`, undefined, unproved],
      ['as a bearer token', `Bearer ${token}`, undefined, unproved],
      ['as a bearer token with a proof', `Bearer ${token}`, proof('/a/x'), unproved],
      ['with a proof of another key', `DPoP ${token}`, proof('/a/x', { key: newProofKey() }), unproved],
      ['with a proof that was used', `DPoP ${token}`, used, invalid('the proof was used before')],
      [
        'of another method',
        `DPoP ${token}`,
        proof('/a/x', { htm: 'POST' }),
        invalid('the htm of the proof is not the method'),
      ],
      ['of another address', `DPoP ${token}`, proof('/a/y'), invalid('the htu of the proof is not the address')],
      [
        'of another token',
        `DPoP ${token}`,
        proof('/a/x', { token: 'z' }),
        invalid('the ath of the proof is not that of the token'),
      ],
    ]
    for (const [name, authorization, sent, challenge] of cases) {
      const answer = await send('/a/x', authorization, sent)
      assert.equal(answer.status, 401, name)
      assert.equal(challengesOf(answer), `Bearer realm="oauth", ${challenge}`, name)
    }
  })

  test('is refused as a bearer token at auth-token APIs too, and opens them with a proof', async (t) => {
    const { send, proof, token } = await startBound(t, 'allowed')
    for (const authorization of [`Bearer ${token}`, token, `DPoP ${token}`]) {
      const answer = await send('/k/x', authorization)
      assert.deepEqual([answer.status, answer.json], [401, { error: UNPROVED }], authorization)
    }
    assert.equal((await send('/k/x', `Bearer ${token}`, proof('/k/x'))).status, 401)
    assert.equal((await send('/k/x', `DPoP ${token}`, proof('/k/x'))).status, 200)
    assert.equal((await send('/k/x', `DPoP ${token}`, proof('/a/x'))).status, 401)
  })

  test('is proved for the public address where one is set', async (t) => {
    const { send, proof, token } = await startBound(t, 'allowed', { SVC_GW_PUBLICURL: 'https://api.example.org' })
    assert.equal((await send('/a/x', `DPoP ${token}`, proof('/a/x'))).status, 200)
  })

  test('an explained request uses no proof up', async (t) => {
    const { send, proof, token, world } = await startBound(t, 'allowed')
    const sent = proof('/a/x')
    const asked = { method: 'GET', url: '/a/x', headers: { authorization: `DPoP ${token}`, dpop: sent } }
    const explained = await world.gateway.svc('POST', '/svc/explain', asked)
    assert.equal((explained.json as { result: { outcome: string } }).result.outcome, 'forwarded')
    assert.equal((await send('/a/x', `DPoP ${token}`, sent)).status, 200)
  })
})

test('a token that is bound to nothing', async (t) => {
  const world = await startPlain(t, { settings: { dpop: 'allowed' } })
  const token = await world.token('/a/', 'app')
  assert.equal((await world.get('/a/x', token)).status, 200)
  const asDpop = await world.gateway.call('/a/x', { headers: { authorization: `DPoP ${token}` } })
  assert.equal(asDpop.status, 401)
  const plain = await world.gateway.call('/a/x')
  assert.equal(challengesOf(plain), `Bearer realm="oauth", DPoP ${ALGS}`)
})

test('an API that requires proofs takes no other token, and challenges for DPoP alone', async (t) => {
  const { send, proof, token, world } = await startBound(t, 'required')
  assert.equal((await send('/a/x', `DPoP ${token}`, proof('/a/x'))).status, 200)
  assert.equal(challengesOf(await world.gateway.call('/a/x')), `DPoP ${ALGS}`)
  const unknown = await world.get('/a/x', 'nonsense')
  const text = 'error="invalid_token", error_description="Key not authorised"'
  assert.equal(challengesOf(unknown), `DPoP ${ALGS}, ${text}`)
})

describe('a token bound to a certificate', () => {
  const SERVER = makeCertificate('api.example.org')
  const [MINE, OTHER] = [makeCertificate('client one'), makeCertificate('client two')]

  async function startTls(t: TestContext, mutualTls: 'allowed' | 'required') {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-mtls-'))
    t.after(() => rmSync(folder, { recursive: true }))
    writeFileSync(join(folder, 'cert.pem'), SERVER.cert)
    writeFileSync(join(folder, 'key.pem'), SERVER.key)
    const world = await startPlain(
      t,
      { settings: { mutualTls, accessTokenFormat: 'jwt' } },
      {
        env: {
          SVC_GW_TLS_ENABLED: 'true',
          SVC_GW_TLS_LISTENPORT: '0',
          SVC_GW_TLS_CERTFILE: join(folder, 'cert.pem'),
          SVC_GW_TLS_KEYFILE: join(folder, 'key.pem'),
        },
      },
    )
    await world.publish(defined({ id: 'k', url: world.origin.url, keyIn: 'Authorization' }))
    await world.gateway.svc('PUT', '/svc/policies/p', policyOf('p', ['a', 'k', 'j']))
    const send = async (head: string, body = '', by?: Certificate): Promise<Message> => {
      const options = { rejectUnauthorized: false, ...(by !== undefined && { cert: by.cert, key: by.key }) }
      const client = await Client.connect(world.gateway.gateway.tlsPort!, options)
      const answer = await client.ask(`${head} HTTP/1.1\r\nHost: x\r\n${body}`)
      client.destroy()
      return answer
    }
    const form = 'grant_type=client_credentials'
    const basic = Buffer.from('app:secret-of-app').toString('base64')
    const ask = (by?: Certificate) =>
      send(
        'POST /a/oauth/token',
        `Authorization: Basic ${basic}\r\nContent-Type: application/x-www-form-urlencoded\r\n` +
          `Content-Length: ${form.length}\r\n\r\n${form}`,
        by,
      )
    const use = async (path: string, token: string, by?: Certificate) =>
      statusOf(await send(`GET ${path}`, `Authorization: Bearer ${token}\r\n\r\n`, by))
    const token = async (by?: Certificate) => {
      const answer = await ask(by)
      assert.equal(statusOf(answer), 200, answer.body.toString())
      return (JSON.parse(answer.body.toString()) as { access_token: string }).access_token
    }
    // An API that takes the tokens as JSON Web Tokens.
    const free = mutualTls === 'allowed' ? await token() : ''
    const [jwk] = ((await world.gateway.call('/a/oauth/jwks')).json as { keys: JsonObject[] }).keys
    if (free !== '') {
      const pem = createPublicKey({ key: jwk!, format: 'jwk' }).export({ type: 'spki', format: 'pem' })
      const definition = classic('j', '/j/', world.origin.url, {
        ...{ use_keyless: false, enable_jwt: true, jwt_signing_method: 'ecdsa', jwt_default_policies: ['p'] },
        jwt_source: Buffer.from(pem).toString('base64'),
      })
      assert.equal((await world.gateway.svc('POST', '/svc/apis', definition)).status, 200)
    }
    // Which handshakes ask for a certificate follows a moment after the API.
    await eventually('certificates are asked for', async () => {
      const introspected = await use('/a/x', await token(MINE))
      return introspected === 401
    })
    return { world, ask, use, token }
  }

  test('opens its API, and every other, on connections of that certificate only', async (t) => {
    const { world, use, token } = await startTls(t, 'allowed')
    const bound = await token(MINE)
    for (const path of ['/a/x', '/k/x', '/j/x']) {
      assert.equal(await use(path, bound, MINE), 200, path)
      assert.equal(await use(path, bound, OTHER), 401, path)
      assert.equal(await use(path, bound), 401, path)
    }
    assert.equal((await world.get('/a/x', bound)).status, 401)
    const free = await token()
    assert.equal(await use('/a/x', free), 200)
    assert.equal(await use('/a/x', free, OTHER), 200)
  })

  test('is no good once the certificate has expired, which gets no new one either', async (t) => {
    const { world, ask, use, token } = await startTls(t, 'required')
    const brief = makeCertificate('ten minutes', { from: '2023-11-14T22:00:00Z', until: '2023-11-14T22:23:20Z' })
    const bound = await token(brief)
    assert.equal(await use('/a/x', bound, brief), 200)
    world.gateway.clock.advance(600_999)
    assert.equal(await use('/a/x', bound, brief), 200)
    world.gateway.clock.advance(1)
    assert.equal(await use('/a/x', bound, brief), 403)
    assert.equal(statusOf(await ask(brief)), 400)
  })

  test('is the only one where the API requires it', async (t) => {
    const { ask, use, token } = await startTls(t, 'required')
    assert.equal(statusOf(await ask()), 400)
    assert.equal(await use('/a/x', await token(MINE), MINE), 200)
  })
})
