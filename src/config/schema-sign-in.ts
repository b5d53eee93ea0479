import { Type } from 'typebox'
import { flag, group, list, map, PORT, text, whole } from './leaves.ts'

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

/** Settings below `dashboard.security` that say what people may see and do of each other. */
export const peopleSecurity = {
  additional_permissions: map(
    'Custom permissions that every organisation starts with: key to what it is called. An organisation with its own uses those.',
  ),
  forbid_admin_view_access_token: flag(false, 'Show the API credential of a user only to that user.'),
  forbid_admin_reset_access_token: flag(false, 'Allow only the user to regenerate their API credential.'),
}

/** `bootstrap`: the first organisation and the first user, an administrator, made at the first start without anybody there. */
export const bootstrapSettings = group({
  organisation: text('Default organisation', 'Name of the first organisation.', { pattern: '\\S', allowed: 'a name' }),
  email: text('', 'Email address of the first user. Empty: no user is created, and the set-up link is printed.'),
  password: text('', 'Password of the first user. Can be taken away after the first start.', { secret: true }),
  first_name: text('', 'First name of the first user.'),
  last_name: text('', 'Last name of the first user.'),
})

const YEAR_S = 31_536_000

/** Settings of sign-in directly below `dashboard`. */
export const signInSettings = {
  public_url: text(
    '',
    'Address under which browsers reach the dashboard, such as `https://dashboard.example.org`: for links in mails, and the place that passkeys are bound to. With https the session cookie is `Secure`. Empty: mails with links are not sent, and passkeys work on localhost alone.',
    { allowed: 'an absolute http or https URL without path, query, fragment, user or password' },
  ),
  home_dir: text(
    '',
    'Folder whose `schemas/` holds `password.json`, `developer_password.json` and `basic_auth.json`: what passwords must be like. Empty: the data folder. Read at the start.',
  ),
  dashboard_session_lifetime: whole(43_200, [60, YEAR_S], 'Longest life of a browser session in seconds.'),
  portal_session_lifetime: whole(43_200, [60, YEAR_S], 'Life of a session of a developer at the portal in seconds.'),
  session_idle_time: whole(3600, [60, YEAR_S], 'Seconds without a call after which a browser session ends.'),
  enable_multi_org_users: flag(
    false,
    'One email address may have an account in each of several organisations; at sign-in its owner chooses one.',
  ),
  disable_parallel_sessions: flag(false, 'Signing in ends all other browser sessions of the user.'),
}

/** Settings of sign-in below `dashboard.security`. */
export const signInSecurity = {
  login_failure_username_limit: whole(
    10,
    [0, 1_000_000],
    'Failed sign-ins under one user name from one address before further ones are refused. From all addresses together, after ten times as many in a day, each further one waits up to 30 seconds; an address that has signed in under the name before does not. 0: no bound.',
  ),
  login_failure_ip_limit: whole(
    100,
    [0, 1_000_000],
    'Failed sign-ins from one address (IPv6: from one network of 64 bits) before further ones are refused. 0: no bound.',
  ),
  public_calls_per_minute: whole(
    1200,
    [0, 1_000_000],
    'Public calls that bring a body, from one address (IPv6: from one network of 64 bits) within a minute, before further ones are refused with 429. 0: no bound.',
  ),
  signup_ip_limit: whole(
    30,
    [0, 1_000_000],
    'Sign-ups of developers from one address (IPv6: from one network of 64 bits) within `login_failure_expiration`. 0: no bound.',
  ),
  login_failure_expiration: whole(900, [1, 86_400], 'Seconds after which failed sign-ins are forgotten.'),
  hide_login_failure_limit_error: flag(
    false,
    'Answer a refused sign-in as if the password had been wrong, after the same time.',
  ),
  login_disallow_forward_proxy: flag(
    false,
    'Count failed sign-ins by the address of the connection, ignoring `X-Forwarded-For`.',
  ),
  allow_admin_reset_password: flag(false, 'Let administrators set the password of other users of their organisation.'),
  user_password_max_days: whole(
    0,
    [0, 36_500],
    'Days after which a password must be changed at sign-in. The shortest of this and the `password_max_days` of the user and of the group holds. 0: no bound.',
  ),
  enforce_password_history: whole(0, [0, 24], 'How many former passwords may not be used again.'),
  force_first_login_pw_reset: flag(false, 'Users must choose another password when they sign in for the first time.'),
}

/** `dashboard.email_backend`: how mails are sent. */
export const emailBackend = group({
  enable_email_notifications: flag(false, 'Send mails.'),
  code: Type.Enum(['smtp'], { default: 'smtp', description: 'How mails are sent.' }),
  default_from_email: text('', 'Address that mails come from.', {
    pattern: '^(?:[^\\s<>@",;:]+@[^\\s<>@",;:]+)?$',
    allowed: 'a mail address',
  }),
  default_from_name: text('Gatehouse', 'Name that mails come from.', {
    pattern: '^[^\\r\\n]*$',
    allowed: 'one line of text',
  }),
  settings: group({
    smtp_host: text('', 'Mail server.', { pattern: '^\\S*$', allowed: 'a host name or address' }),
    smtp_port: whole(587, PORT, 'Port of the mail server: 587 with `starttls`, 465 with `implicit`.'),
    smtp_tls: Type.Enum(['starttls', 'implicit', 'none'], {
      default: 'starttls',
      description: 'How the connection is encrypted. `none` is for a mail server on the same machine.',
    }),
    smtp_ca_file: text(
      '',
      'PEM file with the CA certificates that the mail server is verified by. Empty: the usual ones.',
    ),
    smtp_username: text('', 'User at the mail server. Empty: it asks for none.'),
    smtp_password: text('', 'Password at the mail server.', { secret: true }),
    timeout_ms: whole(
      10_000,
      [100, 600_000],
      'Longest wait for the mail server: to connect, for its greeting, for an answer.',
    ),
  }),
})
