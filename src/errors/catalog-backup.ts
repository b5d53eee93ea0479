import type { CatalogEntry } from './catalog-entry.ts'

/** Refusals of the commands that take a store as a whole: what they print is the detail. */
export const BACKUP_ERRORS = {
  store_not_empty: { status: 409, log: 'silent', text: 'The store holds data already', expose: true },
  archive_invalid: { status: 400, log: 'silent', text: 'The archive cannot be restored', expose: true },
  archive_newer: { status: 400, log: 'silent', text: 'The archive was written by a newer version', expose: true },
  command_stopped: { status: 409, log: 'silent', text: 'The command was stopped before its end', expose: true },
} as const satisfies Record<string, CatalogEntry>
