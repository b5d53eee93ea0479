import type { RedisConnection } from './connection.ts'

const SCAN_KEYS = '1000'
const AT_ONCE = 1000

/** The beginning of the names of all counts, and that of rates, by the algorithm that counts them: see `RateScript`. */
export interface CountKeys {
  readonly prefix: string
  readonly rateKey: string
}

/** The names under which the counts of an id are kept. */
export function counterNames({ prefix, rateKey }: CountKeys, id: string): { rate: string; quota: string } {
  return { rate: `${prefix}${rateKey}:${id}`, quota: `${prefix}quota:${id}` }
}

/** The ids of all counts of an owner (`owner|...`). Looks at every key that Redis has, a thousand at a time. */
export async function scanOwned(connection: RedisConnection, names: CountKeys, owner: string): Promise<Set<string>> {
  const ids = new Set<string>()
  const { rate, quota } = counterNames(names, '')
  for (const start of [rate, quota]) {
    const pattern = `${literal(`${start}${owner}`)}|*`
    for await (const keys of scanKeys(connection, pattern)) for (const key of keys) ids.add(key.slice(start.length))
  }
  return ids
}

/** A quota as Redis holds it. */
interface StoredQuota {
  readonly id: string
  readonly used: number
  /** By Redis's clock, Unix milliseconds; 0 = never, or not known before the next call. */
  readonly endsAt: number
}

/** All quotas of which permits are used. Looks at every key that Redis has, a thousand at a time. */
export async function* scanQuotas(connection: RedisConnection, prefix: string): AsyncGenerator<StoredQuota> {
  const start = `${prefix}quota:`
  const found = new Set<string>()
  for await (const keys of scanKeys(connection, `${literal(start)}*`)) for (const key of keys) found.add(key)
  const names = [...found]
  for (let at = 0; at < names.length; at += AT_ONCE) {
    const some = names.slice(at, at + AT_ONCE)
    const texts = (await connection.command(['MGET', ...some])) as (string | null)[]
    for (const [i, key] of some.entries()) {
      // Generation, version, used permits and end: see `readQuota` of the scripts.
      const [, used = 0, ends = 0] = /^\d+ \d+ (\d+) (-?\d+)$/.exec(texts[i] ?? '')?.map(Number) ?? []
      if (used > 0) yield { id: key.slice(start.length), used, endsAt: Math.max(0, ends) }
    }
  }
}

async function* scanKeys(connection: RedisConnection, pattern: string): AsyncGenerator<string[]> {
  let cursor = '0'
  do {
    const reply = await connection.command(['SCAN', cursor, 'MATCH', pattern, 'COUNT', SCAN_KEYS])
    const [next, keys] = reply as [string, string[]]
    yield keys
    cursor = String(next)
  } while (cursor !== '0')
}

/** Text as a pattern that matches only itself. */
function literal(text: string): string {
  return text.replace(/[\\*?[\]^]/g, '\\$&')
}
