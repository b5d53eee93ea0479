import assert from 'node:assert/strict'
import { request as httpRequest, type OutgoingHttpHeaders } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { classic, defined } from '../../worlds/base/definitions.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { startMcpServer } from '../../worlds/flows/mcp-world.ts'
import { type Origin, startOrigin } from '../../worlds/servers/origin.ts'

const on = { enabled: true }
const BLOCKS: JsonObject = { delete: { block: on }, 'prix "é"': { block: on }, read: { block: { enabled: false } } }
const ALLOWS: JsonObject = { read: { allow: on }, delete: { allow: on, block: on } }
/** The rules above, by hand. */
const MAY: Readonly<Record<string, (tool: string) => boolean>> = {
  blocks: (tool) => !['delete', 'delete\0', 'prix "é"'].includes(tool),
  allows: (tool) => tool === 'read',
}

let gateway: TestGateway
let origin: Origin

function withTools(id: string, url: string, mcpTools: JsonObject, more: JsonObject = {}): JsonObject {
  const document = defined({ id, url })
  const { middleware } = document['x-svc-api-gateway'] as { middleware: JsonObject }
  Object.assign(middleware, { mcpTools }, more)
  return document
}

interface Got {
  readonly status: number
  readonly type: string | undefined
  readonly text: string
}

function send(path: string, body: string | Buffer, headers: OutgoingHttpHeaders = {}, method = 'POST'): Promise<Got> {
  return new Promise((resolve, reject) => {
    const length = body.length === 0 ? {} : { 'content-length': Buffer.byteLength(body) }
    const request = httpRequest({
      ...{ host: '127.0.0.1', port: gateway.port, path, method, agent: false },
      headers: { ...length, ...headers },
    })
    request.on('error', reject)
    request.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part) => (text += part))
      response.on('end', () => resolve({ status: response.statusCode!, type: response.headers['content-type'], text }))
    })
    request.end(body)
  })
}

const callOf = (name: string, id: string | number = 1) =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: { a: [{ name: 'delete' }] } } })
const FORBIDDEN = { code: -32003, message: 'Access to this tool has been disallowed' }
const UNREADABLE = { code: -32600, message: 'The body cannot be read as JSON-RPC messages' }

/** A message in parts that the test puts together, so that it knows without a parser which tools any reader could find. */
interface Draft {
  readonly text: string
  readonly id: string | number | undefined
  readonly tools: readonly string[]
  /** True where every reader reads the same. */
  readonly isPlain: boolean
}

/** The same text with some characters as escapes. */
const spelled = (text: string, escapes: readonly boolean[]) =>
  `"${[...text]
    .map((char, index) =>
      escapes[index % Math.max(1, escapes.length)] === true || char === '"' || char === '\0'
        ? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
        : char,
    )
    .join('')}"`

const odd =
  (weight: number) =>
  (plain: string, ...others: string[]) =>
    fc.oneof({ weight, arbitrary: fc.constant(plain) }, { weight: 1, arbitrary: fc.constantFrom(...others) })
const often = odd(12)
const TOOL = fc.constantFrom('read', 'write', 'delete', 'prix "é"', 'Delete', 'delet', 'delete\0', '')
/** Under which names and how often a member comes. */
const members = (name: string, ...others: string[]) =>
  fc.oneof(
    { weight: 5, arbitrary: fc.tuple(often(name, ...others)) },
    { weight: 1, arbitrary: fc.array(fc.constantFrom(name, ...others), { maxLength: 3 }) },
  )

const DRAFT: fc.Arbitrary<Draft> = fc
  .record({
    methods: members('method', 'Method', 'METHOD'),
    method: fc.constantFrom('tools/call', 'tools/call', 'tools/call', 'tools/list', 'ping'),
    otherMethod: fc.constantFrom('ping', 'tools/call'),
    paramses: members('params', 'Params', 'paramſ'),
    names: members('name', 'Name', 'naME', 'name\0x'),
    tools: fc.tuple(TOOL, TOOL, TOOL, TOOL),
    escapes: fc.array(fc.boolean(), { maxLength: 5 }),
    space: fc.constantFrom('', ' ', '\n\t', '\r\n'),
    id: fc.oneof(fc.integer(), fc.string({ unit: 'grapheme', maxLength: 5 }), fc.constant(undefined)),
    isLast: fc.boolean(),
  })
  .map(({ methods, method, otherMethod, paramses, names, tools, escapes, space, id, isLast }) => {
    const colon = `${space}:${space}`
    const asked: string[] = []
    let next = 0
    const params = () => {
      const parts = names.map((name) => {
        const tool = tools[next++ % tools.length]!
        asked.push(tool)
        return `${spelled(name, escapes)}${colon}${spelled(tool, escapes)}`
      })
      const args = `"arguments"${colon}{"method":"tools/call","params":{"name":"delete"}}`
      return `{${(isLast ? [args, ...parts] : [...parts, args]).join(`${space},`)}}`
    }
    const ways = methods.map((_, index) => (index === 0 ? method : otherMethod))
    const parts = [
      '"jsonrpc":"2.0"',
      ...(id === undefined ? [] : [`"id"${colon}${JSON.stringify(id)}`]),
      ...methods.map((name, index) => `${spelled(name, escapes)}${colon}${spelled(ways[index]!, escapes)}`),
      ...paramses.map((name) => `${spelled(name, escapes)}${colon}${params()}`),
    ]
    return {
      text: `${space}{${(isLast ? parts.reverse() : parts).join(`${space},${space}`)}}`,
      id,
      tools: ways.includes('tools/call') ? asked : [],
      isPlain: `${methods} ${paramses} ${names}` === 'method params name' && !asked.includes('delete\0'),
    }
  })

describe('allow and block of MCP tools', () => {
  before(async () => {
    origin = await startOrigin()
    gateway = await startTestGateway()
    const apis = [withTools('blocks', origin.url, BLOCKS), withTools('allows', origin.url, ALLOWS)]
    for (const api of apis) {
      const made = await gateway.svc('POST', '/svc/apis/oas', api)
      assert.equal(made.status, 200, made.text)
    }
    const made = await gateway.svc('POST', '/svc/apis', classic('old', '/old/', origin.url, { mcp_tools: ALLOWS }))
    assert.equal(made.status, 200, made.text)
  })

  after(async () => {
    await gateway.close()
    await origin.close()
  })

  test('no spelling of a blocked call reaches the upstream, and each plain call that may does', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('blocks', 'allows'),
        fc.oneof(
          DRAFT.map((one) => [one]),
          fc.array(DRAFT, { minLength: 1, maxLength: 3 }),
        ),
        fc.boolean(),
        async (api, drafts, asBatch) => {
          const isBatch = asBatch || drafts.length > 1
          const body = isBatch ? `[${drafts.map(({ text }) => text).join(' , ')}]` : drafts[0]!.text
          const before = origin.seen.length
          const { status, text } = await send(`/${api}/mcp`, body, { 'content-type': 'application/json' })
          const mayBeBlocked = drafts.some(({ tools }) => tools.some((tool) => !MAY[api]!(tool)))
          const isPlain = drafts.every((draft) => draft.isPlain)
          if (mayBeBlocked) {
            assert.ok(status === 403 || status === 400, `${status} ${body}`)
            assert.equal(origin.seen.length, before)
          }
          if (!isPlain) return
          if (!mayBeBlocked) {
            assert.equal(status, 200, `${text} ${body}`)
            assert.equal(Buffer.from(origin.seen.at(-1)!.body, 'latin1').toString(), body)
            return
          }
          assert.equal(status, 403, body)
          const errors = drafts
            .filter(({ id }) => id !== undefined)
            .map(({ id }) => ({ jsonrpc: '2.0', id, error: FORBIDDEN }))
          const single = errors[0] ?? { jsonrpc: '2.0', id: null, error: FORBIDDEN }
          assert.deepEqual(JSON.parse(text), isBatch && errors.length > 0 ? errors : single)
        },
      ),
      { numRuns: process.env.GATEHOUSE_DEEP === '1' ? 5000 : 250 },
    )
  })

  test('each content type that a server may take is judged, a charset other than UTF-8 is refused', async () => {
    for (const type of [
      ...[
        'application/json',
        'APPLICATION/JSON',
        'application/json; charset=utf-8',
        'application/json;charset="UTF-8"',
      ],
      ...['application/json ; x=y; charset=utf8', 'text/plain', 'application/vnd.a+json', undefined],
    ]) {
      const headers = type === undefined ? {} : { 'content-type': type }
      assert.equal((await send('/blocks/mcp', callOf('read'), headers)).status, 200, String(type))
      const refused = await send('/blocks/mcp', callOf('delete', 'é7'), headers)
      assert.deepEqual([refused.status, refused.type], [403, 'application/json'], String(type))
      assert.deepEqual(JSON.parse(refused.text), { jsonrpc: '2.0', id: 'é7', error: FORBIDDEN })
    }
    const before = origin.seen.length
    for (const type of [
      ...['application/json; charset=utf-7', 'application/json; charset=utf-8; charset=utf-7', 'a/b; charset*=utf-7'],
      ...['application/json; charset=', 'application/json; Charset="utf-16le"', 'application/json; charset=utf-8x'],
      ['application/json', 'application/json; charset=utf-7'],
    ]) {
      const { status, text } = await send('/blocks/mcp', callOf('read'), { 'Content-Type': type })
      assert.equal(status, 400, String(type))
      assert.deepEqual(JSON.parse(text), { jsonrpc: '2.0', id: null, error: UNREADABLE })
    }
    assert.equal(origin.seen.length, before)
  })

  test('a body that is no JSON-RPC for every reader is refused', async () => {
    const before = origin.seen.length
    const bodies: readonly (string | Buffer)[] = [
      ...['{', ' ', '"tools/call"', '1', 'null', '[1]', '[[]]', `[${callOf('read')},[${callOf('delete')}]]`],
      ...[`${callOf('read')}${callOf('delete')}`, '{"method":["tools/call"]}', '{"method":" Tools/Call"}'],
      ...['{"method":"tools/call"}', '{"method":"tools/call","params":["delete"]}'],
      ...['{"method":"tools/call","params":{"name":["delete"]}}', '{"method":"tools/call","params":{"name":null}}'],
      ...['{"method":"ping","\\u006dethod":"tools/call","params":{"name":"delete"}}', 'method=tools/call&name=delete'],
      ...['name\\u0000', 'n\\u0061me', 'naMe'].map(
        (name) => `{"method":"tools/call","params":{"name":"read","${name}":"delete"}}`,
      ),
      ...['params', 'PARAMS', 'paramſ', 'param\\u017f'].map(
        (name) => `{"${name}":{"name":"delete"},"method":"tools/call","params":{"name":"read"}}`,
      ),
      Buffer.from(callOf('d\xff'), 'latin1'),
      Buffer.from(callOf('delete'), 'utf16le'),
    ]
    for (const body of bodies)
      for (const api of ['blocks', 'allows', 'old'])
        assert.equal((await send(`/${api}/mcp`, body)).status, 400, String(body))
    const large = callOf('read').replace('{}', JSON.stringify({ a: 'x'.repeat(4_200_000) }))
    assert.equal((await send('/blocks/mcp', large.padEnd(4_200_000))).status, 413)
    assert.equal((await send('/blocks/mcp', gzipSync(callOf('delete')), { 'content-encoding': 'gzip' })).status, 403)
    assert.equal((await send('/blocks/mcp', callOf('read'), { 'content-encoding': 'gzip' })).status, 400)
    assert.equal((await send('/blocks/mcp', callOf('read'), { 'content-encoding': 'x' })).status, 400)
    for (const method of ['GET', 'PUT', 'DELETE'])
      assert.equal((await send('/blocks/mcp', callOf('delete'), {}, method)).status, 403, method)
    const tunnel = { connection: 'upgrade', upgrade: 'websocket', 'sec-websocket-key': 'AQIDBAUGBwgJCgsMDQ4PEC==' }
    const upgrade = await send('/blocks/mcp', '', { ...tunnel, 'sec-websocket-version': '13' }, 'GET')
    assert.equal(upgrade.status, 403)
    assert.equal(origin.seen.length, before)
  })

  test('other messages and streams pass, resources and prompts not where tools are allowed', async () => {
    for (const api of ['blocks', 'allows', 'old']) {
      for (const method of ['GET', 'DELETE', 'OPTIONS'])
        assert.equal((await send(`/${api}/mcp`, '', {}, method)).status, 200)
      const bodies = [
        '{"jsonrpc":"2.0","id":1,"result":{"method":"tools/call"}}',
        '[]',
        '{"id":2,"method":"tools/list"}',
      ]
      for (const body of bodies) assert.equal((await send(`/${api}/mcp`, body)).status, 200, body)
      for (const method of ['resources/read', 'prompts/get']) {
        const { status } = await send(`/${api}/mcp`, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: {} }))
        assert.equal(status, api === 'blocks' ? 200 : 403, `${api} ${method}`)
      }
      assert.equal((await send(`/${api}/mcp`, callOf('read'))).status, 200)
      assert.equal((await send(`/${api}/mcp`, callOf('delete'))).status, 403)
    }
    const large = await send('/blocks/mcp', '{"id":9007199254740993,"method":"tools/call","params":{"name":"delete"}}')
    assert.equal(JSON.parse(large.text).id, null)
  })

  test('the MCP SDK lists and calls what is allowed', async (t) => {
    const upstream = await startMcpServer(t)
    const made = await gateway.svc(
      'POST',
      '/svc/apis/oas',
      withTools('notes', upstream.url, { list_notes: { allow: on } }),
    )
    assert.equal(made.status, 200, made.text)
    const client = new Client({ name: 'agent', version: '1.0.0' })
    const url = new URL(`http://127.0.0.1:${gateway.port}/notes/mcp`)
    await client.connect(new StreamableHTTPClientTransport(url) as Transport)
    t.after(() => client.close())
    assert.deepEqual(
      (await client.listTools()).tools.map(({ name }) => name),
      ['list_notes'],
    )
    await client.callTool({ name: 'list_notes' })
    await assert.rejects(client.callTool({ name: 'delete_note' }), /Access to this tool has been disallowed/)
    assert.deepEqual(upstream.seen, ['list_notes'])
  })

  test('other rules of a tool are refused by their place, those that are off are kept', async () => {
    const rules: readonly (readonly [JsonObject, RegExp])[] = [
      [{ rateLimit: { enabled: true, rate: 1, per: '1s', burst: 2 } }, /mcpTools\.read: .*\(rateLimit\.burst\)/],
      [{ doNotTrackEndpoint: on }, /mcpTools\.read: .*\(doNotTrackEndpoint\)/],
      [{ validateRequest: on }, /mcpTools\.read: .*\(validateRequest\)/],
      [{ allow: { enabled: true, ignoreCase: true } }, /mcpTools\.read: .*\(allow\.ignoreCase\)/],
      [{ unheardOf: 1 }, /mcpTools\.read: .*\(unheardOf\)/],
    ]
    for (const [rule, place] of rules) {
      const { status, text } = await gateway.svc('POST', '/svc/apis/oas', withTools('r', origin.url, { read: rule }))
      assert.equal(status, 400, text)
      assert.match(text, place)
      const old = await gateway.svc('POST', '/svc/apis', classic('r', '/r/', origin.url, { mcp_tools: { read: rule } }))
      assert.equal(old.status, 400, old.text)
    }
    for (const list of ['mcpResources', 'mcpPrompts']) {
      const api = withTools('r', origin.url, {}, { [list]: { read: { allow: on } } })
      assert.match((await gateway.svc('POST', '/svc/apis/oas', api)).text, new RegExp(list))
    }
    const off = { read: { allow: { enabled: true, name: 'note' }, rateLimit: { enabled: false, rate: 1, per: '1s' } } }
    const kept = await gateway.svc('POST', '/svc/apis/oas', withTools('r', origin.url, off))
    assert.equal(kept.status, 200, kept.text)
  })
})
