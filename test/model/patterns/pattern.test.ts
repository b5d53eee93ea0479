import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import fc from 'fast-check'
import { matcherFor } from '../../../src/model/patterns/matcher.ts'
import { compilePattern } from '../../../src/model/patterns/pattern.ts'

const runs = process.env.GATEHOUSE_DEEP === '1' ? 20_000 : 1000
/** Far more than a machine under load needs, far less than a bomb takes. */
const KILL_AFTER_MS = 60_000

test('patterns find what the facts say, unanchored over the whole path', () => {
  const table: [pattern: string, found: string[], notFound: string[]][] = [
    ['/users', ['/users', '/api/users/7', '/usersmore'], ['/user', '/Users']],
    ['/users/{id}', ['/api/users/7', '/users/a-b/c'], ['/users/', '/users']],
    ['/users/{id}/orders$', ['/users/7/orders'], ['/users/7/8/orders', '/users/7/orders/1']],
    ['/files/*', ['/files/', '/x/files/a/b/c'], ['/files', '/file/a']],
    ['^/a/*/z$', ['/a/b/z'], ['/a/b/c/z', '/a//z', '/a/z2', '/b/a/b/z']],
    ['^/v[12]/', ['/v1/x', '/v2/'], ['/v3/', '/x/v1/']],
    ['/[0-9a-f]{32}$', [`/${'0a'.repeat(16)}`], [`/${'0a'.repeat(15)}`, `/${'0g'.repeat(16)}`]],
    ['^/x{2,4}$', ['/xx', '/xxx', '/xxxx'], ['/x', '/xxxxx']],
    ['^(a|b|/){20,40}$', [`/${'ab'.repeat(15)}`], ['/abab', '/'.repeat(41)]],
    ['^/x{2,}$', ['/xx', `/${'x'.repeat(50)}`], ['/x']],
    ['^/(a|bc)+?$', ['/a', '/bca'], ['/', '/b']],
    ['^/(?P<name>ab)*$', ['/', '/abab'], ['/aba']],
    ['\\A/\\d+\\z', ['/12'], ['/12a']],
    ['/a\\.b', ['/a.b'], ['/axb']],
    // Numbered placeholders; no path has slashes to repeat.
    ['/{1}/{2}$', ['/a/b', '/x/a-b/c'], ['//', '/a']],
    ['^/a{,2}$', ['/a{,2}'], ['/aa']],
    ['', ['/anything'], []],
  ]
  for (const [pattern, found, notFound] of table) {
    const compiled = compilePattern(pattern)
    for (const path of found) assert.ok(compiled.test(path), `${pattern} should be found in ${path}`)
    for (const path of notFound) assert.ok(!compiled.test(path), `${pattern} should not be found in ${path}`)
  }
})

test('what cannot be matched in linear time, and what is no pattern, is refused with the place', () => {
  const refused = [
    '(a)\\1',
    '(?<n>a)\\k<n>',
    '(?=a)',
    '(?!a)',
    '(?<=a)',
    '(?<!a)',
    '(?x)a',
    '\\p{Nothing}',
    '\\pX',
    '\\q',
    '\\',
    '(',
    ')',
    '((a)',
    '[',
    '[]',
    '[z-a]',
    '[a-\\d]',
    '[[:letter:]]',
    'a{2}{3}',
    '*',
    'a**',
    'a++',
    '^*',
    '\\b+',
    'a{3,2}',
    'a{1,601}',
    '(x{1,30}){1,30}y',
    '((a{9}){9}){9}',
    'a'.repeat(1001),
    '('.repeat(200) + ')'.repeat(200),
    'a{999999999}',
    '\\x1',
    '\\u12',
  ]
  for (const pattern of refused) {
    assert.throws(
      () => compilePattern(pattern),
      { code: 'pattern_invalid' },
      `${pattern.slice(0, 40)} should be refused`,
    )
    assert.equal(matcherFor(pattern), undefined)
  }
  assert.throws(() => compilePattern('/ok/(?=no)'), /at character 5/)
})

test('any text either compiles or is a fault, and literal paths are found in themselves', () => {
  const alphabet = fc.constantFrom(...'ab/*+?.|()[]{}^$\\,0123-dwx:=!<>P'.split(''))
  fc.assert(
    fc.property(fc.string({ unit: alphabet, maxLength: 40 }), (text) => {
      try {
        compilePattern(text).test('/ab/ab')
      } catch (error) {
        assert.equal((error as { code?: string }).code, 'pattern_invalid', String(error))
      }
    }),
    { numRuns: runs },
  )
  fc.assert(
    fc.property(fc.stringMatching(/^(\/[a-z0-9_~-]{1,8}){1,4}$/), (path) =>
      assert.ok(compilePattern(path).test(`/listen${path}`)),
    ),
    { numRuns: runs },
  )
})

test('a pattern means what the same regular expression means', () => {
  const atom = fc.constantFrom('a', 'b', '[ab]', '[^a]', '.', '(a|b)', '(?:ab)', '(a|)', '\\w')
  const sign = fc.constantFrom('', '', '*', '+', '?', '{2}', '{1,3}', '{0,2}', '{2,}', '*?')
  const expression = fc
    .array(fc.tuple(atom, sign), { minLength: 1, maxLength: 5 })
    .map((parts) => `^${parts.map(([text, times]) => text + times).join('')}$`)
  fc.assert(
    fc.property(
      expression,
      fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 9 }), { maxLength: 8 }),
      (text, inputs) => {
        const plain = new RegExp(text)
        const ours = compilePattern(text)
        for (const input of inputs) assert.equal(ours.test(input), plain.test(input), `${text} on ${input}`)
      },
    ),
    { numRuns: runs },
  )
})

test('patterns made to explode are refused or end, in a process that is killed otherwise', () => {
  const bombs = [
    '(a+)+$',
    '(a|a)*b',
    '(a*)*b',
    '(a|aa)+$',
    '(.*)*y',
    '.*.*.*.*.*.*.*b',
    'a*a*a*a*a*a*a*a*b',
    '(a|a){1,30}b',
    '(x{1,30}){1,30}y',
    '(a?){150}a{150}',
    'a?'.repeat(200) + 'a'.repeat(200),
    '(a{1,20}){1,12}b',
    '((a|b)*|(b|a)*)*c',
    '([a-z]+)*\\d',
    '(a|b|ab)*c',
    '(/*)*z',
  ]
  const script = `
    const { matcherFor } = await import(${JSON.stringify(new URL('../../../src/model/patterns/matcher.ts', import.meta.url).href)})
    for (const bomb of ${JSON.stringify(bombs)})
      for (const unit of ['a', 'x', 'ab', '/'])
        matcherFor(bomb)?.test('/' + unit.repeat(16000 / unit.length) + '!', { patternWork: -Infinity })
    console.log('ended')`
  const child = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    timeout: KILL_AFTER_MS,
    killSignal: 'SIGKILL',
    encoding: 'utf8',
  })
  assert.equal(child.stdout.trim(), 'ended', child.stderr)
})

test('compiled patterns are shared and do not pile up', () => {
  assert.equal(matcherFor('/same'), matcherFor('/same'))
  const first = matcherFor('/first')
  for (let i = 0; i < 10_001; i++) matcherFor(`/p${i}`)
  assert.notEqual(matcherFor('/first'), first)
})
