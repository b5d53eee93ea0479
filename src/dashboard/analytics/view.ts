import { fault } from '../../errors/fault.ts'
import type { Hit } from '../../model/analytics/hit.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { ownAnalyticsOnly } from '../../model/people/permission.ts'
import { policyApisOf } from '../../model/policies/policy-body.ts'
import type { UsagePer, UsageQuery } from '../../store/ports/ports.ts'
import { findPolicyDocument } from '../access/owned.ts'
import { apiNamed } from '../apis/api-document.ts'
import { type Answer, bare } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import { csvLine } from '../routes/csv.ts'
import { pieces } from '../routes/listed.ts'
import { pageOf, pagesOf } from '../routes/page.ts'
import type { DashboardParts } from '../server/parts.ts'
import { filtersOf, shownMembers } from './dimensions.ts'
import { countedQuery } from './minutes.ts'
import { aliases, apiNames, DEVELOPER_TAG, developerEmails } from './names.ts'
import { usageOrderOf, usageTagsOf } from './params.ts'
import { timeOf } from './range.ts'
import { RowId, toUsageRow, UsageRowShape } from './row.ts'
import { keyHashNamed, toKeyLabel } from './shown-keys.ts'

type Scope = Pick<UsageQuery, 'fromDay' | 'toDay' | 'hours' | 'minutes' | 'tags' | 'status' | 'errorsOnly'> & {
  where: NonNullable<UsageQuery['where']>
}

/** The dimensions of one call. */
export interface UsageView {
  /** `day`: rows are buckets of time. `all`: rows are things, over the whole time unless `res` is sent. */
  readonly per: 'day' | 'all'
  readonly by: UsageQuery['by']
  readonly only?: Pick<UsageQuery, 'has' | 'errorsOnly' | 'tagPrefix'>
}

/** Answers a view of the requests that a call is about. `more`: narrows them down; `api`: an API that the path names. */
export async function answerUsageView(
  parts: DashboardParts,
  call: Call,
  view: UsageView,
  more: { where?: NonNullable<UsageQuery['where']>; api?: string } = {},
): Promise<Answer> {
  const scope = await scopeOf(parts, call, more.api)
  const per = (call.query('res') || view.per) as UsagePer
  const asked: UsageQuery = {
    ...{ ...scope, ...view.only, where: { ...scope.where, ...more.where } },
    ...{ per, by: view.by, ...usageOrderOf(call, per) },
  }
  const { query, counted } = countedQuery(asked, await parts.store.hits.minutesFrom())
  const show = (rows: readonly Hit[]) => shown(parts, query, rows)
  const page = pageOf(call)
  const { hits } = parts.store
  if (call.query('type') === 'csv' && (page === 'all' || call.query('p') === ''))
    return csv(hits.eachUsage(query), show)
  if (page === 'all') {
    return { status: 200, body: pieces('data', mapped(hits.eachUsage(query), show), { pages: 0, ...counted }) }
  }
  const { rows, total } = await hits.usage({ ...query, ...page })
  if (call.query('type') === 'csv') return csv(once(rows), show)
  return bare({ data: await show(rows), pages: pagesOf(total, page), ...counted })
}

type Show = (rows: readonly Hit[]) => Promise<JsonObject[]>

async function shown(parts: DashboardParts, query: UsageQuery, rows: readonly Hit[]): Promise<JsonObject[]> {
  const { by, per } = query
  const has = (name: (typeof by)[number]) => by.includes(name)
  const apis = has('apiId') ? await apiNames(parts, rows) : undefined
  const named = has('keyHash') ? await aliases(parts, rows, query) : undefined
  const developers = query.tagPrefix === DEVELOPER_TAG ? await developerEmails(parts, rows) : undefined
  return rows.map((row) => {
    const space = row.endpoint.indexOf(' ')
    const developer = developers && row.tags.slice(DEVELOPER_TAG.length)
    return toUsageRow(row, per, {
      ...(has('status') && { code: row.status }),
      ...(has('endpoint') && { method: row.endpoint.slice(0, space), path: row.endpoint.slice(space + 1) }),
      ...(apis && { api_id: row.apiId, api_name: apis.get(row.apiId) ?? '' }),
      ...(named && { key: toKeyLabel(row.keyHash), alias: named.get(row.keyHash) ?? '' }),
      ...shownMembers(row, by),
      ...(has('tag') && developer === undefined && { tag: row.tags }),
      ...(developer !== undefined && { developer_id: developer, developer_email: developers!.get(developer) ?? '' }),
    })
  })
}

const ID_COLUMNS = Object.keys(RowId.properties)
const COLUMNS = Object.keys(UsageRowShape.properties).filter((name) => name !== 'id')

function csv(batches: AsyncIterable<readonly Hit[]>, show: Show): Answer {
  return {
    status: 200,
    body: csvOf(batches, show),
    type: 'text/csv; charset=utf-8',
    headers: { 'content-disposition': 'attachment; filename="analytics.csv"' },
  }
}

async function* csvOf(batches: AsyncIterable<readonly Hit[]>, show: Show): AsyncGenerator<string> {
  yield csvLine([...ID_COLUMNS, ...COLUMNS])
  for await (const rows of mapped(batches, show)) yield rows.map(lineOf).join('')
}

function lineOf(row: JsonObject): string {
  const id = row.id as JsonObject
  return csvLine([...ID_COLUMNS.map((name) => id[name]), ...COLUMNS.map((name) => row[name])] as (string | number)[])
}

async function* mapped(batches: AsyncIterable<readonly Hit[]>, show: Show): AsyncGenerator<JsonObject[]> {
  for await (const rows of batches) yield show(rows)
}

async function* once(rows: readonly Hit[]): AsyncGenerator<readonly Hit[]> {
  yield rows
}

/**
 * Which requests a call is about: those of its time and of the organisation, at APIs that the actor may see, and what its query
 * narrows them down to. `api`: an API that the path names.
 * @throws Fault `range_invalid`, `key_undecodable` (400), `api_not_seen`, `permission_missing` (403)
 */
async function scopeOf(parts: DashboardParts, call: Call, api = call.query('api_id')): Promise<Scope> {
  const apiIds = await apisOf(parts, call, api)
  const orgId = call.actor?.orgId ?? ''
  const tags = usageTagsOf(call)
  const code = call.query('code')
  return {
    ...timeOf(call),
    where: {
      ...(orgId !== '' && { orgId: [orgId] }),
      ...(apiIds && { apiId: apiIds }),
      ...narrowedBy(parts, call),
    },
    ...(tags && { tags }),
    ...(code !== '' && { status: [Number(code)] }),
    ...(call.query('errors') === '1' && { errorsOnly: true }),
  }
}

/** Data that cannot be limited by API is closed to users who may see only the analytics of their own APIs, as its views are. */
function narrowedBy(parts: DashboardParts, call: Call): Scope['where'] {
  const key = call.query('key')
  const { where, isByApi } = filtersOf(call)
  const isBeyondApis = key !== '' || !isByApi
  if (isBeyondApis && call.actor !== undefined && ownAnalyticsOnly(call.actor.permissions))
    throw fault('permission_missing', 'access denied: You may see the analytics of your own APIs alone')
  return { ...where, ...(key !== '' && { keyHash: [keyHashNamed(parts, key)] }) }
}

/** The APIs that are meant by the id of an API or of a policy, of those that the actor may see; undefined = all. */
async function apisOf(parts: DashboardParts, call: Call, id: string): Promise<readonly string[] | undefined> {
  const seen = call.visibility.apiIds()
  if (id === '') return seen
  const api = await apiNamed(parts.documents, call.visibility, id)
  if (api !== undefined) {
    if (!call.visibility.api(api)) throw fault('api_not_seen')
    return [String(api.body.api_id)]
  }
  const policy = await findPolicyDocument(parts.documents, call.actor?.orgId ?? '', id)
  const meant = policy !== undefined && call.visibility.org(policy) ? policyApisOf(policy.body) : undefined
  if (meant !== undefined && !call.visibility.policy(policy!)) throw fault('api_not_seen')
  // An API that is gone has left its numbers behind, for those from whom nothing is hidden.
  const ids = meant ?? [id]
  return seen === undefined ? ids : ids.filter((one) => seen.includes(one))
}
