import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { jsonFaultAt } from '../../../src/gateway/apis/definition-text.ts'

function parses(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

test('a syntax fault is placed at the end of the longest valid beginning', () => {
  for (const [text, at] of [
    ['{"a":1,}', 7],
    ['{"a":[1,2}', 9],
    ['{"a" 1}', 5],
    ['[1,2] x', 6],
    ['', 0],
    ['{', 1],
    ['{"a":1 "b":2}', 7],
    ['[,1]', 1],
    ['{"a":1}}', 7],
    ['{"a":1,"b":2} ', 14],
  ] as const)
    assert.equal(jsonFaultAt(text), at, text)
})

test('JSON has no fault before its end, and nothing before a fault is at fault', () => {
  const json = fc.json().map((text) => JSON.stringify(JSON.parse(text), null, 1))
  const broken = fc
    .tuple(json, fc.nat(), fc.constantFrom('', ',', '}', ']', '"', ':', '1', '\n'))
    .map(([text, seed, put]) => {
      const at = seed % (text.length + 1)
      return text.slice(0, at) + put + text.slice(at + 1)
    })
  fc.assert(
    fc.property(fc.oneof(json, broken), (text) => {
      const at = jsonFaultAt(text)
      if (parses(text)) assert.equal(at, text.length)
      // The text before the error is valid.
      else assert.equal(jsonFaultAt(text.slice(0, at)), at)
    }),
    { numRuns: process.env.GATEHOUSE_DEEP === '1' ? 20_000 : 1000 },
  )
})
