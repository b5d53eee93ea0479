import assert from 'node:assert/strict'
import { test } from 'node:test'
import { beginLists, filterLists } from '../../../src/gateway/mcp/tool-list-filter.ts'
import type { Exchange } from '../../../src/gateway/server/exchange.ts'
import { assertLinear } from '../../worlds/base/growth.ts'

const PART = 16

/** Hands an answer of this type to the filter in small parts. */
function inParts(type: string, text: string): string {
  const response = { known: () => type, all: () => [], get: () => undefined, has: () => false, drop() {} }
  const x = { status: 200, request: response, response, requestExtra: '', bodyFilter: undefined } as unknown as Exchange
  filterLists(x, { isHiddenTool: (name) => name === 'delete', otherPrimitives: true })
  beginLists(x)
  const bytes = Buffer.from(text)
  let made = ''
  for (let at = 0; at < bytes.length; at += PART) {
    const to = Math.min(at + PART, bytes.length)
    made += x.bodyFilter!.filter(bytes, at, to, to === bytes.length).toString()
  }
  return made
}

const LIST = '{"result":{"tools":[{"name":"read"},{"name":"delete"}]}}'

for (const [name, type, make] of [
  ['one line', 'text/event-stream', (length) => `data: ${LIST.padEnd(length)}\n\n`],
  ['one comment', 'text/event-stream', (length) => `:${'x'.repeat(length)}\n\n`],
  ['lines of one event', 'text/event-stream', (length) => `${'data:1\r'.repeat(length / 7)}\r`],
  ['events', 'text/event-stream', (length) => `data: ${LIST}\n\n`.repeat(length / 64)],
  ['one message', 'application/json', (length) => LIST.padEnd(length)],
  [
    'a list of tools',
    'application/json',
    (length) => `{"result":{"tools":[${'{"name":"delete"},'.repeat(length / 18)}1]}}`,
  ],
  ['results', 'application/json', (length) => `{${'"result":{"tools":[1]},'.repeat(length / 23)}"a":1}`],
  ['open objects', 'application/json', (length) => `{"result":${'{"tools":'.repeat(length / 9)}`],
] as readonly (readonly [string, string, (length: number) => string])[])
  test(`an answer of ${name} that comes in small parts costs no more than its bytes`, () => {
    // A fault would cost nothing.
    assert.notEqual(inParts(type, make(640)), '')
    return assertLinear(name, (text) => inParts(type, text), make, 320_000)
  })
