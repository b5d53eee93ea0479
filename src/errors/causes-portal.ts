import type { PORTAL_ERRORS } from './catalog-portal.ts'
import type { ErrorCauses } from './error-causes.ts'

/** Causes and cures of the errors of `catalog-portal.ts`. */
export const PORTAL_CAUSES = {
  developer_invalid: ['A member of the developer is wrong.', 'Correct the member that the message names.'],
  developer_email_taken: ['A developer of the organisation has this email address.', 'Use another address.'],
  developer_quota_reached: [
    'The organisation has as many developers as it may have.',
    'Raise the quota of the organisation, or delete developers.',
  ],
  developer_password_invalid: ['The password does not meet the rules of the portal.', 'Choose another one.'],
  portal_login_off: ['The portal settings do not allow signing in.', 'Change the settings of the portal.'],
  portal_signup_off: [
    'The portal settings do not allow signing up.',
    'Change the settings of the portal, or create the developer.',
  ],
  portal_session_needed: ['The call needs a session at the portal.', 'Sign in at the portal.'],
  portal_csrf_wrong: [
    '`Authorization` has no CSRF token of the session, or a wrong one.',
    'Send the token of `GET /portal/csrf`.',
  ],
  portal_invalid: ['A member of the portal object is wrong.', 'Correct the member that the message names.'],
  portal_taken: ['The portal has such an object already.', 'Change that one.'],
  documentation_too_large: [
    'The documentation is larger than `portal.max_documentation_bytes`.',
    'Shorten it, or raise the setting.',
  ],
  request_refused: ['The key request does not fit the catalogue entry.', 'Correct what the message names.'],
  request_processed: ['The key request was approved or declined already.', 'Make a new one.'],
  subscription_refused: [
    'The developer cannot have this policy.',
    'Check that the policy is active and in the catalogue.',
  ],
  access_unserved: [
    'The API has an authentication method for which the portal gives no credential.',
    'Use keys or OAuth.',
  ],
} as const satisfies ErrorCauses<keyof typeof PORTAL_ERRORS>
