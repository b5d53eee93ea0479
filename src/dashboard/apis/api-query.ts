import { Type } from 'typebox'
import { labelNamed } from '../../publish/labels/labels.ts'
import type { ListQuery, Where } from '../../store/ports/ports.ts'
import { labelConditions } from '../labels/label-filter.ts'
import type { Call } from '../routes/call.ts'
import { PAGE_SIZE } from '../routes/page.ts'
import type { DashboardParts } from '../server/parts.ts'

const ORDER: Readonly<Record<string, string>> = {
  name: 'name_folded',
  listen_path: 'place_folded',
  active: 'active_order',
  auth_type: 'auth_order',
  created_at: 'created_at',
  updated_at: 'updated_at',
}

const SORTS = Object.keys(ORDER).flatMap((name) => [name, `-${name}`])

/** The filters of lists of APIs. */
export const API_QUERY = {
  p: Type.Integer({ description: 'Page, from 1; 0 and below: all.' }),
  q: Type.String({
    maxLength: 256,
    description:
      'Part of the name, of custom domain and listen path, of an upstream, of an id, of a category (with #) or of the value of a label.',
  }),
  sort: Type.Enum(SORTS),
  category: Type.String({ maxLength: 1024, description: 'Several separated by commas: any of them.' }),
  auth_type: Type.String({
    maxLength: 1024,
    description: 'keyless, authToken, oauth, mutualTLS; several separated by commas.',
  }),
  api_type: Type.String({ maxLength: 256, description: 'rest, internal; several separated by commas.' }),
  active: Type.Enum(['true', 'false']),
  base_apis: Type.Unknown({ description: 'Anything: only APIs that are no version of another.' }),
  labels: Type.String({ maxLength: 512, description: 'key:value or name:value, repeated: one of each key.' }),
  compressed: Type.Unknown({ description: '1: ids, name and paths alone.' }),
  facts: Type.Enum(['1'], { description: '1: none of the definitions, but labels and where each is served.' }),
  extension: Type.String({ maxLength: 64, description: 'The word that the extension is named by.' }),
  owner: Type.String({
    maxLength: 1024,
    description: 'Ids of users and user groups, separated by commas: any of them owns it.',
  }),
  page_size: PAGE_SIZE,
} as const

/** The query of the store for what a call asks of the list of APIs. @throws Fault `query_invalid` (400) for a malformed label */
export async function apiQuery(
  parts: Pick<DashboardParts, 'documents'>,
  call: Call,
): Promise<Omit<ListQuery, 'offset' | 'limit'>> {
  const keyOf = async (named: string) => (await labelNamed(parts, call.actor?.orgId ?? '', named))?.key
  const sort = call.query('sort') || '-created_at'
  const and: Where[] = [
    ...anyOf('category', call.query('category')),
    ...anyOf('auth_type', call.query('auth_type')),
    ...anyOf('api_type', call.query('api_type')),
    ...anyOf('active', call.query('active')),
    ...anyOf('owner', call.query('owner')),
    ...(call.query('base_apis') === '' ? [] : [{ standing: 'base' }]),
    ...(await labelConditions(call.queryAll('labels'), keyOf)),
  ]
  const part = call.query('q')
  return {
    where: call.visibility.where(),
    and,
    ...(part !== '' && { contains: { index: ['search', 'category', 'label'], part } }),
    order: ORDER[sort.replace('-', '')] ?? 'created_at',
    descending: sort.startsWith('-'),
  }
}

function anyOf(index: string, list: string): Where[] {
  const values = list
    .split(',')
    .map((value) => value.trim())
    .filter((value) => value !== '')
  return values.length === 0 ? [] : [{ [index]: values }]
}
