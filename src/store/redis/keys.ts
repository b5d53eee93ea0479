import type { RedisConnection } from './connection.ts'

const SCAN_KEYS = '1000'

/** The names under which the counts of an id are kept. */
export function counterNames(prefix: string, id: string): { rate: string; quota: string } {
  return { rate: `${prefix}rate:${id}`, quota: `${prefix}quota:${id}` }
}

/** The ids of all counts of an owner (`owner|...`). Looks at every key that Redis has, a thousand at a time. */
export async function scanOwned(connection: RedisConnection, prefix: string, owner: string): Promise<Set<string>> {
  const ids = new Set<string>()
  for (const start of [`${prefix}rate:`, `${prefix}quota:`]) {
    let cursor = '0'
    do {
      const pattern = `${literal(`${start}${owner}`)}|*`
      const reply = await connection.command(['SCAN', cursor, 'MATCH', pattern, 'COUNT', SCAN_KEYS])
      const [next, keys] = reply as [string, string[]]
      for (const key of keys) ids.add(key.slice(start.length))
      cursor = String(next)
    } while (cursor !== '0')
  }
  return ids
}

/** Text as a pattern that matches only itself. */
function literal(text: string): string {
  return text.replace(/[\\*?[\]^]/g, '\\$&')
}
