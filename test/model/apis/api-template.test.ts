import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { isRiskyPattern } from '../../../src/model/apis/check/risky-pattern.ts'
import {
  collides,
  type ListenPlace,
  parsePathTemplate,
  templateFault,
  templateKey,
} from '../../../src/model/apis/definition/template.ts'

const any = (name: string) => ({ name, pattern: undefined })

describe('listen paths', () => {
  const good: readonly [string, ReturnType<typeof parsePathTemplate>][] = [
    ['/', []],
    ['/a', ['a']],
    ['/a/', ['a']],
    ['/a/b.c-d_e~/', ['a', 'b.c-d_e~']],
    ['/t/{tenant}/', ['t', any('tenant')]],
    ['/caf%C3%A9/日本', ['café', '日本']],
    ['/n/{id:[0-9]{2}}', ['n', { name: 'id', pattern: '[0-9]{2}' }]],
    ['/{a}/{b:x|y}', [any('a'), { name: 'b', pattern: 'x|y' }]],
  ]
  for (const [path, segments] of good) {
    test(`${path} is read`, () => {
      assert.deepEqual(parsePathTemplate(path), segments)
      assert.equal(templateFault(path), undefined)
    })
  }

  const bad: readonly [string, RegExp][] = [
    ['', /begin with/],
    ['a', /begin with/],
    ['//', /empty segment/],
    ['/a//b', /empty segment/],
    ['/a/../b', /"\.\."/],
    ['/.', /"\.\."/],
    ['/a b', /character/],
    ['/a?b', /character/],
    ['/a#b', /character/],
    ['/a%2fb', /character/],
    ['/a\\b', /character/],
    ['/\u200b', /character/],
    ['/%61/%2e%2e', /"\.\."/],
    ['/..;x', /"\.\."/],
    ['/a%25b', /character/],
    ['/a%e4', /character/],
    ['/%73vc', /taken/],
    ['/{a', /braces/],
    ['/a}', /braces/],
    ['/v{n}', /whole segment/],
    ['/{}', /proper name/],
    ['/{1a}', /proper name/],
    ['/{a:}', /empty pattern/],
    ['/{a:x/y}', /with "\/"/],
    ['/{a:(x+)+}', /not safe/],
    ['/{a:[}', /not safe/],
    ['/{a}/{a}', /twice/],
    [`/${'a'.repeat(1024)}`, /longer/],
    ['/svc', /taken/],
    ['/SVC/x', /taken/],
    ['/hello/', /taken/],
    ['/ready', /taken/],
    ['/.well-known/x', /taken/],
  ]
  for (const [path, says] of bad) {
    test(`${path.slice(0, 20)} is refused`, () => {
      assert.match(templateFault(path) ?? '', says)
    })
  }

  test('parseTemplate throws what templateFault says', () => {
    assert.throws(() => parsePathTemplate('/a//b'), { name: 'Fault', code: 'definition_invalid' })
  })
})

describe('collisions', () => {
  const base: ListenPlace = {
    listenPath: '/a/',
    domain: '',
    ignoreCase: false,
    active: true,
    internal: false,
    tags: undefined,
  }
  const cases: readonly [name: string, a: Partial<ListenPlace>, b: Partial<ListenPlace>, expected: boolean][] = [
    ['the same path', {}, {}, true],
    ['with and without the last slash', {}, { listenPath: '/a' }, true],
    ['another path', {}, { listenPath: '/b/' }, false],
    ['a longer path', {}, { listenPath: '/a/b/' }, false],
    ['another domain', { domain: 'x' }, { domain: 'y' }, false],
    ['a domain and every host', { domain: 'x' }, {}, false],
    ['names of placeholders', { listenPath: '/{a}' }, { listenPath: '/{b}' }, true],
    ['patterns that differ', { listenPath: '/{a:x}' }, { listenPath: '/{a:y}' }, false],
    ['case', {}, { listenPath: '/A/' }, false],
    ['case that one of them ignores', {}, { listenPath: '/A/', ignoreCase: true }, true],
    ['tags apart', { tags: ['a'] }, { tags: ['b'] }, false],
    ['a tag in common', { tags: ['a', 'c'] }, { tags: ['b', 'c'] }, true],
    ['one without tags', { tags: ['a'] }, {}, true],
    ['one with an empty list', { tags: ['a'] }, { tags: [] }, true],
    ['one inactive', { active: false }, {}, false],
    ['one internal', {}, { internal: true }, false],
  ]
  for (const [name, a, b, expected] of cases) {
    test(name, () => {
      assert.equal(collides({ ...base, ...a }, { ...base, ...b }), expected)
      assert.equal(collides({ ...base, ...b }, { ...base, ...a }), expected)
    })
  }

  test('keys are equal exactly when paths match the same', () => {
    assert.equal(templateKey('/a/{x}/'), templateKey('/a/{y}'))
    assert.notEqual(templateKey('/a/{x}'), templateKey('/a/x'))
    assert.equal(templateKey('/A', true), templateKey('/a', true))
  })
})

describe('patterns', () => {
  const safe = [
    '[0-9]+',
    'v[0-9]+',
    '(?:a|b)',
    '(a|b)?',
    '[a-f0-9]{8}(-[a-f0-9]{4}){3}-[a-f0-9]{12}',
    '\\d{1,3}',
    '[a-z-]+-[0-9]+',
  ]
  const risky = [
    '(a+)+',
    '(a|b)*',
    '((a+))+',
    '(?:x*)*',
    '(a?){3,}',
    '\\1',
    '(?=a)',
    '(?<!a)b',
    '[',
    'a'.repeat(201),
    '.*.*.*.*',
  ]
  for (const source of safe) test(`${source} may run`, () => assert.equal(isRiskyPattern(source), false))
  for (const source of risky) test(`${source.slice(0, 20)} may not`, () => assert.equal(isRiskyPattern(source), true))

  test('what may run on a segment ends in good time', () => {
    const pieces = fc.constantFrom('a', '+', '*', '(', ')', '|', '[ab]', '?', '{1,9}', '.', 'b')
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 9 }), (parts) => {
        const source = parts.join('')
        const pattern = compiled(source)
        if (pattern === undefined || isRiskyPattern(source)) return
        const started = process.cpuUsage()
        pattern.test(`${'a'.repeat(200)}!`)
        assert.ok(process.cpuUsage(started).user < 500_000, source)
      }),
      { numRuns: process.env.GATEHOUSE_DEEP === '1' ? 100_000 : 3000 },
    )
  })
})

function compiled(source: string): RegExp | undefined {
  try {
    return new RegExp(`^(?:${source})$`)
  } catch {
    return undefined
  }
}
