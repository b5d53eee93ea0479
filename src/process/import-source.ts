import type { IncumbentEntry } from '../store/redis/incumbent-keys.ts'

/** Reads another product's Redis; its client is loaded only then. See `readIncumbentKeys`. */
export async function readIncumbent(url: string, wants: (name: string) => boolean): Promise<readonly IncumbentEntry[]> {
  const { readIncumbentKeys: readForeignKeys } = await import('../store/redis/incumbent-keys.ts')
  return readForeignKeys(url, wants)
}
