import { Type } from 'typebox'
import type { Actor } from '../access/actor.ts'
import { identifyCaller } from '../access/identify.ts'
import { identitiesOf } from '../access/identities.ts'
import { permit } from '../access/permit.ts'
import { visibilityOf } from '../access/visibility.ts'
import { ApiOwners } from '../apis/api-owners.ts'
import { type Answer, refused } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import { PageCount } from '../routes/envelope.ts'
import { pageAnswer, streamed } from '../routes/listed.ts'
import { PAGE_SIZE, sizedPageOf } from '../routes/page.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from '../server/parts.ts'
import { LOG_FILTERS, LOG_QUERY, logFiltersOf, logTimeOf } from './log-query.ts'
import { LogRecord, logCsv, logRecordOf } from './log-record.ts'
import { tailEvents } from './tail.ts'

const READ = { permission: 'log', intent: 'read' } as const
const Page = Type.Object(
  { data: Type.Array(LogRecord, { description: 'Records of the page, newest first.' }), pages: PageCount },
  { title: 'LogPage' },
)
/** Live logs that may be open at once: of all users, and of those, of one organisation and of one user. */
const MOST_TAILS = 100
const MOST_OF_ORGANISATION = 25
const MOST_OF_USER = 10
const HOUR_S = 3600

/** The log browser: `/api/logs`, single requests as the gateway has recorded them, and those that come as they come. */
export function logRoutes(parts: DashboardParts): Route[] {
  const live = liveTails(parts)
  return [
    {
      method: 'GET',
      path: '/api/logs',
      access: READ,
      summary: 'List requests, newest first; with type=csv as a file',
      keysIn: ['key'],
      query: { ...LOG_QUERY, p: Type.Integer(), page_size: PAGE_SIZE, type: Type.Enum(['csv', 'json']) },
      answers: { 200: Type.Union([Page, Type.String()]) },
      textType: 'text/csv',
      run: (call) => list(parts, call),
    },
    {
      method: 'GET',
      path: '/api/logs/live',
      access: READ,
      summary: 'Follow requests live, as server-sent events',
      keysIn: ['key'],
      query: { ...LOG_FILTERS, seconds: Type.Integer({ minimum: 0, maximum: HOUR_S }) },
      answers: { 200: Type.String() },
      answerType: 'text/event-stream',
      run: live,
    },
  ]
}

async function list(parts: DashboardParts, call: Call): Promise<Answer> {
  const { records } = parts.store
  const time = logTimeOf(call)
  const filters = await logFiltersOf(parts, call, call.visibility)
  const query = { ...filters, ...time }
  const { orgId, apiId } = filters
  const dropped = await records.dropped({ ...time, ...(orgId !== undefined && { orgId }), ...(apiId && { apiId }) })
  // Those that listen to the header know that there were more requests than records.
  // How long records are kept tells those that look for one why it is not there; 0 = nothing is recorded.
  const { records_enabled: isOn, records_days: days, records_kept: kept } = parts.config.analytics
  const headers = {
    'x-svc-records-dropped': String(dropped),
    'x-svc-records-days': String(isOn ? days : 0),
    'x-svc-records-kept': String(isOn ? kept : 0),
  }
  if (call.query('type') === 'csv') {
    const file = { 'content-disposition': 'attachment; filename="logs.csv"' }
    const body = logCsv(records.scan(query))
    return { status: 200, body, type: 'text/csv; charset=utf-8', headers: { ...headers, ...file } }
  }
  const shape = { name: 'data', shape: (row: Parameters<typeof logRecordOf>[0]) => logRecordOf(row, days) }
  const page = sizedPageOf(call).page
  if (page === 'all') return { ...streamed(records.scan(query), shape), headers }
  const { rows, total } = await records.list({ ...query, ...page })
  return { ...(await pageAnswer(rows, total, page, shape)), headers }
}

/** Why a reader can open no further live log; undefined = they can. */
function fullFor(
  open: readonly Pick<Actor, 'userId' | 'orgId'>[],
  { userId, orgId }: Pick<Actor, 'userId' | 'orgId'>,
): string | undefined {
  const bounds = [
    [open.length, MOST_TAILS, ''],
    [open.filter((each) => each.orgId === orgId).length, MOST_OF_ORGANISATION, ' of an organisation'],
    [open.filter((each) => each.userId === userId).length, MOST_OF_USER, ' of a user'],
  ] as const
  const full = bounds.find(([now, most]) => now >= most)
  return full && `No more than ${full[1]} live logs${full[2]} can be open at once`
}

/** Opens tails, a bounded number at once. */
function liveTails(parts: DashboardParts): Route['run'] {
  const who = identitiesOf(parts)
  let owners: ApiOwners | undefined
  const open: Pick<Actor, 'userId' | 'orgId'>[] = []
  const makeOwners = () => {
    const made = new ApiOwners(parts.documents, parts.store.feed)
    parts.closing?.addEventListener('abort', () => made.close())
    return made
  }
  /** The present visibility of the tail's reader: sessions end, permissions and owners change. */
  const queryOf = async (call: Call) => {
    const headers = { authorization: call.header('authorization'), 'x-api-key': call.header('x-api-key') }
    const actor = await identifyCaller(who, { method: 'GET', headers: { ...headers, cookie: call.header('cookie') } })
    const route = { access: READ, method: 'GET' } as const
    if (permit({ route, params: {}, path: '', actor, installation: false }) !== undefined) return undefined
    const ownershipOn = parts.config.dashboard.enable_ownership
    owners ??= makeOwners()
    if (ownershipOn) await owners.fresh()
    return logFiltersOf(parts, { actor, query: call.query }, visibilityOf(actor, owners, ownershipOn))
  }
  return (call) => {
    const reader = call.actor!
    const full = fullFor(open, reader)
    if (full !== undefined) return refused(503, full)
    open.push(reader)
    const lastSeen = call.header('last-event-id') ?? ''
    const days = parts.config.analytics.records_days
    const body = tailEvents(
      {
        records: parts.store.records,
        query: () => queryOf(call),
        show: (row) => logRecordOf(row, days),
        lastSeen: /^\d{1,15}$/.test(lastSeen) ? Number(lastSeen) : undefined,
        lifeMs: Number(call.query('seconds') || HOUR_S) * 1000,
        closing: parts.closing,
      },
      () => open.splice(open.indexOf(reader), 1),
    )
    const headers = { 'cache-control': 'no-store', 'x-accel-buffering': 'no' }
    return { status: 200, body, type: 'text/event-stream; charset=utf-8', headers }
  }
}
