import { join } from 'node:path'
import { openStore } from '../src/store/sqlite/connection/open.ts'
import { Admin, QUOTA_MAX } from './product.ts'

const HOUR_MS = 3_600_000

/** Permits taken from the quotas of these keys, all together. */
export async function quotaUsed(admin: Admin, keys: readonly string[]): Promise<number> {
  let used = 0
  await Admin.times(keys.length, async (i) => {
    const session = await admin.call('GET', `/keys/${keys[i]}`)
    const remaining = session.quota_remaining
    if (typeof remaining !== 'number') throw new Error(`key ${i} tells no quota_remaining: ${JSON.stringify(session)}`)
    used += QUOTA_MAX - remaining
  })
  return used
}

/** Requests by status in the data folder of a product that has ended. */
export async function storedHits(folder: string): Promise<Map<number, number>> {
  const store = await openStore({ path: join(folder, 'data') })
  try {
    const thisHour = Math.floor(Date.now() / HOUR_MS)
    const rows = await store.hits.sum({ fromHour: thisHour - 24, toHour: thisHour, by: ['status'], limit: 1000 })
    const counts = new Map<number, number>()
    for (const row of rows) counts.set(row.status, (counts.get(row.status) ?? 0) + row.count)
    return counts
  } finally {
    await store.close()
  }
}
