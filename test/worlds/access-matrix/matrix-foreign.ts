import type { Route } from '../../../src/dashboard/routes/route.ts'
import { EXPECTED, outcomeOf, type Thing } from './expectations.ts'
import { callOf } from './matrix-rows.ts'
import type { World } from './matrix-world.ts'

/**
 * Calls a route as an administrator of another organisation, once about what is there and once about what is not. Answers how the
 * two differ, or undefined.
 */
export async function compareForeign(world: World, route: Route): Promise<string | undefined> {
  const expected = EXPECTED.get(callOf(route))
  const kind = 'admin of another organisation'
  // Of keys the interface says whose they are not.
  if (expected === undefined || expected.names.includes('key') || outcomeOf(route.method, expected, kind) !== 'hidden')
    return undefined
  const as = await world.actor(kind, expected)
  const answered = async (idOf: (thing: Thing) => string) => {
    let number = 0
    const ids: string[] = []
    const path = route.path.replace(/\{[^}]*\}/g, () => {
      const id = idOf(expected.names[number++] ?? 'none')
      ids.push(id)
      return encodeURIComponent(id)
    })
    const body = route.method === 'GET' ? undefined : (expected.body ?? {})
    const { status, text } = await world.call(route.method, path, { as, body })
    await world.restore()
    return `${status} ${ids.reduce((shown, id) => shown.replaceAll(id, '<id>'), text)}`
  }
  const there = await answered((thing) => world.open[thing])
  const nowhere = await answered((thing) => unlike(world.open[thing]))
  return there === nowhere ? undefined : `${callOf(route)}: ${there} | ${nowhere}`
}

/** A name of the same form that nothing has: other digits where there are digits, else another end. */
function unlike(id: string): string {
  const hex = /^[0-9a-f]+$/.test(id)
  return hex ? id.replace(/[0-9a-f]{6}$/, (end) => (end === 'abcdef' ? 'fedcba' : 'abcdef')) : `${id.slice(0, -1)}_`
}
