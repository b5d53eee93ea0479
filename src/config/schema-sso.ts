import { flag, group, list, map, text, whole } from './leaves.ts'

/** Settings of single sign-on directly below `dashboard`. */
export const ssoDashboard = {
  sso_enable_user_lookup: flag(
    false,
    'A single sign-on with the email address of a user of the organisation signs in as that user.',
  ),
  sso_default_group_id: text(
    '',
    'Group whose rights those have who come by single sign-on and are in no other. Also read from `SVC_DB_SSODEFAULTUSERGROUP`.',
  ),
  sso_permission_defaults: map(
    'Permissions of all users of single sign-on, in addition to those of their groups: permission to `read` or `write`.',
  ),
  sso_custom_login_url: text('', 'Address that a refused single sign-on offers to begin again at.', {
    pattern: '^(?:https?://\\S+)?$',
    allowed: 'an http or https URL',
  }),
  sso_custom_login_error_url: text('', 'Address that a refused single sign-on leads to. Empty: a page of our own.', {
    pattern: '^(?:https?://\\S+)?$',
    allowed: 'an http or https URL',
  }),
}

/** `sso`: what holds for all single sign-on of the installation. */
export const ssoSettings = group({
  deny_without_mapping: flag(
    false,
    'Refuse those who come by single sign-on while neither groups nor default rights are configured. False makes them administrators, as the specification says, with a warning. A nonce is without groups where GroupID and GroupsIDs are both missing, null or an empty text; an empty list is not.',
  ),
  allow_private: flag(
    false,
    'Let identity providers and directories be on loopback, link-local and private networks, and be reached by plain http.',
  ),
  return_urls: list(
    'Addresses outside of the dashboard that a sign-in may lead to, compared exactly. They get a sign-in nonce or a key.',
    { pattern: '^https?://[^\\s#]+$', allowed: 'http or https URLs without fragment' },
  ),
  timeout_ms: whole(10_000, [100, 60_000], 'Longest wait for an answer of an identity provider or directory.'),
})
