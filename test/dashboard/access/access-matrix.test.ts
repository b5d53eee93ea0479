import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { EXPECTED } from '../../worlds/access-matrix/expectations.ts'
import { compareForeign } from '../../worlds/access-matrix/matrix-foreign.ts'
import { callOf, triedRowsOf, tryRow } from '../../worlds/access-matrix/matrix-rows.ts'
import { startWorld } from '../../worlds/access-matrix/matrix-world.ts'

test('every route has an expectation, and every expectation a route', async (t) => {
  const { dashboard, close } = await startWorld()
  t.after(close)
  const calls = dashboard.routes.map(callOf)
  assert.deepEqual(
    calls.filter((call) => !EXPECTED.has(call)),
    [],
    'routes without an expectation',
  )
  assert.deepEqual(
    [...EXPECTED.keys()].filter((call) => !calls.includes(call)),
    [],
    'expectations without a route',
  )
  assert.equal(new Set(calls).size, calls.length, 'a call that is declared twice')
})

test('what is expected is written down without a look at the product', () => {
  const folder = join(import.meta.dirname, '../../worlds/access-matrix')
  const names = readdirSync(folder).filter((name) => /^expect/.test(name))
  assert.ok(names.includes('expectations.ts'))
  for (const name of names) {
    const text = readFileSync(join(folder, name), 'utf8')
    const imported = [...text.matchAll(/\bfrom '([^']*)'|\bimport\(/g)].map(([whole, path]) => path ?? whole)
    const others = imported.filter((path) => !names.includes(path.replace('./', '')))
    assert.deepEqual(others, [], name)
  }
})

test('every route lets in whom the rules let in, and nobody else', async (t) => {
  const world = await startWorld()
  t.after(world.close)
  const wrong: string[] = []
  let rows = 0
  for (const [turn, route] of world.dashboard.routes.entries()) {
    for (const row of triedRowsOf(route, turn)) {
      rows++
      const flaw = await tryRow(world, row)
      if (flaw !== undefined) wrong.push(flaw)
    }
  }
  t.diagnostic(`${rows} rows over ${world.dashboard.routes.length} routes`)
  assert.deepEqual(wrong, [])
})

test('what another organisation has looks the same as what nobody has', async (t) => {
  const world = await startWorld()
  t.after(world.close)
  const wrong: string[] = []
  for (const route of world.dashboard.routes) {
    const flaw = await compareForeign(world, route)
    if (flaw !== undefined) wrong.push(flaw)
  }
  assert.deepEqual(wrong, [])
})
