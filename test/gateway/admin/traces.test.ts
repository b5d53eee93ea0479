import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { classic } from '../../worlds/base/definitions.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { type Origin, startOrigin } from '../../worlds/servers/origin.ts'

/** A part of the answer as a client of HTTP reads it. */
function message(text: string) {
  const end = text.indexOf('\r\n\r\n')
  const [start = '', ...fields] = text.slice(0, end).split('\r\n')
  const headers = fields.map((field) => field.replace(/^[^:]*/, (name) => name.toLowerCase()))
  return { start, status: Number(start.split(' ')[1]), headers, body: text.slice(end + 4) }
}

suite('traces of definitions that are not stored', () => {
  let origin: Origin
  let gateway: TestGateway

  before(async () => {
    origin = await startOrigin()
    gateway = await startTestGateway({ env: { SVC_COMPAT_VENDORALIASES: 'inc', SVC_WEBHOOKS_ALLOWPRIVATE: 'false' } })
  })
  after(async () => {
    await gateway.close()
    await origin.close()
  })

  async function trace(asked: JsonObject) {
    const { status, text, json } = await gateway.svc('POST', '/inc/debug', asked)
    if (status !== 200) return { status, text }
    const { message: outcome, response, logs } = json as Record<string, string>
    const [request = '', answer = ''] = response!.replace(/^=+ Request =+\n/, '').split('\n====== Response ======\n')
    const lines = logs!.split('\n').filter((line) => line !== '')
    return {
      status,
      outcome,
      request: message(request),
      answer: message(answer),
      logs: lines.map((line) => JSON.parse(line)),
    }
  }

  const spec = (more: JsonObject = {}): JsonObject =>
    classic('traced', '/traced/', origin.url, {
      proxy: { listen_path: '/traced/', target_url: origin.url, strip_listen_path: true },
      ...more,
    })

  test('a request is sent to the upstream, and answered with its steps', async () => {
    const at = origin.seen.length
    const headers = { 'X-One': ['a', 'b'], 'Content-Type': 'text/plain' }
    const told = await trace({ spec: spec(), request: { method: 'POST', path: '/a?x=1', headers, body: 'hällo' } })
    assert.equal(told.outcome, 'ok')
    const [received] = origin.seen.slice(at)
    assert.equal(received!.target, '/a?x=1')
    assert.equal(Buffer.from(received!.body, 'latin1').toString(), 'hällo')
    assert.deepEqual([told.request!.start, told.request!.body], ['POST /traced/a?x=1 HTTP/1.1', 'hällo'])
    assert.ok(told.request!.headers.includes('x-one: b'))
    assert.equal(told.answer!.status, 200)
    assert.deepEqual(JSON.parse(told.answer!.body), { ok: true })
    assert.ok(told.answer!.headers.includes(`content-length: ${told.answer!.body.length}`))
    assert.ok(
      told.logs!.some(({ mw }) => mw === 'forward'),
      JSON.stringify(told.logs),
    )
    assert.ok(
      told.logs!.every(({ api_id, time, type }) => api_id === 'traced' && Date.parse(time) > 0 && type !== undefined),
    )
  })

  test('nothing of a trace is served, stored, counted or recorded', async () => {
    const limited = { global_rate_limit: { rate: 2, per: 60 }, use_keyless: true }
    const stored = classic('held', '/held/', origin.url, limited)
    assert.equal((await gateway.svc('POST', '/inc/apis', stored)).status, 200)
    const state = async () => ({
      apis: (await gateway.svc('GET', '/svc/apis')).json,
      // Its revision follows the status that the node writes by itself.
      node: { ...((await gateway.svc('GET', '/svc/node')).json as JsonObject), revision: 0 },
      requests: (await gateway.svc('GET', '/metrics')).text
        .split('\n')
        .filter((line) =>
          /api(?:_id)?="(?:traced|held)"|^svc_upstream_(?:responses|failures|targets|retries)|^svc_refusals/.test(line),
        ),
    })
    const before = await state()
    const other = { ...stored, name: 'Changed', ...limited }
    const statuses = []
    for (const each of [spec(), other, other, other])
      statuses.push((await trace({ spec: each, request: { path: '/' } })).answer!.status)
    // A trace has limits, but its own.
    assert.deepEqual(statuses, [200, 200, 200, 429])
    assert.deepEqual(await state(), before)
    assert.equal((await gateway.call('/traced/')).status, 404)
    assert.deepEqual([(await gateway.call('/held/')).status, (await gateway.call('/held/')).status], [200, 200])
  })

  test('a definition does in a trace what it does once it is stored', async () => {
    const lists = (extended_paths: JsonObject): JsonObject => ({
      version_data: {
        not_versioned: true,
        versions: { Default: { name: 'Default', use_extended_paths: true, extended_paths } },
      },
    })
    const any = { path: '/a', method: 'GET' }
    const acts = { GET: { action: 'reply', code: 418, data: 'tea', headers: { 'X-Tea': 'yes' } } }
    const definitions: JsonObject[] = [
      {},
      { use_keyless: false, use_standard_auth: true },
      { active: false },
      { domain: 'other.test' },
      { enable_ip_blacklisting: true, blacklisted_ips: ['127.0.0.1'] },
      lists({ black_list: [{ path: '/a', method_actions: { GET: { action: 'no_action' } } }] }),
      lists({ white_list: [{ path: '/b', method_actions: { GET: { action: 'no_action' } } }] }),
      lists({ ignored: [{ path: '/a', method_actions: acts }] }),
      lists({ url_rewrites: [{ ...any, match_pattern: '/a(.*)', rewrite_to: '/new$1?m=$inc_context.method' }] }),
      lists({ transform_headers: [{ ...any, add_headers: { 'X-Added': '1' }, delete_headers: ['X-Gone'] }] }),
      lists({ method_transforms: [{ ...any, to_method: 'PUT' }] }),
      { proxy: { listen_path: '/traced/', target_url: 'http://127.0.0.1:1', strip_listen_path: true } },
    ]
    const request = { method: 'GET', path: '/a/b?x=1', headers: { 'X-Gone': 'here', Accept: '*/*' } }
    const shown = (from: number) =>
      origin.seen
        .slice(from)
        .map(({ method, target, headers }) => ({ method, target, added: headers['x-added'], gone: headers['x-gone'] }))
    for (const more of definitions) {
      const definition = spec({ ...(more.use_keyless === undefined && { use_keyless: true }), ...more })
      let at = origin.seen.length
      const traced = await trace({ spec: definition, request })
      const inTrace = shown(at)
      const live = { ...definition, active: true }
      assert.equal((await gateway.svc('POST', '/inc/apis', live)).status, 200, JSON.stringify(more))
      at = origin.seen.length
      const host = typeof more.domain === 'string' ? { Host: more.domain } : {}
      const served = await gateway.call('/traced/a/b?x=1', { headers: { ...request.headers, ...host } })
      assert.equal((await gateway.svc('DELETE', '/inc/apis/traced')).status, 200)
      assert.deepEqual(
        { status: traced.answer!.status, body: traced.answer!.body, upstream: inTrace },
        { status: served.status, body: served.text, upstream: shown(at) },
        JSON.stringify(more),
      )
    }
  })

  test('keys and rights are those of the node', async () => {
    const definition = spec({ use_keyless: false, use_standard_auth: true })
    const rights = { traced: { api_id: 'traced', api_name: 'traced', versions: ['Default'] } }
    const made = await gateway.svc('POST', '/inc/keys', {
      access_rights: rights,
      quota_max: 1,
      quota_renewal_rate: 3600,
    })
    const { key } = made.json as { key: string }
    const request = { path: '/', headers: { Authorization: key } }
    const first = await trace({ spec: definition, request })
    assert.deepEqual([first.answer!.status, (await trace({ spec: definition, request })).answer!.status], [200, 429])
    assert.ok(!JSON.stringify(first.logs).includes(key))
    assert.equal((await gateway.svc('POST', '/inc/apis', definition)).status, 200)
    const live = await gateway.call('/traced/', { headers: request.headers })
    assert.equal(live.status, 200, 'the quota of live requests is whole')
    await gateway.svc('DELETE', '/inc/apis/traced')
  })

  test('an OpenAPI definition is traced under any word for its extension', async () => {
    const extension = {
      ...{ info: { name: 'T', id: 'traced-oas', state: { active: true } }, upstream: { url: origin.url } },
      ...{ server: { listenPath: { value: '/{tenant}/oas/', strip: true } } },
      middleware: { operations: { a: { mockResponse: { enabled: true, code: 203, body: 'mocked' } } } },
    }
    const oas = {
      ...{ openapi: '3.0.3', info: { title: 'T', version: '1' }, components: {}, 'x-inc-api-gateway': extension },
      paths: { '/a': { get: { operationId: 'a', responses: {} } } },
    }
    const told = await trace({ oas, request: { path: 'a' } })
    assert.deepEqual([told.answer!.status, told.answer!.body], [203, 'mocked'])
    assert.equal(told.request!.start, 'GET /tenant/oas/a HTTP/1.1')
  })

  test('calls that cannot be traced are refused with the reason', async () => {
    const request = { path: '/' }
    const keySet = {
      enable_jwt: true,
      use_keyless: false,
      jwt_signing_method: 'rsa',
      jwt_policy_field_name: 'pol',
      jwt_source: Buffer.from('http://127.0.0.1/k').toString('base64'),
    }
    const refused: readonly (readonly [JsonObject, number, RegExp])[] = [
      [{ request }, 400, /Spec field is missing/],
      [{ spec: spec() }, 400, /Request field is missing/],
      [{ spec: spec(), request: null }, 400, /Request field is missing/],
      [{ spec: spec({ proxy: {} }), request }, 400, /listen_path/],
      [{ spec: spec({ graphql: { enabled: true } }), request }, 400, /GraphQL/],
      [{ spec: spec(keySet), request }, 400, /webhooks\.allow_private/],
      [{ spec: spec(), request: { path: 7 } }, 400, /request\.path/],
      [{ spec: spec(), request: { path: '/ a' } }, 400, /path/],
      [{ spec: spec(), request: { method: 'CONNECT' } }, 400, /method/],
      [{ spec: spec(), request: { headers: { 'Transfer-Encoding': 'chunked' } } }, 400, /written by the gateway/],
      [{ spec: spec(), request: { headers: { A: 'b\r\nC: d' } } }, 400, /headers/],
      [{ spec: spec(), request: { headers: { A: [7] } } }, 400, /headers\.A/],
      [{ spec: spec(), request: { body: 'x'.repeat(300_000) } }, 400, /body/],
    ]
    for (const [asked, status, reason] of refused) {
      const answer = await gateway.svc('POST', '/inc/debug', asked)
      assert.equal(answer.status, status, `${JSON.stringify(asked).slice(0, 200)} ${answer.text}`)
      assert.match(answer.text, reason)
    }
    assert.equal((await gateway.svc('POST', '/svc/debug', { spec: spec(), request })).status, 404)
    const open = await gateway.call('/inc/debug', { method: 'POST', body: JSON.stringify({ spec: spec(), request }) })
    assert.equal(open.status, 403, 'without the secret')
  })

  test('definitions that this node cannot serve leave room for others', async () => {
    const modules = { driver: 'typescript', pre: [{ name: 'x', path: 'x.ts' }] }
    const unserved = { spec: spec({ custom_middleware: modules }), request: { path: '/' } }
    for (let time = 0; time < 5; time++) {
      const { status, text } = await gateway.svc('POST', '/inc/debug', unserved)
      assert.deepEqual([status, /modules/.test(text)], [400, true], text)
    }
    assert.equal((await trace({ spec: spec(), request: { path: '/' } })).status, 200)
  })

  test('four traces run at once, and an answer that never comes is told', async () => {
    const held: (() => void)[] = []
    let all = () => {}
    const four = new Promise<void>((resolve) => {
      all = resolve
    })
    origin.script = (_request, response) => {
      held.push(() => response.end('late'))
      if (held.length === 4) all()
    }
    const asked = { spec: spec(), request: { path: '/' } }
    const waiting = Array.from({ length: 4 }, () => trace(asked))
    await four
    assert.equal((await trace(asked)).status, 503)
    origin.script = undefined
    for (const release of held) release()
    for (const each of await Promise.all(waiting)) assert.equal(each.answer!.body, 'late')
    origin.script = (_request, response) => response.end('x'.repeat(600_000))
    const long = await trace(asked)
    origin.script = undefined
    assert.deepEqual([long.outcome, long.answer!.status], ['error', 502])
  })
})
