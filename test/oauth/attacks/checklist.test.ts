import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const ROOT = join(import.meta.dirname, '../../..')
const ROW = /^\| (?!attack|---)(?<attack>[^|]+) \| [^|]+ \| (?<tests>[^|]+) \|$/gm
const NAMED = /`(?<file>test\/[\w./-]+)`: (?<names>"[^"]+"(?:, "[^"]+")*)/g

const page = readFileSync(join(ROOT, 'docs/explanation/oauth-security.md'), 'utf8')
const rows = [...page.matchAll(ROW)].map((row) => row.groups as { attack: string; tests: string })

/** The tests that a row names and that are not there; a name may be the fixed part of several. */
function missing(tests: string): string[] {
  return [...tests.matchAll(NAMED)].flatMap((match) => {
    const { file, names } = match.groups as { file: string; names: string }
    const path = join(ROOT, file)
    const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
    return [...names.matchAll(/"([^"]+)"/g)].map((name) => name[1]!).filter((name) => !text.includes(name))
  })
}

test('every section of RFC 9700 section 4 is on the page', () => {
  const sections = new Set(rows.map(({ attack }) => /^4\.(\d+)/.exec(attack)?.[1]))
  for (let section = 1; section <= 17; section++) assert.ok(sections.has(String(section)), `4.${section}`)
})

for (const { attack, tests } of rows)
  test(`${attack}: its tests are there`, () => {
    assert.match(tests, new RegExp(NAMED))
    assert.deepEqual(missing(tests), [])
  })

test('a test that is gone would be found', () => {
  assert.deepEqual(missing('`test/oauth/attacks/checklist.test.ts`: "a test that is gone"'), [])
  const gone = ['no such', 'test'].join(' ')
  assert.deepEqual(missing(`\`test/oauth/attacks/checklist.test.ts\`: "${gone}"`), [gone])
  assert.deepEqual(missing(`\`test/oauth/absent.test.ts\`: "${gone}"`), [gone])
})
