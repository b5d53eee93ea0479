import type { ErrorCauses } from './catalog-entry.ts'
import type { MANAGEMENT_ERRORS, MOVE_ERRORS } from './catalog-management.ts'

/** Causes and cures of the errors of `catalog-management.ts`. */
export const MANAGEMENT_CAUSES = {
  move_running: ['Another run changes the same organisation or store.', 'Wait until it has ended.'],
  move_refused: ['The files have mistakes, so nothing was changed.', 'Correct each line that is printed.'],
  move_stopped: ['A signal or an error ended the run early.', 'Run it again: what is done is not done twice.'],
  target_changed: ['The target was changed by another writer during the run.', 'Run it again.'],
  dashboard_away: ['No dashboard answers at the address.', 'Check `--dashboard` and that it runs.'],
  dashboard_refused: [
    'The dashboard refused a call of the command.',
    'Read the message; check credential and permissions.',
  ],
  files_unreadable: ['The folder has no files of a dump, or they cannot be read.', 'Check `--path`.'],
  files_unwritable: ['A file cannot be written.', 'Check rights and space of the folder.'],
  sealed_unreadable: [
    'A sealed value was made for another key.',
    'Give the private key of the recipient with `--identity`.',
  ],
  option_invalid: ['An option or word of the command is wrong.', 'See `--help` of the command.'],
  change_pending: [
    'The change is stored, and this node has not loaded it yet.',
    'Wait, or read `GET /svc/node`; do not send it again.',
  ],
  admin_secret_wrong: [
    '`X-Svc-Authorization` is missing or wrong.',
    'Send the secret of the gateway: `gateway_secret` in `secrets.json`, or `gateway.secret`.',
  ],
  secret_throttled: ['Too many wrong secrets came from this address.', 'Wait, and send the right one.'],
  method_not_allowed: ['The path exists, and not with this method.', 'Use a method that `Allow` names.'],
  body_encoded: ['The body has a `Content-Encoding`.', 'Send it without.'],
  body_malformed: [
    'The body is no JSON, or not of the form that the call takes.',
    'Correct the place that the message names.',
  ],
  document_malformed: ['The body is no JSON or YAML document.', 'Correct its syntax.'],
  body_invalid: ['A member of the body has a wrong value.', 'Correct the member that the message names.'],
  body_refused: ['A member of the body has a wrong value.', 'Correct the member that the message names.'],
  definition_invalid: [
    'A member of the API definition is wrong.',
    'Correct the place that the message names; `validate` checks files.',
  ],
  definition_unsupported: [
    'The API definition asks for something that is not served.',
    'Remove it; [members without effect](definition-members.md) has what to use instead.',
  ],
  pattern_invalid: ['A regular expression does not compile, or needs too much work.', 'Write it in the syntax of RE2.'],
  policy_invalid: ['A member of the policy is wrong.', 'Correct the member that the message names.'],
  policy_name_taken: ['Another policy of the organisation has this name.', 'Choose another name.'],
  key_invalid: ['A member of the key is wrong.', 'Correct the member that the message names.'],
  certificate_not_owned: [
    'The certificate is of another organisation, or does not exist.',
    'Use a certificate of your organisation.',
  ],
  key_not_owned: ['The key is of another organisation, or does not exist.', 'Use a key of your organisation.'],
  key_needless: ['The API asks for no key.', 'Set an authentication method, or leave the key out.'],
  rights_missing: ['The key has neither access rights nor policies.', 'Add `access_rights` or `apply_policies`.'],
  id_malformed: ['An id in the path is malformed.', 'Use the id as the list of the objects shows it.'],
  already_exists: ['An object with this id or name exists.', 'Change that one, or choose another id.'],
  id_taken: [
    'An object with this id exists or was deleted and can be put back, perhaps in another organisation.',
    'Choose another id, or let an administrator of the organisation that deleted it release it: `DELETE /api/deleted-ids/api/{id}`.',
  ],
  revision_conflict: ['Another writer changed the object at the same time.', 'Read it again, and repeat the change.'],
  precondition_failed: [
    '`If-Match` names another state of the object than the present one.',
    'Read it again, and repeat the change with its `ETag`.',
  ],
  listen_path_taken: ['Another API has the listen path, or one that overlaps it.', 'Choose another path or domain.'],
  not_found: ['The object does not exist, or you may not see it.', 'Check the id and the organisation.'],
  version_query_invalid: [
    'The parameters about versions of the API are wrong.',
    'Send `base_api_id` with `new_version_name`.',
  ],
  query_invalid: ['A query parameter is missing or wrong.', 'Correct the parameter that the message names.'],
  certificate_invalid: [
    'The text is no certificate in PEM, or its private key does not fit.',
    'Send certificate and key in PEM.',
  ],
  webhook_target_refused: [
    'The address of the webhook is in a private network.',
    'Use a public address, or set `webhooks.allow_private`.',
  ],
  import_refused: [
    'The document cannot be read from this address.',
    'Check the address, and the settings `dashboard.import_url`.',
  ],
} as const satisfies ErrorCauses<keyof typeof MOVE_ERRORS | keyof typeof MANAGEMENT_ERRORS>
