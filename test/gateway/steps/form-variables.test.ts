import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

const FORM = 'application/x-www-form-urlencoded'
const base64 = (text: string) => Buffer.from(text).toString('base64')

describe('forms in variables', () => {
  let origin: Awaited<ReturnType<typeof startOrigin>>
  let gateway: Awaited<ReturnType<typeof startTestGateway>>
  before(async () => {
    origin = await startOrigin()
    gateway = await startTestGateway()
  })
  after(() => Promise.all([origin.close(), gateway.close()]))

  let made = 0
  /** Puts an API with these members of its version; answers the path of a new one. */
  const put = async (version: JsonObject, members: JsonObject = {}): Promise<string> => {
    const id = `f${made++}`
    const saved = await gateway.svc('POST', '/svc/apis', {
      ...{ api_id: id, name: id, active: true, use_keyless: true, enable_context_vars: true, ...members },
      proxy: { listen_path: `/${id}/`, target_url: origin.url, strip_listen_path: true },
      version_data: {
        not_versioned: true,
        versions: { Default: { name: 'Default', use_extended_paths: true, ...version } },
      },
    })
    assert.equal(saved.status, 200, saved.text)
    return `/${id}`
  }
  const send = async (target: string, body: string, init: JsonObject = {}) => {
    const { method = 'POST', ...fields } = { 'content-type': FORM, ...init } as Record<string, string>
    const answer = await gateway.call(target, { method, headers: fields, body })
    return { answer, seen: origin.seen.at(-1)! }
  }
  const HEADERS = { 'X-Foo': '$acme_context.request_data_foo', 'X-All': '$acme_context.request_data' }

  test('fields of a form are values, before those of the query, and the upstream gets the form', async () => {
    const path = await put({ global_headers: HEADERS })
    const body = 'foo=bar&foo=2&b-c=%C3%A9+f'
    const { seen } = await send(`${path}/x?foo=q&z=1`, body)
    assert.equal(seen.headers['x-foo'], 'bar')
    assert.equal(Buffer.from(seen.headers['x-all'] as string, 'latin1').toString(), 'foo:bar,2,q;b-c:é f;z:1')
    assert.equal(seen.body, body)
    assert.equal(seen.target, '/x?foo=q&z=1')
  })

  test('only a form, sent with a method that has one, is read', async () => {
    const path = await put({ global_headers: HEADERS })
    const cases: [JsonObject, string, string][] = [
      [{ 'content-type': `${FORM}; charset=utf-8` }, 'foo=bar', 'bar'],
      [{ 'content-type': FORM.toUpperCase() }, 'foo=bar', 'bar'],
      [{ method: 'PUT' }, 'foo=bar', 'bar'],
      [{ method: 'PATCH' }, 'foo=bar', 'bar'],
      [{ method: 'DELETE' }, 'foo=bar', ''],
      [{ 'content-type': 'text/plain' }, 'foo=bar', ''],
      [{ 'content-type': 'application/json' }, '{"foo":"bar"}', ''],
      [{}, '', ''],
    ]
    for (const [init, body, foo] of cases) {
      const { answer, seen } = await send(`${path}/x`, body, init)
      assert.equal(answer.status, 200, answer.text)
      assert.deepEqual([seen.headers['x-foo'] ?? '', seen.body], [foo, body], JSON.stringify(init))
    }
  })

  test('rewrites, triggers, templates and edits of answers see the form', async () => {
    const template = { template_mode: 'blob', input_type: 'json', template_source: '' }
    const entry = (path: string, source: string) => ({
      ...{ path, method: 'POST' },
      template_data: { ...template, template_source: base64(source) },
    })
    const path = await put({
      global_response_headers: { 'X-Foo': '$acme_context.request_data_foo' },
      extended_paths: {
        url_rewrites: [
          { path: '/to', method: 'POST', match_pattern: '.*', rewrite_to: '/n?f=$acme_context.request_data_foo' },
          {
            ...{ path: '/trigger', method: 'POST', match_pattern: '.*', rewrite_to: '/none' },
            triggers: [
              {
                on: 'any',
                options: { request_context_matches: { request_data_foo: { match_rx: '^b(.*)' } } },
                rewrite_to: '/t/$acme_context.trigger-0-request_data_foo-0',
              },
            ],
          },
        ],
        transform_response: [
          entry('/template', '{"foo": "{{ ._acme_context.request_data_foo }}"}'),
          entry('/all', '{ {{- range $name, $value := ._acme_context.request_data }}"{{ $name }}": 1{{ end -}} }'),
        ],
      },
    })
    const to = await send(`${path}/to`, 'foo=bar')
    assert.deepEqual([to.seen.target, to.answer.headers['x-foo']], ['/n?f=bar', 'bar'])
    assert.equal((await send(`${path}/trigger`, 'foo=bar')).seen.target, '/t/ar')
    assert.equal((await send(`${path}/trigger`, 'foo=car')).seen.target, '/none')
    assert.deepEqual(JSON.parse((await send(`${path}/template`, 'foo=bar')).answer.text), { foo: 'bar' })
    assert.deepEqual(JSON.parse((await send(`${path}/all`, 'foo=bar')).answer.text), { foo: 1 })
  })

  test('credentials in a form are no values', async () => {
    const path = await put({
      global_headers: { ...HEADERS, 'X-Password': '$acme_context.request_data_password' },
    })
    const { seen } = await send(`${path}/x`, 'foo=1&password=hidden&access_token=hidden')
    assert.equal(seen.headers['x-all'], 'foo:1')
    assert.equal(seen.headers['x-password'] ?? '', '')
  })

  test('forms that are too large are refused where something asks for them, and pass elsewhere', async () => {
    const [asking, other] = [await put({ global_headers: HEADERS }), await put({})]
    const large = `foo=${'x'.repeat(1_048_576)}`
    const many = 'a&'.repeat(10_000)
    assert.equal((await send(`${asking}/x`, large)).answer.status, 413)
    assert.equal((await send(`${asking}/x`, many)).answer.status, 400)
    for (const body of [large, many]) assert.equal((await send(`${other}/x`, body)).answer.status, 200)
  })
})
