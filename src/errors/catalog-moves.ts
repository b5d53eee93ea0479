import type { CatalogEntry } from './catalog-entry.ts'

/** Refusals about moving objects between installations: the first of the dashboard, the others of the commands. */
export const MOVE_ERRORS = {
  move_running: { status: 409, log: 'silent', text: 'Another run is changing this organisation', expose: 'alone' },
  // the commands: what they print is the detail
  move_refused: { status: 400, log: 'silent', text: 'Nothing was changed', expose: true },
  move_stopped: { status: 409, log: 'silent', text: 'The run was stopped before its end', expose: true },
  target_changed: { status: 409, log: 'silent', text: 'The target was changed during the run', expose: true },
  dashboard_away: { status: 503, log: 'silent', text: 'No dashboard answers', expose: true },
  dashboard_refused: { status: 400, log: 'silent', text: 'The dashboard refused a call', expose: true },
  files_unreadable: { status: 400, log: 'silent', text: 'The files cannot be read', expose: true },
  files_unwritable: { status: 500, log: 'silent', text: 'The files cannot be written', expose: true },
  sealed_unreadable: { status: 400, log: 'silent', text: 'A sealed value cannot be opened', expose: true },
  option_invalid: { status: 400, log: 'silent', text: 'An option is not valid', expose: true },
} as const satisfies Record<string, CatalogEntry>
