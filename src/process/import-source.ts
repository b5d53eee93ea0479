import type { ForeignEntry } from '../store/redis/incumbent-keys.ts'

/** Reads another product's Redis; its client is loaded only then. See `readForeignKeys`. */
export async function readIncumbent(url: string, wants: (name: string) => boolean): Promise<readonly ForeignEntry[]> {
  const { readForeignKeys } = await import('../store/redis/incumbent-keys.ts')
  return readForeignKeys(url, wants)
}
