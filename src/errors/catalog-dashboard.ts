import type { CatalogEntry } from './catalog-entry.ts'

/** Refusals of the dashboard alone. */
export const DASHBOARD_ERRORS = {
  // the dashboard
  login_required: { status: 401, log: 'silent', text: 'Not authorised' },
  // there is such a thing, and others own it
  not_owner: { status: 401, log: 'silent', text: 'Not authorised' },
  // only some of what it is based on is the caller's
  shared_with_others: {
    status: 403,
    log: 'silent',
    text: 'Other owners have a part of this object',
    expose: 'alone',
  },
  // a reference to an object that the caller cannot see or that does not exist
  reference_unknown: { status: 400, log: 'silent', text: 'A referenced object does not exist', expose: 'alone' },
  permission_missing: {
    status: 403,
    log: 'silent',
    text: 'access denied: You do not have permission to access',
    expose: 'alone',
  },
  csrf_token_wrong: { status: 403, log: 'silent', text: 'The X-CSRF-Token header is missing or wrong' },
  // passwords
  password_invalid: { status: 400, log: 'silent', text: 'The password does not meet the rules', expose: true },
  passwords_busy: {
    status: 503,
    log: 'warn',
    text: 'Too many passwords are being checked, try again later',
    oauth: 'temporarily_unavailable',
  },
  // signing in to the dashboard
  sign_in_failed: { status: 401, log: 'silent', text: 'The email address or the password is wrong' },
  sign_in_throttled: { status: 429, log: 'warn', text: 'Too many failed attempts, try again later', expose: 'alone' },
  sign_in_void: { status: 401, log: 'silent', text: 'This sign-in has expired, start again', coded: true },
  sign_in_refused: { status: 403, log: 'silent', text: 'This account cannot sign in', expose: 'alone' },
  second_factor_wrong: { status: 401, log: 'silent', text: 'The code is wrong or was used already' },
  second_factor_state: { status: 409, log: 'silent', text: 'The second factor is not in that state', expose: 'alone' },
  passkey_invalid: { status: 400, log: 'silent', text: 'The passkey cannot be accepted' },
  passkeys_unavailable: {
    status: 409,
    log: 'warn',
    text: 'Passkeys need dashboard.public_url, and the dashboard opened under it',
  },
  origin_foreign: { status: 403, log: 'warn', text: 'The call came from a page of another site' },
  session_needed: { status: 403, log: 'silent', text: 'This call needs a browser session' },
  verification_needed: {
    status: 403,
    log: 'silent',
    text: 'Verify your identity again, then repeat the call',
    coded: true,
  },
  current_password_wrong: { status: 403, log: 'silent', text: 'The current password is missing or wrong' },
  password_not_yours: {
    status: 403,
    log: 'silent',
    text: 'The password of another user cannot be changed with these rights',
  },
  mail_off: { status: 409, log: 'warn', text: 'Mails are not configured: dashboard.email_backend' },
  mail_invalid: { status: 400, log: 'warn', text: 'The mail cannot be sent', expose: true },
  mail_failed: { status: 502, log: 'error', text: 'The mail server rejected the mail' },
  link_unusable: { status: 400, log: 'silent', text: 'The link is invalid, expired or already used' },
  ticket_unusable: { status: 409, log: 'silent', text: 'Invalid, expired or already used' },
  // people: users, groups, organisations
  // clients compare the text: the detail is for the log
  user_invalid: { status: 400, log: 'debug', text: 'User object validation failed.', expose: true },
  email_in_use: { status: 403, log: 'silent', text: 'This email address is already in use.' },
  email_taken: { status: 403, log: 'silent', text: 'User email already exists for this org.' },
  permission_not_given: {
    status: 403,
    log: 'silent',
    text: 'To create a user specify at least one permission, or make them an admin.',
  },
  rights_exceeded: {
    status: 403,
    log: 'debug',
    text: 'You cannot grant permissions that you do not have, nor change users who have them',
    expose: 'alone',
  },
  last_admin: {
    status: 400,
    log: 'silent',
    text: 'The last active administrator of an organisation cannot be removed: make another user an administrator first',
  },
  group_invalid: { status: 400, log: 'silent', text: 'User group object validation failed.', expose: true },
  group_in_use: { status: 400, log: 'silent', text: 'The user group is in use', expose: true },
  organisation_invalid: { status: 400, log: 'silent', text: 'Organisation object validation failed.', expose: true },
  organisation_taken: { status: 403, log: 'silent', text: 'Failed to save new Org object to DB', expose: true },
  organisation_in_use: { status: 400, log: 'silent', text: 'The organisation is in use', expose: true },
  setup_invalid: { status: 400, log: 'silent', text: 'The set-up is not valid', expose: true },
  setup_closed: {
    status: 403,
    log: 'warn',
    text: 'The set-up link is not valid: it was used, or there are users already',
  },
  // requests that are tried at an API
  try_elsewhere: {
    status: 400,
    log: 'silent',
    text: 'The gateway does not route this path to this API: start it with the listen path, and check that the API is active',
  },
  try_busy: { status: 503, log: 'debug', text: 'Too many requests are being tried, try again later' },
  gateway_behind: {
    status: 503,
    log: 'warn',
    text: 'The gateway has not applied the stored change in time, try again later',
  },
  write_unconfirmed: {
    status: 503,
    log: 'warn',
    text: 'The store has not confirmed that this is stored: look it up, or its request id in the audit log, before you send it again',
  },
  calls_throttled: { status: 429, log: 'debug', text: 'Too many calls from this address, try again later' },
  checks_throttled: {
    status: 429,
    log: 'debug',
    text: 'Too many objects were checked for moves in this minute, try again later',
  },
  gateway_away: {
    status: 503,
    log: 'debug',
    text: 'No gateway runs in the process of this dashboard, so it cannot try requests',
  },
  // labels, webhooks and the audit log of the dashboard
  label_invalid: { status: 400, log: 'silent', text: 'Label is not valid', expose: true },
  label_taken: { status: 409, log: 'silent', text: 'A label of this name or key exists already' },
  label_in_use: { status: 409, log: 'silent', text: 'The label is in use', expose: true },
  hook_invalid: { status: 400, log: 'silent', text: 'Webhook object validation failed.', expose: true },
  hook_taken: { status: 409, log: 'silent', text: 'Duplicate webhook_id.' },
  // assets
  asset_invalid: { status: 400, log: 'silent', text: 'Asset is not valid', expose: true },
  asset_kind_unknown: { status: 422, log: 'silent', text: 'Asset kind is not supported', expose: true },
  asset_taken: { status: 409, log: 'silent', text: 'Asset ID already exists', expose: 'alone' },
  asset_unknown: { status: 404, log: 'silent', text: 'Asset not found' },
  undo_refused: { status: 409, log: 'silent', text: 'The change cannot be undone', expose: true },
  rules_unsupported: { status: 400, log: 'silent', text: 'Invalid OPA rules.', expose: true },
  // analytics
  range_invalid: { status: 400, log: 'silent', text: 'The date range is not valid', expose: true },
  key_undecodable: { status: 400, log: 'silent', text: 'Key could not be decoded.' },
  api_not_seen: { status: 403, log: 'silent', text: 'User does not have access to the API with ID.' },
  // single sign-on
  sso_payload_invalid: { status: 400, log: 'silent', text: 'Cannot create an SSO session', expose: 'alone' },
  sso_disabled: { status: 403, log: 'warn', text: 'SSO not enabled for org.' },
  sso_nonce_void: { status: 403, log: 'warn', text: 'This sign-in link is invalid, expired or already used' },
  // why is for the log: a stranger must not learn who has an account
  sso_refused: { status: 403, log: 'warn', text: 'Single sign-on was refused' },
  sso_failed: { status: 403, log: 'warn', text: 'Single sign-on did not succeed' },
  profile_invalid: { status: 400, log: 'silent', text: 'Identity profile is not valid', expose: true },
  profile_unknown: { status: 404, log: 'silent', text: 'Identity profile not found' },
} as const satisfies Record<string, CatalogEntry>

/** Refusals of the developer portal's management calls. */
export const PORTAL_ERRORS = {
  // developers and their sessions
  developer_invalid: { status: 400, log: 'silent', text: 'Developer object validation failed.', expose: true },
  developer_email_taken: { status: 403, log: 'silent', text: 'Developer email already exists for this org.' },
  developer_quota_reached: {
    status: 403,
    log: 'silent',
    text: 'The developer quota of the organisation has been reached.',
  },
  // clients compare the text; of an unknown developer it is the same
  developer_password_invalid: {
    status: 400,
    log: 'silent',
    text: 'Developer password validation failed.',
    expose: true,
  },
  portal_login_off: { status: 403, log: 'silent', text: 'Signing in to the portal is switched off' },
  portal_signup_off: { status: 403, log: 'silent', text: 'Signing up at the portal is switched off' },
  portal_session_needed: { status: 401, log: 'silent', text: 'This call needs a session at the portal' },
  portal_csrf_wrong: { status: 403, log: 'silent', text: 'The CSRF token in Authorization is missing or wrong' },
  // what was sent for a page, a menu, the catalogue, a key request, the configuration, ...
  portal_invalid: { status: 400, log: 'silent', text: 'The portal object is not valid', expose: true },
  portal_taken: { status: 409, log: 'silent', text: 'There is one already', expose: 'alone' },
  documentation_too_large: { status: 413, log: 'silent', text: 'The documentation is too large', expose: true },
  request_refused: { status: 400, log: 'silent', text: 'The key request is refused', expose: true },
  // clients compare the text
  request_processed: { status: 400, log: 'silent', text: 'Key request has already been processed.' },
  subscription_refused: { status: 400, log: 'silent', text: 'The subscription is refused', expose: true },
  access_unserved: { status: 400, log: 'silent', text: 'This type of key is not supported', expose: true },
} as const satisfies Record<string, CatalogEntry>
