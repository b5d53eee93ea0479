import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type ServiceError, status } from '@grpc/grpc-js'
import { echoClient, metadata, startEcho } from '../worlds/gateway/grpc-world.ts'
import { until } from '../worlds/wire/raw.ts'
import { type StartedProxy, startProxy } from './proxies.ts'
import { patiently, type SuiteCase, suiteOf } from './suite.ts'

interface World {
  readonly proxy: StartedProxy
  readonly caller: ReturnType<typeof echoClient>
  readonly seen: Awaited<ReturnType<typeof startEcho>>['seen']
}

function calls(name: string, act: (world: World) => Promise<void>): SuiteCase<World> {
  return {
    section: 'grpc',
    name,
    run: (world) => patiently('end', world.proxy.patienceMs * 2, act(world)),
  }
}

async function refusal(call: Promise<unknown>): Promise<ServiceError> {
  return call.then(
    () => assert.fail('the call was answered'),
    (error: ServiceError) => error,
  )
}

const unary = (size: number) =>
  calls(`a unary call with a message of ${size} bytes`, async ({ caller }) => {
    assert.equal((await caller.unary('Say', 'm'.repeat(size))).message.length, size)
  })

const CASES: readonly SuiteCase<World>[] = [
  ...[0, 1, 16_384, 100_000, 3_000_000].map(unary),
  calls('metadata of the request, binary too', async ({ caller, seen }) => {
    const sent = metadata({ 'x-a': 'b c' })
    sent.set('x-c-bin', Buffer.from([0, 255, 10]))
    await caller.unary('Say', 'm', sent)
    assert.deepEqual(seen.metadata.get('x-a'), ['b c'])
    assert.deepEqual(seen.metadata.get('x-c-bin'), [Buffer.from([0, 255, 10])])
  }),
  calls('metadata of the answer, in front and behind', async ({ caller }) => {
    const { head, trailers } = await caller.unary('Say', 'm')
    assert.deepEqual(head.get('x-head'), ['before'])
    assert.deepEqual(trailers.get('x-trailer'), ['behind'])
    assert.deepEqual(trailers.get('x-bytes-bin'), [Buffer.from([0, 1, 254, 255])])
  }),
  calls('a status with a text', async ({ caller }) => {
    const { code, details } = await refusal(caller.unary('Fail', 'm'))
    assert.deepEqual([code, details], [status.FAILED_PRECONDITION, 'nicht möglich: 50 %'])
  }),
  calls('a stream of the client', async ({ caller }) => {
    const answer = await new Promise<number>((resolve, reject) => {
      const call = caller.client.Collect((error, whole) => (error === null ? resolve(whole!.length) : reject(error)))
      for (let i = 0; i < 50; i++) call.write(Buffer.alloc(5000))
      call.end()
    })
    assert.equal(answer, 250_000)
  }),
  calls('a stream of the service', async ({ caller }) => {
    let count = 0
    for await (const part of caller.client.Count(Buffer.from('500'))) assert.equal(String(part), String(count++))
    assert.equal(count, 500)
  }),
  calls('a stream of the service without a message', async ({ caller }) => {
    for await (const part of caller.client.Count(Buffer.from('0'))) assert.fail(String(part))
  }),
  calls('each message of a stream in both directions is answered before the next', async ({ caller }) => {
    const call = caller.client.Chat()
    for (const word of ['a', 'b', 'c']) {
      call.write(Buffer.from(word))
      const [heard] = await once(call, 'data')
      assert.equal(String(heard), word.toUpperCase())
    }
    call.end()
    const [end] = await once(call, 'status')
    assert.equal(end.code, status.OK)
  }),
  calls('the deadline reaches the service', async ({ caller, seen }) => {
    seen.deadline = undefined
    const { code } = await refusal(caller.unary('Wait', 'm', undefined, { deadline: Date.now() + 300 }))
    assert.equal(code, status.DEADLINE_EXCEEDED)
    // `Infinity` without one.
    assert.ok(seen.deadline instanceof Date || Number.isFinite(seen.deadline), String(seen.deadline))
  }),
  calls('a call that is cancelled is cancelled at the service', async ({ caller, seen }) => {
    seen.cancelled = false
    seen.deadline = undefined
    const call = caller.client.Wait(Buffer.from('m'), metadata({}), {}, () => {})
    await until('it is there', () => seen.deadline !== undefined)
    call.cancel()
    await until('it is cancelled', () => seen.cancelled)
  }),
  calls('a method that is not there is UNIMPLEMENTED', async ({ caller }) => {
    const call = new Promise((resolve, reject) => {
      const bytes = (value: Buffer) => value
      const path = '/echo.Echo/Nothing'
      caller.client.makeUnaryRequest(path, bytes, bytes, Buffer.from('m'), (error, answer) =>
        error === null ? resolve(answer) : reject(error),
      )
    })
    assert.equal((await refusal(call)).code, status.UNIMPLEMENTED)
  }),
  calls('50 calls at once', async ({ caller }) => {
    const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => caller.unary('Say', `${i}`)))
    assert.deepEqual(
      answers.map(({ message }) => message),
      answers.map((_, i) => `${i}`),
    )
  }),
]

/** gRPC through a proxy, with HTTP/2 on both sides. */
export const grpc = suiteOf<World>({
  name: 'gRPC',
  sections: {
    grpc: 'gRPC over HTTP/2 on both sides: calls of the four kinds, metadata, statuses, deadlines, cancelling',
  },
  cases: CASES,
  async open(name, ending) {
    const { port, seen } = await startEcho(ending)
    const proxy = await startProxy(name, { port, http2: true }, ending)
    return { proxy, seen, caller: echoClient(ending, proxy.http2) }
  },
})
