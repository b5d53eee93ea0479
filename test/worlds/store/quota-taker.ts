// A process that takes permits of a quota and reports each, until it is stopped or killed.

import { makeLimit } from '../../../src/model/limits/limit.ts'
import { systemClock } from '../../../src/model/time/clock.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'

const [path = ''] = process.argv.slice(2)
const store = await openStore({ path })
const limits = [makeLimit('quota', 'key|', 1_000_000, 3_600_000), makeLimit('quota', 'for ever|', 1_000_000, 0)]
const timer = setInterval(() => {
  store.counters.take(limits, { wall: systemClock.wall(), mono: systemClock.mono() })
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
