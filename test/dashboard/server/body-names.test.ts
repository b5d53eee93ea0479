import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fault } from '../../../src/errors/fault.ts'
import { readJson } from '../../../src/model/json/json-body.ts'

const ALLOWED = 49_000
const TOO_MANY = 53_000

/** Bodies with so many different member names, as an attacker may arrange them. */
const ARRANGEMENTS: Readonly<Record<string, (count: number) => string>> = {
  'one object': (count) => `{${members(count).join(',')}}`,
  'an object each': (count) =>
    `[${members(count)
      .map((member) => `{${member}}`)
      .join(',')}]`,
  'blanks before the colon': (count) => `{${members(count).join(',').replaceAll('":', '" \n\t:')}}`,
  'escaped quotes within': (count) => `{${members(count, String.raw`\"\\`).join(',')}}`,
  'objects within objects': (count) =>
    `[${members(count / 50)
      .map((member, i) => `{${members(50, `${i}.`).join(',')},"in":{${member}}}`)
      .join(',')}]`,
}

function members(count: number, start = ''): string[] {
  return Array.from({ length: count }, (_, i) => `"${start}${i.toString(36)}":1`)
}

for (const [name, body] of Object.entries(ARRANGEMENTS)) {
  test(`different names of members are bounded before the parser pays for them: ${name}`, () => {
    readJson(Buffer.from(body(name === 'objects within objects' ? ALLOWED / 2 : ALLOWED)))
    assert.throws(
      () => readJson(Buffer.from(body(TOO_MANY))),
      (error: unknown) => error instanceof Fault && /50000 different names/.test(error.message),
    )
  })
}

test('the same names may come as often as they like, and texts are no names', () => {
  const rows = Array.from({ length: 100_000 }, (_, i) => `{"name":"${i.toString(36)}:","on":true}`)
  assert.equal((readJson(Buffer.from(`[${rows.join(',')}]`)) as unknown[]).length, rows.length)
})
