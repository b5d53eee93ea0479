import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/model/json/json.ts'
import type { FakeClock } from '../../../src/model/time/clock.ts'
import { purgeOldMinutes } from '../../../src/runtime/minute-retention.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import type { Store } from '../../../src/store/ports/ports.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'
import { temporaryFolder } from '../../contract/adapters.ts'
import { type AnalyticsWorld, analyticsWorld, type Counted } from '../../worlds/dashboard/analytics-world.ts'

const deep = process.env.GATEHOUSE_DEEP === '1'
const ROUNDS = deep ? 12 : 3
const REQUESTS = deep ? 120 : 50
const QUESTIONS = deep ? 150 : 60
const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

/** The dimension by which a call distinguishes rows. */
type Part =
  | 'time'
  | 'api_id'
  | 'key'
  | 'code'
  | 'endpoint'
  | 'tag'
  | 'developer'
  | 'iso_country'
  | 'api_version'
  | 'oauth_id'

interface View {
  /** Path before the days, with what it is about. */
  readonly path: string
  readonly by: readonly Part[]
  /** Rows are buckets of time whether `res` is sent or not. */
  readonly series?: true
  readonly counts: (request: Counted) => boolean
}

function viewsOf({ hashes, clientId, sent }: AnalyticsWorld): View[] {
  const all = () => true
  const tracked = ({ endpoint }: Counted) => endpoint !== ''
  const { plain, gold } = hashes
  const keys = [...new Set(sent.map(({ key }) => key))].filter((key) => key !== '')
  return [
    { path: '/api/usage', by: [], series: true, counts: all },
    { path: '/api/usage/apis', by: ['api_id'], counts: all },
    ...['k', 'open', 'v'].map(
      (id): View => ({
        path: `/api/usage/apis/${id}`,
        by: ['api_id'],
        series: true,
        counts: ({ apiId }) => apiId === id,
      }),
    ),
    { path: '/api/usage/versions', by: ['api_id', 'api_version'], counts: all },
    { path: '/api/usage/codes', by: ['code'], counts: all },
    { path: '/api/activity/oauthid', by: ['oauth_id'], counts: (request) => request.clientId !== '' },
    { path: '/api/usage/tags', by: ['tag'], counts: all },
    { path: '/api/errors/count', by: ['code'], counts: ({ code }) => code >= 400 },
    { path: '/api/activity/errors', by: ['api_id', 'code'], counts: ({ code }) => code >= 400 },
    { path: '/api/activity/keys', by: ['key'], counts: all },
    { path: `/api/activity/keys/${plain}`, by: ['key'], series: true, counts: ({ key }) => key === plain },
    { path: '/api/activity/keys/00000000', by: ['key'], series: true, counts: ({ key }) => key === '' },
    {
      path: `/api/activity/keys/endpoint/${gold.toUpperCase()}`,
      by: ['api_id', 'endpoint'],
      counts: (request) => tracked(request) && request.key === gold,
    },
    {
      path: `/api/activity/keys/aggregate/${plain},${gold},`,
      by: ['code'],
      series: true,
      counts: ({ key }) => key === plain || key === gold,
    },
    {
      path: `/api/activity/keys/aggregate/${keys.join(',')},,`,
      by: ['code'],
      series: true,
      counts: ({ key }) => key !== '',
    },
    {
      path: `/api/activity/oauthid/${clientId}`,
      by: [],
      series: true,
      counts: (request) => request.clientId === clientId,
    },
    { path: `/api/activity/oauthid/endpoint/${clientId}`, by: ['api_id', 'endpoint'], counts: () => false },
    { path: '/api/activity/endpoints', by: ['api_id', 'endpoint'], counts: tracked },
    { path: '/api/activity/geo', by: ['iso_country'], counts: all },
    { path: '/api/activity/developers', by: ['developer'], counts: all },
  ]
}

interface Question {
  readonly from: number
  readonly days: number
  readonly zeros: boolean
  readonly res: '' | 'minute' | 'hour' | 'day' | 'month' | 'all'
  /** Seconds after the first day began, from which on and up to which requests are meant. */
  readonly span: readonly [number, number] | undefined
  readonly api: string
  readonly version: string
  readonly tags: readonly string[]
  readonly repeated: boolean
  readonly code: number
}

const aQuestion: fc.Arbitrary<Question> = fc.record({
  from: fc.integer({ min: 0, max: 12 }),
  days: fc.integer({ min: 0, max: 40 }),
  zeros: fc.boolean(),
  res: fc.constantFrom('', 'minute', 'hour', 'day', 'month', 'all'),
  span: fc.option(fc.tuple(fc.integer({ min: 0, max: 43_200 }), fc.integer({ min: 43_201, max: 86_400 })), {
    nil: undefined,
  }),
  api: fc.constantFrom('', '', '', 'k', 'v', 'gold', 'none'),
  version: fc.constantFrom('', '', '', 'Non Versioned', 'v2'),
  tags: fc.constantFrom([], [], [], ['own'], ['tier-1', 'x-tenant-acme'], ['%']),
  repeated: fc.boolean(),
  code: fc.constantFrom(0, 0, 0, 200, 404),
})

const startOf = ({ from }: Question): number => Date.UTC(2024, 1, 20 + from)
const endOf = ({ from, days }: Question): number => Date.UTC(2024, 1, 21 + from + days)

/** True where requests are separated, or selected, by what is counted by hour alone. */
function isByHour({ path }: View, { tags }: Question): boolean {
  return tags.length > 0 || /activity\/(keys|oauthid|geo|developers)|usage\/tags/.test(path)
}

/** The time that an answer is about, of whole minutes or hours; `since`: from when on minutes are counted. */
function countedTime(view: View, question: Question, since: number): { from: number; to: number } {
  const { span, res } = question
  const day = endOf(question) - 86_400_000
  const [from, to] =
    span === undefined
      ? [startOf(question), endOf(question)]
      : [startOf(question) + span[0] * 1000, day + span[1] * 1000]
  const down = (at: number, of: number) => Math.floor(at / of) * of
  const [first, end] = [down(from, MINUTE_MS), -down(-to, MINUTE_MS)]
  if (res === 'minute') return { from: first, to: end }
  const hours = isByHour(view, question)
  const begin = hours || first < since ? down(first, HOUR_MS) : first
  const lastHour = Math.max(down(end, HOUR_MS), begin)
  return { from: begin, to: hours || lastHour < since ? -down(-end, HOUR_MS) : end }
}

/** True where minutes are asked for that are not counted. */
function isRefused(view: View, question: Question, since: number): boolean {
  return question.res === 'minute' && (isByHour(view, question) || countedTime(view, question, since).from < since)
}

function urlOf({ path }: View, question: Question): string {
  const day = (number: number) => {
    const date = new Date(Date.UTC(2024, 1, 20 + number))
    const two = (part: number) => (question.zeros ? String(part).padStart(2, '0') : String(part))
    return `${two(date.getUTCDate())}/${two(date.getUTCMonth() + 1)}/${date.getUTCFullYear()}`
  }
  const query = new URLSearchParams({ p: '-1' })
  if (question.res !== '') query.set('res', question.res)
  if (question.span !== undefined) {
    query.set('from', String(startOf(question) / 1000 + question.span[0]))
    query.set('to', String(startOf(question) / 1000 + question.days * 86_400 + question.span[1]))
  }
  if (question.api !== '') query.set('api_id', question.api)
  if (question.version !== '') query.set('api_version', question.version)
  if (question.code !== 0) query.set('code', String(question.code))
  if (question.repeated) for (const tag of question.tags) query.append('tags', tag)
  else if (question.tags.length > 0) query.set('tags', question.tags.join(','))
  return `${path}/${day(question.from)}/${day(question.from + question.days)}?${query}`
}

interface Sums {
  hits: number
  success: number
  error: number
  last_hit: string
}

/** Counts what was sent by itself, request by request. */
function recount(sent: readonly Counted[], view: View, question: Question, since: number): Map<string, Sums> {
  const rows = new Map<string, Sums>()
  const { from, to } = countedTime(view, question, since)
  const api = view.path.startsWith('/api/usage/apis/') || question.api === '' ? '' : question.api
  for (const request of sent) {
    if (!view.counts(request) || request.at < from || request.at >= to) continue
    // The policy selects its API.
    if (api !== '' && request.apiId !== (api === 'gold' ? 'k' : api)) continue
    if (question.version !== '' && request.version !== question.version) continue
    if (question.code !== 0 && request.code !== question.code) continue
    if (question.tags.length > 0 && !question.tags.some((tag) => request.tags.includes(tag))) continue
    for (const own of partsOf(view, request)) {
      const time = timeOf(request.at, question.res === '' ? (view.series ? 'day' : '') : question.res)
      const name = JSON.stringify([...time, own])
      const row = rows.get(name) ?? { hits: 0, success: 0, error: 0, last_hit: '' }
      rows.set(name, row)
      row.hits++
      if (request.code >= 200 && request.code < 300) row.success++
      if (request.code >= 400) row.error++
      const at = new Date(request.at).toISOString()
      if (at > row.last_hit) row.last_hit = at
    }
  }
  return rows
}

function timeOf(at: number, res: string): number[] {
  const date = new Date(at)
  const month = [date.getUTCFullYear(), date.getUTCMonth() + 1]
  if (res === '' || res === 'all') return [0, 0, 0, 0, 0]
  if (res === 'month') return [...month, 0, 0, 0]
  const day = [...month, date.getUTCDate()]
  if (res === 'day') return [...day, 0, 0]
  return [...day, date.getUTCHours(), res === 'minute' ? date.getUTCMinutes() : 0]
}

/** The rows that count one request, by the dimensions of the view. */
function partsOf({ by }: View, { apiId, version, key, clientId, code, endpoint, tags }: Counted): JsonObject[] {
  const fixed = {
    ...(by.includes('api_id') && { api_id: apiId, api_name: apiId }),
    ...(by.includes('api_version') && { api_version: version }),
    ...(by.includes('oauth_id') && { oauth_id: clientId }),
    ...(by.includes('key') && { key: key === '' ? '00000000' : key }),
    ...(by.includes('code') && { code }),
    ...(by.includes('endpoint') && { method: 'GET', path: endpoint.slice(4) }),
  }
  if (by.includes('tag')) return tags.map((tag) => ({ ...fixed, tag }))
  if (!by.includes('developer')) return [fixed]
  return tags
    .filter((tag) => tag.startsWith('dev-'))
    .map((tag) => ({ ...fixed, developer_id: tag.slice(4), developer_email: 'dev@example.test' }))
}

const NOTHING: JsonObject = {
  ...{ code: 0, path: '', key: '', url: '', iso_country: '', api_id: '', api_name: '', method: '', tag: '' },
  ...{ developer_id: '', developer_email: '', api_version: '', oauth_id: '' },
}

/** The name of a row's subject, as in `recount`; every part is there. */
function nameOf(row: JsonObject): string {
  const { day, month, year, hour, minute, alias, ...rest } = row.id as Record<string, string | number>
  assert.equal(typeof alias, 'string')
  const own = Object.fromEntries(Object.entries(rest).filter(([name, value]) => value !== NOTHING[name]))
  assert.deepEqual(Object.keys(rest).sort(), Object.keys(NOTHING).sort())
  return JSON.stringify([year, month, day, hour, minute, own])
}

/** The parts of a name in one order, however they were written. */
const sorted = (name: string) => {
  const [year, month, day, hour, minute, own] = JSON.parse(name) as [
    ...[number, number, number, number, number],
    JsonObject,
  ]
  return JSON.stringify([year, month, day, hour, minute, Object.entries(own).sort()])
}

function check(rows: readonly JsonObject[], expected: ReadonlyMap<string, Sums>, where: string): void {
  const found = rows.map((row) => {
    const { hits, success, error, last_hit } = row
    checkLatency(row)
    return [sorted(nameOf(row)), { hits, success, error, last_hit }] as const
  })
  const wanted = [...expected].map(([name, sums]) => [sorted(name), sums] as const)
  assert.equal(new Set(found.map(([name]) => name)).size, found.length, where)
  assert.deepEqual(Object.fromEntries(found.sort()), Object.fromEntries(wanted.sort()), where)
}

function checkLatency(row: JsonObject): void {
  const { min_latency, p50, p95, p99, max_latency, latency } = row as Record<string, number>
  const rising = [min_latency! - 1, p50!, p95!, p99!, max_latency! + 1]
  assert.deepEqual(
    [...rising].sort((a, b) => a - b),
    rising,
  )
  assert.ok(latency! >= min_latency! && latency! <= max_latency!)
}

const STORES: Record<string, (t: Parameters<typeof temporaryFolder>[0]) => (clock: FakeClock) => Promise<Store>> = {
  memory: () => async (clock) => openMemoryStore({ clock }),
  sqlite: (t) => async (clock) => openStore({ path: temporaryFolder(t), clock }),
}

for (const [name, open] of Object.entries(STORES)) {
  test(`${name}: every call answers what a recount of the traffic says`, async (t) => {
    const world = await analyticsWorld(t, open(t))
    const aRequest = fc.tuple(
      fc.constantFrom(...world.kinds),
      fc.constantFrom(200, 201, 302, 404, 500),
      fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 9 * HOUR_MS })),
    )
    for (let round = 0; round < ROUNDS; round++) {
      const seed = Math.floor(Math.random() * 1e9)
      t.diagnostic(`round ${round} with seed ${seed}`)
      for (const [kind, status, waitMs] of fc.sample(aRequest, { numRuns: REQUESTS, seed })) {
        world.clock.advance(waitMs)
        await world.send(kind, status)
      }
      await world.known()
      // Minutes that are long ago go, as they do once an hour.
      await purgeOldMinutes(world.parts)
      const since = (await world.parts.store.hits.minutesFrom()) * MINUTE_MS
      assert.equal(since, Math.floor(world.clock.wall() / MINUTE_MS) * MINUTE_MS - 48 * HOUR_MS)
      const views = viewsOf(world)
      for (const [i, question] of fc.sample(aQuestion, { numRuns: QUESTIONS, seed }).entries()) {
        const view = views[i % views.length]!
        const url = urlOf(view, question)
        const where = `seed ${seed}: ${url}`
        if (isRefused(view, question, since)) {
          const { status } = await world.call('GET', url, { as: world.root })
          assert.equal(status, 400, where)
          continue
        }
        const { data, pages, ...counted } = await world.asked(200, 'GET', url, world.root)
        assert.equal(pages, 0)
        check(data as JsonObject[], recount(world.sent, view, question, since), where)
        const { from, to } = countedTime(view, question, since)
        assert.deepEqual(counted, question.span === undefined ? {} : { from: from / 1000, to: to / 1000 }, where)
      }
    }
  })
}
