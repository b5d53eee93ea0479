// A process that counts requests in a PostgreSQL database without end, has them worked in all the time, and tells on its output
// what was acknowledged, until it is killed.

import { NO_DIMENSIONS } from '../../../src/model/analytics/dimensions.ts'
import { SampleBlock } from '../../../src/model/analytics/hit-samples.ts'
import { DAY_MS } from '../../../src/model/time/calendar.ts'
import { openPostgresStore } from '../../../src/store/postgres/connection/open.ts'

const [url = '', day = '0'] = process.argv.slice(2)
const { hits } = await openPostgresStore({ url })
// A test that fails must not leave it behind.
process.stdin.on('end', () => process.exit()).resume()

const own = { ...NO_DIMENSIONS, orgId: 'o', apiId: 'a' }
const numbers = await hits.number(Array.from({ length: 50 }, (_, i) => ({ ...own, keyHash: `k${i}` })))
const block = new SampleBlock(numbers.length)
const at = Number(day) * DAY_MS
block.begin(at)
for (const number of numbers) block.add(number, 200, 1, 1, at)

async function append(): Promise<never> {
  while (true) {
    await hits.append([block.samples])
    process.stdout.write(`samples ${numbers.length}\n`)
  }
}

async function read(): Promise<never> {
  while (true) await hits.sum({ fromHour: 0, toHour: 0, by: [], limit: 1 })
}

await Promise.all([append(), append(), read()])
