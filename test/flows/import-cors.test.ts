import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readDefinitions } from '../../src/cli/import/read-definitions.ts'
import type { JsonObject } from '../../src/model/json/json.ts'
import { classic, defined } from '../worlds/base/definitions.ts'

test('an import makes CORS rules storable and reports what it changed', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-import-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const url = 'http://upstream.test/'
  const open = { enable: true, allowed_origins: ['*'], allow_credentials: true }
  const named = { ...open, allowed_origins: ['https://a.example'] }
  const files: Readonly<Record<string, JsonObject>> = {
    'a.json': classic('a', '/a/', url, { CORS: open }),
    'b.json': defined({ id: 'b', url, global: { cors: { enabled: true, allowCredentials: true } } }),
    'c.json': classic('c', '/c/', url, { CORS: { ...named, exposed_headers: ['X-A', '*'] } }),
    'd.json': classic('d', '/d/', url, { CORS: named }),
  }
  for (const [name, body] of Object.entries(files)) writeFileSync(join(folder, name), JSON.stringify(body))
  const { candidates, refused } = readDefinitions(folder)
  assert.deepEqual(refused, [])
  const off = 'CORS credentials are off, they need origins by name'
  assert.deepEqual(
    candidates.map(({ identity, changes }) => [identity, changes]),
    [
      ['a', [`${off}: "*" allows any`]],
      ['b', [`${off}: no list allows any`]],
      ['c', ['the exposed CORS header "*" is left out, it counts for none where credentials are allowed']],
      ['d', []],
    ],
  )
  for (const { kind, body } of candidates) assert.deepEqual(kind.flaws(body), [])
})
