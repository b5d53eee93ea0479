import { Type } from 'typebox'
import { fault } from '../../errors/fault.ts'
import { policyIdsOf } from '../../model/policies/merge-policies.ts'
import type { Session } from '../../model/sessions/session.ts'
import { findKey } from '../../publish/keys/find-key.ts'
import { rawKeyOf } from '../../publish/keys/keys.ts'
import { resolvePolicyId } from '../../publish/policies/policy-ids.ts'
import type { SessionRow } from '../../store/ports/ports.ts'
import { soleOwnership } from '../access/co-owned.ts'
import { mayWrite } from '../access/secrets-view.ts'
import { apiDocumentOf } from '../apis/api-document.ts'
import type { PolicyApis } from '../policies/policy-apis.ts'
import { KeyFacts, keyFacts } from '../portal/developers/key-entry.ts'
import type { Answer } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import { PageCount } from '../routes/envelope.ts'
import { type ListShape, pageAnswer, pieces, streamed } from '../routes/listed.ts'
import { PAGE_SIZE, type Page, pageOf, pagesOf, RowTotal, sizedPageOf } from '../routes/page.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from '../server/parts.ts'
import { eachKey, type KeyQuery, pageOfKeys } from './key-pages.ts'
import { KeyData, KeyNamePage, keyData, listedName, maskKeyFor } from './key-shape.ts'

const READ = { permission: 'keys', intent: 'read' } as const
const Q = Type.String({
  maxLength: 1024,
  description: 'Part of the alias, the beginning of the hash from its fourth digit on, or the whole key.',
})
const Detailed = Type.Object(
  {
    keys: Type.Array(
      Type.Object({ ...KeyData.properties, facts: Type.Optional(KeyFacts) }, { title: 'KeyWithFacts' }),
      { description: 'Keys of the page, with their sessions.' },
    ),
    pages: PageCount,
    total: RowTotal,
  },
  { title: 'KeyPage' },
)

/** Lists of keys: names of those of an API or of all, or whole keys. */
export function keyListRoutes(parts: DashboardParts): Route[] {
  const ofAll = async (call: Call) => names(parts, call, await queryOf(parts, call, undefined))
  const ofApi = async (call: Call) => names(parts, call, await queryOf(parts, call, call.param('apiId')))
  const owned = { noun: 'api', by: 'apiId' } as const
  const answers = { 200: KeyNamePage }
  return [
    {
      method: 'GET',
      path: '/api/apis/keys',
      access: READ,
      summary: 'List all keys',
      refusals: [404],
      query: { p: Type.Integer() },
      answers,
      run: ofAll,
    },
    {
      method: 'GET',
      path: '/api/apis/{apiId}/keys',
      access: READ,
      owned,
      summary: 'List the keys with access to an API; `-` means any',
      query: { p: Type.Integer() },
      answers,
      run: ofApi,
    },
    {
      method: 'GET',
      path: '/api/apis/{apiId}/keys/search',
      access: READ,
      owned,
      summary: 'Search the keys with access to an API; `-` means any',
      query: { q: Q, p: Type.Integer() },
      keysIn: ['q'],
      answers,
      run: ofApi,
    },
    {
      method: 'GET',
      path: '/api/keys/detailed',
      access: READ,
      summary: 'List keys with their sessions',
      refusals: [404],
      query: {
        ...{ q: Q, p: Type.Integer() },
        api: Type.String({
          maxLength: 256,
          description: 'Only keys with access to this API, directly or by a policy.',
        }),
        policy: Type.String({ maxLength: 256, description: 'Only keys with this policy.' }),
        facts: Type.String({
          description: '1: each with `facts`: state, last use, rotation.',
        }),
        page_size: PAGE_SIZE,
      },
      keysIn: ['q'],
      answers: { 200: Detailed },
      run: async (call) => detailed(parts, call, await queryOf(parts, call, call.query('api') || undefined)),
    },
  ]
}

/** The query of a list, and the one key that the search names, where it names one. */
interface Wanted {
  readonly query: KeyQuery
  readonly named: SessionRow | undefined
}

/** @throws Fault `not_found` (404) for an API that is not there, and where hashes are not listed; `not_owner` (401) */
async function queryOf(parts: DashboardParts, call: Call, apiId: string | undefined): Promise<Wanted> {
  const { gateway, dashboard } = parts.config
  if (gateway.hash_keys && !dashboard.enable_hashed_keys_listing) throw fault('not_found', 'Could not retrieve keys')
  const orgId = call.actor?.orgId ?? ''
  const policy = call.query('policy')
  if (policy !== '' && apiId !== undefined && apiId !== '-')
    throw fault('query_invalid', 'Keys are listed by API or by policy, not by both.')
  const reach = policy === '' ? await reachOf(parts, call, apiId) : await reachOfPolicy(parts, call, policy)
  const q = call.query('q')
  const query = { orgId, part: q, ...(reach !== undefined && { reach }) }
  const found = q === '' ? undefined : await findKey(parts, { name: q, naming: 'guess', orgId })
  return { query, named: found && isWanted(found.row, query) ? found.row : undefined }
}

/** The APIs and policies by which keys come into the list; undefined = all keys do. */
async function reachOf(parts: DashboardParts, call: Call, apiId: string | undefined): Promise<KeyQuery['reach']> {
  const policies = parts.policyApis
  const orgId = call.actor?.orgId ?? ''
  if (apiId !== undefined && apiId !== '-') {
    const { body } = await apiDocumentOf(parts, call, apiId)
    const id = String(body.api_id)
    return { apiIds: [id], policyIds: await policiesFor(policies, String(body.org_id ?? orgId), [id]) }
  }
  const apiIds = call.visibility.apiIds()
  return apiIds && { apiIds, policyIds: await policiesFor(policies, orgId, apiIds) }
}

/** Keys with a policy. One that is not seen has none. */
async function reachOfPolicy(parts: DashboardParts, call: Call, named: string): Promise<KeyQuery['reach']> {
  const orgId = call.actor?.orgId ?? ''
  const policies = await parts.policyApis.fresh()
  const policyId = await resolvePolicyId(parts, orgId, named)
  const isSeen = call.visibility.everything || call.visibility.anyApi(policies.of(orgId, policyId))
  return { apiIds: [], policyIds: isSeen ? [policyId] : [] }
}

/** Ids of the policies that name one of the APIs. */
async function policiesFor(policies: PolicyApis, orgId: string, apiIds: readonly string[]): Promise<string[]> {
  const wanted = new Set(apiIds)
  return (await policies.fresh()).ids(orgId, (ids) => ids.some((id) => wanted.has(id)))
}

function isWanted({ orgId, apiIds, body }: SessionRow, { orgId: own, reach }: KeyQuery): boolean {
  if (own !== '' && orgId !== own) return false
  if (reach === undefined) return true
  const policies = policyIdsOf(body as Session)
  return apiIds.some((id) => reach.apiIds.includes(id)) || policies.some((id) => reach.policyIds.includes(id))
}

async function names(parts: DashboardParts, call: Call, { query, named }: Wanted): Promise<Answer> {
  const page = pageOf(call)
  const sole = await soleOwnership(parts, call)
  const nameOf = (row: SessionRow) => listedName(parts, row, mayWrite(call, 'keys') && sole.key(row))
  if (named === undefined && page === 'all') return { status: 200, body: allNames(parts, query, nameOf) }
  const { rows, total } = await take(parts, page, { query, named })
  return { status: 200, body: { data: { keys: rows.map(nameOf) }, pages: pagesOf(total, page) } }
}

async function detailed(parts: DashboardParts, call: Call, { query, named }: Wanted): Promise<Answer> {
  const { page, ...counted } = sizedPageOf(call)
  const shape: ListShape<SessionRow> = {
    name: 'keys',
    ...counted,
    shape: (row) => keyOfList(parts, call, row),
  }
  if (named === undefined && page === 'all') return streamed(eachKey(parts.tokens, query), shape)
  const { rows, total } = await take(parts, page, { query, named })
  return pageAnswer(rows, total, page, shape)
}

async function keyOfList(parts: DashboardParts, call: Call, row: SessionRow) {
  const found = await keyData(parts, call, row, rawKeyOf(parts, row) ?? '')
  const isAlone = (await soleOwnership(parts, call)).key(row)
  const data = maskKeyFor(call, found, { isAlone })
  return call.query('facts') === '1' ? { ...data, facts: await keyFacts(parts, row, data.data) } : data
}

async function take(parts: DashboardParts, page: Page, { query, named }: Wanted) {
  if (named === undefined && page !== 'all')
    return pageOfKeys({ tokens: parts.tokens, totals: parts.keyTotals }, query, page)
  const rows = named === undefined || (page !== 'all' && page.offset > 0) ? [] : [named]
  return { rows, total: 1 }
}

async function* allNames(
  parts: DashboardParts,
  query: KeyQuery,
  nameOf: (row: SessionRow) => string,
): AsyncGenerator<string> {
  const batches = async function* () {
    for await (const rows of eachKey(parts.tokens, query)) yield rows.map(nameOf)
  }
  yield '{"data":'
  yield* pieces('keys', batches(), {})
  yield ',"pages":0}'
}
