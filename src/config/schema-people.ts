import { flag, group, map, text } from './leaves.ts'

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
