import { below, pick } from './random.ts'

type Random = () => number

const METHODS = ['GET', 'GET', 'POST', 'POST', 'PUT', 'DELETE', 'HEAD', 'PATCH', 'OPTIONS']
const TARGETS = [
  '/',
  '/a/b',
  '/a/../b?c=d',
  '/%61%2f%7E?x=%20&y[]=1',
  '/a//b/./c/',
  '/?',
  '/q?a=/b?c',
  '/;p=1,2:@!$',
  'http://a/x?y',
  'http://a',
]
const HOSTS = ['Host: a\r\n', 'Host:a\r\n', 'host:  a \r\n', 'HOST: a\r\n']
const FIELDS = [
  'X-A: b\r\n',
  'X-A:\r\n',
  'X-Long: lorem ipsum dolor sit amet, consectetur\r\n',
  'Accept: */*;q=0.1, text/html\r\n',
  'Cookie: a=b; c="d"\r\n',
  'Cookie: e=f\r\n',
  'Authorization: Bearer abc.def-_~+/=\r\n',
  'X-Latin: caf\xe9 \xff\r\n',
  'x-tab:\ta\tb\t\r\n',
  'Connection: keep-alive\r\n',
  'Connection: x-a, keep-alive\r\n',
  'Expect: 100-continue\r\n',
  'TE: trailers\r\n',
  "!#$%&'*+-.^_`|~: token\r\n",
]
const BODIES = ['', 'hello', '{"a":1}', 'GET / HTTP/1.1\r\nHost: b\r\n\r\n', '0\r\n\r\n', '\0\r\n\xff', 'x'.repeat(300)]

/** Pieces that mutations insert: what parsers are known to disagree about. */
const MORSELS = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  ' ',
  '\t',
  '\x0b',
  ':',
  ',',
  ';',
  '"',
  '\\',
  '%',
  '#',
  '\x7f',
  '\x80',
  '\xa0',
  '\xff',
  '0',
  '5',
  '-',
  '+',
  '0x',
  '\r\n ',
  '\r\n\r\n',
  '\n\n',
  'HTTP/1.0',
  'HTTP/1.2',
  'Content-Length: 5\r\n',
  'Content-Length: 0\r\n',
  'Content-Length: 05\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: identity\r\n',
  'Transfer-Encoding : chunked\r\n',
  'Transfer-Encoding: chunked, chunked\r\n',
  'Transfer-Encoding: Chunked\r\n',
  'Transfer-Encoding: chunked\t\r\n',
  'Host: b\r\n',
  'Connection: close\r\n',
  'Connection: upgrade\r\nUpgrade: websocket\r\n',
  'Upgrade: h2c\r\n',
  'Trailer: x\r\n',
  ';ext=1',
  ';e="q"',
  '0\r\n\r\n',
  '5\r\nhello\r\n',
  'ffffffffffffffff',
  '%2e%2e/',
  '../',
  'GET / HTTP/1.1\r\nHost: a\r\n\r\n',
]

function chunked(random: Random, body: string): string {
  let framed = ''
  for (let at = 0; at < body.length; ) {
    const size = 1 + below(random, body.length - at)
    const digits = random() < 0.5 ? size.toString(16) : size.toString(16).toUpperCase()
    const zeros = random() < 0.2 ? '0'.repeat(below(random, 4)) : ''
    const extension = random() < 0.15 ? pick(random, [';a', ';a=b', ';a="b c"', ';a;b=1']) : ''
    framed += `${zeros}${digits}${extension}\r\n${body.slice(at, at + size)}\r\n`
    at += size
  }
  const trailer = random() < 0.15 ? 'X-T: u\r\n' : ''
  return `${framed}0\r\n${trailer}\r\n`
}

function request(random: Random): string {
  const method = pick(random, METHODS)
  const old = random() < 0.08
  const fields: string[] = [pick(random, HOSTS)]
  for (let count = below(random, 5); count > 0; count--) {
    const field = pick(random, FIELDS)
    if (!/^(?:Expect|Authorization)/.test(field) || !fields.includes(field))
      fields.splice(below(random, fields.length + 1), 0, field)
  }
  const body = random() < 0.6 ? pick(random, BODIES) : ''
  const frame = below(random, 3)
  if (body !== '' && (frame === 0 || old)) fields.push(`Content-Length: ${body.length}\r\n`)
  if (body !== '' && frame > 0 && !old) fields.push('Transfer-Encoding: chunked\r\n')
  const content = body !== '' && frame > 0 && !old ? chunked(random, body) : body
  return `${method} ${pick(random, TARGETS)} HTTP/1.${old ? 0 : 1}\r\n${fields.join('')}\r\n${content}`
}

/** One to three valid requests on one connection. */
export function validStream(random: Random): Buffer {
  let stream = request(random)
  for (let more = below(random, 3); more > 0; more--) stream += request(random)
  return Buffer.from(stream, 'latin1')
}

/** One change of a few bytes. */
function mutateOnce(random: Random, bytes: Buffer): Buffer {
  const at = below(random, bytes.length + 1)
  const before = bytes.subarray(0, at)
  const after = bytes.subarray(at)
  const span = 1 + below(random, 8)
  switch (below(random, 7)) {
    case 0:
      return Buffer.concat([before, Buffer.from(pick(random, MORSELS), 'latin1'), after])
    case 1:
      return Buffer.concat([before, Buffer.of(below(random, 256)), after.subarray(1)])
    case 2:
      return Buffer.concat([before, after.subarray(1)])
    case 3:
      return Buffer.concat([before, after.subarray(span)])
    case 4:
      return Buffer.concat([before, after.subarray(0, span), after])
    case 5: {
      const flipped = Buffer.from(bytes)
      if (at < flipped.length) flipped[at] = (flipped[at] ?? 0) ^ (1 << below(random, 8))
      return flipped
    }
    default:
      return insertAtLine(random, bytes)
  }
}

/** Puts a morsel at the start of a line, where it means most. */
function insertAtLine(random: Random, bytes: Buffer): Buffer {
  const starts: number[] = [0]
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) starts.push(at + 1)
  const at = pick(random, starts)
  return Buffer.concat([bytes.subarray(0, at), Buffer.from(pick(random, MORSELS), 'latin1'), bytes.subarray(at)])
}

/** A stream for the differential test: in a quarter of the cases as made, else changed one to three times. */
export function specimen(random: Random): Buffer {
  let bytes = validStream(random)
  if (random() < 0.25) return bytes
  for (let times = 1 + Math.floor(random() ** 2 * 3); times > 0 && bytes.length > 0; times--) {
    bytes = mutateOnce(random, bytes)
  }
  return bytes
}

/** Up to four borders at which the stream is cut. */
export function borders(random: Random, length: number): number[] {
  const cuts: number[] = []
  for (let count = below(random, 5); count > 0; count--) cuts.push(below(random, length + 1))
  return cuts.sort((a, b) => a - b)
}
