import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { HeaderDecoder } from '../../../src/wire/hpack/decoder.ts'
import { HeaderEncoder } from '../../../src/wire/hpack/encoder.ts'

interface Vector {
  readonly name: string
  readonly blocks: readonly { hex: string; fields: readonly string[]; tableBytes: number }[]
}

/** The examples of RFC 7541 appendix C. */
const VECTORS: readonly Vector[] = JSON.parse(
  readFileSync(new URL('../../worlds/wire/hpack-vectors.json', import.meta.url), 'utf8'),
)

const BOUNDS = { maxListBytes: 1_000_000, maxFields: 1000 }
const DEEP = process.env.GATEHOUSE_DEEP === '1'

/** Fields of a block as `name: value`; undefined when it is refused. */
function decode(decoder: HeaderDecoder, block: Buffer): string[] | undefined {
  return decoder.decode(block, 0, block.length) ? decoder.fields.map(({ line }) => line.slice(0, -2)) : undefined
}

test('the examples of RFC 7541 are read as they are meant', () => {
  for (const { name, blocks } of VECTORS) {
    const decoder = new HeaderDecoder(BOUNDS)
    for (const { hex, fields, tableBytes } of blocks) {
      assert.deepEqual(decode(decoder, Buffer.from(hex, 'hex')), fields, `${name}: ${hex}`)
      assert.equal(decoder.size, tableBytes, `${name}: ${hex}`)
    }
  }
})

test('what RFC 7541 calls a decoding error is one', () => {
  const broken: Readonly<Record<string, string>> = {
    '6.1: index 0': '80',
    '2.3.3: an index beyond the tables': 'be',
    '6.2.1: the name of an index beyond the tables': '7f0001',
    '5.1: an integer that is too long': 'ffffffffffff7f',
    '5.1: an integer that is cut off': 'ff80',
    '5.1: an integer without octets': '7f',
    '5.2: a name longer than the block': '000561',
    '5.2: a value longer than the block': '0001610562',
    '5.2: a field without a value': '000161',
    '5.2: padding of zeros': '00811800',
    '5.2: padding of more than seven bits': '00821fff00',
    '5.2: EOS within a string': '0084ffffffff00',
    '4.2: a size update behind a field': '8220',
    '4.2: a table larger than was allowed': '3fe21f',
  }
  for (const [name, hex] of Object.entries(broken)) {
    assert.equal(decode(new HeaderDecoder(BOUNDS), Buffer.from(hex, 'hex')), undefined, name)
  }
  assert.deepEqual(decode(new HeaderDecoder(BOUNDS), Buffer.from('00811f00', 'hex')), ['a: '], 'padding of ones')
})

test('a list beyond its bounds is cut, and the table is kept in step all the same', () => {
  const decoder = new HeaderDecoder({ maxListBytes: 200, maxFields: 3 })
  const add = Buffer.from('4001610162', 'hex')
  assert.ok(decoder.decode(Buffer.concat([add, add, add, add]), 0, 20))
  assert.equal(decoder.tooLarge, true)
  assert.equal(decoder.fields.length, 3)
  assert.equal(decoder.size, 4 * 34)
  assert.deepEqual(decode(decoder, Buffer.from('c1', 'hex')), ['a: b'])
  assert.equal(decoder.tooLarge, false)
  const long = Buffer.concat([Buffer.from('00016179', 'hex'), Buffer.alloc(121, 'x')])
  assert.ok(decoder.decode(Buffer.concat([long, long]), 0, long.length * 2))
  assert.equal(decoder.tooLarge, true)
})

const name = fc.stringMatching(/^x-[a-z]{1,3}$/)
const value = fc.oneof(
  fc.stringMatching(/^[!-~]{0,40}$/),
  fc.stringMatching(/^[!-~\xa1-\xff]([ -~\xa1-\xff]{0,20}[!-~\xa1-\xff])?$/),
  fc.constant('v'.repeat(700)),
)
const head = fc.array(fc.tuple(name, value), { maxLength: 12 })
/** Heads of one connection, many of which come again, and changes of the table that its peer allows. */
const talk = fc.array(head, { minLength: 1, maxLength: 4 }).chain((heads) =>
  fc.array(fc.tuple(fc.constantFrom(...heads), fc.option(fc.constantFrom(0, 60, 200, 4096, 65_536), { freq: 8 })), {
    maxLength: 30,
  }),
)

test('the decoder reads what the encoder writes, however the table changes', () => {
  fc.assert(
    fc.property(talk, (heads) => {
      const encoder = new HeaderEncoder()
      const decoder = new HeaderDecoder(BOUNDS)
      for (const [fields, tableBytes] of heads) {
        if (tableBytes !== null) encoder.limit(tableBytes)
        const lines = fields.map(([known, text]) => `${known.toUpperCase()}: ${text}`)
        encoder.begin(lines.join('\r\n'))
        encoder.pseudo(':status', '200')
        encoder.lines(`${lines.join('\r\n')}\r\n\r\nbody`, 0)
        const expected = [':status: 200', ...fields.map(([known, text]) => `${known}: ${text}`)]
        assert.deepEqual(decode(decoder, Buffer.from(encoder.end())), lines.length === 0 ? [':status: 200'] : expected)
      }
    }),
    { numRuns: DEEP ? 20_000 : 300 },
  )
})

test('whatever bytes a block has, it is read or refused', () => {
  const seeds = VECTORS.flatMap(({ blocks }) => blocks.map(({ hex }) => Buffer.from(hex, 'hex')))
  const changes = fc.array(fc.tuple(fc.nat(200), fc.nat(255)), { maxLength: 5 })
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom(...seeds), changes), { minLength: 1, maxLength: 6 }), (blocks) => {
      const decoder = new HeaderDecoder(BOUNDS)
      for (const [seed, places] of blocks) {
        const block = Buffer.from(seed)
        for (const [at, byte] of places) block[at % block.length] = byte
        if (decode(decoder, block) === undefined) return
        assert.ok(decoder.size <= 4096)
      }
    }),
    { numRuns: DEEP ? 100_000 : 1000 },
  )
})

test('secret fields are never indexed, others once they come again', () => {
  const encoder = new HeaderEncoder()
  const block = (line: string) => {
    encoder.begin(line)
    encoder.lines(`${line}\r\n\r\n`, 0)
    return Buffer.from(encoder.end())
  }
  const secrets = ['Authorization: Bearer abc', 'Cookie: a=b', 'Set-Cookie: a=b', 'X-Api-Key: abc', 'X-Auth-Token: abc']
  for (const line of secrets) {
    for (let i = 0; i < 4; i++) assert.equal(block(line)[0]! & 0xf0, 0x10, line)
  }
  assert.equal(block('X-A: b')[0]! & 0xf0, 0)
  assert.equal(block('X-A: b')[0]! & 0xc0, 0x40)
  assert.deepEqual([...block('X-A: b')], [0x80 | 62])
})
