import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { signJwt } from '../../../src/oauth/signing-keys/jwt.ts'
import { openWorld, STORES, type World } from '../../worlds/oauth/core-world.ts'
import { basic, CALLBACK, ISSUER, VERIFIER } from '../../worlds/oauth/front-fixtures.ts'

const [memory] = STORES

/** A client with a DPoP key, which makes a new proof for each request. */
function holder(world: World): () => string {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const jwk = publicKey.export({ format: 'jwk' }) as JsonObject
  let made = 0
  return () => {
    const claims = { jti: `${++made}`, htm: 'POST', htu: `${ISSUER}/oauth/token`, iat: world.clock.wallMs / 1000 }
    return signJwt({ typ: 'dpop+jwt', alg: 'ES256', jwk }, claims, privateKey)
  }
}

test('a proof binds the access token to its key (token_type DPoP, cnf), and counts once', async (t) => {
  const world = await openWorld(t, memory!)
  await world.putClient()
  const dpop = holder(world)()
  const ask = () => world.token({ grant_type: 'client_credentials' }, { headers: { ...basic('shop'), dpop } })
  const { status, body } = await ask()
  assert.deepEqual([status, body.token_type], [200, 'DPoP'])
  const seen = await world.look(body.access_token)
  assert.equal(seen.token_type, 'DPoP')
  assert.match(String((seen.cnf as JsonObject).jkt), /^[A-Za-z0-9_-]{43}$/)
  const replayed = await ask()
  assert.deepEqual([replayed.status, replayed.body.error], [400, 'invalid_dpop_proof'])
})

for (const kind of ['public', 'confidential'] as const) {
  test(`the refresh token of a ${kind} client is ${kind === 'public' ? 'bound to the key' : 'as good with another key'}`, async (t) => {
    const world = await openWorld(t, memory!)
    const client = await world.putClient(kind === 'public' ? { auth_method: 'none' } : {})
    const [mine, other] = [holder(world), holder(world)]
    const send = (form: Record<string, string>, dpop?: string) => {
      const headers = { ...(kind === 'public' ? {} : basic('shop')), ...(dpop !== undefined && { dpop }) }
      return world.token({ client_id: 'shop', ...form }, { headers })
    }
    const exchange = { grant_type: 'authorization_code', redirect_uri: CALLBACK, code_verifier: VERIFIER }
    const first = await send({ ...exchange, code: await world.code(client) }, mine())
    const refresh = { grant_type: 'refresh_token', refresh_token: String(first.body.refresh_token) }
    if (kind === 'public') {
      assert.equal((await send(refresh)).body.error, 'invalid_grant')
      assert.equal((await send(refresh, other())).body.error, 'invalid_grant')
      assert.equal((await send(refresh, mine())).body.token_type, 'DPoP')
      return
    }
    const second = await send(refresh, other())
    assert.deepEqual([second.status, second.body.token_type], [200, 'DPoP'])
    const [before, after] = [await world.look(first.body.access_token), await world.look(second.body.access_token)]
    assert.deepEqual([before.active, after.active], [false, true])
  })
}
