import { RedisConnection } from './connection.ts'

const WITHIN_MS = 3_000

/** The policy of Redis for when it has no memory left; '' where it does not say. @throws Fault `store_away`, `store_refused`, `setting_invalid` */
export async function evictionPolicy(url: string): Promise<string> {
  const connection = new RedisConnection({ url }, 'gatehouse:{counts}:trial')
  try {
    await connection.settled(WITHIN_MS)
    await connection.command(['PING'])
    // Not every account may ask, and not every service knows the command.
    const answer = await connection.command(['CONFIG', 'GET', 'maxmemory-policy']).catch(() => [])
    const values = Array.isArray(answer) ? answer : Object.values(answer as object)
    return String(values.at(-1) ?? '')
  } finally {
    connection.close()
  }
}
