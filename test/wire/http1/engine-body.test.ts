import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { BodyDecoder } from '../../../src/wire/http1/body.ts'
import { CHUNKED, UNTIL_CLOSE } from '../../../src/wire/http1/response-head.ts'

const RUNS = { numRuns: process.env.GATEHOUSE_DEEP === '1' ? 50_000 : 2000 }

/** Feeds the bytes in pieces that end at `cuts`. Answers body and rest, or undefined when refused. */
function decode(length: number, bytes: Buffer, cuts: readonly number[] = [], padded = false) {
  const decoder = new BodyDecoder(padded)
  decoder.start(length)
  const parts: Buffer[] = []
  const borders = [...new Set([...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].sort((a, b) => a - b)
  let from = 0
  for (const to of borders) {
    const piece = Buffer.from(bytes.subarray(from, to))
    const end = decoder.take(piece, 0)
    if (end < 0) return undefined
    parts.push(Buffer.from(piece.subarray(decoder.from, decoder.to)))
    from += end
    if (decoder.finished) break
  }
  return { body: Buffer.concat(parts), rest: bytes.subarray(from), finished: decoder.finished, taken: decoder.taken }
}

const chunk = fc.tuple(
  fc.uint8Array({ minLength: 1, maxLength: 40 }),
  fc.constantFrom(
    '',
    ';a',
    ';a=b',
    ';a="\\"; \t"',
    ';a;b=c',
    ' ;a',
    '\t; a',
    '; \ta \t= b',
    ';a= "b c" ;d',
    ' ; a = b ; c',
  ),
)

test('a chunked body is the same however it is cut, and what follows is left alone', () => {
  const property = fc.property(
    fc.array(chunk, { maxLength: 8 }),
    fc.constantFrom('', 'X-T: v\r\n', 'A:\r\nB: \xe9\r\n'),
    fc.constantFrom('', 'GET / HTTP/1.1\r\n'),
    fc.array(fc.nat(1000), { maxLength: 20 }),
    (chunks, trailers, rest, cuts) => {
      const framed = chunks.map(([data, extension]) => [
        Buffer.from(`${data.length.toString(16)}${extension}\r\n`),
        Buffer.from(data),
        Buffer.from('\r\n'),
      ])
      const bytes = Buffer.concat([...framed.flat(), Buffer.from(`0\r\n${trailers}\r\n${rest}`, 'latin1')])
      const got = decode(CHUNKED, bytes, cuts)
      assert.ok(got?.finished)
      const body = Buffer.concat(chunks.map(([data]) => Buffer.from(data)))
      assert.ok(got.body.equals(body))
      assert.equal(got.taken, body.length)
      assert.equal(got.rest.toString('latin1'), rest)
    },
  )
  fc.assert(property, RUNS)
})

test('chunked bodies that are refused, at whatever border they are cut', () => {
  for (const bytes of [
    '\r\n',
    'g\r\n',
    ' 1\r\na',
    '1 \r\na',
    '+1\r\na',
    '-1\r\na',
    '0x1\r\na',
    '1\na',
    '1\r\rb',
    '1\r\nab\r\n',
    '1\r\na\n',
    '1\r\na\r\r',
    '00000000000001\r\na',
    'ffffffffffffff\r\n',
    '1;\r\na',
    '1;a b\r\na',
    '1 =a\r\na',
    '1;a=b =c\r\na',
    '1;a=b \r\na',
    '1;a \r\na',
    '1; \r\na',
    '1;a= \r\na',
    '1 2\r\na',
    '1;a=\r\na',
    '1;a="\n"\r\na',
    '1;a="b"c\r\na',
    '1;a=b=c\r\na',
    '0\r\nA\r\n\r\n',
    '0\r\n A: b\r\n\r\n',
    '0\r\nA : b\r\n\r\n',
    '0\r\nA: \0\r\n\r\n',
    '0\r\nA: b\n\r\n',
    '0\r\n\rx',
    '0\r\nTransfer-Encoding: chunked\r\n\r\n',
    '0\r\ncontent-length: 1\r\n\r\n',
    '0\r\nHOST: a\r\n\r\n',
    `1;${'a'.repeat(16_500)}\r\na`,
    `0\r\n${'A: b\r\n'.repeat(3000)}\r\n`,
  ]) {
    const all = Buffer.from(bytes, 'latin1')
    assert.equal(decode(CHUNKED, all), undefined, JSON.stringify(bytes.slice(0, 40)))
    const everywhere = Array.from({ length: Math.min(all.length, 200) }, (_, at) => at)
    assert.equal(decode(CHUNKED, all, everywhere), undefined, JSON.stringify(bytes.slice(0, 40)))
  }
})

test('sizes that an upstream pads with blanks are read, others with blanks are not', () => {
  const cuts = Array.from({ length: 30 }, (_, at) => at)
  for (const pad of [' ', '\t', '    ', ' ;a ', ';a=b ', ' ; a = "b" \t']) {
    const bytes = Buffer.from(`5${pad}\r\nhello\r\n0${pad}\r\n\r\n`)
    assert.equal(decode(CHUNKED, bytes, cuts, true)?.body.toString(), 'hello', pad)
    assert.equal(decode(CHUNKED, bytes, cuts), undefined, pad)
  }
  for (const bytes of [' 5\r\nhello', '5 5\r\n', '5 \nhello', '5; \r\n', '5;a= \r\n', '5 a\r\n', '\t\r\n'])
    assert.equal(decode(CHUNKED, Buffer.from(bytes), cuts, true), undefined, bytes)
})

test('a body of a length takes so many bytes; one that ends with the connection takes all', () => {
  const bytes = Buffer.from('hello, and more')
  for (const cuts of [[], [1, 2, 3], [5]]) {
    const got = decode(5, bytes, cuts)
    assert.deepEqual([got?.body.toString(), got?.rest.toString(), got?.finished], ['hello', ', and more', true])
  }
  const endless = decode(UNTIL_CLOSE, bytes, [3])
  assert.deepEqual([endless?.body.toString(), endless?.finished], ['hello, and more', false])
  assert.equal(decode(0, bytes)?.rest.length, bytes.length)
})
