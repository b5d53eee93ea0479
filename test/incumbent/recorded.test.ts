import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { DIFFERENCES } from '../worlds/incumbent/differences.ts'
import { classicSetUps, openapiSetUp } from '../worlds/incumbent/recordings.ts'
import { agrees, type Replayed, replay, seen, servesMore } from '../worlds/incumbent/replay.ts'

const DEEP = process.env.GATEHOUSE_DEEP === '1'
/** All requests of one of so many APIs: some build on those before them (limits, caches). */
const EVERY = DEEP ? 1 : 10

const show = ({ recording, here, refused }: Replayed) =>
  JSON.stringify(
    { api: recording.api, request: recording.requests.at(-1), there: recording.there, here, refused },
    null,
    1,
  )

test('recorded requests are answered as there, or differ as listed', async (t) => {
  const setUps = [...classicSetUps(), openapiSetUp()]
  const apis = [...new Set(setUps.flatMap(({ recordings }) => recordings.map(({ api }) => api)))]
  const chosen = new Set(apis.filter((_, at) => at % EVERY === 0))
  const met = new Map<string, number>()
  const unlisted: Replayed[] = []
  let all = 0
  for (const setUp of setUps) {
    for (const replayed of await replay(setUp, ({ api }) => chosen.has(api))) {
      all++
      if (agrees(replayed)) continue
      const row = DIFFERENCES.find((difference) => difference.met(replayed))
      if (row === undefined || (servesMore(replayed) && row.serves !== true)) unlisted.push(replayed)
      else met.set(row.name, (met.get(row.name) ?? 0) + 1)
    }
  }
  const differing = [...met.values()].reduce((sum, count) => sum + count, 0)
  t.diagnostic(`${all} requests, ${all - differing - unlisted.length} alike, ${differing} differ as listed`)
  for (const [name, count] of met) t.diagnostic(`${count} ${name}`)
  assert.deepEqual(unlisted.map(show), [])
  if (!DEEP) return
  assert.deepEqual(
    DIFFERENCES.filter(({ name, test }) => test === undefined && !met.has(name)).map(({ name }) => name),
    [],
    'a row that no recording meets',
  )
})

test('classic definitions converted to OpenAPI do what they did', async () => {
  for (const setUp of classicSetUps()) {
    const apis = [...new Set(setUp.recordings.map(({ api }) => api))].filter((_, at) => at % EVERY === 0)
    const taken = ({ api }: { api: string }) => apis.includes(api)
    const classic = await replay(setUp, taken)
    const converted = await replay(setUp, taken, true)
    assert.deepEqual(
      converted.map((replayed) => ({ ...seen(replayed.here), agrees: agrees(replayed) })),
      classic.map((replayed) => ({ ...seen(replayed.here), agrees: agrees(replayed) })),
      setUp.recordings[0]?.topic ?? 'no recordings',
    )
    assert.equal(converted.length, classic.length)
  }
})

test('rows have names of their own', () => {
  const names = DIFFERENCES.map(({ name }) => name)
  assert.deepEqual([...new Set(names)], names)
})

test('rows without a recording name the test that is their case', () => {
  for (const { name, test } of DIFFERENCES) if (test !== undefined) assert.ok(existsSync(test), `${name}: ${test}`)
})
