import { setImmediate } from 'node:timers/promises'
import { Type } from 'typebox'
import { categoriesOf } from '../../model/api/beside.ts'
import { setMember } from '../../model/api/tree.ts'
import { foldCase } from '../../model/fold.ts'
import type { JsonObject } from '../../model/json.ts'
import { changeBeside } from '../../publish/apis.ts'
import { type Answer, bare, ok } from '../answer.ts'
import { cleanCategories } from '../apis/owners.ts'
import { actorName, apiOf, notChangeable, notReadable } from '../apis/store-api.ts'
import type { Call } from '../call.ts'
import { Done } from '../envelope.ts'
import type { DashboardParts } from '../parts.ts'
import type { Route } from '../route.ts'

const READ = { permission: 'apis', intent: 'read' } as const
const WRITE = { permission: 'apis', intent: 'write' } as const
const OWNED = { noun: 'api', by: 'id' } as const
const ONE = '/api/apis/oas/{id}/categories'
/** Names that one group shows. */
const MOST_NAMES = 1000

const Categories = Type.Object({ categories: Type.Array(Type.String()) })
const Body = Type.Object({ categories: Type.Array(Type.String({ maxLength: 256 }), { maxItems: 100 }) })

/** Categories: of each API, and all that are in use. Those of classic APIs stand in their names, as `#word`. */
export function categoryRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/apis/categories',
      access: READ,
      summary: 'List the categories in use, and how many APIs each has',
      answers: {
        200: Type.Object({ categories: Type.Array(Type.Object({ name: Type.String(), count: Type.Integer() })) }),
      },
      async run(call) {
        const found = await parts.documents.values('api', 'category', { where: call.sight.where() })
        return bare({ categories: found.map(({ value, count }) => ({ name: value, count })) })
      },
    },
    {
      method: 'GET',
      path: '/api/apis/groups',
      access: READ,
      summary: 'List the names of the APIs in each category',
      answers: { 200: Type.Record(Type.String(), Type.Array(Type.String())) },
      run: (call) => groups(parts, call),
    },
    {
      method: 'GET',
      path: ONE,
      access: READ,
      owned: OWNED,
      summary: 'Read the categories of an API',
      answers: { 200: Categories },
      async run(call) {
        const stored = await apiOf(parts, call, call.param('id'))
        return stored === undefined ? notReadable() : bare({ categories: categoriesOf(stored.body) })
      },
    },
    {
      method: 'PUT',
      path: ONE,
      access: WRITE,
      owned: OWNED,
      summary: 'Replace the categories of an API',
      body: Body,
      answers: { 200: Done },
      run: (call) => replace(parts, call),
    },
  ]
}

async function groups(parts: DashboardParts, call: Call): Promise<Answer> {
  const where = call.sight.where()
  const names: JsonObject = {}
  for (const { value } of await parts.documents.values('api', 'category', { where })) {
    // A store that answers at once would hold up everybody else until the last group is read.
    await setImmediate()
    const and = [{ category: value }]
    // From the indexes alone: the definitions need not be read.
    const found = await parts.documents.values('api', 'name', { where, and })
    const all = found.flatMap(({ value: name, count }) => Array<string>(count).fill(name))
    setMember(names, value, all.sort(byFoldedName).slice(0, MOST_NAMES))
  }
  return bare(names)
}

function byFoldedName(a: string, b: string): number {
  const [left, right] = [foldCase(a), foldCase(b)]
  return left < right ? -1 : Number(left > right)
}

async function replace(parts: DashboardParts, call: Call): Promise<Answer> {
  const stored = await apiOf(parts, call, call.param('id'))
  if (stored === undefined) return notChangeable()
  const sent = call.object().categories
  const categories = cleanCategories(Array.isArray(sent) ? sent.filter((entry) => typeof entry === 'string') : [])
  const audit = { actor: actorName(call), action: 'api.categories' }
  const { revision } = await changeBeside(parts, String(stored.body.api_id), { categories }, audit)
  await parts.settled(revision)
  return ok('API categories updated')
}
