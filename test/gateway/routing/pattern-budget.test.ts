import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { classic, defined } from '../../worlds/base/definitions.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

const many = <T>(count: number, of: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => of(index))

test('a request has one budget for all that it is compared with', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  const made = async (path: string, body: JsonObject) => {
    const answer = await gateway.svc('POST', path, body)
    assert.equal(answer.status, 200, answer.text)
    return answer.json as JsonObject
  }
  // Each half of the work fits, both do not.
  const lists = { do_not_track_endpoints: many(1200, (i) => ({ path: `/{a${i}}{b}/x`, method: 'GET' })) }
  const versions = { Default: { name: 'Default', use_extended_paths: true, extended_paths: lists } }
  const listed = { path_matching: 'contains', version_data: { not_versioned: true, versions } }
  const keyed = { use_keyless: false, auth: { auth_header_name: 'X-Key' } }
  await made('/svc/apis', classic('listed', '/listed/', origin.url, listed))
  await made('/svc/apis', classic('keyed', '/keyed/', origin.url, keyed))
  await made('/svc/apis', classic('both', '/both/', origin.url, { ...listed, ...keyed }))
  const apis = ['keyed', 'both']
  const rightsOf = (urls: readonly string[]) =>
    Object.fromEntries(
      apis.map((id) => [
        id,
        {
          api_id: id,
          api_name: id,
          versions: ['Default'],
          allowed_urls: urls.map((url) => ({ url, methods: ['GET'] })),
        },
      ]),
    )
  const narrow = (from: number) => many(500, (i) => `^/[a-z]+/[a-z]+/(?:${from + i}y|z)$`)
  for (const [id, urls] of [
    ['p1', narrow(0)],
    ['p2', narrow(500)],
    ['p3', ['^/[a-z]+/q/x$']],
  ] as const)
    await made('/svc/policies', { id, name: id, access_rights: rightsOf(urls) })
  const { key } = await made('/svc/keys', { apply_policies: ['p1', 'p2', 'p3'] })
  const headers = { 'X-Key': String(key) }
  assert.equal((await gateway.call('/listed/q/x')).status, 200)
  assert.equal((await gateway.call('/keyed/q/x', { headers })).status, 200)
  const over = await gateway.call('/both/q/x', { headers })
  assert.equal(over.status, 503, over.text)
  assert.match((await gateway.svc('GET', '/metrics')).text, /svc_patterns_over_budget\S* 1\b/)
})

test('rules found for a request over budget are not those of the next one', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  const lists = {
    ignored: [{ path: '/{a}/o', method: 'GET' }],
    do_not_track_endpoints: many(1200, (i) => ({ path: `/{a${i}}{b}/x`, method: 'GET' })),
  }
  const versions = { Default: { name: 'Default', use_extended_paths: true, extended_paths: lists } }
  const more = { path_matching: 'contains', version_data: { not_versioned: true, versions }, use_keyless: false }
  const made = await gateway.svc('POST', '/svc/apis', classic('k', '/k/', origin.url, more))
  assert.equal(made.status, 200, made.text)
  assert.equal((await gateway.call('/k/q/o')).status, 200)
  assert.equal((await gateway.call('/k/q/')).status, 401)
  assert.equal((await gateway.call(`/k/q/o/${'abc/'.repeat(500)}x`)).status, 503)
  assert.equal((await gateway.call('/k/q/')).status, 401)
})

test('triggers are charged with the length of what they search', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  const pattern = '(?:[a-c]|[x-z]){8}[0-9]'
  const paths = { '/*': { post: { operationId: 'a', responses: { 200: { description: 'ok' } } } } }
  for (const [place, count] of [
    ['header', 100],
    ['query', 100],
    ['requestBody', 3],
  ] as const) {
    const rule = { in: place, name: 'long', pattern, negate: false }
    const triggers = many(count, () => ({ condition: 'any', rules: [rule], rewriteTo: '/found' }))
    const operations = { a: { urlRewrite: { enabled: true, pattern: '.*', rewriteTo: '/else', triggers } } }
    const saved = await gateway.svc('POST', '/svc/apis/oas', defined({ id: place, url: origin.url, paths, operations }))
    assert.equal(saved.status, 200, saved.text)
    const status = async (value: string) => {
      const method = 'POST'
      if (place === 'requestBody') return (await gateway.call(`/${place}/`, { method, body: value })).status
      if (place === 'query') return (await gateway.call(`/${place}/?long=${value}`, { method })).status
      return (await gateway.call(`/${place}/`, { method, headers: { long: value } })).status
    }
    const length = { header: 15_000, query: 7500, requestBody: 1_000_000 }[place]
    assert.equal(await status('x'.repeat(100)), 200, place)
    assert.equal(await status('x'.repeat(length)), 503, place)
  }
})

test('descriptions of bodies and parameters are charged to the same budget, in every format', async (t) => {
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  const type = 'application/json'
  const recursive = (to: string) => {
    const $ref = `${to}A`
    return { A: { type: 'array', items: { anyOf: [{ $ref }, { allOf: [{ $ref }] }] } } }
  }
  const components = { schemas: recursive('#/components/schemas/') }
  const schema = { $ref: '#/components/schemas/A' }
  const responses = { 200: { description: 'ok' } }
  const fixed = { mockResponse: { enabled: true, code: 200, body: 'ok' } }
  const places = {
    body: { requestBody: { content: { [type]: { schema } } } },
    query: { parameters: [{ name: 'p', in: 'query', content: { [type]: { schema } } }] },
    header: { parameters: [{ name: 'p', in: 'header', content: { [type]: { schema } } }] },
  }
  for (const openapi of ['3.0.3', '3.1.0'])
    for (const [place, described] of Object.entries(places)) {
      const id = `${place}${openapi.slice(0, 3)}`
      const operations = { a: { ...fixed, validateRequest: { enabled: true } } }
      const made = defined({
        id,
        url: 'http://127.0.0.1:1',
        paths: { '/x': { post: { operationId: 'a', responses, ...described } } },
        operations,
      })
      const saved = await gateway.svc('POST', '/svc/apis/oas', { ...made, openapi, components })
      assert.equal(saved.status, 200, saved.text)
    }
  const json = {
    path: '/x',
    method: 'POST',
    schema: { definitions: recursive('#/definitions/'), $ref: '#/definitions/A' },
  }
  const mock = { path: '/x', method: 'POST', code: 200, body: 'ok' }
  const versions = {
    Default: {
      name: 'Default',
      use_extended_paths: true,
      extended_paths: { validate_json: [json], mock_response: [mock] },
    },
  }
  const api = classic('bodyClassic', '/bodyClassic/', 'http://127.0.0.1:1', {
    version_data: { not_versioned: true, versions },
  })
  assert.equal((await gateway.svc('POST', '/svc/apis', api)).status, 200)
  for (const id of ['body3.0', 'query3.0', 'header3.0', 'body3.1', 'query3.1', 'header3.1', 'bodyClassic']) {
    const place = id.slice(0, -3)
    const status = async (value: string) => {
      const headers = { 'Content-Type': type, ...(place === 'header' && { p: value }) }
      const query = place === 'query' ? `?p=${encodeURIComponent(value)}` : ''
      const body = id.startsWith('body') ? value : '[]'
      return (await gateway.call(`/${id}/x${query}`, { method: 'POST', headers, body })).status
    }
    assert.equal(await status('[[[]]]'), 200, id)
    assert.equal(await status('[[[1]]]'), 422, id)
    // 64 levels would take 2 ^ 64 calls.
    assert.equal(await status(`${'['.repeat(60)}1${']'.repeat(60)}`), 503, id)
  }
  assert.match((await gateway.svc('GET', '/metrics')).text, /svc_patterns_over_budget\S* 7\b/)
})
