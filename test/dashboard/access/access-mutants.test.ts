import assert from 'node:assert/strict'
import { test } from 'node:test'
import { intentOf } from '../../../src/dashboard/access/permit.ts'
import type { Access, Route } from '../../../src/dashboard/routes/route.ts'
import { allRoutes } from '../../../src/dashboard/routes/routes.ts'
import type { ActorKind } from '../../worlds/access-matrix/expectations.ts'
import { callOf, rowsOf, tryRow } from '../../worlds/access-matrix/matrix-rows.ts'
import { startWorld, type World } from '../../worlds/access-matrix/matrix-world.ts'
import { spread } from '../../worlds/base/spread.ts'

/** One in so many mutants of a route is tried, unless the run is a long one. */
const SPREAD = 4

type Mutable = { -readonly [Name in keyof Route]: Route[Name] }
interface Mutant {
  readonly says: string
  readonly apply: (route: Mutable) => void
  /** Who would notice, the likeliest first: the rows that are tried. */
  readonly noticed: readonly ActorKind[]
}

const access = (says: string, to: Access, noticed: readonly ActorKind[]): Mutant => ({
  says,
  apply: (route) => {
    route.access = to
  },
  noticed,
})

/** Wrong declarations, each in place of the right one. */
function mutantsOf(route: Route): Mutant[] {
  const { access: is, owned, own } = route
  const found: Mutant[] = []
  if (is !== 'public') found.push(access('is public', 'public', ['nobody', 'unknown key']))
  if (is !== 'signed-in' && is !== 'public')
    found.push(access('is for whoever is signed in', 'signed-in', ['other permission', 'write']))
  if (is !== 'admin') found.push(access('is for administrators', 'admin', ['write', 'read-only', 'self', 'nobody']))
  if (is !== 'installation') found.push(access('is for the installation', 'installation', ['admin', 'self', 'nobody']))
  if (typeof is !== 'object')
    found.push(
      access('asks for a permission', { permission: 'hooks' }, ['write', 'other permission', 'self', 'nobody']),
    )
  else {
    const other = is.permission === 'hooks' ? 'certs' : 'hooks'
    found.push(access('asks for another permission', { ...is, permission: other }, ['write', 'other permission']))
    const intent = intentOf(route) === 'read' ? 'write' : 'read'
    found.push(access(`only asks whether one may ${intent}`, { ...is, intent }, ['read-only']))
  }
  if (owned !== undefined)
    found.push({
      says: 'has no owner',
      apply: (mutable) => delete (mutable as Partial<Mutable>).owned,
      noticed: ['non-owner'],
    })
  if (own !== undefined)
    found.push({
      says: 'is nobody’s own',
      apply: (mutable) => delete (mutable as Partial<Mutable>).own,
      noticed: ['self'],
    })
  return found
}

/** True when a row finds the mutant out. */
async function isNoticed(world: World, route: Mutable, { apply, noticed }: Mutant): Promise<boolean> {
  const right = { ...route }
  apply(route)
  try {
    for (const row of rowsOf(route, noticed)) if ((await tryRow(world, row)) !== undefined) return true
    return false
  } finally {
    for (const name of ['owned', 'own'] as const)
      if (right[name] === undefined) delete (route as Partial<Mutable>)[name]
    Object.assign(route, right)
  }
}

test('a wrong declaration of access or ownership is noticed by a row of the matrix', async (t) => {
  const table: Mutable[] = []
  const world = await startWorld({
    routes(parts) {
      table.push(...allRoutes(parts).map((route) => ({ ...route })))
      return table
    },
  })
  t.after(world.close)
  const unnoticed: string[] = []
  let mutants = 0
  for (const [turn, route] of table.entries()) {
    for (const mutant of spread(mutantsOf(route), turn, SPREAD)) {
      mutants++
      if (!(await isNoticed(world, route, mutant))) unnoticed.push(`${callOf(route)} ${mutant.says}`)
    }
  }
  t.diagnostic(`${mutants} wrong declarations over ${table.length} routes`)
  assert.deepEqual(unnoticed, [])
})
