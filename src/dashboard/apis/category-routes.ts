import { Type } from 'typebox'
import { categoriesOf } from '../../model/apis/definition/api-metadata.ts'
import { setMember } from '../../model/apis/definition/tree.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { foldCase } from '../../model/text/fold.ts'
import { changeMetadata } from '../../publish/apis/apis.ts'
import { type Answer, bare, ok } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import { DoneEnvelope } from '../routes/envelope.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from '../server/parts.ts'
import { cleanCategories } from './api-metadata.ts'
import { actorName, apiOf, notChangeable, notReadable } from './store-api.ts'

const READ = { permission: 'apis', intent: 'read' } as const
const WRITE = { permission: 'apis', intent: 'write' } as const
const OWNED = { noun: 'api', by: 'id' } as const
const ONE = '/api/apis/oas/{id}/categories'

const Categories = Type.Object(
  { categories: Type.Array(Type.String(), { description: 'Categories of the API, without `#`.' }) },
  { title: 'ApiCategories' },
)
const Body = Type.Object(
  {
    categories: Type.Array(Type.String({ maxLength: 256 }), {
      maxItems: 100,
      description: 'Categories of the API, without `#`. The list is replaced.',
    }),
  },
  { title: 'ApiCategoriesInput' },
)

/** Categories: of each API, and all that are in use. Names of classic APIs contain theirs, as `#word`. */
export function categoryRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/apis/categories',
      access: READ,
      summary: 'List the categories in use, and how many APIs each has',
      answers: {
        200: Type.Object({
          categories: Type.Array(
            Type.Object({
              name: Type.String({ description: 'Name of the category, without `#`.' }),
              count: Type.Integer({ description: 'Number of APIs that have it.' }),
            }),
            { description: 'All categories, with the number of their APIs.' },
          ),
        }),
      },
      async run(call) {
        const found = await parts.documents.values('api', 'category', { where: call.visibility.where() })
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
      answers: { 200: DoneEnvelope },
      run: (call) => replace(parts, call),
    },
  ]
}

async function groups(parts: DashboardParts, call: Call): Promise<Answer> {
  const names: JsonObject = {}
  const found = await parts.documents.valuesBy('api', 'category', 'name', { where: call.visibility.where() })
  for (const [category, held] of found) setMember(names, category, inOrder(held))
  return bare(names)
}

/** Without regard to case. Each name is folded once: in each comparison it would cost more than all that is read. */
function inOrder(names: readonly string[]): string[] {
  const folded = names.map((name) => ({ name, key: foldCase(name) }))
  folded.sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)))
  return folded.map(({ name }) => name)
}

async function replace(parts: DashboardParts, call: Call): Promise<Answer> {
  const stored = await apiOf(parts, call, call.param('id'))
  if (stored === undefined) return notChangeable()
  const sent = call.object().categories
  const categories = cleanCategories(Array.isArray(sent) ? sent.filter((entry) => typeof entry === 'string') : [])
  const audit = { actor: actorName(call), action: 'api.categories' }
  await changeMetadata(parts, String(stored.body.api_id), { categories }, audit)
  return ok('API categories updated')
}
