import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
// Switches on the linear engine, as in the product.
import '../src/model/patterns/pattern.ts'
import { assertLinear } from './worlds/base/growth.ts'

const ROOT = join(import.meta.dirname, '..')
/** A regular expression where a value may be. */
const LITERAL =
  /(?:(?<=[(,=:[!&|?{};>]\s*)|(?<=\breturn\s+))\/(?![*/])((?:[^\\/[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([dgimsuvy]*)/g
const LENGTH = 16_000

/** The pieces to repeat: all characters and words of the expression, and what its classes may mean. */
function pumpsOf(source: string): Set<string> {
  const characters = source.replace(/\\[a-z]/gi, '').match(/[^\\^$.*+?()[\]{}|]/gu) ?? []
  return new Set([...' \ta0A_-=",;/<.{%\n:', ...characters, ...(source.match(/[\w:/-]{2,}/g) ?? [])])
}

const openingsOf = (source: string) => new Set(['', source.match(/[^\\^$.*+?()[\]{}|]+/)?.[0] ?? ''])

test('no regular expression of the sources takes time that grows faster than its input', async () => {
  let found = 0
  for (const file of globSync('src/**/*.ts', { cwd: ROOT })) {
    for (const [literal, source, flags] of readFileSync(join(ROOT, file), 'utf8').matchAll(LITERAL)) {
      // A division within a template, for example.
      if (/`|\$\{/.test(literal)) continue
      found++
      const expression = new RegExp(source!, flags)
      const work = (text: string) => {
        expression.lastIndex = 0
        return expression.global ? text.replace(expression, '') : expression.exec(text)
      }
      for (const opening of openingsOf(source!))
        for (const pump of pumpsOf(source!))
          for (const end of ['', '\u0001']) {
            const make = (length: number) => opening + pump.repeat(Math.ceil(length / pump.length)) + end
            await assertLinear(`${file} ${literal} of ${JSON.stringify(pump)}`, work, make, LENGTH)
          }
    }
  }
  assert.ok(found > 400)
})

test('text is put in a normal form in one place, which bounds what that costs', () => {
  const using = globSync('src/**/*.ts', { cwd: ROOT }).filter((file) =>
    /\.normalize\(/.test(readFileSync(join(ROOT, file), 'utf8')),
  )
  assert.deepEqual(using, [join('src', 'model', 'text', 'fold.ts')])
})
