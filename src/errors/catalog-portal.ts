import type { CatalogEntry } from './catalog-entry.ts'

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
