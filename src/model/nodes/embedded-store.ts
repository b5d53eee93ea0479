/** True where the settings of the storage name a folder of this installation's one process; false for a store that several processes share. */
export function isEmbedded(storage: { readonly postgres_url: string }): boolean {
  return storage.postgres_url === ''
}
