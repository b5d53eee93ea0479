import assert from 'node:assert/strict'
import { after, before, describe, it, test } from 'node:test'
import { type ConformanceWorld, startConformanceWorld } from '../../worlds/oauth/conformance-world.ts'
import { CONFORMANCE } from './table.ts'

describe('the OAuth RFCs, statement by statement', () => {
  let world: ConformanceWorld
  before(async () => {
    world = await startConformanceWorld()
  })
  after(() => world.close())

  for (const { rfc, rows } of CONFORMANCE)
    for (const { section, says, check } of rows) it(`RFC ${rfc} ${section}: ${says}`, () => check(world))
})

test('a statement is named once, in one line', () => {
  const titles = CONFORMANCE.flatMap(({ rfc, rows }) =>
    rows.map(({ section, says }) => `RFC ${rfc} ${section}: ${says}`),
  )
  assert.deepEqual(
    titles.filter((title, at) => titles.indexOf(title) !== at),
    [],
  )
  assert.deepEqual(
    titles.filter((title) => title.length > 110),
    [],
  )
})
