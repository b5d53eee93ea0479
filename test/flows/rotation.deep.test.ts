import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import type { JsonObject } from '../../src/model/json/json.ts'
import { call } from '../worlds/base/client.ts'
import { eventually } from '../worlds/base/eventually.ts'
import { type Product, startProduct } from '../worlds/flows/product.ts'
import { oauthApi, policyOf } from '../worlds/gateway/oauth-fixtures.ts'
import { freePort } from '../worlds/servers/free-port.ts'
import { startOrigin } from '../worlds/servers/origin.ts'
import { type Certificate, makeCertificate } from '../worlds/wire/certificates.ts'

// Rotations that need no command, each under traffic of about a hundred requests a second, of which none may be refused.

const PAUSE_MS = 10
const ID = 'app'
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

/** Repeats a call until it is stopped. Answers how often it was done; fails where one was refused. */
function traffic(t: TestContext, name: string, ask: () => Promise<number>) {
  const state = { stopped: false, done: 0, refused: [] as number[] }
  const running = (async () => {
    while (!state.stopped) {
      const status = await ask()
      state.done++
      if (status !== 200) state.refused.push(status)
      await wait(PAUSE_MS)
    }
  })()
  return {
    /** Resolves when some more have been answered. */
    some: () => {
      const from = state.done
      return eventually(`${name} go on`, () => state.done > from + 20)
    },
    async stop() {
      state.stopped = true
      await running
      t.diagnostic(`${name}: ${state.done} answered`)
      assert.deepEqual(state.refused, [], name)
    },
  }
}

async function startWorld(t: TestContext) {
  const cwd = mkdtempSync(join(tmpdir(), 'gatehouse-rotation-'))
  t.after(() => rmSync(cwd, { recursive: true, force: true }))
  const origin = await startOrigin()
  t.after(() => origin.close())
  const put = ({ cert, key }: Certificate) => {
    writeFileSync(join(cwd, 'cert.pem'), cert)
    writeFileSync(join(cwd, 'key.pem'), key)
  }
  const tlsPort = await freePort()
  put(makeCertificate('localhost'))
  const product = await startProduct(t, cwd, {
    SVC_GW_TLS_ENABLED: 'true',
    SVC_GW_TLS_LISTENPORT: String(tlsPort),
    SVC_GW_TLS_CERTFILE: 'cert.pem',
    SVC_GW_TLS_KEYFILE: 'key.pem',
  })
  const done = async (method: string, path: string, body?: unknown) => {
    const { status, text, json } = await product.svc(method, path, body)
    assert.equal(status, 200, text)
    return json as JsonObject
  }
  await done('POST', '/svc/apis/oas', oauthApi(origin.url, { id: 'tok', settings: { accessTokenFormat: 'jwt' } }))
  await done('POST', '/svc/policies', policyOf('p', ['tok']))
  const client = { client_id: ID, redirect_uri: 'https://app.example.org/cb', api_id: 'tok', policies: ['p'] }
  const secret = String((await done('POST', '/svc/oauth/clients/create', client)).secret)
  return { product, done, put, tlsPort, secret }
}

async function issue({ port }: Product, secret: string): Promise<{ status: number; token: string }> {
  const headers = { ...FORM, authorization: `Basic ${btoa(`${ID}:${secret}`)}` }
  const body = 'grant_type=client_credentials'
  const { status, json } = await call(port, '/tok/oauth/token', { method: 'POST', headers, body })
  return { status, token: String((json as JsonObject | undefined)?.access_token) }
}

const kidOf = (token: string) => (JSON.parse(atob(token.split('.')[0]!)) as { kid: string }).kid

/** One request on a connection of its own; answers what certificate it met. */
function overTls(port: number): Promise<{ status: number; fingerprint: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { port, host: '127.0.0.1', path: '/hello', rejectUnauthorized: false, agent: false },
      (answer) => {
        const fingerprint = (answer.socket as TLSSocket).getPeerCertificate().fingerprint256
        answer.resume().on('end', () => resolve({ status: answer.statusCode!, fingerprint }))
      },
    )
    sent.on('error', reject).end()
  })
}

test('client secret, signing key and TLS certificate change under traffic and nobody is refused', async (t) => {
  const { product, done, put, tlsPort, secret } = await startWorld(t)
  let used = secret
  const first = await issue(product, used)
  assert.equal(first.status, 200)
  const tokens = traffic(t, 'new tokens', async () => (await issue(product, used)).status)
  const calls = traffic(t, 'calls with a token from before', async () => {
    return (await product.call('/tok/x', { authorization: `Bearer ${first.token}` })).status
  })
  let met = ''
  const handshakes = traffic(t, 'handshakes', async () => {
    const { status, fingerprint } = await overTls(tlsPort)
    met = fingerprint
    return status
  })
  await Promise.all([tokens.some(), calls.some(), handshakes.some()])

  const next = String((await done('PUT', `/svc/oauth/clients/tok/${ID}/rotate?overlap=3600`)).secret)
  assert.notEqual(next, used)
  await tokens.some()
  used = next
  await tokens.some()

  await done('POST', '/svc/oauth/signing-keys/rotate?alg=ES256')
  const kid = kidOf(first.token)
  const keys = (await call(product.port, '/tok/oauth/jwks')).json as { keys: { kid: string }[] }
  assert.equal(keys.keys.length, 2)
  assert.ok(keys.keys.some((one) => one.kid === kid))
  await Promise.all([tokens.some(), calls.some()])

  const before = met
  put(makeCertificate('localhost'))
  await eventually('the new certificate is shown', () => met !== before)
  await handshakes.some()

  await Promise.all([tokens.stop(), calls.stop(), handshakes.stop()])
  // At once: what it signed is refused.
  await done('DELETE', `/svc/oauth/signing-keys/${kid}`)
  assert.notEqual((await product.call('/tok/x', { authorization: `Bearer ${first.token}` })).status, 200)
  const fresh = await issue(product, used)
  assert.notEqual(kidOf(fresh.token), kid)
  assert.equal((await product.call('/tok/x', { authorization: `Bearer ${fresh.token}` })).status, 200)
})
