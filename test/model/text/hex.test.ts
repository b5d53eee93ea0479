import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hexOf } from '../../../src/model/text/hex.ts'

test('property: two digits a byte, of a view of larger memory too, shared or not', () => {
  const digits = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 80 }),
      fc.nat(80),
      fc.nat(80),
      fc.boolean(),
      (bytes, from, length, shared) => {
        const memory = shared ? new Uint8Array(new SharedArrayBuffer(bytes.length)) : bytes
        memory.set(bytes)
        const view = memory.subarray(from, from + length)
        assert.equal(hexOf(view), digits(view))
        assert.equal(hexOf(Buffer.from(view)), digits(view))
      },
    ),
  )
})
