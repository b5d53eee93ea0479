import type { DASHBOARD_ERRORS, PORTAL_ERRORS } from './catalog-dashboard.ts'
import type { ErrorCauses } from './catalog-entry.ts'

/** Causes and cures of the errors of `catalog-dashboard.ts`. */
export const DASHBOARD_CAUSES = {
  login_required: [
    'The call has no credential, an unknown one, or the user is inactive.',
    'Sign in, or send the API credential of a user in `Authorization`.',
  ],
  not_owner: ['Ownership is on, and the object has other owners.', 'Ask an owner, or an administrator.'],
  shared_with_others: ['The object belongs to others too.', 'Ask an administrator.'],
  reference_unknown: [
    'The object names another one that does not exist, or that you may not see.',
    'Correct the reference that the message names.',
  ],
  permission_missing: ['Your role does not have the permission.', 'Ask an administrator for it.'],
  csrf_token_wrong: [
    'The call of a browser session has no `X-CSRF-Token`, or a wrong one.',
    'Send the token of the session.',
  ],
  password_invalid: [
    'The password does not meet the rules of the installation.',
    'Choose another one; the message names the rule.',
  ],
  passwords_busy: ['Too many passwords are being verified.', 'Try again in a moment.'],
  sign_in_failed: ['Email address or password is wrong.', 'Check both, or reset the password.'],
  sign_in_throttled: ['Too many failed sign-ins of this name or address.', 'Wait as `Retry-After` says.'],
  sign_in_void: ['The sign-in took too long, or was finished already.', 'Start again.'],
  sign_in_refused: ['The account is inactive, or may not sign in this way.', 'Ask an administrator.'],
  second_factor_wrong: [
    'The code is wrong, or was used already.',
    'Enter the next code; check the clock of the device.',
  ],
  second_factor_state: ['The second factor is on already, or off.', 'Read its state first.'],
  passkey_invalid: [
    'The passkey was not made for this site, or its answer is wrong.',
    'Try again at the address in `dashboard.public_url`.',
  ],
  passkeys_unavailable: [
    '`dashboard.public_url` is not set, or the page was opened under another address.',
    'Set it, and open the dashboard there.',
  ],
  origin_foreign: [
    'A page of another site made the call.',
    'Call from the dashboard itself, or with an API credential.',
  ],
  session_needed: ['The call needs a browser session, not an API credential.', 'Sign in with a browser.'],
  verification_needed: [
    'The call is sensitive, and the sign-in is some time ago.',
    'Verify yourself again, then repeat it.',
  ],
  current_password_wrong: ['The current password is missing or wrong.', 'Send it.'],
  password_not_yours: ['You may not change the password of another user.', 'Ask an administrator to reset it.'],
  mail_off: ['Mail is not configured.', 'Set `dashboard.email_backend`.'],
  mail_invalid: ['The mail has no valid recipient or content.', 'Correct the address.'],
  mail_failed: [
    'The mail server refused the mail, or does not answer.',
    'Check `dashboard.email_backend`; the log has the reason.',
  ],
  link_unusable: ['The link has expired, or was used already.', 'Ask for a new one.'],
  ticket_unusable: ['The code or link has expired, or was used already.', 'Ask for a new one.'],
  user_invalid: ['A member of the user is wrong.', 'Correct the member that the message names.'],
  email_in_use: ['Another user has this email address.', 'Use another address.'],
  email_taken: ['A user of the organisation has this email address.', 'Use another address.'],
  permission_not_given: ['The user has no permission and is no administrator.', 'Give one permission at least.'],
  rights_exceeded: ['You cannot give permissions that you do not have.', 'Ask an administrator.'],
  last_admin: [
    'The organisation would be left without an active administrator.',
    'Make another user an administrator first.',
  ],
  group_invalid: ['A member of the user group is wrong.', 'Correct the member that the message names.'],
  group_in_use: ['Users belong to the group.', 'Move them to another group first.'],
  organisation_invalid: ['A member of the organisation is wrong.', 'Correct the member that the message names.'],
  organisation_taken: ['Another organisation has this id or name.', 'Choose another one.'],
  organisation_in_use: ['The organisation still has objects.', 'Delete them first.'],
  setup_invalid: ['Organisation, email address or password of the set-up is wrong.', 'Correct what the message names.'],
  setup_closed: ['The installation has been set up already.', 'Sign in instead.'],
  try_elsewhere: [
    'The path of the test request leads to no API, or to another one.',
    'Start it with the listen path of the API, which must be active.',
  ],
  try_busy: ['Too many test requests are under way.', 'Try again in a moment.'],
  gateway_behind: [
    'The gateway has not applied the stored change within five seconds.',
    'Wait; `GET /api/system/nodes` shows the state.',
  ],
  write_unconfirmed: [
    'The store did not confirm the write, so it may or may not be stored.',
    'Look for the object or the audit entry before you send it again.',
  ],
  calls_throttled: ['Too many calls without credential from this address.', 'Wait as `Retry-After` says.'],
  checks_throttled: [
    'One user had more than 20,000 APIs, OAuth clients and keys checked for moves within a minute.',
    'Wait as `Retry-After` says; the command `sync` does so by itself.',
  ],
  gateway_away: [
    'This dashboard runs without a gateway in its process.',
    'Send the test request to a gateway yourself.',
  ],
  label_invalid: ['Key or value of the label is wrong.', 'Correct what the message names.'],
  label_taken: ['A label of this name or key exists.', 'Use it, or choose another key.'],
  label_in_use: ['APIs carry the label.', 'Take it off them first.'],
  hook_invalid: ['A member of the webhook is wrong.', 'Correct the member that the message names.'],
  hook_taken: ['Another webhook has this id.', 'Choose another id.'],
  asset_invalid: ['A member of the asset is wrong.', 'Correct the member that the message names.'],
  asset_kind_unknown: ['Assets of this kind are not served.', 'Use a kind that the message names.'],
  asset_taken: ['Another asset has this id.', 'Choose another id.'],
  asset_unknown: ['The asset does not exist.', 'Check the id.'],
  undo_refused: [
    'The change cannot be undone: something else depends on what is there now.',
    'Read the message; undo the later change first.',
  ],
  rules_unsupported: ['OPA rules are stored only, and these are not valid.', 'Correct them.'],
  range_invalid: ['The dates are no range, or it is too long.', 'Send a first day that is not after the last.'],
  key_undecodable: ['The key in the path cannot be decoded.', 'Send the key, or its hash with `hashed=true`.'],
  api_not_seen: ['You may not see the API.', 'Ask an owner, or an administrator.'],
  sso_payload_invalid: ['The body for a sign-in nonce is wrong.', 'Correct the member that the message names.'],
  sso_disabled: ['The organisation does not allow single sign-on.', 'Switch it on for the organisation.'],
  sso_nonce_void: ['The sign-in link has expired, or was used already.', 'Start again.'],
  sso_refused: ['The identity profile does not let this account in.', 'Check its group mapping and domain rules.'],
  sso_failed: [
    'The identity provider refused, or its answer is wrong.',
    'See the log, and check the identity profile.',
  ],
  profile_invalid: ['A member of the identity profile is wrong.', 'Correct the member that the message names.'],
  profile_unknown: ['The identity profile does not exist.', 'Check its id in the address.'],
} as const satisfies ErrorCauses<keyof typeof DASHBOARD_ERRORS>

/** Causes and cures of `PORTAL_ERRORS`. */
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
