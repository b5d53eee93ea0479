import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { makeLimit } from '../../../src/model/limits/limit.ts'
import { FakeClock, systemClock } from '../../../src/model/time/clock.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'
import { temporaryFolder } from '../../contract/adapters.ts'
import { type Child, startChild } from '../../worlds/store/child.ts'

const KILLS = process.env.GATEHOUSE_DEEP === '1' ? 20 : 2
/** Processes at a time. */
const LANES = 2

test('a quota that was stored with an end beyond every number of JavaScript stops no start', async (t) => {
  const path = temporaryFolder(t)
  await (await openStore({ path })).close()
  const db = new DatabaseSync(join(path, 'gatehouse.db'))
  db.exec("INSERT INTO quota(number, id, used, ends_at) VALUES (1, 'key|', 3, 9223372036854775807)")
  db.close()
  for (let start = 0; start < 2; start++) {
    const store = await openStore({ path })
    const limit = makeLimit('quota', 'key|', 10, 3_600_000)
    store.counters.peek([limit], { wall: systemClock.wall(), mono: systemClock.mono() })
    await store.close()
    assert.ok(limit.remaining <= 10)
  }
})

/** Used permits of both quotas, as the next process finds them. */
async function used(path: string): Promise<number[]> {
  const store = await openStore({ path })
  const limits = [makeLimit('quota', 'key|', 1_000_000, 3_600_000), makeLimit('quota', 'for ever|', 1_000_000, 0)]
  store.counters.peek(limits, { wall: systemClock.wall(), mono: systemClock.mono() })
  await store.close()
  return limits.map(({ max, remaining }) => max - remaining)
}

/** Resolves when the child has taken permits for so long. */
async function tookFor(child: Child, ms: number): Promise<void> {
  const first = Number((await child.line('took')).split(' ')[1])
  while (Number(child.lines.at(-1)!.split(' ')[1]) < first + ms) await new Promise(setImmediate)
}

test('quota counts are exact after clean stops, by one thread or by several', async (t) => {
  const path = temporaryFolder(t)
  let taken = 0
  for (const how of ['alone', 'shared']) {
    const child = startChild('quota-taker.ts', [path, how])
    await tookFor(child, 100)
    child.process.stdin!.write('stop')
    await child.ended
    taken += child.lines.filter((line) => line.startsWith('took')).length
    assert.deepEqual(await used(path), [taken, taken])
  }
})

test('after kill -9 at most the last second of quota counts is lost', async (t) => {
  const lost: number[] = []
  const lane = async (first: number) => {
    for (let n = first; n < KILLS; n += LANES)
      lost.push(await lostByKill(t, 1200 + ((n * 370) % 900), n % 2 === 0 ? 'alone' : 'shared'))
  }
  await Promise.all(Array.from({ length: LANES }, (_, first) => lane(first)))
  t.diagnostic(`permits lost: ${lost.join(', ')}`)
})

async function lostByKill(t: TestContext, ms: number, how: string): Promise<number> {
  const path = temporaryFolder(t)
  const child = startChild('quota-taker.ts', [path, how])
  await tookFor(child, ms)
  child.process.kill('SIGKILL')
  await child.ended
  const times = child.lines.filter((line) => line.startsWith('took')).map((line) => Number(line.split(' ')[1]))
  // While the machine was stalled nothing could be saved.
  const stoodMs = Math.max(...times.slice(1).map((time, i) => time - times[i]!))
  const atLeast = times.filter((time) => time <= times.at(-1)! - 1000 - 2 * stoodMs).length
  const [saved, forEver] = await used(path)
  assert.ok(
    saved! >= atLeast && saved! <= times.length + 1,
    `${saved} of ${times.length}, ${atLeast} before the last second`,
  )
  assert.equal(forEver, saved)
  return times.length - saved!
}

test('a window that ended while nobody ran begins anew, one that did not goes on', async (t) => {
  const path = temporaryFolder(t)
  const clock = new FakeClock()
  const now = () => ({ wall: clock.wall(), mono: clock.mono() })
  const [short, long] = [makeLimit('quota', 's|', 10, 60_000), makeLimit('quota', 'l|', 10, 120_000)]
  const first = await openStore({ path, clock })
  for (let i = 0; i < 4; i++) first.counters.take([short, long], now())
  await first.close()
  clock.advance(61_000)
  // The monotonic clock of another process begins anywhere.
  clock.monoMs = 7
  for (let start = 0; start < 2; start++) {
    const next = await openStore({ path, clock })
    const limits = [makeLimit('quota', 's|', 10, 60_000), makeLimit('quota', 'l|', 10, 120_000)]
    next.counters.peek(limits, now())
    assert.deepEqual(
      limits.map(({ remaining }) => remaining),
      [10, 6],
    )
    assert.ok(Math.abs(limits[1]!.resetMs - 59_000) <= 1)
    await next.close()
  }
})

test('counts that could not be saved are saved with the next round', async (t) => {
  const path = temporaryFolder(t)
  const store = await openStore({ path, keepWriter: false })
  const limit = makeLimit('quota', 'key|', 10, 0)
  await store.stopWriter()
  store.counters.take([limit], { wall: systemClock.wall(), mono: systemClock.mono() })
  await assert.rejects(store.saveQuotas(), { code: 'store_away' })
  await store.startWriter()
  await store.saveQuotas()
  await store.close()
  const again = await openStore({ path })
  t.after(() => again.close())
  const same = makeLimit('quota', 'key|', 10, 0)
  again.counters.peek([same], { wall: systemClock.wall(), mono: systemClock.mono() })
  assert.equal(same.remaining, 9)
})
