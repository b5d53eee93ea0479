import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Fault } from '../../../src/errors/fault.ts'
import { readPasswordRules } from '../../../src/publish/sign-in/password-rules-file.ts'

test('rules come from the file, the usual ones without it; a file that is wrong is named', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-schemas-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'basic_auth.json')
  assert.deepEqual([readPasswordRules(path)('1234567').length, readPasswordRules(path)('12345678').length], [1, 0])
  writeFileSync(path, JSON.stringify({ title: 'Password', type: 'string', minLength: 4, minNumeric: 1 }))
  assert.deepEqual([readPasswordRules(path)('abcd').length, readPasswordRules(path)('abc1').length], [1, 0])
  for (const text of ['', '[]', '{"minLength":', '{"type":"string","minLenght":4}']) {
    writeFileSync(path, text)
    assert.throws(
      () => readPasswordRules(path),
      (error) => error instanceof Fault && error.code === 'setting_invalid' && error.message.includes(path),
      text,
    )
  }
  assert.throws(() => readPasswordRules(folder), /cannot be read/)
})
