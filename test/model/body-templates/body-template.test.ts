import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { FUNCTIONS } from '../../../src/model/body-templates/functions.ts'
import { parseBodyTemplate, TemplateFlaw } from '../../../src/model/body-templates/parse.ts'
import { MAX_RENDERED, RenderFlaw, renderTemplate } from '../../../src/model/body-templates/render.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'

const rendered = (template: string, root: JsonObject = {}) => renderTemplate(parseBodyTemplate(template), root)

const ROOT: JsonObject = {
  name: 'Ann "A" \\ B\n',
  count: 3,
  on: true,
  off: false,
  none: null,
  empty: [],
  list: [1, 'two', { three: 3 }],
  people: [
    { name: 'x', age: 1 },
    { name: 'y', age: 2 },
  ],
  map: { b: 2, a: 1 },
  'a-b': 'dash',
  __proto__x: 1,
}

const WRITTEN: readonly (readonly [template: string, json: unknown])[] = [
  ['{"n": "{{ .name }}"}', { n: ROOT.name }],
  ['{"n": {{ .name }}, "c": {{ .count }}, "l": {{.list}}}', { n: ROOT.name, c: 3, l: ROOT.list }],
  ['{"n": {{ .name | jsonMarshal }}, "t": "{{ .map | jsonMarshal }}"}', { n: ROOT.name, t: '{"b":2,"a":1}' }],
  ['{"x": {{ .missing.deeper }}, "y": "{{ .missing }}"}', { x: null, y: '' }],
  ['{"p": {{ .toString }}, "q": {{ .constructor.name }}}', { p: null, q: null }],
  ['{{ if .on }}1{{ else }}2{{ end }}', 1],
  ['{{ if .off }}1{{ else if .none }}2{{ else if eq .count 3 4 }}3{{ else }}4{{ end }}', 3],
  ['[{{ range $i, $e := .list }}{{ if $i }},{{ end }}{{ $e }}{{ end }}]', ROOT.list],
  ['[{{ range $i, $p := .people }}{{ if $i }},{{ end }}"{{ $p.name }}-{{ .age }}"{{ end }}]', ['x-1', 'y-2']],
  ['{ {{- range $k, $v := .map }}{{ if ne $k "a" }},{{ end }}"{{ $k }}": {{ $v }}{{ end -}} }', { a: 1, b: 2 }],
  ['[{{ range .empty }}1{{ else }}"none"{{ end }}]', ['none']],
  [
    '[{{ range $i, $e := .list }}{{ if eq $i 1 }}{{ continue }}{{ end }}{{ if $i }},{{ end }}{{ $i }}{{ end }}]',
    [0, 2],
  ],
  ['[{{ range $i, $e := .list }}{{ if eq $i 1 }}{{ break }}{{ end }}{{ $i }}{{ end }}]', [0]],
  ['{{ with .map }}{{ .a }}{{ end }}', 1],
  ['{{ with .none }}1{{ else }}{{ $.count }}{{ end }}', 3],
  ['{{ $x := 1 }}{{ range .list }}{{ $x = 7 }}{{ end }}{{ $x }}', 7],
  ['{{/* a comment */ -}} [ {{- index .list 2 "three" -}} , {{ (index .people 1).name }} ]', [3, 'y']],
  ['{{ len .list }}', 3],
  ['[{{ and .on .count }}, {{ or .none "d" }}, {{ not .on }}, {{ .none | default "f" }}]', [3, 'd', false, 'f']],
  ['[{{ lt 1 2 }}, {{ ge "b" "a" }}, {{ gt .count 3 }}, {{ le .count 3 }}]', [true, true, false, true]],
  ['["{{ upper "a" }}{{ lower `B` }}{{ trim " c " }}", "{{ urlquery "a b&" }}"]', ['Abc', 'a%20b%26']],
  [
    '["{{ join "-" .list }}", {{ contains "n" .name }}, "{{ replace "a" "b" "aha" }}"]',
    ['1-two-{"three":3}', true, 'bhb'],
  ],
  [
    '["{{ print (quote "a\\"b") | len }}", {{ list 1 "b" .none | jsonMarshal }}, {{ dict "k" .count "l" 2 }}]',
    ['6', [1, 'b', null], { k: 3, l: 2 }],
  ],
  ['[{{ first .list }}, {{ last .list }}, {{ first .empty }}, {{ has "two" .list }}]', [1, { three: 3 }, null, true]],
  ['[{{ ternary "y" "n" .on }}, {{ coalesce .none .empty "c" }}, {{ empty .map }}]', ['y', 'c', false]],
  [
    '[{{ int "7" }}, {{ int 7.9 }}, {{ float64 "1.5" }}, {{ add 1 2 .count }}, {{ sub 5 2 }}, {{ mul 2 3 }}]',
    [7, 7, 1.5, 6, 3, 6],
  ],
  [
    '[{{ splitList "," "a,b" }}, {{ split "," "a,b" }}, {{ slice "abcd" 1 3 }}, {{ slice .list 0 1 }}]',
    [['a', 'b'], { _0: 'a', _1: 'b' }, 'bc', [1]],
  ],
  [
    '[{{ regexMatch "^[a-c]+$" "abc" }}, {{ regexMatch "(?i)X" "ab" }}, {{ regexFind "[a-z][0-9]" "a b1 c2" }}]',
    [true, false, 'b1'],
  ],
  [
    '[{{ regexReplaceAll "a(x*)b" "-ab-axxb-" "$1-W" }}, {{ regexReplaceAll "a*" "baac" "X" }}, {{ regexReplaceAll "a" "xax" "$$" }}]',
    ['--W-xx-W-', 'XbXcX', 'x$x'],
  ],
  [
    '[{{ title "hello world" }}, {{ squote "a" }}, {{ nospace " a b " }}, {{ trimAll "$" "$5.00$" }}, {{ repeat 3 "ab" }}]',
    ['Hello World', "'a'", 'ab', '5.00', 'ababab'],
  ],
  [
    '[{{ trunc 5 "hello world" }}, {{ trunc -5 "hello world" }}, {{ substr 0 5 "hello world" }}, {{ substr 6 -1 "hello world" }}]',
    ['hello', 'world', 'hello', 'world'],
  ],
  [
    '[{{ atoi "12" }}, {{ int64 "7" }}, {{ div 7 2 }}, {{ mod 7 2 }}, {{ max 1 3 2 }}, {{ min 2 1 3 }}, {{ floor 1.7 }}, {{ ceil 1.2 }}, {{ round 123.5555 3 }}]',
    [12, 7, 3, 1, 3, 1, 1, 2, 123.556],
  ],
  [
    '[{{ append (list 1 2) 3 }}, {{ prepend (list 1) 0 }}, {{ reverse (list 1 2) }}, {{ uniq (list 1 1 2) }}, {{ sortAlpha (list "b" "a") }}]',
    [
      [1, 2, 3],
      [0, 1],
      [2, 1],
      [1, 2],
      ['a', 'b'],
    ],
  ],
  [
    '[{{ keys (dict "a" 1) }}, {{ values (dict "a" 1) }}, {{ hasKey (dict "a" 1) "b" }}, {{ get (dict "a" 1) "a" }}, {{ get (dict "a" 1) "b" }}]',
    [['a'], [1], false, 1, ''],
  ],
  ['["{{ sha256sum "abc" }}"]', ['ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad']],
  ['{"h": {{ html "[1]<" }}}', { h: '[1]&#60;' }],
  ['{"j": {{ (fromJson "{\\"k\\": [1]}").k }}, "t": {{ toString 12 }}}', { j: [1], t: '12' }],
]

/** Templates that give other text than JSON. */
const TEXTS: readonly (readonly [template: string, text: string])[] = [
  ['{{ index . "a-b" }}', 'dash'],
  ['{{ print "a" .count .none }}', 'a3'],
  ['{{ .name }}', ROOT.name as string],
  ['{{ .map }}{{ toJson .map }}', '{"b":2,"a":1}{"b":2,"a":1}'],
  ['{{ xmlMarshal .map }}', '<doc><a>1</a><b>2</b></doc>'],
  ['{{ if .none }}{"a":1}{{ end }}', ''],
  ['{{ range .people }}{{ .name }},{{ .age }};{{ end }}', 'x,1;y,2;'],
  ['a={{ .count }}&n={{ urlquery "a&b" }}', 'a=3&n=a%26b'],
  ['<o a="{{ .name }}">{{ .count }}{{ html "<" }}</o>', '<o a="Ann &#34;A&#34; \\ B\n">3&#60;</o>'],
  ['{{ printf "%s|%5d|%-4v|%03d|%.2f|%q|%x|%%" .count 7 "b" 7 1.5 "q" "hi" }}', '3|    7|b   |007|1.50|"q"|6869|%'],
  ['{{ "ü" | b64enc }} {{ b64dec "w7w=" }} {{ js "</a>" }}', 'w7w= ü \\u003C/a\\u003E'],
  ['{{ trimPrefix "a" "ab" }}{{ trimSuffix "b" "ab" }}{{ hasPrefix "a" "ab" }}{{ hasSuffix "a" "ab" }}', 'batruefalse'],
  ['{{ date "2006-01-02 15:04:05.000 Mon Jan MST" 86399 }}', '1970-01-01 23:59:59.000 Thu Jan UTC'],
  ['{{ date "02/01/06 03:04 PM January Monday" "2026-11-26T22:05:00Z" }}', '26/11/26 10:05 PM November Thursday'],
  ['{{ now | date "2006" | len }}', '4'],
  [
    '<a b={{ quote "\\"><evil/>" }}>{{ jsonMarshal "<" }}</a>',
    '<a b=&#34;\\&#34;&#62;&#60;evil/&#62;&#34;>&#34;&#60;&#34;</a>',
  ],
]

for (const [template, text] of TEXTS) {
  test(`a template gives text: ${template}`, () => assert.equal(rendered(template, ROOT), text))
}

test('every function is tried with values that fit', () => {
  const tried = [...WRITTEN, ...TEXTS].map(([template]) => template).join()
  const missing = [...FUNCTIONS.keys()].filter((name) => !new RegExp(`[{(|\\s]${name}[\\s})]`).test(tried))
  assert.deepEqual(missing, [])
})

for (const [template, json] of WRITTEN) {
  test(`a template is written: ${template}`, () => assert.deepEqual(JSON.parse(rendered(template, ROOT)), json))
}

const FLAWS: readonly (readonly [template: string, flaw: RegExp])[] = [
  ['{\n  "a": {{ env "HOME" }}\n}', /^line 2, column 11: no function here is called env; there are and, or,/],
  ['{{ .a', /^line 1, column 1: is not closed by "}}"/],
  ['{{}}', /^line 1, column 1: holds nothing/],
  ['{{ if .a }}', /"if" has no "end"/],
  ['{{ if }}{{ end }}', /says nothing/],
  ['{{ end }}', /"end" without/],
  ['{{ else }}', /"else" without/],
  ['{{ if .a }}{{ else }}{{ else }}{{ end }}', /a second "else"/],
  ['{{ range .a }}{{ else if .b }}{{ end }}', /"else if" has no place here/],
  ['{{ template "x" }}', /^line 1, column 1: "template" is not served here/],
  ['{{ define "x" }}', /"define" is not served here/],
  ['{{ $x }}', /the variable \$x is not known here/],
  ['{{ $x = 1 }}', /the variable \$x is not known here/],
  ['{{ if $x := .a }}{{ end }}{{ $x }}', /the variable \$x is not known here/],
  ['{{ range $a, $b, $c := .x }}{{ end }}', /at most 2 variables/],
  ['{{ break }}', /within "range"/],
  ['{{ .a | .b }}', /is no function/],
  ['{{ .a .b }}', /\.b has no place here/],
  ['{{ (.a }}', /is not closed by "\)"/],
  ['{{ len }}', /len takes 1 values/],
  ['{{ .a; }}', /is not valid in an action/],
  ['{{ "a }}', /is not valid/],
  ['"\\{{ .a }}"', /must not follow a backslash/],
  [`${'{{ if .a }}'.repeat(33)}${'{{ end }}'.repeat(33)}`, /nested deeper than 32/],
  [`{{ ${'('.repeat(40)}.a${')'.repeat(40)} }}`, /nested deeper than 32/],
  [' '.repeat(65_537), /longer than 65536/],
]

for (const [template, flaw] of FLAWS) {
  test(`a template is refused with its place: ${template.slice(0, 60)}`, () => {
    assert.throws(
      () => parseBodyTemplate(template),
      (error) => error instanceof TemplateFlaw && flaw.test(error.message),
    )
  })
}

const flawOf = (template: string, root: JsonObject): RenderFlaw => {
  try {
    rendered(template, root)
  } catch (error) {
    if (error instanceof RenderFlaw) return error
    throw error
  }
  return assert.fail('was written')
}

test('what a template is given cannot make it work without end', () => {
  const many = Array<number>(100_000).fill(1)
  const wide = Object.fromEntries(many.map((_, index) => [`k${index}`, 1]))
  const long = 'x'.repeat(1_000_000)
  const bounds = (template: string, root: JsonObject) => assert.equal(flawOf(template, root).why, 'bounds', template)
  bounds('{{ range .a }}{{ range $.a }}{{ end }}{{ end }}', { a: many })
  bounds('{{ range .a }}{{ if $.w }}{{ end }}{{ end }}{{ range .a }}{{ end }}', { a: many, w: wide })
  bounds('{{ range .a }}{{ if eq $.l $.m }}{{ end }}{{ end }}', { a: many, l: long, m: `${long}` })
  bounds('{{ range .a }}{{ $x := jsonMarshal $.l }}{{ end }}', { a: many, l: long })
  bounds('"{{ .l }}{{ .l }}"', { l: long })
  bounds('"{{ join .l .a }}"', { l: long, a: many })
  bounds('"{{ replace "x" .l .l }}"', { l: long })
  bounds('{{ range .a }}{{ printf "%1000d" 1 }}{{ end }}', { a: many })
  bounds('{{ range .a }}{{ $x := splitList "x" $.l }}{{ end }}', { a: many, l: long })
  bounds('{{ range .a }}{{ $x := slice $.a 1 }}{{ end }}', { a: many })
  bounds('{{ range .a }}{{ $x := has 2 $.a }}{{ end }}', { a: many })
  bounds('{{ range .a }}{{ $x := fromJson $.l }}{{ end }}', { a: many, l: JSON.stringify(long) })
  // Twice as long with each item.
  const twice = (doubled: string, written: string) =>
    bounds(`{{ $x := list .t }}{{ range .a }}{{ $x = ${doubled} }}{{ end }}${written}`, {
      ...{ a: Array.from({ length: 27 }, () => 1), t: 'x'.repeat(24) },
    })
  for (const written of ['{{ toJson $x }}', '"{{ $x }}"', '{{ $x }}', '{{ print $x }}']) twice('list $x $x', written)
  for (const doubled of ['dict "a" $x "b" $x', 'append (list $x) $x']) twice(doubled, '{{ toJson $x }}')
})

test('every find of an expression is paid for before it is looked for', () => {
  // Each "a" makes it look at the rest of the text for a "b".
  const largestPaid = (text: string) => {
    let largest = 0
    const spend = (steps: number) => {
      largest = Math.max(largest, steps)
    }
    const keysOf = (object: JsonObject) => Object.keys(object)
    FUNCTIONS.get('regexReplaceAll')!.run(['a(?:.*b)?', text, 'x'], { spend, keysOf })
    return largest
  }
  assert.equal(largestPaid('a'.repeat(500).padEnd(5000, 'c')), largestPaid('a'.padEnd(5000, 'c')))
})

test('values that do not fit, and results that are no JSON, are named', () => {
  assert.match(flawOf('\n{{ lt .a 1 }}', { a: 'x' }).message, /^line 2, column 4: lt compares two numbers or two texts/)
  assert.equal(flawOf('{{ range .a }}{{ end }}', { a: 1 }).why, 'value')
  assert.equal(flawOf('{{ len .a }}', { a: 1 }).why, 'value')
  assert.equal(flawOf('{"a": }', {}).why, 'no JSON')
})

/** Templates as people might write them, right and wrong. */
const actions = fc.oneof(
  fc.constantFrom(
    '{{ end }}',
    '{{ else }}',
    '{{ if .a }}',
    '{{ range .a }}',
    '{{ with .b }}',
    '{{ break }}',
    '"',
    '\\',
    ',',
    '{',
    '}',
  ),
  fc.constantFrom(
    '{{ range $k, $v := . }}',
    '{{ $v }}',
    '{{ $x := .a }}',
    '{{ $x }}',
    '{{ . }}',
    '{{ .a.b }}',
    '{{- .a -}}',
  ),
  fc
    .tuple(fc.constantFrom(...FUNCTIONS.keys()), fc.constantFrom('.', '.a', '.a .b', '"t" .a', '1 .b 3'))
    .map(([name, args]) => `{{ ${name} ${args} }}`),
  fc.string({ maxLength: 5 }),
)
const bodies = fc.dictionary(
  fc.constantFrom('a', 'b', 'c', '__proto__'),
  fc.jsonValue({ maxDepth: 3 }),
) as fc.Arbitrary<JsonObject>
const numRuns = process.env.GATEHOUSE_DEEP === '1' ? 200_000 : 2000

test('any template over any JSON is written within bounds, or names its fault', () => {
  fc.assert(
    fc.property(fc.array(actions, { maxLength: 12 }), bodies, (parts, root) => {
      try {
        const template = parseBodyTemplate(parts.join(''))
        const text = renderTemplate(template, root)
        assert.ok(text.length <= MAX_RENDERED)
        if (template.output === 'json' && text.trim() !== '') JSON.parse(text)
      } catch (error) {
        assert.ok(error instanceof TemplateFlaw || error instanceof RenderFlaw, String(error))
        assert.notEqual(error.message, '')
      }
    }),
    { numRuns },
  )
})

test('no value becomes markup', () => {
  const template = parseBodyTemplate('<a b="{{ .v }}">{{ .v }}</a>')
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (v) => {
      const written = /^<a b="([^"<>]*)">([^<>]*)<\/a>$/s.exec(renderTemplate(template, { v }))
      const read = (text: string) => text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
      assert.deepEqual(written?.slice(1).map(read), [v, v])
    }),
    { numRuns: Math.min(numRuns, 5000) },
  )
})

test('no value becomes structure: what is printed is one value, where it stands', () => {
  const template = parseBodyTemplate('{"in": "<{{ .a }}>", "out": {{ .a }}, "keys": {"k{{ .b }}": 1}, "last": true}')
  fc.assert(
    fc.property(fc.jsonValue(), fc.string({ unit: 'binary' }), (a, b) => {
      const made = JSON.parse(renderTemplate(template, { a: a as JsonObject, b })) as JsonObject
      assert.deepEqual(Object.keys(made), ['in', 'out', 'keys', 'last'])
      assert.deepEqual(made.out, JSON.parse(JSON.stringify(a)))
      assert.deepEqual(Object.keys(made.keys as JsonObject), [
        `k${b}`.toWellFormed() === `k${b}` ? `k${b}` : Object.keys(made.keys as JsonObject)[0],
      ])
    }),
    { numRuns: Math.min(numRuns, 5000) },
  )
})
