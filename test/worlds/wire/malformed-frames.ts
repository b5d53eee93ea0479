import { FLAG, frame, getFields, literals, number, request, setting, TYPE } from './frames.ts'

/** Codes of RFC 9113 section 7. */
const PROTOCOL = 'goaway 1'
const FLOW_CONTROL = 'goaway 3'
const FRAME_SIZE = 'goaway 6'
const COMPRESSION = 'goaway 9'

/** Frames that break RFC 9113, and what has to become of them. */
export interface FrameCase {
  /** Section of RFC 9113, and what is wrong. */
  readonly name: string
  readonly send: readonly Buffer[]
  /** Any of these; what ends a connection without a word is a refusal too. */
  readonly fate: readonly string[]
}

/** The beginning of a field block. */
export const HALF = frame(TYPE.headers, FLAG.endStream, 1, literals(getFields()))
const OPEN = frame(TYPE.headers, FLAG.endHeaders, 1, literals(getFields({ ':method': 'POST' })))

/** Errors of the framing. */
export const FRAMES: readonly FrameCase[] = [
  { name: '6.1: DATA on stream 0', send: [frame(TYPE.data, 0, 0, [1])], fate: [PROTOCOL] },
  { name: '5.1: DATA on an idle stream', send: [frame(TYPE.data, 0, 1, [1])], fate: [PROTOCOL] },
  {
    name: '6.1: padding longer than the frame',
    send: [OPEN, frame(TYPE.data, FLAG.padded, 1, [9, 1])],
    fate: [PROTOCOL],
  },
  { name: '6.2: HEADERS on stream 0', send: [request(0, getFields())], fate: [PROTOCOL] },
  { name: '5.1.1: HEADERS on an even stream', send: [request(2, getFields())], fate: [PROTOCOL] },
  { name: '4.3: HPACK index 0', send: [frame(TYPE.headers, 5, 1, [0x80])], fate: [COMPRESSION] },
  { name: '4.3: HPACK index beyond the table', send: [frame(TYPE.headers, 5, 1, [0xff, 0x7f])], fate: [COMPRESSION] },
  { name: '4.3: HPACK cut off', send: [frame(TYPE.headers, 5, 1, [0, 9, 97])], fate: [COMPRESSION] },
  { name: '6.4: RST_STREAM on stream 0', send: [frame(TYPE.rst, 0, 0, [0, 0, 0, 8])], fate: [PROTOCOL] },
  { name: '6.4: RST_STREAM on an idle stream', send: [frame(TYPE.rst, 0, 1, [0, 0, 0, 8])], fate: [PROTOCOL] },
  { name: '6.4: RST_STREAM of 3 bytes', send: [OPEN, frame(TYPE.rst, 0, 1, [0, 0, 8])], fate: [FRAME_SIZE] },
  { name: '6.5: SETTINGS on a stream', send: [frame(TYPE.settings, 0, 1)], fate: [PROTOCOL] },
  { name: '6.5: SETTINGS of 5 bytes', send: [frame(TYPE.settings, 0, 0, [0, 0, 0, 0, 0])], fate: [FRAME_SIZE] },
  {
    name: '6.5: SETTINGS ACK with bytes',
    send: [frame(TYPE.settings, FLAG.ack, 0, [0, 3, 0, 0, 0, 1])],
    fate: [FRAME_SIZE],
  },
  { name: '6.5.2: ENABLE_PUSH of 2', send: [setting(2, 2)], fate: [PROTOCOL] },
  { name: '6.5.2: INITIAL_WINDOW_SIZE of 2^31', send: [setting(4, 2 ** 31)], fate: [FLOW_CONTROL] },
  { name: '6.5.2: MAX_FRAME_SIZE of 100', send: [setting(5, 100)], fate: [PROTOCOL] },
  { name: '6.6: PUSH_PROMISE by a client', send: [OPEN, frame(TYPE.push, 4, 1, [0, 0, 0, 2])], fate: [PROTOCOL] },
  { name: '6.7: PING of 7 bytes', send: [frame(TYPE.ping, 0, 0, Buffer.alloc(7))], fate: [FRAME_SIZE] },
  { name: '6.7: PING on a stream', send: [frame(TYPE.ping, 0, 1, Buffer.alloc(8))], fate: [PROTOCOL] },
  { name: '6.8: GOAWAY on a stream', send: [frame(TYPE.goaway, 0, 1, Buffer.alloc(8))], fate: [PROTOCOL] },
  { name: '6.9: WINDOW_UPDATE of 3 bytes', send: [frame(TYPE.window, 0, 0, [0, 0, 1])], fate: [FRAME_SIZE] },
  { name: '6.9: WINDOW_UPDATE by 0', send: [frame(TYPE.window, 0, 0, [0, 0, 0, 0])], fate: [PROTOCOL] },
  { name: '5.1: WINDOW_UPDATE on an idle stream', send: [frame(TYPE.window, 0, 3, [0, 0, 0, 1])], fate: [PROTOCOL] },
  {
    name: '6.9.1: window of more than 2^31',
    send: [frame(TYPE.window, 0, 0, [0x7f, 255, 255, 255])],
    fate: [FLOW_CONTROL],
  },
  {
    name: '6.9.1: window of a stream of more than 2^31',
    send: [OPEN, frame(TYPE.window, 0, 1, number(2 ** 31 - 1))],
    fate: ['reset 3'],
  },
  { name: '6.9: WINDOW_UPDATE of a stream by 0', send: [OPEN, frame(TYPE.window, 0, 1, number(0))], fate: ['reset 1'] },
  { name: '6.3: PRIORITY of 4 bytes', send: [OPEN, frame(TYPE.priority, 0, 1, [0, 0, 0, 0])], fate: ['reset 6'] },
  { name: '6.3: PRIORITY on stream 0', send: [frame(TYPE.priority, 0, 0, [0, 0, 0, 0, 0])], fate: [PROTOCOL] },
  { name: '6.8: GOAWAY of 7 bytes', send: [frame(TYPE.goaway, 0, 0, Buffer.alloc(7))], fate: [FRAME_SIZE] },
  { name: '6.1: PADDED DATA without a length', send: [OPEN, frame(TYPE.data, FLAG.padded, 1)], fate: [FRAME_SIZE] },
  { name: '6.2: padding longer than HEADERS', send: [frame(TYPE.headers, 13, 1, [200, 0x82])], fate: [PROTOCOL] },
  {
    name: '5.1.1: HEADERS on a lower stream',
    send: [request(5, getFields()), request(3, getFields())],
    fate: ['goaway 5'],
  },
  {
    name: '6.9.2: windows of streams of more than 2^31',
    send: [OPEN, frame(TYPE.window, 0, 1, number(100)), setting(4, 2 ** 31 - 1)],
    fate: [FLOW_CONTROL],
  },
  { name: '6.10: CONTINUATION of nothing', send: [frame(TYPE.continuation, 4, 1)], fate: [PROTOCOL] },
  { name: '6.10: PING within a field block', send: [HALF, frame(TYPE.ping, 0, 0, Buffer.alloc(8))], fate: [PROTOCOL] },
  { name: '6.10: CONTINUATION of another stream', send: [HALF, frame(TYPE.continuation, 4, 3)], fate: [PROTOCOL] },
  {
    name: '4.2: a frame of 16,385 bytes',
    send: [OPEN, frame(TYPE.data, 0, 1, Buffer.alloc(16_385))],
    fate: [FRAME_SIZE],
  },
  {
    name: '5.1: DATA behind END_STREAM',
    send: [request(1, getFields()), frame(TYPE.data, 0, 1, [1])],
    fate: ['goaway 5', 'reset 5'],
  },
]

const bad = (name: string, fields: readonly (readonly [string, string])[], ...fates: readonly string[]): FrameCase => {
  return { name, send: [request(1, fields)], fate: fates.length === 0 ? ['reset 1'] : fates }
}
const BAD = 'status 400'

/** Requests whose framing is right and whose fields are not. */
export const HEADS: readonly FrameCase[] = [
  bad('8.2.1: an upper-case name', getFields({ 'X-A': 'b' })),
  bad('8.2.1: a line end in a value', getFields({ 'x-a': 'a\r\nb: c' })),
  bad('8.2.1: NUL in a value', getFields({ 'x-a': 'a\0b' })),
  bad('8.2.1: a space before a value', getFields({ 'x-a': ' b' })),
  bad('8.2.1: a space in a name', getFields({ 'x a': 'b' })),
  bad('8.2.1: an empty name', getFields({ '': 'b' })),
  bad('8.3.1: :authority twice', [[':authority', 'a.example'], ...getFields()]),
  bad('8.2.2: Connection', getFields({ connection: 'close' })),
  bad('8.2.2: Keep-Alive', getFields({ 'keep-alive': '1' })),
  bad('8.2.2: Proxy-Connection', getFields({ 'proxy-connection': 'close' })),
  bad('8.2.2: Transfer-Encoding', getFields({ 'transfer-encoding': 'chunked' })),
  bad('8.2.2: Upgrade', getFields({ upgrade: 'websocket' })),
  bad('8.2.2: TE other than trailers', getFields({ te: 'gzip' })),
  bad('8.3: an unknown pseudo-header field', getFields({ ':colour': 'red' })),
  bad('8.3: a pseudo-header field of answers', getFields({ ':status': '200' })),
  bad('8.3: a pseudo-header field behind a field', [['x-a', 'b'], ...getFields()]),
  bad('8.3.1: :method twice', [[':method', 'GET'], ...getFields()]),
  bad('8.3.1: no :method', getFields({ ':method': undefined })),
  bad('8.3.1: no :path', getFields({ ':path': undefined })),
  bad('8.3.1: an empty :path', getFields({ ':path': '' })),
  bad('8.3.1: no :scheme', getFields({ ':scheme': undefined })),
  bad('8.3.1: :path without a slash', getFields({ ':path': 'a' }), 'reset 1', BAD),
  bad('8.3.1: :path with a fragment', getFields({ ':path': '/#a' }), BAD),
  bad('8.3.1: :path with a space', getFields({ ':path': '/ HTTP/1.1' }), 'reset 1', BAD),
  bad('8.3.1: :path beyond ASCII', getFields({ ':path': '/\u00e9' }), 'reset 1', BAD),
  bad('8.3.1: :path above the root', getFields({ ':path': '/../a' }), BAD),
  bad('8.3.1: another :scheme', getFields({ ':scheme': 'ftp' }), 'reset 1', BAD),
  bad('8.3.1: user in :authority', getFields({ ':authority': 'u@a.example' }), 'reset 1', BAD),
  bad('8.3.1: Host other than :authority', getFields({ host: 'b.example' }), BAD),
  bad('8.3.1: neither Host nor :authority', getFields({ ':authority': undefined }), 'reset 1', BAD),
  bad('8.1.1: Content-Length without a body', getFields({ 'content-length': '5' }), 'reset 1', BAD),
  bad('8.1.1: malformed Content-Length', getFields({ 'content-length': 'five' }), 'reset 1', BAD),
  bad('Authorization twice', [...getFields(), ['authorization', 'Basic YTpi'], ['authorization', 'Bearer x']], BAD),
  bad(
    'CONNECT',
    [
      [':method', 'CONNECT'],
      [':authority', 'a.example:80'],
    ],
    'reset 1',
    'status 501',
    'status coded',
  ),
  bad('11.6: PRI', getFields({ ':method': 'PRI' }), BAD),
  bad('asterisk of another method', getFields({ ':path': '*' }), 'reset 1', BAD),
]
