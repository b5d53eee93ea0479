import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

// Records what Go's regexp, an RE2, finds: `node scripts/run.mjs test/worlds/patterns/write-re2.ts` where Go is installed.

const PATTERNS = 700
let state = 20_261_127

function below(most: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return Math.floor((state / 2 ** 32) * most)
}

const one = <T>(of: readonly T[]): T => of[below(of.length)]!
const many = (most: number, make: () => string) => Array.from({ length: 1 + below(most) }, make).join('')

const LETTERS = [...'abkKsSzéÉßẞſΣςσКк1 _-"ǅǆ中']
const CLASSES = [
  '[[:alpha:]]',
  '[[:^digit:]]',
  '[^[:space:]]',
  '[[:upper:]1]',
  '[a-k]',
  '[^a-k]',
  '[]a]',
  '[^]a]',
  '[a-]',
  '[\\d-z]',
]
const SETS = [
  '\\d',
  '\\D',
  '\\w',
  '\\W',
  '\\s',
  '\\S',
  '\\pL',
  '\\p{L}',
  '\\PL',
  '\\p{Greek}',
  '\\P{^Lu}',
  '\\p{^Lu}',
  '\\pN',
  '\\p{Cyrillic}',
]
const OTHERS = ['\\x6b', '\\x{e9}', '\\x{10437}', '\\101', '\\a', '\\Q.a\\E', '\\Q(k\\E', '.', '\\.', '\\_']

function single(): string {
  return one([
    () => one(LETTERS),
    () => one(LETTERS),
    () => one(CLASSES),
    () => one(SETS),
    () => one(OTHERS),
    inClass,
  ])()
}

function inClass(): string {
  const inner = many(3, () =>
    one(['a-k', 'Σ-ω', 'É', 's', '\\pN', '\\W', '[:lower:]', '\\x{10400}-\\x{10427}', '\\-', '_']),
  )
  return `[${below(4) === 0 ? '^' : ''}${inner}]`
}

function part(): string {
  const quantified = single() + one(['', '', '', '*', '+', '?', '{2}', '{1,3}', '{2,}', '*?', '+?', '??', '{1,2}?'])
  return one([
    () => quantified,
    () => quantified,
    () => quantified,
    () => one(['\\b', '\\B', '^', '$', '\\A', '\\z']),
    group,
  ])()
}

function group(): string {
  const flags = one(['', '', '?:', '?i:', '?s:', '?m:', '?U:', '?i-s:', '?-i:', '?P<n>', '?<n>'])
  const inner = many(3, single)
  return one([() => `(${flags}${inner})`, () => `(${flags}${inner}|${single()})`, () => `(${flags}${inner})+`])()
}

function pattern(): string {
  return `${one(['', '', '', '(?i)', '(?i)', '(?s)', '(?m)', '(?im)', '(?U)', '(?i-m)'])}${many(4, part)}`
}

function text(of: string): string {
  // Beyond U+FFFF dots and complements take half a character.
  const letters = /[.]|\[\^|\[:\^|\\[DWS]/.test(of) ? LETTERS : [...LETTERS, '𐐷', '𐐏', '😀']
  return many(6, () => (below(12) === 0 ? one(['\n', '\t', '.a', '(k', ']']) : one(letters)))
}

const asked = Array.from({ length: PATTERNS }, () => {
  const own = pattern()
  return { pattern: own, texts: Array.from({ length: 5 }, () => text(own)) }
})
const { stdout, stderr, status } = spawnSync('go', ['run', join(import.meta.dirname, 're2.go')], {
  input: asked.map((each) => JSON.stringify(each)).join('\n'),
  encoding: 'utf8',
  maxBuffer: 1 << 26,
})
if (status !== 0) throw new Error(stderr)
writeFileSync(join(import.meta.dirname, 're2.txt'), stdout)
