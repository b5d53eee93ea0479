// A process that takes permits of a quota and reports each, until it is stopped or killed. `shared`: as a thread that counts in shared memory.

import { makeLimit } from '../../../src/model/limits/limit.ts'
import { systemClock } from '../../../src/model/time/clock.ts'
import { joinStore } from '../../../src/store/sqlite/connection/join.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'

const [path = '', how = ''] = process.argv.slice(2)
const store = await openStore({ path, sharedCounts: how === 'shared' })
const { counters } = how === 'shared' ? joinStore(store.share()) : store
const limits = [makeLimit('quota', 'key|', 1_000_000, 3_600_000), makeLimit('quota', 'for ever|', 1_000_000, 0)]
const timer = setInterval(() => {
  counters.take(limits, { wall: systemClock.wall(), mono: systemClock.mono() })
  process.stdout.write(`took ${Date.now()}\n`)
}, 1)
// A test that fails must not leave it behind.
process.stdin.on('end', () => process.exit())
process.stdin.on('data', async () => {
  clearInterval(timer)
  await store.close()
  process.stdout.write('closed\n')
  process.exit()
})
process.stdout.write('ready\n')
