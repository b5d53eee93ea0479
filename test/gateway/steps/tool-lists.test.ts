import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { defined } from '../../worlds/base/definitions.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { type Origin, startOrigin } from '../../worlds/servers/origin.ts'

const on = { enabled: true }
/** Rules of APIs, and the same by hand. */
const APIS: Readonly<Record<string, { readonly rules: JsonObject; readonly may: (tool: string) => boolean }>> = {
  blocks: {
    rules: { delete: { block: on }, 'prix "é"': { block: on } },
    may: (tool) => !['delete', 'prix "é"'].includes(tool),
  },
  allows: {
    rules: { read: { allow: on }, é: { allow: on }, delete: { allow: on, block: on } },
    may: (tool) => ['read', 'é'].includes(tool),
  },
}

let gateway: TestGateway
let origin: Origin

function withTools(id: string, mcpTools: JsonObject, more: Partial<Parameters<typeof defined>[0]> = {}): JsonObject {
  const document = defined({ id, url: origin.url, ...more })
  Object.assign((document['x-svc-api-gateway'] as { middleware: JsonObject }).middleware, { mcpTools })
  return document
}

interface Got {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

const LIST = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'

function open(path: string, { method = 'POST', headers = {} as OutgoingHttpHeaders } = {}): Promise<IncomingMessage> {
  const request = httpRequest({ host: '127.0.0.1', port: gateway.port, path, method, agent: false, headers })
  request.end(method === 'POST' ? LIST : '')
  return new Promise((resolve, reject) => request.on('error', reject).on('response', resolve))
}

async function ask(path: string, options: Parameters<typeof open>[1] = {}): Promise<Got> {
  const response = await open(path, options)
  let text = ''
  for await (const part of response.setEncoding('utf8')) text += part
  return { status: response.statusCode!, headers: response.headers, text }
}

/** The data of the events of a stream, as the HTML standard has them read. */
function eventsOf(text: string): string[] {
  const events: string[] = []
  let data: string[] = []
  for (const line of text.replace(/^\ufeff/, '').split(/\r\n|\n|\r/)) {
    if (line === '') {
      if (data.length > 0) events.push(data.join('\n'))
      data = []
    } else if (line === 'data') data.push('')
    else if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''))
  }
  return events
}

// --- answers, in parts that the test puts together

const spelled = (text: string, escaped: boolean) =>
  escaped
    ? `"${[...text].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`
    : JSON.stringify(text)

const NAME = fc.constantFrom('read', 'write', 'delete', 'prix "é"', 'é', 'Delete', '')
const SCHEMA =
  '"inputSchema":{"tools":[{"name":"delete"}],"result":{"tools":[{"name":"delete"}]},"maximum":12345678901234567890}'
const TOOL = fc
  .record({ name: NAME, escaped: fc.boolean(), isLast: fc.boolean(), space: fc.constantFrom('', ' ', '\n', '\r\n\t') })
  .map(({ name, escaped, isLast, space }) => {
    const parts = [
      SCHEMA,
      `${spelled('name', escaped)}${space}:${space}${spelled(name, escaped)}`,
      '"title":"a ],}{[ \\" delete"',
    ]
    return { name, text: `{${space}${(isLast ? parts : parts.reverse()).join(`${space},`)}${space}}` }
  })
const MESSAGE = fc
  .record({
    kind: fc.constantFrom('tools', 'tools', 'tools', 'prompts', 'resources', 'resourceTemplates', 'content', 'error'),
    tools: fc.array(TOOL, { maxLength: 5 }),
    escaped: fc.boolean(),
    space: fc.constantFrom('', ' ', '\n'),
    id: fc.integer({ min: 0, max: 99 }),
  })
  .map(({ kind, tools, escaped, space, id }) => {
    const list = `[${space}${tools.map(({ text }) => text).join(`${space},${space}`)}${space}]`
    const held =
      kind === 'error'
        ? `"error":{"tools":${list}}`
        : `${spelled('result', escaped)}:{"nextCursor":"x",${spelled(kind, escaped)}${space}:${list}}`
    return { kind, names: tools.map(({ name }) => name), text: `{"jsonrpc":"2.0",${space}"id":${id},${held}${space}}` }
  })
type Message = typeof MESSAGE extends fc.Arbitrary<infer M> ? M : never

/** The message without what may not be called, by a reader and writer of JSON. */
function expected({ kind, text }: Message, api: string): unknown {
  const message = JSON.parse(text)
  const { may } = APIS[api]!
  if (kind === 'tools') message.result.tools = message.result.tools.filter(({ name }: { name: string }) => may(name))
  else if (api === 'allows' && ['prompts', 'resources', 'resourceTemplates'].includes(kind)) message.result[kind] = []
  return message
}

/** Writes these bytes in parts, which the gateway reads one by one. */
async function writeParts(response: ServerResponse, bytes: Buffer, cuts: readonly number[]): Promise<void> {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b)
  let at = 0
  for (const place of [...places, bytes.length]) {
    response.write(bytes.subarray(at, place))
    at = place
    await new Promise((resolve) => setImmediate(resolve))
  }
  response.end()
}

describe('lists of MCP tools', () => {
  before(async () => {
    origin = await startOrigin()
    gateway = await startTestGateway()
    const cached = { cache: { enabled: true, timeout: 60, cacheAllSafeRequests: true } }
    const template = {
      paths: { '/mcp': { post: { operationId: 'all', responses: {} } } },
      operations: {
        all: {
          transformResponseBody: {
            enabled: true,
            format: 'json',
            body: Buffer.from('{"seen":{{ toJson . }}}').toString('base64'),
          },
        },
      },
    }
    for (const api of [
      ...Object.entries(APIS).map(([id, { rules }]) => withTools(id, rules)),
      withTools('cached', APIS.blocks!.rules, { global: cached }),
      withTools('held', APIS.blocks!.rules, template as never),
      withTools('counted', { delete: { trackEndpoint: on, rateLimit: { enabled: true, rate: 100, per: '1s' } } }),
      withTools('packed', APIS.blocks!.rules, { global: { compression: on } }),
    ]) {
      const made = await gateway.svc('POST', '/svc/apis/oas', api)
      assert.equal(made.status, 200, made.text)
    }
  })

  after(async () => {
    await gateway.close()
    await origin.close()
  })

  test('lists name what may be called and nothing else, in every form and however they come', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('blocks', 'allows'),
        fc.array(MESSAGE, { minLength: 1, maxLength: 4 }),
        fc.constantFrom('one', 'batch', 'events'),
        fc.record({
          end: fc.constantFrom('\n', '\r\n', '\r'),
          bom: fc.boolean(),
          method: fc.constantFrom('POST', 'GET'),
        }),
        fc.array(fc.nat(4000), { maxLength: 6 }),
        async (api, messages, form, { end, bom, method }, cuts) => {
          const sent = form === 'one' ? messages.slice(0, 1) : messages
          const inEvent = ({ text }: Message, index: number) =>
            `${index % 2 === 0 ? `id: ${index}${end}` : ''}${text
              .split(/\r\n|\n|\r/)
              .map((line) => `data: ${line}${end}`)
              .join('')}event: message${end}${end}`
          const body = {
            one: () => sent[0]!.text,
            batch: () => `[${sent.map(({ text }) => text).join(' , ')}]`,
            events: () => `: hello${end}${end}${sent.map(inEvent).join('')}`,
          }[form]()
          const type = form === 'events' ? 'text/event-stream' : 'application/json'
          origin.script = (_request, response) => {
            response.writeHead(200, { 'content-type': type, etag: '"1"' })
            void writeParts(response, Buffer.from(`${bom ? '\ufeff' : ''}${body}`), cuts)
          }
          const { status, headers, text } = await ask(`/${api}/mcp`, { method })
          assert.equal(status, 200, text)
          assert.equal(headers.etag, undefined)
          const plain = text.replace(/^\ufeff/, '')
          const got = form === 'events' ? eventsOf(text).map((data) => JSON.parse(data)) : [JSON.parse(plain)].flat()
          assert.deepEqual(
            got,
            sent.map((message) => expected(message, api)),
          )
          // Numbers that JSON readers round are those of the server.
          const kept = sent.some((message) => JSON.stringify(expected(message, api)).includes('inputSchema'))
          if (kept) assert.ok(text.includes('12345678901234567890'))
          // An answer in which nothing is hidden is as it came.
          if (
            sent.every((message) => JSON.stringify(expected(message, api)) === JSON.stringify(JSON.parse(message.text)))
          )
            assert.equal(plain, body)
        },
      ),
      { numRuns: process.env.GATEHOUSE_DEEP === '1' ? 5000 : 150 },
    )
  })

  const tools = (...names: string[]) =>
    JSON.stringify({ jsonrpc: '2.0', id: 1, result: { tools: names.map((name) => ({ name })) } })
  const namesIn = (text: string) => JSON.parse(text).result.tools.map(({ name }: { name: string }) => name)

  test('an event goes on as soon as it is whole, the head and comments at once', async () => {
    let stream: ServerResponse | undefined
    origin.script = (_request, response) => {
      stream = response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.flushHeaders()
    }
    const response = (await open('/blocks/mcp', { method: 'GET' })).setEncoding('utf8')
    const next = async () => (await once(response, 'data'))[0] as string
    for (const [sent, got] of [
      [': alive\n', ': alive\n'],
      [`event: message\ndata: ${tools('read', 'delete')}\n\n`, `event: message\n`],
    ]) {
      const part = next()
      stream!.write(sent)
      assert.ok((await part).startsWith(got!))
    }
    stream!.end(`data: ${tools('delete')}`)
    let rest = ''
    for await (const part of response) rest += part
    assert.deepEqual(namesIn(rest.slice(rest.lastIndexOf('data:') + 5)), [])
  })

  test('what cannot be read as a list is refused, what is no list passes', async () => {
    const answers: readonly (readonly [number, OutgoingHttpHeaders, string | Buffer])[] = [
      [502, { 'content-type': 'application/json', 'content-encoding': 'gzip' }, gzipSync(tools('delete'))],
      [502, { 'content-type': 'text/event-stream', 'content-encoding': 'br' }, 'x'],
      [502, { 'content-type': 'application/json' }, tools('delete').padEnd(4_194_305)],
      [200, { 'content-type': 'text/html', 'content-encoding': 'gzip' }, gzipSync(tools('delete'))],
      [200, { 'content-type': 'application/json' }, `${tools('delete')}`.slice(0, 50)],
      [200, { 'content-type': 'application/json' }, '{"result":{"tools":{"name":"delete"}}}'],
      [
        200,
        { 'content-type': 'application/json' },
        '{"result":{"tools":[["name","delete"],"delete",null,{"name":["delete"]}]}}',
      ],
    ]
    for (const [status, head, body] of answers) {
      origin.script = (_request, response) => void response.writeHead(200, head).end(body)
      const got = await ask('/blocks/mcp', { headers: { 'accept-encoding': 'gzip', range: 'bytes=0-5' } })
      assert.equal(got.status, status, JSON.stringify(head))
      if (status === 200 && typeof body === 'string') assert.equal(got.text, body)
      const { headers } = origin.seen.at(-1)!
      assert.deepEqual([headers['accept-encoding'], headers.range], ['identity', undefined])
    }
    origin.script = (_request, response) =>
      void response.writeHead(206, { 'content-type': 'application/json' }).end(tools('delete'))
    assert.equal((await ask('/blocks/mcp')).status, 502)
    origin.script = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(`data: 1\n\ndata: ${'x'.repeat(4_200_000)}`)
    }
    await assert.rejects(ask('/blocks/mcp'))
  })

  test('stored, rewritten, packed and bodiless answers show no more', async () => {
    origin.script = (_request, response) =>
      void response
        .writeHead(200, { 'content-type': 'application/json', 'cache-control': 'max-age=60' })
        .end(tools('read', 'delete'))
    const before = origin.seen.length
    for (let i = 0; i < 2; i++) assert.deepEqual(namesIn((await ask('/cached/mcp', { method: 'GET' })).text), ['read'])
    assert.equal(origin.seen.length, before + 1)
    assert.deepEqual(namesIn(JSON.stringify(JSON.parse((await ask('/held/mcp')).text).seen)), ['read'])
    const packed = await ask('/packed/mcp', { headers: { 'accept-encoding': 'identity' } })
    assert.deepEqual(namesIn(packed.text), ['read'])
    assert.equal((await ask('/blocks/mcp', { method: 'HEAD' })).status, 200)
    // No tool is hidden: the answer is the server's own.
    assert.deepEqual(namesIn((await ask('/counted/mcp')).text), ['read', 'delete'])
    assert.equal(origin.seen.at(-1)!.headers['accept-encoding'], undefined)
  })
})
