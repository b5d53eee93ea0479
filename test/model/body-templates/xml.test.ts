import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseBodyTemplate } from '../../../src/model/body-templates/parse.ts'
import { renderTemplate } from '../../../src/model/body-templates/render.ts'
import { parseXml } from '../../../src/model/body-templates/xml.ts'
import type { Json, JsonObject } from '../../../src/model/json/json.ts'
import { assertLinear } from '../../worlds/base/growth.ts'

/** A value without the prototypes of its objects. */
const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as Json
const read = (text: string) => {
  const made = parseXml(text)
  return 'value' in made ? plain(made.value) : made.reason
}
const written = (value: JsonObject) => renderTemplate(parseBodyTemplate('{{ . | xmlMarshal }}'), value)

test('elements are texts, objects and lists', () => {
  const table: [xml: string, value: Json][] = [
    ['<a>1</a>', { a: '1' }],
    ['<a/>', { a: '' }],
    ['<a></a>', { a: '' }],
    ['<?xml version="1.0" encoding="UTF-8"?>\n<!-- c --><a>\n x \n</a>\n<!-- d -->', { a: 'x' }],
    ['<s:a xmlns:s="urn:x" s:id="7"><s:b>1</s:b></s:a>', { a: { '-s': 'urn:x', '-id': '7', b: '1' } }],
    ['<a><b>1</b><b>2</b><c/></a>', { a: { b: ['1', '2'], c: '' } }],
    ['<a n="1">t</a>', { a: { '-n': '1', '#text': 't' } }],
    ["<a n='&lt;&#65;&#x42;&amp;'>&quot;&apos;</a>", { a: { '-n': '<AB&', '#text': `"'` } }],
    ['<a><![CDATA[<b>&amp;]]></a>', { a: '<b>&amp;' }],
    ['<a><__proto__>1</__proto__><constructor/></a>', JSON.parse('{"a":{"__proto__":"1","constructor":""}}') as Json],
    ['<é>ü😀</é>', { é: 'ü😀' }],
  ]
  for (const [xml, value] of table) assert.deepEqual(read(xml), value, xml)
})

test('a text that is no XML, or asks for more than itself, is refused', () => {
  const refused = [
    ...[
      '',
      'x',
      '<a>',
      '<a></b>',
      '</a>',
      '<a/><b/>',
      '<a/>x',
      '<a',
      '<a b/>',
      '<a b=c/>',
      '<a b="<"/>',
      '<1/>',
      '< a/>',
    ],
    ...[
      '<a b="1" b="2"/>',
      '<a>&x;</a>',
      '<a>&</a>',
      '<a>&#0;</a>',
      '<a>&#xD800;</a>',
      '<a>\u0001</a>',
      '<a>\ufffe</a>',
    ],
    ...['<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>', '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', '<a><!-- </a>'],
    `${'<a>'.repeat(101)}${'</a>'.repeat(101)}`,
  ]
  for (const xml of refused) assert.match(String(read(xml)), /^XML /, xml)
})

test('a document is read again as it was written', () => {
  const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_.-]{0,6}$/)
  const text = fc
    .string({ unit: 'grapheme' })
    .map((own) => own.replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '').trim())
  const { element } = fc.letrec<{ element: JsonObject; value: Json }>((tie) => ({
    value: fc.oneof({ depthSize: 'small' }, text, tie('element'), fc.array(text, { minLength: 2, maxLength: 4 })),
    element: fc
      .tuple(
        fc.dictionary(name, tie('value'), { maxKeys: 4 }),
        fc.dictionary(
          name.map((own) => `-${own}`),
          text,
          { maxKeys: 2 },
        ),
      )
      .map(([children, attributes]) => ({ ...children, ...attributes }) as JsonObject),
  }))
  const root = fc.tuple(name, element).map(([own, value]) => ({ [own]: Object.keys(value).length === 0 ? '' : value }))
  fc.assert(
    fc.property(root, (value) => {
      const whole = plain(value)
      // An element without anything is an empty text.
      const expected = plain(JSON.parse(JSON.stringify(whole).replaceAll('{}', '""')))
      assert.deepEqual(read(written(value)), expected)
    }),
    { numRuns: 200 },
  )
})

test('a value of several members, none or a list has an element around it', () => {
  assert.equal(written({ b: 1, a: { x: null, y: true } }), '<doc><a><x/><y>true</y></a><b>1</b></doc>')
  assert.equal(written({ a: [1, 2] }), '<doc><a>1</a><a>2</a></doc>')
  assert.equal(written({}), '<doc/>')
  assert.equal(written({ 's:a': { '-xmlns:s': 'urn:x' } }), '<s:a xmlns:s="urn:x"/>')
  assert.equal(written({ a: '<b/>&"' }), '<a>&#60;b/&#62;&#38;&#34;</a>')
  for (const name of ['a b', '1', '', 'a><b', 'x:y:z'])
    assert.throws(() => written({ [name]: 1 }), /names that elements/)
})

test('time to write grows with the attributes and children of an element and no faster', async () => {
  const document = (length: number) => {
    const pairs = Array.from({ length: length >> 4 }, (_, at) => [[`-a${at}`, 1] as const, [`b${at}`, 1] as const])
    return JSON.stringify({ r: Object.fromEntries(pairs.flat()) })
  }
  await assertLinear('attributes and children', (text) => written(JSON.parse(text) as JsonObject), document, 131_072)
})
