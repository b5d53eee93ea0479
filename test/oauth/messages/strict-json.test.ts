import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { readStrictObject } from '../../../src/oauth/messages/strict-json.ts'

const runs = { numRuns: process.env.GATEHOUSE_DEEP === '1' ? 20_000 : 1_000 }
const read = (text: string) => readStrictObject(Buffer.from(text))

const REFUSED: Record<string, string | Buffer> = {
  'a member twice': '{"a":1,"a":1}',
  'a member twice, written another way': '{"a":1,"\\u0061":2}',
  'a member twice, further down': '{"a":[{"b":{"c":1,"c":2}}]}',
  '__proto__ twice': '{"__proto__":1,"__proto__":2}',
  'nine levels': '{"a":[[[[[[[[1]]]]]]]]}',
  'a list': '[1]',
  null: 'null',
  'a text': '"{}"',
  nothing: '',
  'two values': '{}{}',
  'a comma too many': '{"a":1,}',
  'a string without end': '{"a":"b',
  'a byte order mark': '\ufeff{}',
  'a byte that is no UTF-8': Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
  'half a surrogate as UTF-8': Buffer.from([0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d]),
}

for (const [what, text] of Object.entries(REFUSED)) {
  test(`refused: ${what}`, () => assert.equal(readStrictObject(Buffer.from(text as string)), undefined))
}

test('eight levels, colons and brackets in strings, and a member named __proto__ are read', () => {
  assert.deepEqual(read('{"a":[[[[[[[1]]]]]]]}'), { a: [[[[[[[1]]]]]]] })
  assert.deepEqual(read('{"a:{[\\"":":{{{{{{{{{{[[","b\\\\":1}'), { 'a:{["': ':{{{{{{{{{{[[', 'b\\': 1 })
  assert.deepEqual(Object.keys(read('{"__proto__":{"x":1}}')!), ['__proto__'])
})

const object = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' }))

test('whatever JSON.stringify writes is read as JSON.parse reads it', () => {
  fc.assert(
    fc.property(object, (value) => {
      // Half a surrogate cannot be written in UTF-8: JSON.stringify escapes it.
      const text = JSON.stringify(value)
      assert.deepEqual(read(text), JSON.parse(text))
    }),
    runs,
  )
})

test('an object with one of its members once more is refused, wherever it stands', () => {
  fc.assert(
    fc.property(object, object, fc.nat(), fc.jsonValue({ maxDepth: 2 }), (outer, inner, at, again) => {
      fc.pre(Object.keys(inner).length > 0)
      const name = Object.keys(inner)[at % Object.keys(inner).length]!
      const twice = `${JSON.stringify(inner).slice(0, -1)},${JSON.stringify(name)}:${JSON.stringify(again)}}`
      const rest = { ...(outer as JsonObject) }
      delete rest['~']
      const text = `{"~":${twice}${Object.keys(rest).length === 0 ? '' : `,${JSON.stringify(rest).slice(1, -1)}`}}`
      assert.equal(read(text), undefined)
      assert.doesNotThrow(() => JSON.parse(text))
    }),
    runs,
  )
})
