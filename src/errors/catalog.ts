import { DASHBOARD_ERRORS, PORTAL_ERRORS } from './catalog-dashboard.ts'
import type { CatalogEntry } from './catalog-entry.ts'
import { MANAGEMENT_ERRORS, MOVE_ERRORS } from './catalog-management.ts'
import { OAUTH_ERRORS } from './catalog-oauth.ts'
import { TRAFFIC_ERRORS } from './catalog-traffic.ts'

/** Refusals of the commands that take a store as a whole: what they print is the detail. */
const BACKUP_ERRORS = {
  store_not_empty: { status: 409, log: 'silent', text: 'The store holds data already', expose: true },
  move_running: { status: 409, log: 'silent', text: 'The store is being moved already', expose: true },
  archive_invalid: { status: 400, log: 'silent', text: 'The archive cannot be restored', expose: true },
  archive_newer: { status: 400, log: 'silent', text: 'The archive was written by a newer version', expose: true },
  command_stopped: { status: 409, log: 'silent', text: 'The command was stopped before its end', expose: true },
} as const satisfies Record<string, CatalogEntry>

/**
 * Every refusal of the product, once: status, log level and public text.
 * Nothing else decides a status. `docs/generated/errors.md` is written from here.
 */
export const CATALOG = {
  ...TRAFFIC_ERRORS,
  ...MANAGEMENT_ERRORS,
  ...OAUTH_ERRORS,
  ...DASHBOARD_ERRORS,
  ...PORTAL_ERRORS,
  ...MOVE_ERRORS,
  ...BACKUP_ERRORS,
  // the machine
  setting_invalid: { status: 500, log: 'error', text: 'A setting is not valid' },
  port_in_use: { status: 500, log: 'error', text: 'A port is in use' },
  data_folder_unwritable: { status: 500, log: 'error', text: 'The data folder cannot be written' },
  data_folder_unreadable: { status: 500, log: 'error', text: 'The data folder cannot be read' },
  data_folder_locked: { status: 500, log: 'error', text: 'Another process uses the data folder' },
  store_newer: { status: 503, log: 'error', text: 'The data was written by a newer version' },
  store_damaged: { status: 503, log: 'error', text: 'The store is damaged' },
  seal_broken: { status: 500, log: 'error', text: 'A stored secret cannot be read' },
  seal_key_differs: {
    status: 500,
    log: 'error',
    text: 'The stored secrets are sealed under another key: set storage.seal_key to that of the first node, from its secrets.json',
  },
  store_refused: { status: 503, log: 'error', text: 'The store refuses this server' },
  store_away: { status: 503, log: 'error', text: 'Try again later' },
  store_lost: { status: 500, log: 'error', text: 'The store is empty, but the data folder belongs to an installation' },
  store_emptied: {
    status: 503,
    log: 'error',
    text: 'The tables of the store are gone: stop all nodes, restore the last backup, then start them',
  },
  store_frozen: {
    status: 503,
    log: 'silent',
    text: 'The store is being moved and takes no changes, try again later',
    coded: true,
  },
  store_full: { status: 503, log: 'error', text: 'The store is full', coded: true },
  store_read_only: { status: 503, log: 'error', text: 'The store takes no changes', coded: true },
  legacy_keys_busy: { status: 503, log: 'debug', text: 'Try again later' },
  busy: { status: 503, log: 'warn', text: 'Too many calls of this kind are waiting, try again later' },
  no_descriptors: {
    status: 503,
    log: 'silent',
    text: 'The gateway has no room for another connection to an upstream, try again later',
  },
  draining: { status: 503, log: 'silent', text: 'Shutting down' },
  not_ready: { status: 503, log: 'silent', text: 'A successful API reload did not happen' },
  clock_wrong: {
    status: 503,
    log: 'silent',
    text: 'The clock of this node is more than 30 seconds off that of the database',
  },
  internal: { status: 500, log: 'error', text: 'Internal error' },
} as const satisfies Record<string, CatalogEntry>

export type FaultCode = keyof typeof CATALOG

/** The entry with all its optional members, for code that reads rather than names them. */
export function catalogEntry(code: FaultCode): CatalogEntry {
  return CATALOG[code]
}

/** Actions of an operator for a store that cannot be used. */
export const REMEDIES: Partial<Readonly<Record<FaultCode, string>>> = {
  store_damaged: 'stop the server, keep a copy of the data folder, and restore the last backup',
  store_emptied: 'stop all nodes, restore the last backup, then start them',
  store_newer: 'start the newer program again, or restore the backup from before its upgrade',
  store_away: 'start the server of the store, or correct its address',
  store_refused: 'correct user and password of the address, and the rights of the user',
  seal_key_differs: 'set storage.seal_key to seal_key in secrets.json of the first node, or put that file back',
  seal_broken:
    'put secrets.json of the last backup back, or set storage.seal_key to the key that the store was written under',
  data_folder_unreadable: 'run doctor as the user of the server',
  store_frozen:
    'start with the settings of that one; where the move was cut short, bin/gatehouse migrate-store --give-up',
  data_folder_unwritable: 'give the user of the server the data folder',
}
