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

/** Refusals of management calls that every surface shares. */
export const MANAGEMENT_ERRORS = {
  change_pending: { status: 503, log: 'warn', text: 'Stored, but not yet in force on this node', expose: 'alone' },
  // administration
  admin_secret_wrong: {
    status: 403,
    log: 'warn',
    text: 'Attempted administrative access with invalid or missing key!',
  },
  secret_throttled: {
    status: 429,
    log: 'warn',
    text: 'Too many wrong secrets from this address, try again later',
  },
  method_not_allowed: { status: 405, log: 'silent', text: 'Method not supported' },
  body_encoded: {
    status: 415,
    log: 'silent',
    text: 'The body is encoded: send it without Content-Encoding',
  },
  body_malformed: {
    status: 400,
    log: 'silent',
    text: 'Request malformed',
    expose: true,
    dashboard: { status: 403, text: 'Request body malformed' },
  },
  // a document, which holds no secret that must not be quoted
  document_malformed: { status: 403, log: 'silent', text: 'Request body malformed', expose: true },
  body_invalid: { status: 400, log: 'silent', text: 'Request body is not valid', expose: true },
  // the same, for calls with a text for it
  body_refused: { status: 400, log: 'silent', text: 'Request body is not valid', expose: 'alone' },
  definition_invalid: {
    status: 400,
    log: 'silent',
    text: 'Validation of API Definition failed.',
    expose: true,
  },
  definition_unsupported: {
    status: 400,
    log: 'silent',
    text: 'The API uses a feature that this gateway does not support.',
    expose: true,
  },
  pattern_invalid: { status: 400, log: 'silent', text: 'Pattern is not valid.', expose: true },
  policy_invalid: { status: 400, log: 'silent', text: 'Policy is not valid.', expose: true },
  policy_name_taken: {
    status: 400,
    log: 'silent',
    text: 'This policy name has already been used. Please choose another one.',
  },
  key_invalid: { status: 400, log: 'silent', text: 'Key is not valid.', expose: true },
  certificate_not_owned: { status: 400, log: 'debug', text: 'Attempted access to non-owned certificate.' },
  key_not_owned: { status: 400, log: 'debug', text: 'Attempted access to non-owned key.' },
  // the key's APIs ask for none
  key_needless: { status: 400, log: 'silent', text: 'Key requests are not possible for keyless APIs.' },
  rights_missing: {
    status: 400,
    log: 'silent',
    text: 'Failed to create key, keys must have at least one Access Rights record set.',
  },
  id_malformed: { status: 400, log: 'silent', text: 'Malformed id', expose: true },
  already_exists: { status: 409, log: 'silent', text: 'Already exists', expose: true },
  // ids of APIs and OAuth clients, and storage ids, are unique in an installation: the dashboard does not tell that another organisation has one
  id_taken: {
    status: 409,
    log: 'silent',
    text: 'Already exists',
    expose: true,
    dashboard: { text: 'This ID cannot be used. Choose another one.' },
  },
  revision_conflict: { status: 409, log: 'silent', text: 'Changed by someone else in the meantime', expose: true },
  precondition_failed: {
    status: 412,
    log: 'silent',
    text: 'It was changed by someone else in the meantime. Read it again.',
  },
  listen_path_taken: { status: 409, log: 'silent', text: 'Listen path is taken', expose: true },
  not_found: { status: 404, log: 'silent', text: 'Not found', expose: 'alone' },
  version_query_invalid: { status: 422, log: 'silent', text: 'Unprocessable Content', expose: 'alone' },
  query_invalid: { status: 400, log: 'silent', text: 'Bad Request', expose: 'alone' },
  certificate_invalid: { status: 400, log: 'silent', text: 'Certificate is not valid', expose: true },
  // webhooks
  webhook_target_refused: {
    status: 400,
    log: 'warn',
    text: 'The webhook target is on a network that webhooks may not reach',
    expose: 'alone',
  },
  import_refused: { status: 400, log: 'silent', text: 'The address cannot be imported from', expose: 'alone' },
} as const satisfies Record<string, CatalogEntry>
