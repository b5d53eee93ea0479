import assert from 'node:assert/strict'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import fc from 'fast-check'
import { LineMerger } from '../../src/runtime/line-merger.ts'

const numRuns = process.env.GATEHOUSE_DEEP === '1' ? 1000 : 60

test('lines of several streams come out whole, those of one in their order, however they are cut', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-lines-'))
  t.after(() => rmSync(folder, { recursive: true }))
  let runs = 0
  const stream = fc.record({
    lines: fc.array(
      fc.string({ minLength: 1, maxLength: 30 }).map((text) => text.replace(/\n/g, ' ')),
      { maxLength: 20 },
    ),
    cuts: fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 }),
    endsInside: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(stream, { minLength: 1, maxLength: 4 }), async (streams) => {
      const file = join(folder, String(runs++))
      const descriptor = openSync(file, 'a')
      const funnel = new LineMerger(descriptor)
      await Promise.all(
        streams.map(({ lines, cuts, endsInside }, who) => {
          const text = lines.map((line) => `${who}:${line}\n`).join('')
          return funnel.pass(Readable.from(pieces(Buffer.from(endsInside ? text.slice(0, -1) : text), cuts)))
        }),
      )
      closeSync(descriptor)
      const written = readFileSync(file, 'utf8').split('\n').slice(0, -1)
      for (const [who, { lines }] of streams.entries()) {
        const own = written.filter((line) => line.startsWith(`${who}:`)).map((line) => line.slice(`${who}:`.length))
        assert.deepEqual(own, lines)
      }
      assert.equal(written.length, streams.flatMap(({ lines }) => lines).length)
    }),
    { numRuns },
  )
})

function* pieces(bytes: Buffer, cuts: readonly number[]): Generator<Buffer> {
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const end = at + cuts[turn % cuts.length]!
    yield bytes.subarray(at, end)
    at = end
  }
}
