import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { classicApi, rightsOn } from '../../worlds/gateway/admin-fixtures.ts'
import { base64, claims, hsToken, SECRET } from '../../worlds/gateway/jwt-fixtures.ts'
import { oauthApi, policyOf } from '../../worlds/gateway/oauth-fixtures.ts'
import { type Origin, startOrigin } from '../../worlds/servers/origin.ts'
import { Client, type Message, statusOf } from '../../worlds/wire/raw.ts'

const RUNS = process.env.GATEHOUSE_DEEP === '1' ? 2_000 : 100

/** Where an API reads its credential: everywhere. */
const PLACES = { use_param: true, param_name: 'cred', use_cookie: true, cookie_name: 'cred' }

interface World {
  readonly gate: TestGateway
  readonly origin: Origin
  /** A good credential by the path of its API, as the header carries it and as query and cookie do. */
  readonly good: Readonly<Record<string, { readonly header: string; readonly bare: string }>>
}

/** One API for each method that reads a credential: `key`, `jwt`, `basic`, `oa`. */
async function start(t: TestContext): Promise<World> {
  const origin = await startOrigin()
  const gate = await startTestGateway()
  t.after(async () => {
    await gate.close()
    await origin.close()
  })
  const made = async (method: string, path: string, body: JsonObject) => {
    const answer = await gate.svc(method, path, body)
    assert.equal(answer.status, 200, answer.text)
    return answer.json as JsonObject
  }
  const publish = (id: string, scheme: string, more: JsonObject) => {
    const proxy = { listen_path: `/${id}/`, target_url: origin.url, strip_listen_path: true }
    const auth = { auth_header_name: 'Authorization', ...PLACES }
    const auth_configs = { [scheme]: auth }
    return made(
      'POST',
      '/svc/apis',
      classicApi(id, `/${id}/`, { api_id: id, use_keyless: false, proxy, auth_configs, ...more }),
    )
  }
  await publish('key', 'authToken', { use_standard_auth: true })
  await publish('basic', 'basic', { use_basic_auth: true })
  const jwt_source = base64(SECRET)
  await publish('jwt', 'jwt', {
    ...{ enable_jwt: true, jwt_signing_method: 'hmac', jwt_source, jwt_default_policies: ['p'] },
  })
  const named = (name: string) => ({ enabled: true, name })
  const settings = { header: named('Authorization'), query: named('cred'), cookie: named('cred') }
  await made('POST', '/svc/apis/oas', oauthApi(origin.url, { id: 'oa', settings }))
  await made('POST', '/svc/policies', policyOf('p', ['jwt', 'oa']))
  const { key } = await made('POST', '/svc/keys/create', { access_rights: rightsOn('key') })
  const user = { access_rights: rightsOn('basic'), basic_auth_data: { password: 'correct horse' } }
  await made('POST', '/svc/keys/ann', user)
  await made('POST', '/svc/oauth/clients/create', {
    ...{ client_id: 'app', secret: 'secret-of-app', redirect_uri: 'https://app.example/cb', api_id: 'oa' },
    policies: ['p'],
  })
  const asked = await gate.call('/oa/oauth/token', {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      authorization: `Basic ${base64('app:secret-of-app')}`,
    },
    body: 'grant_type=client_credentials',
  })
  const token = String((asked.json as JsonObject).access_token)
  const same = (credential: string) => ({ header: credential, bare: credential })
  const bearer = (credential: string) => ({ header: `Bearer ${credential}`, bare: credential })
  return {
    gate,
    origin,
    good: {
      key: same(String(key)),
      basic: same(`Basic ${base64('ann:correct horse')}`),
      jwt: bearer(hsToken(claims())),
      oa: bearer(token),
    },
  }
}

/** Values that are no credential to one method may be one to another, or to the upstream. */
const WRONG = ['Bearer wrong', 'Basic zz', 'Token victim', 'victimkey', 'Bearer', 'DPoP  wrong', 'zz zz zz'] as const

/** A credential in one place, good or not. */
interface Sent {
  readonly place: 'header' | 'query' | 'cookie'
  readonly good: boolean
  /** The value that is sent instead of a good one. */
  readonly wrong: string
  /** As the query writes the name. */
  readonly name: string
  /** In a separate Cookie field. */
  readonly apart: boolean
}

const sent = fc.record({
  place: fc.constantFrom<Sent['place']>('header', 'query', 'cookie'),
  good: fc.boolean(),
  wrong: fc.constantFrom(...WRONG),
  name: fc.constantFrom('cred', 'cr%65d', '%63%72%65%64'),
  apart: fc.boolean(),
})

function headOf(path: string, credentials: readonly Sent[], good: { header: string; bare: string }): string {
  const text = ({ good: isGood, place, wrong }: Sent) =>
    isGood ? (place === 'header' ? good.header : good.bare) : wrong
  const query = ['a=1']
  const cookies: string[][] = [['a=1']]
  let fields = ''
  for (const one of credentials) {
    if (one.place === 'query') query.push(`${one.name}=${encodeURIComponent(text(one))}`)
    else if (one.place === 'cookie' && one.apart) cookies.push([`cred=${text(one)}`])
    else if (one.place === 'cookie') cookies[0]!.push(`cred=${text(one)}`)
    else fields += `Authorization: ${text(one)}\r\n`
  }
  for (const field of cookies) fields += `Cookie: ${field.join('; ')}\r\n`
  return `GET /${path}/x?${query.join('&')} HTTP/1.1\r\nHost: x\r\n${fields}\r\n`
}

const challengeOf = ({ fields }: Message) =>
  fields.flatMap(([name, value]) => (name === 'www-authenticate' ? [value] : [])).join()

describe('a credential', () => {
  test('property: one place is accepted, two places or repeats are refused, by every method', async (t) => {
    const { gate, origin, good } = await start(t)
    const ask = async (head: string) => {
      const client = await Client.connect(gate.port)
      const answer = await client.ask(head)
      client.destroy()
      return answer
    }
    const credentials = fc
      .array(sent, { minLength: 1, maxLength: 3 })
      // Two fields of one name are the wire's to refuse.
      .filter((all) => all.filter(({ place }) => place === 'header').length < 2)
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...Object.keys(good)), credentials, async (path, all) => {
        const before = origin.seen.length
        const head = headOf(path, all, good[path]!)
        const answer = await ask(head)
        const said = `${head} ${answer.body}`
        if (all.length === 1) assert.equal(statusOf(answer) === 200, all[0]!.good, said)
        else {
          assert.equal(statusOf(answer), 400, said)
          assert.match(answer.body.toString(), /more than once/)
          if (path === 'oa' || path === 'jwt') assert.match(challengeOf(answer), /error="invalid_request"/)
        }
        assert.equal(origin.seen.length, before + (statusOf(answer) === 200 ? 1 : 0))
      }),
      { numRuns: RUNS },
    )
  })

  test('that is given twice is not made up for by that of another method', async (t) => {
    const { gate, origin, good } = await start(t)
    const either = classicApi('either', '/either/', {
      ...{ api_id: 'either', use_keyless: false, use_standard_auth: true, enable_jwt: true },
      ...{ jwt_signing_method: 'hmac', jwt_source: base64(SECRET), jwt_default_policies: ['p'] },
      ...{ security_processing_mode: 'compliant', security_requirements: [['authToken'], ['jwt']] },
      auth_configs: {
        authToken: { auth_header_name: 'X-Key', ...PLACES },
        jwt: { auth_header_name: 'Authorization' },
      },
      proxy: { listen_path: '/either/', target_url: origin.url, strip_listen_path: true },
    })
    const made = await gate.svc('POST', '/svc/apis', either)
    assert.equal(made.status, 200, made.text)
    await gate.svc('PUT', '/svc/policies/p', policyOf('p', ['jwt', 'oa', 'either']))
    const headers = { authorization: good.jwt!.header }
    assert.equal((await gate.call('/either/x?cred=wrong', { headers })).status, 200)
    assert.equal((await gate.call('/either/x?cred=wrong&cred=worse', { headers })).status, 400)
  })

  test('has no second one under a name that upstreams read as its own', async (t) => {
    const { gate, good } = await start(t)
    const near = [
      '+cred',
      '%20cred',
      'cred[]',
      'cred%5B0%5D',
      'cred[a][b]',
      '+cred%5b',
      'CRED',
      'x=1;cred',
      'x;y=2;%63Red[]',
    ]
    for (const [path, { bare, header }] of Object.entries(good)) {
      const status = async (query: string, headers: Record<string, string> = {}) =>
        (await gate.call(`/${path}/x?${query}`, { headers })).status
      const value = `cred=${encodeURIComponent(bare)}`
      assert.equal(await status(`${value}&creds=1&cre=1&a[cred]=1&xcred=1&a=1;creds=2;b`), 200, path)
      for (const name of near) {
        assert.equal(await status(`${value}&${name}=victim`), 400, `${path} ${name} behind`)
        assert.equal(await status(`${name}=victim&${value}`), 400, `${path} ${name} before`)
        assert.notEqual(await status(`${name}=${encodeURIComponent(bare)}`), 200, `${path} ${name} alone`)
      }
      assert.equal(await status('other[]=1', { authorization: header }), 200, path)
    }
  })

  test('in the query keeps the answer out of shared caches, by every method; elsewhere it does not', async (t) => {
    const { gate, good } = await start(t)
    for (const [path, { header, bare }] of Object.entries(good)) {
      const inQuery = await gate.call(`/${path}/x?cred=${encodeURIComponent(bare)}`)
      const inField = await gate.call(`/${path}/x?a=1`, { headers: { authorization: header } })
      const inCookie = await gate.call(`/${path}/x?a=1`, { headers: { cookie: `cred=${bare}` } })
      assert.deepEqual([inQuery.status, inQuery.headers['cache-control']], [200, 'private'], path)
      for (const { status, headers } of [inField, inCookie])
        assert.deepEqual([status, headers['cache-control']], [200, undefined], path)
    }
  })
})
