import { createClient } from '@redis/client'
import { fault } from '../../errors/fault.ts'
import { redisFault } from './faults.ts'

const BATCH = 500
const CONNECT_MS = 5_000

/** A text in the other product's Redis. */
export interface IncumbentEntry {
  readonly name: string
  readonly text: string
  /** Milliseconds until it goes by itself; 0 = never. */
  readonly endsInMs: number
}

/**
 * Reads the texts of another product's key space whose names are wanted; `wants` is asked about each name once, and what is no text is
 * passed over. Nothing is written. Memory: everything that is wanted.
 * @throws Fault `setting_invalid` for what is no address, `store_away`, `store_refused`
 */
export async function readIncumbentKeys(url: string, wants: (name: string) => boolean): Promise<IncumbentEntry[]> {
  const client = foreignClient(url)
  // The command that fails reports it.
  client.on('error', () => {})
  try {
    await client.connect()
    const names = new Set<string>()
    for await (const batch of client.scanIterator({ COUNT: BATCH })) {
      // A name may come twice.
      for (const name of batch) if (!names.has(name) && wants(name)) names.add(name)
    }
    const all = [...names]
    const found: IncumbentEntry[] = []
    for (let start = 0; start < all.length; start += BATCH) {
      const part = all.slice(start, start + BATCH)
      const read = await Promise.all(part.map((name) => entryOf(client, name)))
      for (const entry of read) if (entry !== undefined) found.push(entry)
    }
    return found.sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    throw redisFault(error)
  } finally {
    client.destroy()
  }
}

type Client = ReturnType<typeof foreignClient>

/** undefined for what has gone meanwhile, and for what is no text. */
async function entryOf(client: Client, name: string): Promise<IncumbentEntry | undefined> {
  try {
    const [text, endsInMs] = await Promise.all([client.get(name), client.pTTL(name)])
    return text === null ? undefined : { name, text, endsInMs: Math.max(0, endsInMs) }
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('WRONGTYPE')) return undefined
    throw error
  }
}

function foreignClient(url: string) {
  try {
    return createClient({ url, socket: { connectTimeout: CONNECT_MS, reconnectStrategy: false } })
  } catch {
    // Without its cause, which quotes the URL and so the password.
    throw fault(
      'setting_invalid',
      '--from-redis: must be of the form redis[s]://[user:password@]host[:port][/database]',
    )
  }
}
