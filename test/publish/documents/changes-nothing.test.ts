import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { newDocumentId } from '../../../src/model/documents/ids.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { changesNothing } from '../../../src/publish/documents/changes-nothing.ts'
import type { Documents } from '../../../src/store/ports/ports.ts'

const RUNS = process.env.GATEHOUSE_DEEP === '1' ? 20_000 : 500

/** Values that differ in what JSON does not tell: absent members, zeros, the order of members, and the times of writes. */
const { value } = fc.letrec((tie) => ({
  leaf: fc.constantFrom(null, undefined, 0, -0, 1, '', 'a', '1', true, Number.NaN, Number.POSITIVE_INFINITY),
  name: fc.constantFrom('a', 'b', 'updated_at', 'last_updated', '0', '__proto__'),
  entries: fc.array(fc.tuple(tie('name'), tie('value')), { maxLength: 3 }),
  object: tie('entries').map((entries) => Object.fromEntries(entries as [string, unknown][])),
  list: fc.array(tie('value'), { maxLength: 3 }),
  value: fc.oneof({ maxDepth: 3 }, tie('leaf'), tie('object'), tie('list')),
}))
const body = fc.dictionary(fc.constantFrom('a', 'b', 'updated_at'), value, { maxKeys: 3 })

const plain = ({ updated_at: _at, ...rest }: Record<string, unknown>) => JSON.parse(JSON.stringify(rest)) as unknown

test('a save is none exactly where it would store the same JSON, but for its time', async () => {
  const id = newDocumentId()
  const property = fc.asyncProperty(body, fc.option(body), async (stored, other) => {
    const before = JSON.parse(JSON.stringify(stored)) as JsonObject
    const next = (other ?? stored) as JsonObject
    const documents = { get: () => ({ kind: 'policy', id, revision: 1, body: before }) } as unknown as Documents
    const tokens = { getSession: () => undefined }
    const found = await changesNothing({ documents, tokens }, [{ op: 'put', kind: 'policy', id, body: next }])
    assert.equal(found, isDeepStrictEqual(plain(before), plain(next)))
  })
  await fc.assert(property, { numRuns: RUNS })
})
