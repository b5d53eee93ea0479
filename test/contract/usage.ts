import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { DIMENSIONS, type DimensionName, type HitDimensions } from '../../src/model/analytics/dimensions.ts'
import { bucketOf, type Hit, HOUR_MS, LATENCY_BOUNDS_MS, MINUTE_MS, NO_MIN_MS } from '../../src/model/analytics/hit.ts'
import { SampleBlock } from '../../src/model/analytics/hit-samples.ts'
import { DAY_MS, monthOf } from '../../src/model/time/calendar.ts'
import type { Hits, UsageDimension, UsageQuery } from '../../src/store/ports/ports.ts'
import type { Adapter } from './adapters.ts'

const numRuns = process.env.GATEHOUSE_DEEP === '1' ? 80 : 20
/** 27 December 2023. */
const FIRST_DAY = 19_718
const ALL: UsageQuery = {
  ...{ fromDay: FIRST_DAY, toDay: FIRST_DAY + 9, per: 'all', by: [], sort: 'count', descending: true },
}
const PAGE = { offset: 0, limit: 1000 }

/** One request, as the test remembers it. */
interface Request extends HitDimensions {
  readonly status: number
  readonly at: number
  readonly totalMs: number
  /** Below 0: it was not handed on. */
  readonly upstreamMs: number
}

/** Values of dimensions that have no values below. */
const anyDimensions = Object.fromEntries(
  DIMENSIONS.map((name) => [name, fc.constantFrom('', `a ${name}`)]),
) as unknown as Record<DimensionName, fc.Arbitrary<string>>

const aRequest: fc.Arbitrary<Request> = fc.record({
  ...anyDimensions,
  orgId: fc.constantFrom('o', 'p'),
  apiId: fc.constantFrom('a', 'b', "'; DROP TABLE hit"),
  version: fc.constantFrom('Non Versioned', 'v2'),
  keyHash: fc.constantFrom('', 'k1', 'k2', 'k3'),
  alias: fc.constantFrom('', 'ä'),
  clientId: fc.constantFrom('', 'c'),
  tags: fc.constantFrom('', 'x', 'x,y', 'dev-1', 'a"b\\,x'),
  endpoint: fc.constantFrom('', 'GET /x'),
  country: fc.constantFrom('', 'DE'),
  status: fc.constantFrom(200, 204, 302, 404, 500),
  at: fc.integer({ min: FIRST_DAY * DAY_MS, max: (FIRST_DAY + 10) * DAY_MS - 1 }),
  // Sums of quarters are exact, in any order.
  totalMs: fc.integer({ min: 0, max: 60_000 }).map((n) => n / 4),
  upstreamMs: fc.integer({ min: -4, max: 400 }).map((n) => (n < 0 ? -1 : n / 4)),
})

/** Around the bounds of hours, and anywhere. */
const aMinute = fc
  .tuple(fc.integer({ min: -30, max: 250 }), fc.oneof(fc.integer({ min: -2, max: 2 }), fc.integer({ min: 0, max: 59 })))
  .map(([hour, minute]) => (FIRST_DAY * 24 + hour) * 60 + minute)

const anyQuery: fc.Arbitrary<UsageQuery> = fc.record(
  {
    fromDay: fc.integer({ min: FIRST_DAY - 2, max: FIRST_DAY + 9 }),
    toDay: fc.integer({ min: FIRST_DAY - 3, max: FIRST_DAY + 12 }),
    hours: fc
      .tuple(fc.integer({ min: -30, max: 250 }), fc.integer({ min: -30, max: 250 }))
      .map(([from, to]) => [FIRST_DAY * 24 + from, FIRST_DAY * 24 + to] as const),
    minutes: fc.tuple(aMinute, aMinute),
    per: fc.constantFrom('minute', 'hour', 'day', 'month', 'all'),
    by: fc.subarray<UsageDimension>([...DIMENSIONS, 'status']).chain((by) => {
      return fc.boolean().map((tag): UsageDimension[] => (tag ? [...by.filter((name) => name !== 'tags'), 'tag'] : by))
    }),
    where: fc.record(
      {
        orgId: fc.constant(['o']),
        apiId: fc.subarray(['a', 'b', "'; DROP TABLE hit", 'none']),
        version: fc.constant(['v2']),
        keyHash: fc.subarray(['', 'k1', 'k2', 'none']),
        clientId: fc.constantFrom(['c'], [''], ['c', '']),
        endpoint: fc.constant(['GET /x']),
        country: fc.constant(['DE']),
      },
      { requiredKeys: [] },
    ),
    tags: fc.subarray(['x', 'y', 'a"b\\', '%', ''], { minLength: 1 }),
    tagPrefix: fc.constantFrom('dev-', ''),
    status: fc.subarray([200, 404, 999], { minLength: 1 }),
    errorsOnly: fc.boolean(),
    has: fc.constantFrom('keyHash', 'endpoint', 'clientId', 'country'),
    sort: fc.constantFrom(
      ...(['time', 'count', 'success', 'error', 'lastAt', 'totalMs', 'maxTotalMs', 'minTotalMs'] as const),
      ...(['upstreamMs', 'maxUpstreamMs', 'minUpstreamMs'] as const),
    ),
    descending: fc.boolean(),
  },
  { requiredKeys: ['fromDay', 'toDay', 'per', 'by', 'sort', 'descending'] },
)

/** Half of them ask nothing of callers: adapters may keep such sums apart. Only of these there are minutes. */
const aQuery = fc.tuple(anyQuery, fc.boolean()).map(([query, callers]): UsageQuery => {
  const { minutes, ...rest } = query
  if (callers) return { ...rest, per: query.per === 'minute' ? 'hour' : query.per }
  if (query.per === 'minute' || minutes !== undefined) return withoutCallers(withoutCountry(query))
  return withoutCallers(query)
})

function withoutCountry({ has, ...query }: UsageQuery): UsageQuery {
  const { country: _country, ...where } = query.where ?? {}
  const by = query.by.filter((name) => name !== 'country')
  return { ...query, by, where, ...(has !== undefined && has !== 'country' && { has }) }
}

const OF_CALLERS: readonly string[] = ['keyHash', 'alias', 'clientId', 'tags', 'tag']

function withoutCallers({ tags: _tags, tagPrefix: _prefix, has, ...query }: UsageQuery): UsageQuery {
  const { keyHash: _key, clientId: _client, ...where } = query.where ?? {}
  const by = query.by.filter((name) => !OF_CALLERS.includes(name))
  return { ...query, by, where, ...(has !== undefined && !OF_CALLERS.includes(has) && { has }) }
}

/** A row as the test counts it, request by request. */
interface Counted {
  readonly name: string
  count: number
  success: number
  error: number
  lastAt: number
  totals: number[]
  upstreams: number[]
}

function recount(requests: readonly Request[], query: UsageQuery): Map<string, Counted> {
  const { fromDay, toDay, hours, minutes, where = {}, tags, tagPrefix = '', status, errorsOnly, has, by, per } = query
  const rows = new Map<string, Counted>()
  for (const request of requests) {
    const day = Math.floor(request.at / DAY_MS)
    const own = request.tags === '' ? [] : request.tags.split(',')
    if (day < fromDay || day > toDay) continue
    const hour = Math.floor(request.at / HOUR_MS)
    if (hours !== undefined && (hour < hours[0] || hour > hours[1])) continue
    if (Object.entries(where).some(([name, some]) => !some.includes(request[name as keyof HitDimensions]))) continue
    if (tags !== undefined && !own.some((tag) => tags.includes(tag))) continue
    if (status !== undefined && !status.includes(request.status)) continue
    if (errorsOnly && request.status < 400) continue
    if (has !== undefined && request[has] === '') continue
    const month = new Date(request.at).toISOString().slice(0, 7)
    const minute = Math.floor(request.at / MINUTE_MS)
    if (minutes !== undefined && (minute < minutes[0] || minute > minutes[1])) continue
    const bucket = { minute, hour, day, month, all: '' }[per]
    const kept = by.includes('tag') ? own.filter((tag) => tag.startsWith(tagPrefix)) : [request.tags]
    for (const tag of kept) {
      const parts = by.map((name) => (name === 'tag' || name === 'tags' ? tag : request[name]))
      const name = JSON.stringify([bucket, ...parts])
      const row = rows.get(name) ?? { name, count: 0, success: 0, error: 0, lastAt: 0, totals: [], upstreams: [] }
      rows.set(name, row)
      row.count++
      if (request.status >= 200 && request.status < 300) row.success++
      if (request.status >= 400) row.error++
      row.lastAt = Math.max(row.lastAt, request.at)
      row.totals.push(request.totalMs)
      if (request.upstreamMs >= 0) row.upstreams.push(request.upstreamMs)
    }
  }
  return rows
}

/** The same of a row that a store answered. */
function nameOf(row: Hit, { by, per }: UsageQuery): string {
  const at = row.hour * HOUR_MS
  const minute = row.hour * 60 + (row.minute ?? 0)
  const bucket = { minute, hour: row.hour, day: at / DAY_MS, month: new Date(at).toISOString().slice(0, 7), all: '' }[
    per
  ]
  return JSON.stringify([bucket, ...by.map((name) => (name === 'tag' ? row.tags : row[name]))])
}

function check(row: Hit, counted: Counted | undefined): void {
  assert.ok(counted, `a row that should not be: ${JSON.stringify(row)}`)
  const { count, success, error, lastAt, totals, upstreams } = counted
  assert.deepEqual([row.count, row.success, row.error, row.lastAt], [count, success, error, lastAt])
  for (const [latency, values] of [
    [row.total, totals],
    [row.upstream, upstreams],
  ] as const) {
    const buckets = new Array<number>(LATENCY_BOUNDS_MS.length + 1).fill(0)
    for (const ms of values) buckets[bucketOf(ms)]!++
    assert.deepEqual(latency, {
      sumMs: values.reduce((a, b) => a + b, 0),
      minMs: Math.min(NO_MIN_MS, ...values),
      maxMs: Math.max(0, ...values),
      buckets,
    })
  }
}

/** Checks the members of a row: those that were not asked for are blank. */
function checkBlanks(row: Hit, { by, per }: UsageQuery): void {
  // Rows by each tag alone name it where rows by all tags name these.
  for (const name of DIMENSIONS) if (name !== 'tags' && !by.includes(name)) assert.equal(row[name], '')
  if (!by.includes('tag') && !by.includes('tags')) assert.equal(row.tags, '')
  if (!by.includes('status')) assert.equal(row.status, 0)
  if (per === 'all') assert.equal(row.hour, 0)
  assert.equal(row.minute === undefined, per !== 'minute')
  if (per === 'month') assert.equal(row.hour, monthOf(Math.floor(row.hour / 24)) * 24)
}

/** Half of them as rows, half one by one, as the gateway does. */
async function count(hits: Hits, requests: readonly Request[]): Promise<void> {
  const half = Math.floor(requests.length / 2)
  await hits.add(requests.slice(0, half).map(rowOf))
  const rest = requests.slice(half)
  const numbers = await hits.number(rest.map(setOf))
  await hits.append(
    rest.map(({ status, totalMs, upstreamMs, at }, i) => {
      const block = new SampleBlock(1)
      block.begin(at)
      assert.ok(block.add(numbers[i]!, status, totalMs, upstreamMs, at))
      return block.samples
    }),
  )
}

function setOf({ status: _s, at: _a, totalMs: _t, upstreamMs: _u, ...set }: Request): HitDimensions {
  return set
}

function rowOf(request: Request): Hit {
  const { status, at, totalMs, upstreamMs } = request
  const latency = (ms: number) => {
    const buckets = new Array<number>(LATENCY_BOUNDS_MS.length + 1).fill(0)
    if (ms >= 0) buckets[bucketOf(ms)] = 1
    return { sumMs: Math.max(0, ms), minMs: ms < 0 ? NO_MIN_MS : ms, maxMs: Math.max(0, ms), buckets }
  }
  return {
    ...{
      ...setOf(request),
      hour: Math.floor(at / HOUR_MS),
      minute: Math.floor(at / MINUTE_MS) % 60,
      status,
      count: 1,
      lastAt: at,
    },
    ...{ success: status >= 200 && status < 300 ? 1 : 0, error: status >= 400 ? 1 : 0 },
    ...{ total: latency(totalMs), upstream: latency(upstreamMs) },
  }
}

async function all(hits: Hits, query: UsageQuery): Promise<Hit[]> {
  const rows: Hit[] = []
  for await (const batch of hits.eachUsage(query)) rows.push(...batch)
  return rows
}

/** Checks of every adapter of `Hits`: the usage over days, hours and months. */
export function usageSuite(adapters: readonly Adapter[]): void {
  for (const { name, open } of adapters) {
    test(`${name}: usage is what a recount of all requests says, whatever is asked`, async (t) => {
      const { hits } = await open(t)
      const requests: Request[] = []
      const few = fc.array(aRequest, { minLength: 1, maxLength: 120 })
      await fc.assert(
        fc.asyncProperty(few, fc.array(aQuery, { minLength: 12, maxLength: 12 }), async (more, queries) => {
          requests.push(...more)
          await count(hits, more)
          for (const query of queries) {
            const expected = recount(requests, query)
            const rows = await all(hits, query)
            assert.equal(rows.length, expected.size, JSON.stringify(query))
            for (const row of rows) {
              check(row, expected.get(nameOf(row, query)))
              checkBlanks(row, query)
            }
          }
        }),
        { numRuns, endOnFailure: true },
      )
    })

    test(`${name}: pages are pieces of the whole, in its order`, async (t) => {
      const { hits } = await open(t)
      await fc.assert(
        fc.asyncProperty(fc.array(aRequest, { minLength: 1, maxLength: 40 }), aQuery, async (more, query) => {
          await count(hits, more)
          const whole = await all(hits, query)
          const paged: Hit[] = []
          for (let offset = 0; offset < whole.length; offset += 7) {
            const { rows, total } = await hits.usage({ ...query, offset, limit: 7 })
            assert.equal(total, whole.length)
            paged.push(...rows)
          }
          assert.deepEqual(paged, whole)
          assert.deepEqual(await hits.usage({ ...query, offset: whole.length + 5, limit: 7 }), {
            rows: [],
            total: whole.length,
          })
        }),
        { numRuns },
      )
    })

    test(`${name}: rows are in the order asked for, ties by time and then by bytes`, async (t) => {
      const { hits } = await open(t)
      const at = (day: number) => (FIRST_DAY + day) * DAY_MS
      const base = { ...setOf(fc.sample(aRequest, { numRuns: 1, seed: 1 })[0]!), orgId: 'o', keyHash: 'k', tags: '' }
      const ask = (apiId: string, day: number, status: number, totalMs: number, upstreamMs: number): Request => {
        return { ...base, apiId, status, at: at(day), totalMs, upstreamMs }
      }
      await count(hits, [
        ask('a', 0, 200, 10, -1),
        ask('a', 1, 500, 20, 5),
        ask('b', 0, 200, 40, 1),
        ask('b', 2, 200, 40, 3),
        ask('b', 2, 204, 40, 3),
        ask('\u{1f600}', 1, 404, 1, -1),
        ask('\uffff', 1, 404, 1, -1),
      ])
      const apis = async (more: Partial<UsageQuery>) => {
        const { rows } = await hits.usage({ ...ALL, by: ['apiId'], ...more, ...PAGE })
        return rows.map(({ apiId }) => apiId)
      }
      assert.deepEqual(await apis({}), ['b', 'a', '\uffff', '\u{1f600}'])
      assert.deepEqual(await apis({ descending: false }), ['\uffff', '\u{1f600}', 'a', 'b'])
      assert.deepEqual(await apis({ sort: 'totalMs' }), ['b', 'a', '\uffff', '\u{1f600}'])
      assert.deepEqual(await apis({ sort: 'upstreamMs' }), ['a', 'b', '\uffff', '\u{1f600}'])
      assert.deepEqual(await apis({ sort: 'upstreamMs', descending: false }), ['\uffff', '\u{1f600}', 'b', 'a'])
      assert.deepEqual(await apis({ sort: 'error' }), ['a', '\uffff', '\u{1f600}', 'b'])
      assert.deepEqual(await apis({ sort: 'lastAt', has: 'keyHash' }), ['b', 'a', '\uffff', '\u{1f600}'])
      const { rows } = await hits.usage({ ...ALL, per: 'day', by: [], sort: 'time', descending: true, ...PAGE })
      assert.deepEqual(
        rows.map(({ hour, count }) => [hour / 24 - FIRST_DAY, count]),
        [
          [2, 2],
          [1, 3],
          [0, 2],
        ],
      )
    })

    test(`${name}: a key is known where and as long as it was counted`, async (t) => {
      const { hits } = await open(t)
      const one = { ...fc.sample(aRequest, { numRuns: 1, seed: 2 })[0]!, orgId: 'o', keyHash: 'k1', clientId: 'c' }
      await count(hits, [one, one])
      assert.equal(await hits.knows('o', 'keyHash', 'k1'), true)
      assert.equal(await hits.knows('', 'keyHash', 'k1'), true)
      assert.equal(await hits.knows('p', 'keyHash', 'k1'), false)
      assert.equal(await hits.knows('o', 'keyHash', 'k2'), false)
      assert.equal(await hits.knows('o', 'clientId', 'c'), true)
      assert.equal(await hits.knows('o', 'clientId', 'k1'), false)
    })

    test(`${name}: what is older than a day goes, in every resolution, and nothing else`, async (t) => {
      const { hits } = await open(t)
      const requests = fc.sample(aRequest, { numRuns: 600, seed: 3 })
      await count(hits, requests)
      const cut = FIRST_DAY + 4
      assert.ok((await hits.purgeHits(cut)) > 0)
      assert.equal(await hits.purgeHits(cut), 0)
      const left = requests.filter(({ at }) => at >= cut * DAY_MS)
      for (const per of ['minute', 'hour', 'day', 'month', 'all'] as const) {
        for (const by of [['apiId'], ['keyHash', 'tags']] as const) {
          if (per === 'minute' && by[0] === 'keyHash') continue
          const query: UsageQuery = { ...ALL, per, by }
          const expected = recount(left, query)
          const rows = await all(hits, query)
          assert.equal(rows.length, expected.size)
          for (const row of rows) check(row, expected.get(nameOf(row, query)))
        }
      }
      const again = fc.sample(aRequest, { numRuns: 10, seed: 4 })
      await count(hits, again)
      const total = await hits.usage({ ...ALL, ...PAGE })
      assert.equal(total.rows[0]?.count, left.length + again.length)
    })

    test(`${name}: old minutes go, their hours stay, and the first that is left is known`, async (t) => {
      const { hits } = await open(t)
      const requests = fc.sample(aRequest, { numRuns: 200, seed: 5 })
      await count(hits, requests)
      assert.equal(await hits.minutesFrom(), 0)
      const cut = (FIRST_DAY * 24 + 100) * 60 + 17
      assert.ok((await hits.purgeMinutes(cut)) > 0)
      assert.equal(await hits.purgeMinutes(cut), 0)
      assert.equal(await hits.purgeMinutes(cut - 60), 0)
      assert.equal(await hits.minutesFrom(), cut, 'it never goes back')
      const byMinute: UsageQuery = { ...ALL, per: 'minute', by: ['apiId'] }
      const expected = recount(
        requests.filter(({ at }) => at >= cut * MINUTE_MS),
        byMinute,
      )
      const rows = await all(hits, byMinute)
      assert.equal(rows.length, expected.size)
      for (const row of rows) check(row, expected.get(nameOf(row, byMinute)))
      const byHour: UsageQuery = { ...ALL, per: 'hour', by: ['apiId'] }
      const hours = recount(requests, byHour)
      for (const row of await all(hits, byHour)) check(row, hours.get(nameOf(row, byHour)))
      const [oneHour] = await all(hits, { ...ALL, minutes: [FIRST_DAY * 24 * 60, (FIRST_DAY + 1) * 24 * 60 - 1] })
      assert.equal(oneHour?.count ?? 0, requests.filter(({ at }) => at < (FIRST_DAY + 1) * DAY_MS).length)
    })

    test(`${name}: minutes of what is not counted by minute are refused`, async (t) => {
      const { hits } = await open(t)
      const asked: Partial<UsageQuery>[] = [
        { by: ['keyHash'] },
        { by: ['tag'] },
        { by: ['country'] },
        { where: { alias: ['a'] } },
        { tags: ['x'] },
        { has: 'clientId' },
      ]
      for (const more of asked) {
        await assert.rejects(hits.usage({ ...ALL, ...more, per: 'minute', ...PAGE }), { code: 'internal' })
        await assert.rejects(hits.usage({ ...ALL, ...more, minutes: [0, 61], ...PAGE }), { code: 'internal' })
      }
    })

    test(`${name}: a page or day that is none is refused`, async (t) => {
      const { hits } = await open(t)
      await assert.rejects(hits.usage({ ...ALL, offset: -1, limit: 1 }), { code: 'internal' })
      await assert.rejects(hits.usage({ ...ALL, fromDay: Number.NaN, ...PAGE }), { code: 'internal' })
      await assert.rejects(hits.usage({ ...ALL, minutes: [0.5, 1], ...PAGE }), { code: 'internal' })
      await assert.rejects(hits.purgeHits(-1), { code: 'internal' })
      await assert.rejects(hits.purgeMinutes(-1), { code: 'internal' })
    })
  }
}
