import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { brokenAt } from '../../../console/src/parts/editors/json-fault.ts'
import { lineDiff, sortedText } from '../../../console/src/parts/editors/line-diff.ts'
import { jsonFault, lineOf, marksOf } from '../../../console/src/parts/editors/openapi-place.ts'
import { AREAS } from '../../../console/src/texts/areas.ts'
import { areasNamed, readAreas } from '../../../console/texts-by-area.ts'

const TEXTS = join(import.meta.dirname, '../../../console/src/texts')
const TEXT_FILES = new Map(readdirSync(TEXTS).map((file) => [file, readFileSync(join(TEXTS, file), 'utf8')]))

const DOCUMENT = {
  a: [1, { 'b c': { d: 1 }, e: '}{"[' }],
  'x-svc-api-gateway': { server: { listenPath: { value: 3 } } },
}
const TEXT = JSON.stringify(DOCUMENT, null, 2)

const lineWith = (words: string) => TEXT.split('\n').findIndex((line) => line.includes(words)) + 1

test('a path leads to its line, or to the last thing on the way that is there', () => {
  assert.equal(lineOf(TEXT, ['a', '1', 'b c', 'd']), lineWith('"d"'))
  assert.equal(lineOf(TEXT, ['a', '1', 'e']), lineWith('"e"'))
  assert.equal(lineOf(TEXT, ['x-svc-api-gateway', 'upstream', 'url']), lineWith('"x-svc-api-gateway"'))
  assert.equal(lineOf(TEXT, ['nowhere']), 1)
})

test('what the dashboard refuses is marked at its line', () => {
  const message =
    'Validation of API Definition failed: x-svc-api-gateway.server.listenPath.value: must be a text; a[1]["b c"].d: no'
  assert.deepEqual(marksOf(TEXT, message), [
    { line: lineWith('"value"'), message: 'x-svc-api-gateway.server.listenPath.value: must be a text' },
    { line: lineWith('"d"'), message: 'a[1]["b c"].d: no' },
  ])
  assert.deepEqual(marksOf(TEXT, 'Not authorised'), [])
})

test('broken JSON is named by its line', () => {
  assert.equal(jsonFault('{}'), undefined)
  assert.equal(jsonFault('{\n "a": 1,\n "b" 2}')?.line, 3)
  assert.equal(jsonFault('{\n"a":')?.line, 2)
  assert.equal(jsonFault('{\n  "a": "b",\n  "c": oops\n}')?.line, 3)
  assert.equal(jsonFault('[\n1,\n]')?.line, 3)
})

test('JSON is broken nowhere, and what is cut off or spoilt is broken no later than where it was', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.nat(), fc.boolean(), (value, place, isIndented) => {
      const text = JSON.stringify(value, null, isIndented ? 1 : 0)
      assert.equal(brokenAt(text), text.length)
      const cut = place % (text.length + 1)
      const spoilt = `${text.slice(0, cut)}\u0000${text.slice(cut)}`
      assert.ok(brokenAt(spoilt) <= cut, spoilt)
      const short = text.slice(0, cut)
      assert.ok(brokenAt(short) <= short.length)
    }),
  )
})

test('any path of any document leads to the line of its name', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { minKeys: 1 }), (document) => {
      const text = JSON.stringify(document, null, 1)
      const lines = text.split('\n')
      for (const name of Object.keys(document)) {
        const line = lines[lineOf(text, [name]) - 1]
        assert.ok(line?.startsWith(` ${JSON.stringify(name)}:`), `${name}: ${line}`)
      }
    }),
  )
})

test('a difference, played back, gives both texts', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 }).map((lines) => lines.join('\n'))
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = lineDiff(before, after)
      const [old, now] = [before, after].map((each) => (each === '' ? [] : each.split('\n'))) as [string[], string[]]
      for (const { kind, text: words, line } of lines) {
        if (kind === 'removed') assert.equal(old[line - 1], words)
        if (kind === 'added' || kind === 'same') assert.equal(now[line - 1], words)
      }
      const number = (kind: string) => lines.filter((line) => line.kind === kind).length
      assert.equal(old.length - number('removed'), now.length - number('added'))
      if (before === after) assert.equal(number('added') + number('removed'), 0)
    }),
  )
})

test('texts of 20,000 lines that differ in all, and in two, are compared', () => {
  const lines = Array.from({ length: 20_000 }, (_, i) => `line ${i}`)
  const kindsOf = (after: readonly string[]) =>
    Map.groupBy(lineDiff(lines.join('\n'), after.join('\n')), ({ kind }) => kind)
  const other = kindsOf(lines.map((line) => `${line}!`))
  assert.deepEqual([other.get('removed')?.length, other.get('added')?.length], [20_000, 20_000])
  const near = kindsOf(['first', ...lines.slice(0, -1)])
  assert.deepEqual(
    [near.get('added'), near.get('removed')],
    [[{ kind: 'added', text: 'first', line: 1 }], [{ kind: 'removed', text: 'line 19999', line: 20_000 }]],
  )
})

test('order of members makes no difference', () => {
  assert.equal(sortedText({ a: 1, b: { c: 2, d: [3] } }), sortedText({ b: { d: [3], c: 2 }, a: 1 }))
  assert.notEqual(sortedText([1, 2]), sortedText([2, 1]))
})

test('a module brings the files of all texts that it names, whole or by their beginning', () => {
  const areas = readAreas()
  for (const name of Object.keys(AREAS)) {
    const [word = ''] = name.split('.')
    for (const code of [`say('${name}')`, `say("${name}")`, `say(\`${word}.$\{part}\` as TextName)`]) {
      const named = areasNamed(code, areas)
      assert.ok(
        named.some((file) => TEXT_FILES.get(file)!.includes(`'${name}':`)),
        `${code}: ${named.join()}`,
      )
    }
  }
  assert.deepEqual(areasNamed('const keys = [1]; keys.length; say("part.save")', areas), [])
})
