import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Metadata, type ServiceError, status } from '@grpc/grpc-js'
import fc from 'fast-check'
import { defined } from '../../worlds/base/definitions.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { echoClient, metadata, startEcho } from '../../worlds/gateway/grpc-world.ts'
import { within } from '../../worlds/wire/raw.ts'

type Caller = ReturnType<typeof echoClient>

/** Metadata that proxies must not touch. */
function ownOf(found: Metadata): Record<string, unknown> {
  const own = Object.entries(found.toJSON()).filter(([name]) => name.startsWith('x-') || name.startsWith('grpc-'))
  return Object.fromEntries(own.sort(([a], [b]) => (a < b ? -1 : 1)))
}

async function say(caller: Caller, name: 'Say' | 'Fail', size: number, sent: Record<string, string>): Promise<unknown> {
  try {
    const { message, head, trailers } = await caller.unary(name, 'm'.repeat(size), metadata(sent))
    return { size: message.length, head: ownOf(head), trailers: ownOf(trailers) }
  } catch (error) {
    const { code, details, metadata: trailers } = error as ServiceError
    return { code, details, trailers: ownOf(trailers) }
  }
}

function collect(caller: Caller, sizes: readonly number[]): Promise<unknown> {
  return new Promise((resolve) => {
    const call = caller.client.Collect((error, answer) => resolve(error === null ? answer?.length : error.code))
    for (const [i, size] of sizes.entries()) call.write(Buffer.alloc(size, 97 + (i % 26)))
    call.end()
  })
}

async function chat(caller: Caller, words: readonly string[]): Promise<unknown> {
  const call = caller.client.Chat()
  for (const word of words) call.write(Buffer.from(word))
  call.end()
  const heard: string[] = []
  const ended = new Promise<number>((resolve) => call.on('status', ({ code }) => resolve(code)))
  for await (const part of call) heard.push(String(part))
  return { heard, code: await ended }
}

async function count(caller: Caller, total: number): Promise<unknown> {
  const heard: string[] = []
  for await (const part of caller.client.Count(Buffer.from(String(total)))) heard.push(String(part))
  return heard
}

const size = fc.oneof(fc.nat(100), fc.nat(200_000))
const call = fc.oneof(
  fc
    .tuple(
      fc.constantFrom('Say', 'Fail'),
      size,
      // Without "b": a name that ends on "-bin" takes bytes, not text.
      fc.dictionary(fc.stringMatching(/^x-[ac-z]{1,3}$/), fc.stringMatching(/^[!-~]{1,40}$/), { maxKeys: 5 }),
    )
    .map(
      ([name, bytes, sent]) =>
        (caller: Caller) =>
          say(caller, name, bytes, sent),
    ),
  fc.array(size, { maxLength: 20 }).map((sizes) => (caller: Caller) => collect(caller, sizes)),
  fc
    .array(fc.stringMatching(/^[a-z]{0,200}$/), { maxLength: 20 })
    .map((words) => (caller: Caller) => chat(caller, words)),
  fc.nat(100).map((total) => (caller: Caller) => count(caller, total)),
)

test('calls of every kind, many at once, end through the gateway as they do without it', async (t) => {
  const echo = await startEcho(t)
  // Without fields of the gateway's own.
  const gate = await startTestGateway({ env: { SVC_GW_REQUESTID: 'own' } })
  t.after(() => gate.close())
  const listen = { listenPath: { value: '/echo.Echo/', strip: false } }
  const draft = { id: 'echo', url: `h2c://127.0.0.1:${echo.port}`, upstream: {}, server: listen }
  assert.equal((await gate.svc('POST', '/svc/apis/oas', defined(draft))).status, 200)
  const direct = echoClient(t, echo.port)
  const through = echoClient(t, gate.port)
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 8 }), async (calls) => {
      const expected = await within('the direct ends', Promise.all(calls.map((make) => make(direct))))
      const found = await within('the ends', Promise.all(calls.map((make) => make(through))))
      assert.deepEqual(found, expected)
    }),
    { numRuns: process.env.GATEHOUSE_DEEP === '1' ? 500 : 15 },
  )
  const failed = (await say(through, 'Fail', 1, {})) as { code: number }
  assert.equal(failed.code, status.FAILED_PRECONDITION)
})
