import assert from 'node:assert/strict'
import {
  type Arrived,
  FLAG,
  FrameClient,
  fate,
  frame,
  getFields,
  literals,
  number,
  request,
  setting,
  TYPE,
} from '../worlds/wire/frames.ts'
import { FRAMES, type FrameCase, HEADS } from '../worlds/wire/malformed-frames.ts'
import { answering, type Origin, openOrigin } from '../worlds/wire/origin.ts'
import { type StartedProxy, startProxy } from './proxies.ts'
import { patiently, type SuiteCase, suiteOf } from './suite.ts'

interface World {
  readonly proxy: StartedProxy
  readonly origin: Origin
}

/** Refused by Gatehouse, while RFC 9113 leaves it to the recipient. */
const OWN = new Set([
  '11.6: PRI',
  'Authorization twice',
  'CONNECT',
  '8.3.1: :path above the root',
  '8.3.1: :path beyond ASCII',
  '8.3.1: :path with a fragment',
  '8.3.1: another :scheme',
  '8.3.1: neither Host nor :authority',
])

/** Codes that the standard gives besides that of Gatehouse: such a stream is both unexpected (section 5.1.1) and closed (5.1). */
const ALSO: Readonly<Record<string, string>> = { '5.1.1: HEADERS on a lower stream': '1' }

/** Any of these says that the request was not served. */
const SERVED = /^status 2/

const HUNDRED = 'x'.repeat(100)

/** Answers with the method and the body of the request, or with a hundred letters at `/hundred`. */
const upstream = answering(({ start, body }) => {
  const answer = start.includes('/hundred') ? HUNDRED : `${start.split(' ')[0]} ${body.toString('latin1')}`
  return `HTTP/1.1 200 OK\r\nContent-Length: ${answer.length}\r\n\r\n${answer}`
})

function malformed({ name, send, fate: expected }: FrameCase, connection: boolean): SuiteCase<World> {
  const [, section = '8', what = name] = /^(\d)[\d.]*: (.*)$/.exec(name) ?? []
  return {
    section,
    name: `${what} (${/^[\d.]+/.exec(name)?.[0] ?? section})`,
    run: ({ proxy, origin }) =>
      talk(proxy, async (client) => {
        origin.calls.splice(0)
        client.send(...send)
        let found = await fate(client)
        while (connection && SERVED.test(found)) found = await fate(client)
        // An error of a stream may be taken as one of its connection (section 5.4.2), and answered before (section 8.1.1).
        const codes = [...expected.map((each) => each.split(' ')[1]), ALSO[name]]
        const ended = found === 'closed' || (/^(?:goaway|reset) /.test(found) && codes.includes(found.split(' ')[1]))
        const refused = !connection && !SERVED.test(found)
        assert.ok(ended || refused, `${found} instead of ${expected.join(' or ')}`)
        if (!connection) assert.deepEqual(origin.calls, [], 'no upstream sees it')
      }),
  }
}

async function talk(proxy: StartedProxy, act: (client: FrameClient) => Promise<void>, settings?: readonly number[]) {
  const client = await FrameClient.connect(proxy.http2, settings)
  try {
    await patiently('end', proxy.patienceMs, act(client))
  } finally {
    client.destroy()
  }
}

const good = (
  section: string,
  name: string,
  act: (client: FrameClient) => Promise<void>,
  settings?: readonly number[],
): SuiteCase<World> => ({ section, name, run: ({ proxy }) => talk(proxy, act, settings) })

const post = (changes: Record<string, string> = {}) => literals(getFields({ ':method': 'POST', ...changes }))
const data = (bytes: string, flags = 0, stream = 1) => frame(TYPE.data, flags, stream, Buffer.from(bytes))
const hundred = (stream = 1) => request(stream, getFields({ ':path': '/hundred' }))

async function next(client: FrameClient, type: number): Promise<Arrived> {
  const found = await client.find((arrived) => arrived.type === type || arrived.type === TYPE.goaway)
  assert.equal(found?.type, type, `a frame of type ${type}`)
  return found!
}

/** Bytes of DATA until so many are there; all of the stream without a number. */
async function bodyOf(client: FrameClient, stream = 1, bytes = Number.POSITIVE_INFINITY): Promise<string> {
  let text = ''
  while (text.length < bytes) {
    const found = await client.find((arrived) => arrived.stream === stream && arrived.type !== TYPE.window)
    assert.ok(found?.type === TYPE.data || found?.type === TYPE.headers, `type ${found?.type}`)
    if (found.type === TYPE.data) text += found.payload.toString('latin1')
    if ((found.flags & FLAG.endStream) !== 0) return text
  }
  return text
}

const GOOD: readonly SuiteCase<World>[] = [
  good('4', 'frames of unknown types are ignored (4.1)', async (client) => {
    client.send(frame(77, 255, 0, [1, 2, 3]), hundred())
    assert.equal(await bodyOf(client), HUNDRED)
  }),
  good('4', 'flags without a meaning are ignored (4.1)', async (client) => {
    client.send(frame(TYPE.ping, 0x3e, 0, Buffer.alloc(8)))
    await next(client, TYPE.ping)
  }),
  good('4', 'a field block in HEADERS and two CONTINUATION frames (4.3)', async (client) => {
    const block = post()
    client.send(frame(TYPE.headers, 0, 1, block.subarray(0, 9)), frame(TYPE.continuation, 0, 1, block.subarray(9, 10)))
    client.send(frame(TYPE.continuation, FLAG.endHeaders, 1, block.subarray(10)), data('a', FLAG.endStream))
    assert.equal(await bodyOf(client), 'POST a')
  }),
  good('5', 'two streams at once are answered (5.1.2)', async (client) => {
    client.send(hundred(1), hundred(3))
    const ended = new Set<number>()
    while (ended.size < 2) {
      const { stream, flags } = await next(client, TYPE.data)
      if ((flags & FLAG.endStream) !== 0) ended.add(stream)
    }
  }),
  good('5', 'PRIORITY of an idle stream is no error (5.1)', async (client) => {
    client.send(frame(TYPE.priority, 0, 9, [0, 0, 0, 0, 1]), hundred())
    assert.equal(await bodyOf(client), HUNDRED)
  }),
  good('5', 'WINDOW_UPDATE on a stream that has ended is no error (5.1)', async (client) => {
    client.send(hundred())
    await bodyOf(client)
    client.send(frame(TYPE.window, 0, 1, number(1)), hundred(3))
    assert.equal(await bodyOf(client, 3), HUNDRED)
  }),
  good('6', 'DATA with padding (6.1)', async (client) => {
    client.send(frame(TYPE.headers, FLAG.endHeaders, 1, post()), frame(TYPE.data, FLAG.padded, 1, [2, 97, 0, 0]))
    client.send(data('', FLAG.endStream))
    assert.equal(await bodyOf(client), 'POST a')
  }),
  good('6', 'HEADERS with padding and a priority (6.2)', async (client) => {
    const block = Buffer.concat([Buffer.from([3, 0, 0, 0, 0, 9]), literals(getFields({ ':path': '/hundred' }))])
    const padded = Buffer.concat([block, Buffer.alloc(3)])
    client.send(frame(TYPE.headers, FLAG.endHeaders | FLAG.endStream | FLAG.padded | FLAG.priority, 1, padded))
    assert.equal(await bodyOf(client), HUNDRED)
  }),
  good('6', 'SETTINGS are acknowledged (6.5.3)', async (client) => {
    await client.find(({ type, flags }) => type === TYPE.settings && flags === FLAG.ack)
    client.send(setting(3, 1))
    const found = await client.find(({ type, flags }) => type === TYPE.settings && flags === FLAG.ack)
    assert.ok(found !== undefined)
  }),
  good('6', 'unknown settings are ignored (6.5.2)', async (client) => {
    client.send(setting(99, 1), hundred())
    assert.equal(await bodyOf(client), HUNDRED)
  }),
  good('6', 'PING is answered with its own bytes (6.7)', async (client) => {
    client.send(frame(TYPE.ping, 0, 0, Buffer.from('12345678')))
    const found = await client.find(({ type, flags }) => type === TYPE.ping && flags === FLAG.ack)
    assert.equal(found?.payload.toString(), '12345678')
  }),
  good(
    '6',
    'an answer goes as far as the window of its stream and on with WINDOW_UPDATE (6.9)',
    async (client) => {
      client.send(hundred())
      assert.equal((await bodyOf(client, 1, 10)).length, 10)
      client.send(frame(TYPE.window, 0, 1, number(90)))
      assert.equal((await bodyOf(client)).length, 90)
    },
    [0, 4, ...number(10)],
  ),
  good(
    '6',
    'SETTINGS change the windows of open streams (6.9.2)',
    async (client) => {
      client.send(hundred())
      assert.equal((await bodyOf(client, 1, 1)).length, 1)
      client.send(setting(4, 1000))
      assert.equal((await bodyOf(client)).length, 99)
    },
    [0, 4, ...number(1)],
  ),
  good(
    '6',
    'no frame of an answer is sent with a window of 0 (6.9.1)',
    async (client) => {
      client.send(hundred())
      const head = await next(client, TYPE.headers)
      assert.equal(head.flags & FLAG.endStream, 0)
      client.send(frame(TYPE.ping, 0, 0, Buffer.alloc(8)))
      const first = await client.find(
        ({ type, payload }) => type === TYPE.ping || (type === TYPE.data && payload.length > 0),
      )
      assert.equal(first?.type, TYPE.ping)
      client.send(frame(TYPE.window, 0, 1, number(100)))
      assert.equal(await bodyOf(client), HUNDRED)
    },
    [0, 4, ...number(0)],
  ),
  good('8', 'a request without a body (8.1)', async (client) => {
    client.send(request(1, getFields()))
    assert.equal(await bodyOf(client), 'GET ')
  }),
  good('8', 'a request with a body of two frames (8.1)', async (client) => {
    client.send(frame(TYPE.headers, FLAG.endHeaders, 1, post()), data('a'), data('b', FLAG.endStream))
    assert.equal(await bodyOf(client), 'POST ab')
  }),
  good('8', 'a request with Content-Length (8.1.1)', async (client) => {
    client.send(frame(TYPE.headers, FLAG.endHeaders, 1, post({ 'content-length': '2' })), data('ab', FLAG.endStream))
    assert.equal(await bodyOf(client), 'POST ab')
  }),
  good('8', 'a request with trailers (8.1)', async (client) => {
    client.send(frame(TYPE.headers, FLAG.endHeaders, 1, post()), data('a'))
    client.send(frame(TYPE.headers, FLAG.endHeaders | FLAG.endStream, 1, literals([['x-a', 'b']])))
    assert.equal(await bodyOf(client), 'POST a')
  }),
  good('8', 'an answer to HEAD has no body (8.1)', async (client) => {
    client.send(request(1, getFields({ ':method': 'HEAD' })))
    const { flags } = await next(client, TYPE.headers)
    if ((flags & FLAG.endStream) === 0) assert.equal(await bodyOf(client), '')
  }),
  good('8', 'te: trailers (8.2.2)', async (client) => {
    client.send(request(1, getFields({ te: 'trailers' })))
    assert.equal(await bodyOf(client), 'GET ')
  }),
  good('8', 'Cookie in two fields (8.2.3)', async (client) => {
    client.send(request(1, [...getFields(), ['cookie', 'a=b'], ['cookie', 'c=d']]))
    assert.equal(await bodyOf(client), 'GET ')
  }),
]

const wrongBody = (name: string, length: string, ...frames: readonly Buffer[]) => {
  const head = frame(TYPE.headers, FLAG.endHeaders, 1, post({ 'content-length': length }))
  return { name: `8.1.1: ${name}`, send: [head, ...frames], fate: ['reset 1'] }
}

/** RFC 9113 as an HTTP/2 server in front of HTTP/1.1. */
export const http2 = suiteOf<World>({
  name: 'HTTP/2',
  sections: {
    4: 'RFC 9113 section 4: frames and field blocks',
    5: 'RFC 9113 section 5: streams',
    6: 'RFC 9113 section 6: frame definitions',
    8: 'RFC 9113 section 8: requests and their fields',
  },
  cases: [
    ...FRAMES.map((one) => malformed(one, true)),
    ...HEADS.filter(({ name }) => !OWN.has(name)).map((one) => malformed(one, false)),
    malformed(wrongBody('a body shorter than Content-Length', '3', data('ab', FLAG.endStream)), false),
    malformed(wrongBody('a body longer than Content-Length', '3', data('abcd', FLAG.endStream)), false),
    ...GOOD,
  ],
  async open(name, ending) {
    const origin = await openOrigin(ending, upstream)
    return { origin, proxy: await startProxy(name, { port: origin.port }, ending) }
  },
})
