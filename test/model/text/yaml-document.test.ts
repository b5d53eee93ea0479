import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stringify } from 'yaml'
import { readYamlDocument } from '../../../src/model/text/yaml-document.ts'
import { assertLinear } from '../../worlds/base/growth.ts'

/** Two spellings of one name, as members of a map. */
const TWICE: Readonly<Record<string, string>> = {
  plain: 'a: 1\na: 2\n',
  quoted: 'a: 1\n"a": 2\n',
  'single quotes': "a: 1\n'a': 2\n",
  escaped: 'a: 1\n"\\x61": 2\n',
  explicit: 'a: 1\n? a\n: 2\n',
  anchored: 'a: 1\n&x a: 2\n',
  alias: '&x a: 1\n*x : 2\n',
  number: '200: 1\n"200": 2\n',
  'other spelling of a number': '0x10: 1\n16: 2\n',
  boolean: 'true: 1\n"true": 2\n',
  empty: '"": 1\n? \n: 2\n',
  'not next to each other': 'a: 1\nb: 1\nc: {}\na: 1\n',
}
const indented = (text: string) => text.replaceAll(/^/gm, '  ').trimEnd()
const PLACES: Readonly<Record<string, (map: string) => string>> = {
  'at the top': (map) => map,
  'in a member': (map) => `m:\n${indented(map)}\n`,
  'in a list': (map) => `m:\n- k: 1\n-\n${indented(map)}\n`,
  'behind an alias': (map) => `m: &m\n${indented(map)}\nn: *m\n`,
}

for (const [place, at] of Object.entries(PLACES))
  test(`YAML: a member that is given twice ${place} is a fault, in every spelling`, () => {
    for (const [spelling, map] of Object.entries(TWICE))
      assert.throws(() => readYamlDocument(at(map)), /is given twice/, `${spelling}: ${at(map)}`)
  })

test('YAML: a number that JSON cannot hold is a fault, and a text of its letters is none', () => {
  for (const number of ['.inf', '-.Inf', '+.INF', '.nan', '&x .inf']) {
    for (const [place, at] of Object.entries(PLACES))
      assert.throws(
        () => readYamlDocument(at(`a: b\nc: ${number}\n`)),
        /"c" must be a finite number/,
        `${number} ${place}`,
      )
    assert.deepEqual(readYamlDocument(`a: ${JSON.stringify(number)}`), { a: number })
  }
})

test('YAML: members of one name in different maps are none, and the value is that of JSON', () => {
  const values = [{ a: { a: [{ a: 1 }, { a: 2 }] }, b: { a: 1 }, A: 1 }, [], 'x', null, { 200: { x: 1 }, true: '' }]
  for (const value of values) {
    assert.deepEqual(readYamlDocument(stringify(value)), value)
    assert.deepEqual(readYamlDocument(JSON.stringify(value)), value)
  }
})

test('YAML: merge keys give a map the members that it has not, and no other name is given twice', () => {
  const base = 'base: &b {a: 1, 200: x}\n'
  for (const [map, made] of [
    ['<<: *b', { a: 1, 200: 'x' }],
    ['<<: *b, a: 2', { a: 2, 200: 'x' }],
    ['a: 2, <<: *b', { a: 2, 200: 'x' }],
    ['<<: *b, 200: y', { a: 1, 200: 'y' }],
    ['200: y, <<: *b', { a: 1, 200: 'y' }],
    ['<<: [*b, {c: 3, a: 4}]', { a: 1, 200: 'x', c: 3 }],
    ['"<<": 1', { '<<': 1 }],
  ] as const)
    assert.deepEqual((readYamlDocument(`${base}m: {${map}}\n`) as { m: unknown }).m, made, map)
  for (const map of ['<<: *b, a: 2, a: 3', '<<: *b, 200: 2, 200: 3', '<<: *b, 200: 2, "200": 3', 'a: 1, <<: *b, a: 2'])
    assert.throws(() => readYamlDocument(`${base}m: {${map}}\n`), /is given twice/, map)
  const wide = `base: &b {${Array.from({ length: 900 }, (_, i) => `k${i}: 1`).join(', ')}}\n`
  const many = Array.from({ length: 100 }, (_, i) => `m${i}: {<<: *b}\n`).join('')
  assert.throws(() => readYamlDocument(wide + many), /merge keys/)
})

test('YAML: further documents and names that are no texts are faults', () => {
  for (const text of ['a: 1\n---\nb: 2\n', '? [a]\n: 1\n', '? {a: 1}\n: 1\n'])
    assert.throws(() => readYamlDocument(text), Error, text)
  assert.deepEqual(readYamlDocument('---\na: 1\n...\n'), { a: 1 })
})

test('YAML: an alias means the anchor before it, also as a name', () => {
  assert.deepEqual(readYamlDocument('- &a x\n- {*a : 1}\n- &a y\n- {*a : *a}\n- {&a z: &b w, *b : *a}\n'), [
    'x',
    { x: 1 },
    'y',
    { y: 'y' },
    { z: 'w', w: 'z' },
  ])
})

test('YAML: the time to read aliases grows with the length and no faster', async () => {
  const shapes: Readonly<Record<string, (number: number) => string>> = {
    'aliases as names': (number) => (number === 0 ? '- &a x\n' : '- {*a : 1}\n'),
    'an alias of each anchor': (number) => `- &a${number} x\n- *a${number}\n`,
    'an alias of each anchor as a name': (number) => `- &a${number} x\n- {*a${number} : 1}\n`,
    'anchors alone': (number) => `- &a${number} x\n`,
  }
  for (const [name, line] of Object.entries(shapes)) {
    const make = (length: number) => Array.from({ length: length / 16 }, (_, number) => line(number)).join('')
    await assertLinear(name, readYamlDocument, make, 32_768)
  }
  const aliases = Array.from({ length: 1001 }, (_, number) => `- &a${number} x\n- *a${number}\n`)
  assert.equal((readYamlDocument(aliases.slice(1).join('')) as unknown[]).length, 2000)
  assert.throws(() => readYamlDocument(aliases.join('')), /aliases exceeded maxAliases/)
})

test('YAML: aliases, depth and size are bounded, and the same signs are nothing within a text', () => {
  const shapes: Readonly<Record<string, readonly [text: string, reason: RegExp]>> = {
    aliases: [`- &x 1\n${'- *x\n'.repeat(1001)}`, /aliases exceeded maxAliases \(1000\)/],
    depth: [`- ${'['.repeat(101)}`, /nesting exceeded maxDepth \(100\)/],
    'depth of both kinds': [`- ${'[{a: '.repeat(51)}`, /nesting exceeded maxDepth \(100\)/],
    'depth without brackets': [`${'- '.repeat(101)}a\n`, /nesting exceeded maxDepth \(100\)/],
    'aliases of aliases': [repeats(9), /holds more than 1000000 values, with those that aliases repeat/],
    'a list in itself': ['a: &a [*a]\n', /names a list or map that it is part of/],
    'a map in itself': ['a: &a\n  b: {c: *a}\n', /names a list or map that it is part of/],
    'depth by aliases': [nested((number) => `a${number}`), /nested more than 100 deep, with what aliases repeat/],
    'depth by aliases before their anchors': [nested((number) => `${999 - number}`), /nested more than 100 deep/],
    tags: ['a: !include other.yaml\n', /unknown scalar tag/],
  }
  for (const [name, [text, reason]] of Object.entries(shapes)) {
    assert.throws(() => readYamlDocument(text), reason, name)
    const quoted = `a: |\n  ${text.replaceAll('\n', ' ')}\n`
    assert.equal(typeof (readYamlDocument(quoted) as { a: string }).a, 'string', name)
  }
})

/** A map of lists, each 90 deep around the one before. */
function nested(name: (number: number) => string): string {
  const list = (number: number) => `${'['.repeat(90)}${number === 0 ? '' : `*x${number - 1}`}${']'.repeat(90)}`
  return Array.from({ length: 900 }, (_, number) => `${name(number)}: &x${number} ${list(number)}\n`).join('')
}

/** Lists of nine, each of the one before. */
function repeats(levels: number): string {
  const list = (level: number) =>
    `- &a${level} [${Array(9)
      .fill(level === 0 ? '1' : `*a${level - 1}`)
      .join(', ')}]\n`
  return Array.from({ length: levels }, (_, level) => list(level)).join('')
}

test('YAML: a text of too many values is refused by its line, before anything is made of it', () => {
  // The first line is at fault: a text that is parsed is refused for it.
  const broken = 'a: b: c\n'
  const many = 1_500_001
  const shapes: Readonly<Record<string, string>> = {
    entries: '- 1\n'.repeat(many / 2 + 1),
    'entries of entries': `${'- '.repeat(50)}1\n`.repeat(many / 51 + 1),
    brackets: `- [${'[],'.repeat(many / 3 + 1)}]`,
    braces: `- [${'{},'.repeat(many / 3 + 1)}]`,
    names: '? a\n'.repeat(many / 2 + 1),
    lines: '\n'.repeat(many),
  }
  for (const [name, text] of Object.entries(shapes))
    assert.throws(
      () => readYamlDocument(`${broken}${text}`),
      /holds more than 1500000 lines and values: send it as JSON/,
      name,
    )
  assert.throws(() => readYamlDocument(broken), /bad indentation of a mapping entry/)
})
