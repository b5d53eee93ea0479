import type { Config } from './schema.ts'

/** True where the data lie in a folder of this installation's one process; false for a store that several processes share. */
export function isEmbedded(storage: Pick<Config['storage'], 'postgres_url'>): boolean {
  return storage.postgres_url === ''
}
