import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:http2'
import { type TestContext, test } from 'node:test'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { toClassic, toOas } from '../../../src/model/apis/convert/convert.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { call } from '../../worlds/base/client.ts'
import { classic, defined, rights } from '../../worlds/base/definitions.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { type Origin, startOrigin } from '../../worlds/servers/origin.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

async function open(t: TestContext, api: (url: string) => JsonObject): Promise<[TestGateway, Origin]> {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  const definition = api(origin.url)
  const made = await gateway.svc('POST', 'openapi' in definition ? '/svc/apis/oas' : '/svc/apis', definition)
  assert.equal(made.status, 200, made.text)
  return [gateway, origin]
}

const blob = (template: string) => Buffer.from(template).toString('base64')

/** An API that rewrites requests to `POST /in` and responses of `GET /out`. */
const transforming = (request: string, answer: string, more: { global?: JsonObject; session?: boolean } = {}) => {
  return (url: string) =>
    defined({
      id: 't',
      url,
      paths: {
        '/in': { post: { operationId: 'in' } },
        '/out': { get: { operationId: 'out' }, head: { operationId: 'head' } },
      },
      ...(more.global !== undefined && { global: more.global }),
      operations: {
        in: {
          transformRequestBody: {
            ...{ enabled: true, format: 'json', body: blob(request) },
            ...(more.session && { enableSession: true }),
          },
        },
        out: { transformResponseBody: { enabled: true, format: 'json', body: blob(answer) } },
        head: { transformResponseBody: { enabled: true, body: blob(answer) } },
      },
    })
}

const errorOf = ({ json }: { json: unknown }) => (json as { error: string }).error

test('the body of a request is written anew, with its length, and nothing else of it is', async (t) => {
  const [gateway, origin] = await open(t, transforming('{"who": "{{ .name }}", "n": {{ len .items }}}', '{}'))
  const send = (body: string, headers: Record<string, string> = {}) =>
    gateway.call('/t/in', { method: 'POST', headers: { ...JSON_TYPE, ...headers }, body })
  assert.equal((await send('{"name":"A\\"é","items":[1,2]}', { 'content-md5': 'x', 'x-kept': '1' })).status, 200)
  const seen = origin.seen.at(-1)!
  assert.deepEqual(JSON.parse(Buffer.from(seen.body, 'latin1').toString()), { who: 'A"é', n: 2 })
  assert.equal(Number(seen.headers['content-length']), seen.body.length)
  assert.equal(seen.headers['content-md5'], undefined)
  assert.equal(seen.headers['x-kept'], '1')
  assert.equal((await send('{"name":"x","items":[]}', { 'transfer-encoding': 'chunked' })).status, 200)
  assert.deepEqual(JSON.parse(origin.seen.at(-1)!.body), { who: 'x', n: 0 })
})

test('what cannot be transformed is refused by name, and the upstream sees none of it', async (t) => {
  const [gateway, origin] = await open(t, transforming('{"n": {{ len .items }}}', '{}'))
  const send = async (body: string, headers: Record<string, string> = {}) => {
    const answer = await gateway.call('/t/in', { method: 'POST', headers: { ...JSON_TYPE, ...headers }, body })
    return [answer.status, errorOf(answer)]
  }
  const words = 'The body cannot be transformed'
  assert.deepEqual(await send('{'), [400, `${words}: must be JSON in UTF-8`])
  assert.deepEqual(await send('{"a":1,"a":2}'), [400, `${words}: names a member twice`])
  assert.deepEqual(await send(`${'['.repeat(65)}${']'.repeat(65)}`), [400, `${words}: is nested deeper than 64 levels`])
  assert.deepEqual(await send('{"items":1}'), [
    400,
    `${words}: line 1, column 10: len wants a text, a list or an object`,
  ])
  assert.deepEqual(await send('{}', { 'content-encoding': 'gzip' }), [400, `${words}: is not encoded as gzip`])
  assert.equal((await send(JSON.stringify('x'.repeat(1_048_577))))[0], 413)
  assert.equal(origin.seen.length, 0)
})

test('what would become too much, or no JSON, is refused by name', async (t) => {
  const loops = '[{{ range .a }}{{ range $.a }}"x",{{ end }}{{ end }}0]'
  const [gateway, origin] = await open(t, transforming(loops, '{"a": {{ if .b }}1{{ end }} }'))
  const body = JSON.stringify({ a: Array(2000).fill(1) })
  const large = await gateway.call('/t/in', { method: 'POST', headers: JSON_TYPE, body })
  assert.deepEqual([large.status, errorOf(large)], [413, 'The body is too large to be transformed'])
  assert.equal(origin.seen.length, 0)
  const empty = await gateway.call('/t/out')
  assert.deepEqual([empty.status, errorOf(empty)], [502, 'The upstream response could not be transformed'])
})

test('the body of an answer is written anew, packed or not; what tells of its bytes goes', async (t) => {
  const [gateway, origin] = await open(t, transforming('{}', '{"was": {{ .a }}}'))
  const plain = Buffer.from('{"a":"é"}')
  const packed: Record<string, Buffer> = {
    identity: plain,
    gzip: gzipSync(plain),
    deflate: deflateSync(plain),
    br: brotliCompressSync(plain),
    zstd: zstdCompressSync(plain),
  }
  for (const [encoding, bytes] of Object.entries(packed)) {
    origin.script = (_request, response) => {
      response.writeHead(201, { ...JSON_TYPE, 'content-encoding': encoding, etag: '"1"', 'x-kept': '1', date: 'x' })
      response.end(bytes)
    }
    const answer = await gateway.call('/t/out', { headers: { 'accept-encoding': 'gzip', range: 'bytes=0-1' } })
    assert.deepEqual([answer.status, answer.json], [201, { was: 'é' }], encoding)
    assert.equal(Number(answer.headers['content-length']), Buffer.byteLength(answer.text))
    assert.equal(answer.headers['content-encoding'], undefined)
    assert.equal(answer.headers.etag, undefined)
    assert.equal(answer.headers['x-kept'], '1')
    const seen = origin.seen.at(-1)!
    assert.deepEqual([seen.headers['accept-encoding'], seen.headers.range], ['identity', undefined])
  }
})

test('an answer that comes in many pieces is taken whole', async (t) => {
  const [gateway, origin] = await open(t, transforming('{}', '{"was": {{ .a }}}'))
  const a = Array.from({ length: 80_000 }, (_, index) => index)
  origin.script = (_request, response) => response.end(JSON.stringify({ a }))
  const wanted = `{"was": ${JSON.stringify(a)}}`
  // A message that showed both would take minutes to make.
  for (let i = 0; i < 3; i++) assert.ok((await gateway.call('/t/out')).text === wanted, 'the answer is another')
})

test('the same over HTTP/2, where a status may be tried again', async (t) => {
  const made = transforming('{}', '{"was": {{ .a }}}')
  const [gateway, origin] = await open(t, (url) => {
    const definition = made(url)
    const extension = definition['x-svc-api-gateway'] as { upstream: JsonObject }
    extension.upstream = { ...extension.upstream, retries: { enabled: true } }
    return definition
  })
  let asked = 0
  origin.script = (_request, response) => {
    response.writeHead(asked++ === 0 ? 503 : 200, JSON_TYPE)
    response.end('{"a":1}')
  }
  const session = connect(`http://127.0.0.1:${gateway.port}`)
  t.after(() => session.destroy())
  const send = async (method: string) => {
    const stream = session.request({ ':path': '/t/out', ':method': method })
    let text = ''
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
    const head = once(stream, 'response')
    await once(stream.end(), 'close')
    const [{ ':status': status, 'content-length': length }] = (await head) as [Record<string, string>]
    return { status, length, text }
  }
  assert.deepEqual(await send('GET'), { status: 200, length: '10', text: '{"was": 1}' })
  assert.equal(asked, 2)
  assert.deepEqual(await send('HEAD'), { status: 200, length: undefined, text: '' })
})

test('answers without a body keep their head; HEAD and 204 are not written anew', async (t) => {
  const [gateway, origin] = await open(t, transforming('{}', '{"was": {{ .a }}}'))
  origin.script = (request, response) => {
    response.writeHead(request.method === 'HEAD' ? 200 : 204, { 'x-kept': '1' })
    response.end()
  }
  const head = await gateway.call('/t/out', { method: 'HEAD' })
  assert.deepEqual(
    [head.status, head.headers['x-kept'], head.headers['content-length'], head.text],
    [200, '1', undefined, ''],
  )
  const none = await gateway.call('/t/out')
  assert.deepEqual([none.status, none.headers['x-kept'], none.text], [204, '1', ''])
})

test('answers that cannot be transformed are refused as a whole', async (t) => {
  const [gateway, origin] = await open(t, transforming('{}', '{"was": {{ .a }}}'))
  const answers = async (script: NonNullable<Origin['script']>) => {
    origin.script = script
    const answer = await gateway.call('/t/out')
    assert.doesNotMatch(answer.text, /secret/)
    return [answer.status, errorOf(answer)]
  }
  const not = 'The upstream response could not be transformed'
  assert.deepEqual(await answers((_, response) => response.end('{"a":1,"a":"secret"}')), [502, not])
  const coded = (encoding: string) => (_: unknown, response: Parameters<NonNullable<Origin['script']>>[1]) => {
    response.writeHead(200, { 'content-encoding': encoding })
    response.end('secret')
  }
  assert.deepEqual(await answers(coded('gzip')), [502, not])
  assert.deepEqual(await answers(coded('compress')), [502, not])
  const large = 'The upstream response is too large to be transformed'
  const secrets = Buffer.alloc(1_048_577, 'secret')
  assert.deepEqual(await answers((_, response) => response.end(secrets)), [502, large])
  const bomb = gzipSync(Buffer.alloc(4_000_000))
  assert.deepEqual(
    await answers((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' })
      response.end(bomb)
    }),
    [502, large],
  )
  origin.script = (_, response, message) => {
    response.writeHead(200, { 'content-length': '100' })
    response.write('secret', () => message.socket.destroy())
  }
  const cut = await gateway.call('/t/out')
  assert.equal(cut.status, 502)
  assert.doesNotMatch(cut.text, /secret/)
})

test('what was written anew is never stored, beside answers that are', async (t) => {
  const cache = { cache: { enabled: true, timeout: 60, cacheAllSafeRequests: true } }
  const [gateway, origin] = await open(t, transforming('{}', '{"was": {{ .a }}}', { global: cache }))
  let a = 0
  origin.script = (_request, response) => response.end(JSON.stringify({ a: ++a }))
  assert.deepEqual((await gateway.call('/t/plain')).json, { a: 1 })
  assert.deepEqual((await gateway.call('/t/plain')).json, { a: 1 })
  assert.deepEqual((await gateway.call('/t/out')).json, { was: 2 })
  assert.deepEqual((await gateway.call('/t/out')).json, { was: 3 })
})

test('connections go on after answers that were held, on both sides', async (t) => {
  const [gateway, origin] = await open(t, transforming('{}', '{"was": {{ .ok }}}'))
  const results = await Promise.all(Array.from({ length: 20 }, () => gateway.call('/t/out')))
  for (const { json } of results) assert.deepEqual(json, { was: true })
  origin.script = (_, response) => response.end(Buffer.alloc(2_000_000))
  assert.equal((await gateway.call('/t/out')).status, 502)
  origin.script = undefined
  assert.deepEqual((await gateway.call('/t/out')).json, { was: true })
})

test('a template may name the request, without its credential, and the metadata of the session', async (t) => {
  const template = '{"ctx": {{ ._svc_context }}, "plan": "{{ ._svc_meta.plan }}", "first": {{ index .array 0 }}}'
  const api = (url: string): JsonObject => {
    const document = transforming(template, '{}', { global: { contextVariables: { enabled: true } }, session: true })(
      url,
    )
    document.components = { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Mine' } } }
    document.security = [{ key: [] }]
    const server = (document['x-svc-api-gateway'] as JsonObject).server as JsonObject
    server.authentication = {
      enabled: true,
      securitySchemes: {
        key: { enabled: true, query: { enabled: true, name: 'k' }, cookie: { enabled: true, name: 'c' } },
      },
    }
    return document
  }
  const [gateway, origin] = await open(t, api)
  const made = await gateway.svc('POST', '/svc/keys/create', {
    access_rights: rights('t'),
    meta_data: { plan: 'gold' },
  })
  const { key } = made.json as { key: string }
  const places = [
    { query: `k=${key}&`, fields: {}, cookie: '' },
    { query: '', fields: { 'x-mine': key }, cookie: '' },
    { query: '', fields: {}, cookie: `; c=${key}` },
  ]
  for (const { query, fields, cookie } of places) {
    const sent = await call(gateway.port, `/t/in?${query}q=1&q=2`, {
      method: 'POST',
      headers: { ...JSON_TYPE, ...fields, cookie: `a=1${cookie}`, 'x-a-b': 'z', authorization: 'Basic abc' },
      body: '[7]',
    })
    assert.equal(sent.status, 200, sent.text)
    const body = JSON.parse(origin.seen.at(-1)!.body) as { ctx: JsonObject; plan: string; first: number }
    assert.deepEqual([body.plan, body.first], ['gold', 7])
    assert.doesNotMatch(JSON.stringify(body), new RegExp(`${key}|Basic`))
    const { ctx } = body
    assert.deepEqual(
      [ctx.path, ctx.method, ctx.headers_X_A_B, ctx.headers_Cookie, ctx.request_data, ctx.remote_addr],
      ['/t/in', 'POST', 'z', 'a=1', { q: ['1', '2'] }, '127.0.0.1'],
    )
  }
})

test('both formats say the same, are served the same, and neither loses anything on the way', async (t) => {
  const [gateway, origin] = await open(t, transforming('{"a": {{ .b }}}', '{"c": {{ .ok }}}', { session: true }))
  const served = async () => {
    await gateway.call('/t/in', { method: 'POST', headers: JSON_TYPE, body: '{"b":5}' })
    assert.equal(origin.seen.at(-1)!.body, '{"a": 5}')
    assert.deepEqual((await gateway.call('/t/out')).json, { c: true })
  }
  await served()
  const stored = (await gateway.svc('GET', '/svc/apis/oas/t')).json as JsonObject
  const there = toClassic(stored)
  assert.deepEqual(there.lost, [])
  await gateway.svc('DELETE', '/svc/apis/oas/t')
  const { id: _id, ...definition } = there.definition
  assert.equal((await gateway.svc('POST', '/svc/apis', definition)).status, 200)
  await served()
  assert.deepEqual(toOas(there.definition).document, stored)
})

test('a template that cannot be read is refused when its API is published, with its place', async (t) => {
  const [gateway] = await open(t, (url) => classic('plain', '/plain/', url))
  const refusal = async (definition: JsonObject) => {
    const path = 'openapi' in definition ? '/svc/apis/oas' : '/svc/apis'
    const answer = await gateway.svc('POST', path, definition)
    assert.equal(answer.status, 400)
    return (answer.json as { message: string }).message
  }
  const place = 'x-svc-api-gateway.middleware.operations.in.transformRequestBody.body'
  const told = await refusal({ ...transforming('{\n{{ env }}', '{}')('http://up/') })
  assert.ok(told.includes(`${place}: line 2, column 4: no function here is called env`), told)
  assert.ok(
    (await refusal(transforming('', '{}')('http://up/'))).includes(`${place}: is missing, and templates in files`),
  )
  const data = (template: JsonObject) =>
    classic('c', '/c/', 'http://up/', {
      version_data: {
        not_versioned: true,
        versions: {
          Default: {
            name: 'Default',
            use_extended_paths: true,
            extended_paths: { transform: [{ path: '/a', method: 'POST', template_data: template }] },
          },
        },
      },
    })
  const source = 'version_data.versions.Default.extended_paths.transform[0].template_data.template_source'
  assert.ok((await refusal(data({ template_source: '*' }))).includes(`${source}: must be a template in base64`))
  assert.ok((await refusal(data({ template_source: '/w==' }))).includes(`${source}: must be a template in UTF-8`))
  assert.match(await refusal(data({ template_mode: 'file', template_source: './x' })), /templates of bodies in files/)
  assert.match(await refusal(data({ input_type: 'yaml', template_source: 'e30=' })), /neither JSON nor XML/)
})

test('explain says which bodies would be rewritten', async (t) => {
  const [gateway] = await open(t, transforming('{}', '{}'))
  const explain = async (method: string, url: string) => {
    const { json } = await gateway.svc('POST', '/svc/explain', { method, url, headers: {} })
    return (json as { steps: { step: string; detail?: string }[] }).steps
  }
  const request = await explain('POST', '/t/in')
  assert.ok(request.some(({ step, detail }) => step === 'transformBody' && detail === 'the body would be rewritten'))
  const answer = await explain('GET', '/t/out')
  assert.ok(answer.some(({ step, detail }) => step === 'holdAnswer' && detail !== undefined))
})
