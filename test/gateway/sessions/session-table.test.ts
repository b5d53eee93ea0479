import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Digest, SessionTable } from '../../../src/gateway/sessions/session-table.ts'
import type { LiveSession } from '../../../src/gateway/sessions/sessions.ts'

const hex = (bytes: number) => fc.stringMatching(new RegExp(`^[0-9a-f]{${bytes * 2}}$`))
/** Few beginnings, so that most entries want the same places; `00000000` and `01000000` begin one number. */
const hash = fc
  .tuple(fc.constantFrom('00000000', '01000000', '3f000000', '40000000', '7f123456', 'ff123456'), hex(1), hex(27))
  .map(([first, second, rest]) => first + second + rest)
const step = fc.record({ set: fc.boolean(), which: fc.nat({ max: 199 }) })

function digestOf(text: string): Digest {
  const digest = new Digest()
  digest.read(text)
  return digest
}

/** A hash as the table tells it from others: of the first number 0 is 1, and half of the rest is not looked at. */
const compared = (text: string) => text.slice(0, 32).replace(/^00000000/, '01000000')

test('a table of sessions answers as a map of their hashes does', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(hash, { minLength: 1, maxLength: 200, selector: compared }),
      fc.array(step, { minLength: 1, maxLength: 600 }),
      (hashes, steps) => {
        const table = new SessionTable<LiveSession>()
        const map = new Map<string, LiveSession>()
        for (const { set, which } of steps) {
          const text = hashes[which % hashes.length]!
          const session = { keyHash: text } as LiveSession
          if (set) table.set(digestOf(text), session)
          else table.delete(digestOf(text))
          if (set) map.set(text, session)
          else map.delete(text)
          assert.equal(table.size, map.size)
        }
        for (const text of hashes) assert.equal(table.find(digestOf(text)), map.get(text))
      },
    ),
  )
})
