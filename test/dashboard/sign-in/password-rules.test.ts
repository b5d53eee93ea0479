import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { Fault } from '../../../src/errors/fault.ts'
import { passwordRules } from '../../../src/model/passwords/password-rules.ts'
import { readPasswordRules } from '../../../src/publish/sign-in/password-rules-file.ts'

const RUNS = process.env.GATEHOUSE_DEEP === '1' ? 4000 : 100

function folder(t: TestContext): string {
  const made = mkdtempSync(join(tmpdir(), 'gatehouse-schemas-'))
  t.after(() => rmSync(made, { recursive: true }))
  return made
}

test('the three files are read as they are, and one that is not there means the usual rules', (t) => {
  const home = folder(t)
  const schema = {
    title: 'x',
    type: 'string',
    minLength: 10,
    multiCase: true,
    minNumeric: 2,
    minSpecial: 2,
    disableSequential: true,
  }
  for (const name of ['password.json', 'developer_password.json', 'basic_auth.json']) {
    const path = join(home, name)
    assert.deepEqual(readPasswordRules(path)('eight888'), [])
    writeFileSync(path, JSON.stringify({ ...schema, title: name }))
    const rules = readPasswordRules(path)
    assert.equal(rules('Kx7!mQ2z?T').length, 0)
    assert.equal(rules('kkk').length, 5, 'every rule that is broken is named')
  }
})

test('a file that cannot be used stops the start, and is named', (t) => {
  const path = join(folder(t), 'password.json')
  for (const content of ['', '[]', '{"type":"string","minLenght":8}', '{"multiCase":"yes"}', '{"minNumeric":-']) {
    writeFileSync(path, content)
    assert.throws(
      () => readPasswordRules(path),
      (error) => error instanceof Fault && error.code === 'setting_invalid' && error.message.includes(path),
      content,
    )
  }
})

const characters = fc.constantFrom(...'abcdefgxyzABCXYZ0123456789!?# é½'.split(''))
const passwords = fc.array(characters, { minLength: 1, maxLength: 24 }).map((list) => list.join(''))
const schemas = fc.record({
  minLength: fc.integer({ min: 0, max: 12 }),
  multiCase: fc.boolean(),
  minNumeric: fc.integer({ min: 0, max: 4 }),
  minSpecial: fc.integer({ min: 0, max: 3 }),
  disableSequential: fc.boolean(),
})

/** Three characters that count up, count down or are the same, in the plainest words. */
function inARow(password: string): boolean {
  for (let i = 0; i + 2 < password.length; i++) {
    const [a, b, c] = [0, 1, 2].map((k) => password.charCodeAt(i + k)) as [number, number, number]
    if ((a === b && b === c) || (b === a + 1 && c === b + 1) || (b === a - 1 && c === b - 1)) return true
  }
  return false
}

test('a password is good exactly when it keeps every rule, and each broken rule is named once', () => {
  fc.assert(
    fc.property(schemas, passwords, (schema, password) => {
      const count = (wanted: string) => [...password].filter((character) => wanted.includes(character)).length
      const broken = [
        password.length < schema.minLength,
        schema.multiCase && !(/[a-zé]/.test(password) && /[A-Z]/.test(password)),
        count('0123456789') < schema.minNumeric,
        count('!?#') < schema.minSpecial,
        schema.disableSequential && inARow(password),
      ].filter(Boolean).length
      const flaws = passwordRules({ type: 'string', ...schema })(password)
      assert.equal(flaws.length, broken, `${password}: ${flaws.join('; ')}`)
      for (const flaw of flaws)
        assert.ok(password.length < 4 || !flaw.includes(password), 'the password is not repeated')
    }),
    { numRuns: RUNS },
  )
})
