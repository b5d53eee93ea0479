import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
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
const PER_MS = 60_000
const RATES: Readonly<Record<string, number>> = { search: 3, send: 1 }
const RULES: JsonObject = {
  search: { rateLimit: { enabled: true, rate: 3, per: '1m' }, trackEndpoint: on },
  send: { rateLimit: { enabled: true, rate: 1, per: '60s' }, trackEndpoint: on },
  drop: { block: on, trackEndpoint: on },
  off: { rateLimit: { enabled: false, rate: 1, per: '1m' } },
}
const LIMITED = { code: -32029, message: 'API Rate Limit Exceeded' }

let gateway: TestGateway
let origin: Origin

function withTools(id: string, url: string, mcpTools: JsonObject): JsonObject {
  const document = defined({ id, url })
  Object.assign((document['x-svc-api-gateway'] as { middleware: JsonObject }).middleware, { mcpTools })
  return document
}

const callOf = (name: string, id: number) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name } })
const send = (path: string, body: unknown) =>
  gateway.call(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

describe('rates of MCP tools, and analytics by tool', () => {
  before(async () => {
    origin = await startOrigin()
    gateway = await startTestGateway()
    for (const [path, api] of [
      ['/svc/apis/oas', withTools('tools', origin.url, RULES)],
      ['/svc/apis/oas', withTools('others', origin.url, RULES)],
      ['/svc/apis', classic('old', '/old/', origin.url, { mcp_tools: RULES })],
    ] as const) {
      const made = await gateway.svc('POST', path, api)
      assert.equal(made.status, 200, made.text)
    }
  })

  after(async () => {
    await gateway.close()
    await origin.close()
  })

  test('calls of a tool pass while its window has room, each tool and API by itself', async () => {
    /** When calls of a tool of an API were admitted. */
    const admitted = new Map<string, number[]>()
    const step = fc.record({
      api: fc.constantFrom('tools', 'others', 'old'),
      tools: fc.uniqueArray(fc.constantFrom('search', 'send', 'off', 'free'), { minLength: 1, maxLength: 3 }),
      asBatch: fc.boolean(),
      passMs: fc.constantFrom(0, 0, 0, 1000, 20_000, 59_000, 61_000),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        for (const { api, tools, asBatch, passMs } of steps) {
          gateway.clock.advance(passMs)
          const now = gateway.clock.mono()
          const callsOf = (tool: string) => admitted.get(`${api} ${tool}`) ?? []
          const isFull = (tool: string) =>
            tool in RATES && callsOf(tool).filter((at) => now - at <= PER_MS).length >= RATES[tool]!
          const asked = asBatch ? tools : tools.slice(0, 1)
          const calls = asked.map((tool, index) => callOf(tool, index))
          const before = origin.seen.length
          const { status, headers, text } = await send(`/${api}/mcp`, asBatch ? calls : calls[0])
          const mayPass = !asked.some(isFull)
          assert.equal(status, mayPass ? 200 : 429, text)
          assert.equal(origin.seen.length - before, mayPass ? 1 : 0)
          if (mayPass) {
            for (const tool of asked) admitted.set(`${api} ${tool}`, [...callsOf(tool), now])
            continue
          }
          const errors = asked.map((_, id) => ({ jsonrpc: '2.0', id, error: LIMITED }))
          assert.deepEqual(JSON.parse(text), asBatch ? errors : errors[0])
          assert.ok(Number(headers['retry-after']) > 0)
          assert.match(String(headers.ratelimit), /"tool(?:-2)?";r=0/)
        }
      }),
      { numRuns: process.env.GATEHOUSE_DEEP === '1' ? 1000 : 40 },
    )
  })

  test('a batch takes a permit for each of its calls', async () => {
    gateway.clock.advance(2 * PER_MS)
    const four = [1, 2, 3, 4].map((id) => callOf('search', id))
    assert.equal((await send('/tools/mcp', four)).status, 429)
    gateway.clock.advance(2 * PER_MS)
    assert.equal((await send('/tools/mcp', four.slice(0, 3))).status, 200)
    assert.equal((await send('/tools/mcp', four[3])).status, 429)
  })

  test('a batch that calls a tool more often than its rate ever allows takes no permit', async () => {
    gateway.clock.advance(2 * PER_MS)
    const many = Array.from({ length: 1000 }, (_, id) => callOf(id === 0 ? 'send' : 'search', id))
    assert.equal((await send('/tools/mcp', many)).status, 429)
    for (const name of ['send', 'search', 'search', 'search'])
      assert.equal((await send('/tools/mcp', callOf(name, 1))).status, 200, name)
  })

  test('no spelling of a call gets past the rate of its tool', async () => {
    gateway.clock.advance(2 * PER_MS)
    assert.equal((await send('/tools/mcp', callOf('send', 1))).status, 200)
    for (const [body, status] of [
      ['{"method":"tools\\/call","params":{"n\\u0061me":"s\\u0065nd"},"id":1}', 429],
      ['{"method":"tools/call","params":{"name":"send"}}', 429],
      ['{"method":"tools/call","params":{"name":"free","Name":"send"},"id":1}', 400],
      ['{"method":"tools/call","params":{"name":"free"},"Params":{"name":"send"},"id":1}', 400],
    ] as const) {
      const { status: got } = await gateway.call('/tools/mcp', { method: 'POST', body })
      assert.equal(got, status, body)
    }
  })

  test('the MCP SDK is refused for the tool that is called too often, and calls others', async (t) => {
    const upstream = await startMcpServer(t)
    const rules = { list_notes: { rateLimit: { enabled: true, rate: 2, per: '1h' } }, delete_note: { block: on } }
    const made = await gateway.svc('POST', '/svc/apis/oas', withTools('sdk', upstream.url, rules))
    assert.equal(made.status, 200, made.text)
    const client = new Client({ name: 'agent', version: '1.0.0' })
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${gateway.port}/sdk/mcp`)) as Transport,
    )
    t.after(() => client.close())
    assert.deepEqual(
      (await client.listTools()).tools.map(({ name }) => name),
      ['list_notes'],
    )
    for (let i = 0; i < 2; i++) await client.callTool({ name: 'list_notes' })
    await assert.rejects(client.callTool({ name: 'list_notes' }), /API Rate Limit Exceeded/)
    await client.listTools()
    assert.deepEqual(upstream.seen, ['list_notes', 'list_notes'])
  })

  test('tracked tools are endpoints of analytics, whatever path is called, and refused calls count', async (t) => {
    const own = await startTestGateway()
    let isOpen = true
    t.after(async () => void (isOpen && (await own.close())))
    assert.equal((await own.svc('POST', '/svc/apis/oas', withTools('tools', origin.url, RULES))).status, 200)
    for (const [path, name] of [
      ['/tools/mcp', 'search'],
      ['/tools/mcp?x=1', 'search'],
      ['/tools/other', 'search'],
      ['/tools/mcp', 'search'],
      ['/tools/mcp', 'drop'],
      ...Array.from({ length: 20 }, (_, i) => ['/tools/mcp', `made-up-${i}`] as const),
    ] as const)
      await own.call(path, { method: 'POST', body: JSON.stringify(callOf(name, 1)) })
    await own.call('/tools/mcp', { method: 'POST', body: '{"method":"tools/list","id":1}' })
    isOpen = false
    await own.gateway.stop()
    const rows = await own.store.hits.sum({ fromHour: 0, toHour: 1e6, by: ['endpoint'], limit: 100 })
    const counts = Object.fromEntries(rows.map(({ endpoint, count, error }) => [endpoint, [count, error]]))
    await own.store.close()
    assert.deepEqual(counts, { 'tools/call search': [4, 1], 'tools/call drop': [1, 1], '': [21, 0] })
  })
})
