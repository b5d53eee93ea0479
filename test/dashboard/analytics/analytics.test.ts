import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { purgeOldHits } from '../../../src/dashboard/analytics/retention.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { DAY_MS } from '../../../src/model/time/calendar.ts'
import { purgeOldMinutes } from '../../../src/runtime/minute-retention.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import { call } from '../../worlds/base/client.ts'
import { type AnalyticsWorld, analyticsWorld } from '../../worlds/dashboard/analytics-world.ts'
import type { TestUser } from '../../worlds/dashboard/harness.ts'
import { refusal } from '../../worlds/dashboard/key-world.ts'

const DAYS = '28/2/2024/1/3/2024'
const HOUR_MS = 3_600_000

const open = (t: TestContext, env: Record<string, string> = {}) =>
  analyticsWorld(t, async (clock) => openMemoryStore({ clock }), env)

/** The subject of a row. */
const idOf = (row: JsonObject | undefined): JsonObject => row?.id as JsonObject

/** Makes so many requests of each kind, by number, with a status. */
async function traffic(world: AnalyticsWorld, ...requests: readonly (readonly [kind: number, status: number])[]) {
  for (const [kind, status] of requests) await world.send(world.kinds[kind]!, status)
  await world.known()
}

const rowsOf = async (world: AnalyticsWorld, path: string, as: TestUser = world.root): Promise<JsonObject[]> => {
  return (await world.asked(200, 'GET', path, as)).data as JsonObject[]
}

test('a row has every part, in the known order, and nothing is null', async (t) => {
  const world = await open(t)
  await traffic(world, [0, 200], [0, 404])
  const [row, ...others] = await rowsOf(world, `/api/usage/apis/${DAYS}`)
  assert.deepEqual(others, [])
  const { id, ...numbers } = row as { id: JsonObject }
  assert.deepEqual(Object.keys(row!).slice(0, 12), [
    ...['id', 'hits', 'success', 'error', 'last_hit', 'request_time', 'latency', 'upstream_latency'],
    ...['max_latency', 'min_latency', 'max_upstream_latency', 'min_upstream_latency'],
  ])
  assert.deepEqual(Object.entries(id).slice(0, 12), [
    ...[['day', 0] as const, ['month', 0] as const, ['year', 0] as const, ['hour', 0] as const, ['code', 0] as const],
    ...[['path', ''] as const, ['key', ''] as const, ['alias', ''] as const, ['url', ''] as const],
    ...[['iso_country', ''] as const, ['api_id', 'k'] as const, ['api_name', 'k'] as const],
  ])
  const { hits, success, error, last_hit } = numbers as JsonObject
  assert.deepEqual([hits, success, error, last_hit], [2, 1, 1, new Date(world.clock.wall()).toISOString()])
})

test('without requests the data are an empty list, page 1 of 1, or of none when all is asked for', async (t) => {
  const world = await open(t)
  for (const path of ['usage', 'usage/apis', 'errors/count', 'activity/keys', 'activity/geo', 'uptime', 'uptime/k']) {
    const page = await world.call('GET', `/api/${path}/${DAYS}`, { as: world.root })
    assert.equal(page.text, '{"data":[],"pages":1}', path)
    for (const p of ['-1', '0', '-2']) {
      const all = await world.call('GET', `/api/${path}/${DAYS}/?p=${p}`, { as: world.root })
      assert.equal(all.text, '{"data":[],"pages":0}', path)
    }
  }
})

test('buckets are hours, days and months of UTC, and dates are written with and without zeros', async (t) => {
  const world = await open(t)
  await traffic(world, [0, 200])
  world.clock.advance(2 * HOUR_MS)
  await traffic(world, [0, 200])
  world.clock.advance(24 * HOUR_MS)
  await traffic(world, [0, 200])
  const timesOf = async (range: string, res: string) => {
    const rows = await rowsOf(world, `/api/usage/${range}?res=${res}`)
    return rows.map(({ id, hits }) => {
      const { day, month, year, hour } = id as JsonObject
      return [year, month, day, hour, hits]
    })
  }
  const hours = [
    [2024, 2, 28, 22, 1],
    [2024, 2, 29, 0, 1],
    [2024, 3, 1, 0, 1],
  ]
  for (const range of [DAYS, '28/02/2024/01/03/2024']) assert.deepEqual(await timesOf(range, 'hour'), hours)
  assert.deepEqual(await timesOf(DAYS, ''), [
    [2024, 2, 28, 0, 1],
    [2024, 2, 29, 0, 1],
    [2024, 3, 1, 0, 1],
  ])
  assert.deepEqual(await timesOf(DAYS, 'month'), [
    [2024, 2, 0, 0, 2],
    [2024, 3, 0, 0, 1],
  ])
  assert.deepEqual(await timesOf('29/2/2024/29/2/2024', 'day'), [[2024, 2, 29, 0, 1]])
})

test('hours cut the first and the last day, of buckets and of things', async (t) => {
  const world = await open(t)
  await traffic(world, [0, 200])
  world.clock.advance(2 * HOUR_MS)
  await traffic(world, [0, 200], [6, 404])
  world.clock.advance(24 * HOUR_MS)
  await traffic(world, [0, 200])
  const hitsOf = async (path: string) => (await rowsOf(world, `/api/${path}`)).map(({ hits }) => hits)
  assert.deepEqual(await hitsOf(`usage/${DAYS}?from_hour=23`), [2, 1])
  assert.deepEqual(await hitsOf(`usage/28/2/2024/29/2/2024?res=hour&from_hour=22&to_hour=0`), [1, 2])
  assert.deepEqual(await hitsOf(`usage/apis/29/2/2024/1/3/2024?from_hour=1&to_hour=0`), [1])
  assert.deepEqual(await hitsOf(`activity/keys/28/2/2024/28/2/2024?to_hour=21`), [])
  for (const [query, text] of [
    ['from_hour=24', 'The value of from_hour is not valid'],
    ['to_hour=-1', 'The value of to_hour is not valid'],
  ] as const) {
    const answer = await world.call('GET', `/api/usage/${DAYS}?${query}`, { as: world.root })
    assert.deepEqual(refusal(answer), [400, text])
  }
  const back = await world.call('GET', '/api/usage/29/2/2024/29/2/2024?from_hour=5&to_hour=4', { as: world.root })
  assert.match(String(refusal(back)[1]), /it ends before it begins/)
})

test('minutes are counted from a moment to another, and what they cannot say is refused by name', async (t) => {
  const world = await open(t)
  await traffic(world, [0, 200])
  world.clock.advance(60_000)
  await traffic(world, [0, 200], [6, 404])
  world.clock.advance(59 * 60_000)
  await traffic(world, [0, 200])
  const at = Date.UTC(2024, 1, 28, 22, 30) / 1000
  const day = '28/2/2024/28/2/2024'
  const rows = await rowsOf(world, `/api/usage/${day}?res=minute&from=${at}`)
  assert.deepEqual(
    rows.map(({ id, hits }) => [(id as JsonObject).hour, (id as JsonObject).minute, hits]),
    [
      [22, 30, 1],
      [22, 31, 2],
      [23, 30, 1],
    ],
  )
  const asked = async (path: string) => {
    const { data, pages: _pages, ...counted } = await world.asked(200, 'GET', path, world.root)
    return [(data as JsonObject[]).map(({ hits }) => hits), counted]
  }
  const hour = `from=${at + 60}&to=${at + 3660}`
  assert.deepEqual(await asked(`/api/usage/${day}?res=all&${hour}`), [[3], { from: at + 60, to: at + 3660 }])
  assert.deepEqual(await asked(`/api/usage/apis/${day}?${hour}`), [[2, 1], { from: at + 60, to: at + 3660 }])
  const whole = { from: at - 1800, to: at + 5400 }
  assert.deepEqual(await asked(`/api/activity/keys/${day}?${hour}`), [[3, 1], whole], 'keys are counted by hour')
  for (const [query, text] of [
    [`res=minute&key=${world.hashes.plain}`, /not counted by minute and key: send res=hour/],
    ['res=minute&tags=own', /not counted by minute and tag/],
    ['res=minute&country=DE', /not counted by minute and country/],
    [`from=${at - 86_400}`, /from is not within the days of the path/],
    [`to=${at + 86_400}`, /to is not within the days of the path/],
    [`from=${at}&to=${at}`, /to is not after from/],
    [`from=${at}&to_hour=3`, /not both/],
    ['from=-1', /value of from is not valid/],
    ['to=1.5', /value of to is not valid/],
  ] as const) {
    const answer = await world.call('GET', `/api/usage/${day}?${query}`, { as: world.root })
    assert.equal(answer.status, 400, query)
    assert.match(String(refusal(answer)[1]), text)
  }
  world.clock.advance(49 * HOUR_MS)
  await purgeOldMinutes(world.parts)
  const late = await world.call('GET', `/api/usage/${day}?res=minute`, { as: world.root })
  assert.match(
    String(refusal(late)[1]),
    /counted by minute since 2024-02-29T00:30:00.000Z: send a later from, or res=hour/,
  )
  const minutesOf = (query: string) => world.call('GET', `/api/usage/29/2/2024/1/3/2024?${query}`, { as: world.root })
  for (const [query, status] of [
    ['res=minute', 400],
    ['res=minute&from_hour=0', 400],
    ['res=minute&from_hour=1', 200],
    ['res=minute&to_hour=5', 400],
    [`res=minute&from=${at + 2 * 3600 - 60}`, 400],
    [`res=minute&from=${at + 2 * 3600}`, 200],
  ] as const)
    assert.equal((await minutesOf(query)).status, status, query)
  assert.deepEqual(await asked(`/api/usage/${day}?res=all&${hour}`), [[4], whole], 'then hours count whole')
})

test('requests are grouped by version, status and OAuth client, and filtered by any row', async (t) => {
  const world = await open(t)
  await traffic(world, [0, 200], [2, 404], [3, 200], [5, 401], [7, 200], [8, 500], [9, 200])
  const { plain } = world.hashes
  const shownBy = async (path: string, ...names: readonly string[]) =>
    (await rowsOf(world, `/api/${path}`)).map((row) => [...names.map((name) => idOf(row)[name]), row.hits]).sort()
  assert.deepEqual(await shownBy(`usage/versions/${DAYS}?api_id=v`, 'api_id', 'api_version'), [
    ['v', 'v1', 1],
    ['v', 'v2', 1],
  ])
  assert.deepEqual(await shownBy(`usage/codes/${DAYS}`, 'code'), [
    [200, 4],
    [401, 1],
    [404, 1],
    [500, 1],
  ])
  assert.deepEqual(await shownBy(`activity/oauthid/${DAYS}`, 'oauth_id'), [[world.clientId, 1]])
  assert.deepEqual(await shownBy(`usage/apis/${DAYS}?errors=1`, 'api_id'), [
    ['k', 2],
    ['v', 1],
  ])
  assert.deepEqual(await shownBy(`usage/codes/${DAYS}?key=${plain}`, 'code'), [
    [200, 1],
    [404, 1],
  ])
  assert.deepEqual(await shownBy(`usage/codes/${DAYS}?key=00000000&api_id=k`, 'code'), [[401, 1]])
  assert.deepEqual(await shownBy(`usage/apis/${DAYS}?client=${world.clientId}`, 'api_id'), [['tokened', 1]])
  const endpoint = encodeURIComponent('GET /tracked/{status}')
  assert.deepEqual(await shownBy(`activity/keys/${DAYS}?endpoint=${endpoint}`, 'key'), [[plain, 1]])
  assert.deepEqual(await shownBy(`usage/apis/${DAYS}?country=de`, 'api_id'), [])
  const wrong = await world.call('GET', `/api/usage/${DAYS}?key=abc`, { as: world.root })
  assert.deepEqual(refusal(wrong), [400, 'Key could not be decoded.'])
})

test('rows are sorted and paged as asked', async (t) => {
  const world = await open(t, { SVC_DB_PAGESIZE: '2' })
  await traffic(world, [0, 200], [0, 500], [0, 200], [6, 404], [6, 200], [7, 200])
  const idsOf = async (query: string) => {
    const { data, pages } = await world.asked(200, 'GET', `/api/usage/apis/${DAYS}?${query}`, world.root)
    return [(data as JsonObject[]).map((row) => idOf(row).api_id), pages]
  }
  assert.deepEqual(await idsOf('by=Hits&sort=-1'), [['k', 'open'], 2])
  assert.deepEqual(await idsOf('by=Hits&sort=-1&p=2'), [['v'], 2])
  assert.deepEqual(await idsOf('by=Hits&sort=-1&p=3'), [[], 2])
  assert.deepEqual(await idsOf('by=hits&sort=1&p=-1'), [['v', 'open', 'k'], 0])
  assert.deepEqual(await idsOf('p=0'), [['k', 'open', 'v'], 0])
  assert.deepEqual(await idsOf('by=Errors&sort=1&p=-1'), [['v', 'k', 'open'], 0])
})

test('malformed and reversed ranges are refused by name', async (t) => {
  const world = await open(t)
  const bad = ['31/2/2024/1/3/2024', '29/2/2023/1/3/2024', '2/3/2024/1/3/2024', '1/1/0/1/3/2024', '1/1/0000/1/3/2024']
  bad.push('0/1/2024/1/3/2024', '1/13/2024/1/3/2024', '1/1/2024/1/3/24', 'a/b/c/1/3/2024', '-1/1/2024/1/3/2024')
  bad.push(
    '001/1/2024/1/3/2024',
    '1/1/2024/1/3/20240',
    "1/1/2024'--/1/3/2024",
    '1/1/2024/1/3/%00',
    '1.5/1/2024/1/3/2024',
  )
  for (const range of bad) {
    const answer = await world.call('GET', `/api/usage/${range}`, { as: world.root })
    assert.equal(answer.status, 400, range)
    assert.match(String(refusal(answer)[1]), /^The date range is not valid/)
  }
})

test('parameters that are none are refused by name', async (t) => {
  const world = await open(t)
  for (const query of [
    'res=minutes',
    'res=day%20',
    'by=1;DROP',
    'by=__proto__',
    'sort=2',
    'type=xml',
    'p=x',
    'code=1e9',
  ]) {
    const answer = await world.call('GET', `/api/usage/apis/${DAYS}?${query}`, { as: world.root })
    assert.deepEqual(refusal(answer), [400, `The value of ${query.split('=')[0]} is not valid`], query)
  }
})

test('SQL in every place is only text', async (t) => {
  const world = await open(t)
  await traffic(world, [0, 200])
  const sql = encodeURIComponent("x' OR 1=1; DROP TABLE hit; --")
  for (const name of ['api_id', 'api_version', 'tags']) {
    assert.deepEqual(await rowsOf(world, `/api/usage/${DAYS}?${name}=${sql}`), [], name)
  }
  for (const path of ['activity/keys', 'activity/keys/endpoint', 'activity/keys/aggregate']) {
    const answer = await world.call('GET', `/api/${path}/${sql}/${DAYS}`, { as: world.root })
    assert.deepEqual(refusal(answer), [400, 'Key could not be decoded.'])
  }
  const client = await world.call('GET', `/api/activity/oauthid/${sql}/${DAYS}`, { as: world.root })
  assert.deepEqual(refusal(client), [404, 'OAuth client not found'])
  assert.deepEqual(await rowsOf(world, `/api/usage/apis/${sql}/${DAYS}`), [])
  assert.equal((await rowsOf(world, `/api/usage/${DAYS}`))[0]?.hits, 1)
})

test('keys are named by hash; one that nobody knows is not found, one of others neither', async (t) => {
  const world = await open(t)
  await traffic(world, [0, 200], [3, 200], [5, 200])
  const { plain, gold } = world.hashes
  const keys = await rowsOf(world, `/api/activity/keys/${DAYS}?p=-1`)
  assert.deepEqual(keys.map((row) => idOf(row).key).sort(), ['00000000', plain, gold].sort())
  const aliasOf = (key: string) => keys.map(idOf).find((id) => id.key === key)?.alias
  assert.deepEqual([aliasOf(plain), aliasOf(gold), aliasOf('00000000')], ['=plain', 'gold one', ''])
  const unknown = createHash('sha256').update('unknown').digest('hex')
  const stranger = await world.admin(await world.organisation())
  for (const [key, as] of [
    [unknown, world.root],
    [plain, stranger],
  ] as const) {
    for (const path of ['activity/keys', 'activity/keys/endpoint']) {
      const answer = await world.call('GET', `/api/${path}/${key}/${DAYS}`, { as })
      assert.deepEqual(refusal(answer), [404, 'Key not found'])
    }
    assert.deepEqual(await rowsOf(world, `/api/activity/keys/aggregate/${key}/${DAYS}`, as), [])
  }
  // A key that is gone has left its numbers, and its name, behind.
  await world.asked(200, 'DELETE', `/api/keys/${gold}?hashed=true`, world.root)
  const [left] = await rowsOf(world, `/api/activity/keys/${gold}/${DAYS}`)
  assert.deepEqual([left?.hits, idOf(left).alias], [1, 'gold one'])
})

test('keys that are none, and more than a page can answer for, are refused by name', async (t) => {
  const world = await open(t)
  const ask = async (keys: string) => {
    return refusal(await world.call('GET', `/api/activity/keys/aggregate/${keys}/${DAYS}`, { as: world.root }))
  }
  for (const keys of [',', ',,', 'abc', `${world.hashes.plain},abc`, `${world.hashes.plain}0`])
    assert.deepEqual(await ask(keys), [400, 'Key could not be decoded.'], keys)
  const many = Array.from({ length: 1500 }, (_, i) => createHash('sha256').update(`${i}`).digest('hex'))
  assert.deepEqual(await ask(many.join(',')), [400, 'No more than 1000 keys can be asked for at once'])
  await world.asked(200, 'GET', `/api/activity/keys/aggregate/${many.slice(0, 1000).join(',')},/${DAYS}`, world.root)
})

test('where keys are not hashed they are named by themselves too, and shown by hash', async (t) => {
  const world = await open(t, { SVC_GW_HASHKEYS: 'false' })
  await traffic(world, [0, 200])
  const raw = world.kinds[0]!.headers['x-key']!
  for (const path of ['activity/keys', 'activity/keys/aggregate'])
    assert.equal((await rowsOf(world, `/api/${path}/${raw}/${DAYS}`))[0]?.hits, 1)
  const [row] = await rowsOf(world, `/api/activity/keys/${DAYS}`)
  assert.equal(idOf(row).key, world.hashes.plain)
})

test('csv holds every row and no formula', async (t) => {
  const world = await open(t, { SVC_DB_PAGESIZE: '1' })
  await traffic(world, [0, 200], [0, 200], [3, 200])
  const { text, headers } = await world.call('GET', `/api/activity/keys/${DAYS}?type=csv`, { as: world.root })
  assert.match(String(headers['content-type']), /^text\/csv/)
  assert.match(String(headers['content-disposition']), /^attachment; filename="analytics.csv"$/)
  const [head, first, second, ...rest] = text.split('\r\n')
  assert.match(head!, /^day,month,year,hour,code,path,key,alias,url,iso_country,api_id,api_name,.*hits,success,error,/)
  assert.ok(first!.startsWith(`0,0,0,0,0,,${world.hashes.plain},'=plain,,,,,`), text)
  assert.ok(second!.startsWith(`0,0,0,0,0,,${world.hashes.gold},gold one,`), text)
  assert.deepEqual(rest, [''])
})

test('latencies are whole milliseconds, percentiles stand beside them', async (t) => {
  const world = await open(t)
  await traffic(world, [0, 200], [5, 401])
  for (const row of await rowsOf(world, `/api/activity/errors/${DAYS}?res=hour`)) {
    assert.deepEqual([row.upstream_latency, row.max_upstream_latency, row.min_upstream_latency], [0, 0, 0])
    for (const name of ['p50', 'p95', 'p99']) assert.equal(typeof row[name], 'number')
  }
})

test('with ownership on, no number of a foreign API appears in any answer', async (t) => {
  const world = await open(t, { SVC_DB_ENABLEOWNERSHIP: 'true' })
  await traffic(world, [0, 200], [3, 404], [6, 200], [7, 200], [9, 200])
  const reader = await world.user({ analytics: 'read' })
  await world.asked(200, 'PUT', '/api/apis/k/access', world.root, { userIds: [world.root.id], userGroupIds: [] })
  const idsOf = async (as: TestUser) =>
    (await rowsOf(world, `/api/usage/apis/${DAYS}`, as)).map((row) => idOf(row).api_id).sort()
  assert.deepEqual(await idsOf(reader), ['open', 'tokened', 'v'])
  assert.deepEqual(await idsOf(world.root), ['k', 'open', 'tokened', 'v'])
  assert.deepEqual(await idsOf(await world.admin()), ['k', 'open', 'tokened', 'v'])
  assert.equal((await rowsOf(world, `/api/usage/${DAYS}`, reader))[0]?.hits, 3)
  assert.deepEqual(await rowsOf(world, `/api/errors/count/${DAYS}`, reader), [])
  assert.deepEqual(await rowsOf(world, `/api/usage/tags/${DAYS}?tags=own`, reader), [])
  const no = [403, 'User does not have access to the API with ID.']
  for (const path of [`usage/apis/k/${DAYS}`, `usage/${DAYS}?api_id=k`, `errors/count/${DAYS}?api_id=gold`]) {
    assert.deepEqual(refusal(await world.call('GET', `/api/${path}`, { as: reader })), no, path)
  }
  const aggregate = `activity/keys/aggregate/${world.hashes.plain}`
  assert.deepEqual(refusal(await world.call('GET', `/api/${aggregate}/${DAYS}?api_id=k`, { as: reader })), no)
  assert.deepEqual(await rowsOf(world, `/api/${aggregate}/${DAYS}`, reader), [])
  // This key has rights on another API, too.
  assert.deepEqual(await rowsOf(world, `/api/activity/keys/${world.hashes.plain}/${DAYS}`, reader), [])
  const hidden = await world.call('GET', `/api/activity/keys/${world.hashes.gold}/${DAYS}`, { as: reader })
  assert.deepEqual(refusal(hidden), [401, 'Not authorised'])
})

test('owned analytics open API usage and error counts alone; administrators are never bounded', async (t) => {
  const world = await open(t)
  await traffic(world, [0, 200], [9, 200])
  const bounded = await world.user({ analytics: 'read', owned_analytics: 'owned' })
  const { plain } = world.hashes
  const closed = ['activity/keys', `activity/keys/${plain}`, `activity/keys/endpoint/${plain}`, 'activity/geo']
  closed.push(`activity/keys/aggregate/${plain},`, `activity/oauthid/${world.clientId}`, 'activity/endpoints')
  closed.push(`activity/oauthid/endpoint/${world.clientId}`, 'activity/developers', 'usage/tags', 'activity/oauthid')
  for (const path of closed) {
    const url = `/api/${path}/${DAYS}`
    const text = `access denied: You do not have permission to access  ${url}`
    assert.deepEqual(refusal(await world.call('GET', url, { as: bounded })), [403, text])
    for (const rights of [{ analytics: 'read' }, { analytics: 'write', owned_analytics: 'owned' }]) {
      await world.asked(200, 'GET', url, await world.user(rights))
    }
    await world.asked(
      200,
      'GET',
      url,
      await world.user({ IsAdmin: 'admin', analytics: 'read', owned_analytics: 'owned' }),
    )
  }
  for (const path of ['usage', 'usage/apis', 'usage/apis/k', 'errors/count', 'activity/errors', 'usage/versions'])
    await world.asked(200, 'GET', `/api/${path}/${DAYS}`, bounded)
  for (const word of [`key=${plain}`, `client=${world.clientId}`, 'endpoint=GET%20/x', 'country=DE']) {
    const text = 'access denied: You may see the analytics of your own APIs alone'
    const answer = await world.call('GET', `/api/usage/${DAYS}?${word}`, { as: bounded })
    assert.deepEqual(refusal(answer), [403, text], word)
  }
  const without = await world.user({ owned_analytics: 'owned', apis: 'read' })
  assert.equal((await world.call('GET', `/api/usage/${DAYS}`, { as: without })).status, 403)
})

test('organisations are apart; who belongs to none sees all', async (t) => {
  const world = await open(t)
  await traffic(world, [0, 200])
  const stranger = await world.admin(await world.organisation())
  for (const path of ['usage', 'usage/apis', 'usage/apis/k', 'usage/tags', 'activity/keys', 'activity/geo'])
    assert.deepEqual(await rowsOf(world, `/api/${path}/${DAYS}?api_id=k`, stranger), [], path)
  const nobodys = await world.user({ analytics: 'read' }, { orgId: '' })
  assert.equal((await rowsOf(world, `/api/usage/${DAYS}`, nobodys))[0]?.hits, 1)
})

test('counts are forgotten after the days of the setting, and for ever kept with 0', async (t) => {
  for (const [days, left] of [
    ['30', 1],
    ['0', 2],
  ] as const) {
    const world = await open(t, { SVC_ANALYTICS_RETENTIONDAYS: days })
    await traffic(world, [0, 200])
    world.clock.advance(31 * DAY_MS)
    await traffic(world, [0, 200])
    await purgeOldHits(world.parts)
    const rows = await rowsOf(world, '/api/usage/1/1/2024/31/12/2024?res=day&p=-1')
    assert.equal(rows.length, left, `kept for ${days} days`)
  }
})

test('a row stays where it was counted when its API is gone', async (t) => {
  const world = await open(t)
  await traffic(world, [6, 200])
  await world.asked(200, 'DELETE', '/api/apis/open', world.root)
  const [row] = await rowsOf(world, `/api/usage/apis/open/${DAYS}`)
  assert.deepEqual([idOf(row).api_id, idOf(row).api_name, row?.hits], ['open', '', 1])
})

test('each date of a path may be one segment with encoded slashes, in every call that takes two', async (t) => {
  const world = await open(t)
  await traffic(world, [0, 200], [3, 200])
  const [from, to] = ['28/2/2024', '1/3/2024']
  const encoded = (date: string) => date.replaceAll('/', '%2F')
  const named: Record<string, string> = { apiId: 'k', key: world.hashes.plain, keys: `${world.hashes.plain},` }
  const routes = world.dashboard.routes.filter(({ path }) => path.includes('{fromDay}'))
  assert.ok(routes.length > 15)
  for (const { method, path } of routes) {
    const start = path
      .slice(0, path.indexOf('{fromDay}'))
      .replaceAll(/\{(\w+)\}/g, (_, name) => named[name] ?? world.clientId)
    const answer = async (dates: string) => {
      const { status, text } = await call(world.port, `${start}${dates}`, {
        method,
        headers: { authorization: world.root.key },
      })
      return [status, text]
    }
    const plain = await answer(`${from}/${to}?p=-1`)
    for (const dates of [
      `${encoded(from)}/${encoded(to)}?p=-1`,
      `${encoded(from).toLowerCase()}/${to}/?p=-1`,
      `${from}/${encoded(to)}?p=-1`,
    ])
      assert.deepEqual(await answer(dates), plain, `${start}${dates}`)
  }
})
