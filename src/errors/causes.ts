import type { FaultCode } from './catalog.ts'
import type { ErrorCauses } from './catalog-entry.ts'
import { DASHBOARD_CAUSES, PORTAL_CAUSES } from './causes-dashboard.ts'
import { MANAGEMENT_CAUSES } from './causes-management.ts'
import { OAUTH_CAUSES } from './causes-oauth.ts'
import { TRAFFIC_CAUSES } from './causes-traffic.ts'

/** The cause and the cure of every error. `docs/generated/errors.md` is written from here. */
export const CAUSES: ErrorCauses<FaultCode> = {
  ...TRAFFIC_CAUSES,
  ...MANAGEMENT_CAUSES,
  ...OAUTH_CAUSES,
  ...DASHBOARD_CAUSES,
  ...PORTAL_CAUSES,
  store_not_empty: ['The target of a restore or move has data.', 'Use an empty store.'],
  archive_invalid: ['The file is no backup, or is damaged.', 'Use another backup.'],
  archive_newer: ['The backup is of a newer version.', 'Use the program of that version or a later one.'],
  command_stopped: ['A signal ended the command.', 'Run it again.'],
  setting_invalid: ['A setting has a wrong value, or does not exist.', 'Correct the setting that the message names.'],
  port_in_use: ['Another program listens on the port.', 'Stop it, or set another port.'],
  data_folder_unwritable: ['The user of the server may not write the data folder.', 'Give the user the folder.'],
  data_folder_unreadable: [
    'The user of the command may not read the data folder.',
    'Run it as the user of the server.',
  ],
  data_folder_locked: ['Another server uses the data folder.', 'Stop that one, or use another folder.'],
  store_newer: [
    'A newer version has written the data.',
    'Start the newer program again, or restore the backup from before the upgrade.',
  ],
  store_damaged: [
    'The file of the store is damaged.',
    'Stop the server, keep a copy of the data folder, and restore the last backup.',
  ],
  seal_broken: [
    'A stored secret cannot be opened with the seal key.',
    'Put `secrets.json` of the last backup back, or set `storage.seal_key` to the old key.',
  ],
  seal_key_differs: [
    'This node has another seal key than the first one.',
    'Set `storage.seal_key` to `seal_key` in `secrets.json` of the first node.',
  ],
  store_refused: [
    'PostgreSQL or Redis refuses the user.',
    'Correct user and password of the address, and the rights of the user.',
  ],
  store_away: ['PostgreSQL or Redis does not answer.', 'Start it, or correct its address.'],
  store_lost: [
    'The store is empty, and the data folder is of an installation.',
    'Restore the last backup; `--new` starts over.',
  ],
  store_emptied: ['The tables of the store are gone.', 'Stop all nodes, restore the last backup, then start them.'],
  store_frozen: ['`migrate-store` is moving the store.', 'Wait; if the move was cut short, `migrate-store --give-up`.'],
  store_full: ['The disk or the database is full.', 'Make room.'],
  store_read_only: ['The database takes no writes, as a replica does.', 'Set the address of the primary.'],
  legacy_keys_busy: ['Too many keys of an older hash are being looked up.', 'Try again in a moment.'],
  busy: ['Too many calls of this kind are waiting.', 'Try again in a moment.'],
  no_descriptors: ['The process has used up its file descriptors.', 'Raise the limit (`ulimit -n`, `LimitNOFILE`).'],
  draining: ['The node is shutting down.', 'Send the request to another node.'],
  not_ready: ['The reload did not succeed.', 'See the log, and `GET /svc/node`.'],
  clock_wrong: ['The clock of the node differs from that of the database.', 'Synchronise the clocks (NTP).'],
  internal: ['A fault in the program.', 'See the log line of the request id, and report it.'],
}
