import { flag, text } from './leaves.ts'

/** Settings directly below `dashboard` about policies, keys and OAuth clients. */
export const keySettings = {
  allow_explicit_policy_id: flag(
    true,
    'Keep the `id` that comes with a new policy. False replaces it by the storage id.',
  ),
  allow_unsafe_policy_ids: flag(
    false,
    'Let ids of policies hold other characters than letters, digits, `.`, `_`, `-` and `~`.',
  ),
  enable_hashed_keys_listing: flag(
    true,
    'Lists of keys show their hashes where the keys themselves are not kept. False answers such a list with 404.',
  ),
  enable_update_key_by_hash: flag(true, 'A key may be changed by who knows its hash only.'),
  enable_delete_key_by_hash: flag(true, 'A key may be deleted by who knows its hash only.'),
  disable_key_actions_by_username: flag(false, 'Basic users cannot be read, changed or deleted by their names.'),
  oauth_redirect_uri_separator: text(
    '',
    'What parts several addresses in `redirect_uri` of an OAuth client, such as `;`. Empty: it holds one address.',
    { pattern: '^[;,| ]?$', allowed: 'one of `;`, `,`, `|` and a space, or nothing' },
  ),
}
