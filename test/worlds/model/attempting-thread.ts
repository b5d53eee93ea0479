import { parentPort, threadId, workerData } from 'node:worker_threads'
import { systemClock } from '../../../src/model/time/clock.ts'
import { AttemptLimiter } from '../../../src/runtime/attempt-limiter.ts'
import { SharedRecentTables, type SharedTableMemory } from '../../../src/runtime/shared-recent-tables.ts'

const HOUR_MS = 3_600_000

/** Begins attempts under one name until no more are allowed, and answers how many began. */
const { memory, owner, most } = workerData as { memory: SharedTableMemory; owner: number; most: number }
const tables = new SharedRecentTables(memory, owner)
const limiter = new AttemptLimiter(systemClock, { limit: most, windowMs: HOUR_MS }, { tables, name: 'hot' })
// The first one only keeps the lock busy, until it is ended.
if (owner === 1) {
  parentPort!.postMessage(threadId)
  for (;;) limiter.tryBegin('another')
}
let begun = 0
while (limiter.tryBegin('hot') === 0) begun++
parentPort!.postMessage(begun)
