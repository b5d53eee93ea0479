import { arrayOf, closedObjectOf, flag, said, text, whole } from '../../model/openapi/component-schemas.ts'
import { SESSION_SCHEMA } from '../../model/sessions/session.ts'
import { type AdminOperations, changedObject, inJson, OF_ORGANISATION, PAGE, WARNING_LIST } from './admin-operation.ts'

const KeySaved = changedObject('KeySaved', ['added', 'modified', 'updated', 'deleted'], {
  key_hash: said(text, 'Hash of the key.'),
  warnings: said(
    WARNING_LIST,
    'Members without effect; limits that the key had and that the body left out; paths of rights that were written out.',
  ),
})
const OrganisationLimitsSaved = changedObject('OrganisationLimitsSaved', ['added', 'modified'], {
  warnings: said(WARNING_LIST, 'Members without effect.'),
})
const KEEP = { suppress_reset: said(flag, 'Keeps the count of the quota.') }
const FOUND_BY = {
  ...OF_ORGANISATION,
  hashed: said(flag, 'The path names the key by its hash.'),
  username: said(flag, 'The path names a basic-auth user.'),
}
const KeyPolicies = closedObjectOf(
  'KeyPolicies',
  {},
  {
    policy: said(text, 'Id of one policy, in place of a list.'),
    apply_policies: said(arrayOf(text), 'Ids of the policies that the key has from now on.'),
  },
)
const keyList = (title: string) =>
  closedObjectOf(
    title,
    { keys: said(arrayOf(text), 'Keys, or their hashes where the installation stores no keys.') },
    {
      next: said(text, '`after` of the next list. Absent: this is the last.'),
      pages: said(whole, 'Number of pages, where a page was asked for.'),
    },
  )

/** Keys, with their sessions. */
export const KEY_OPERATIONS: AdminOperations = {
  'GET /keys': {
    id: 'listKeys',
    summary: 'List keys by their hashes, or by themselves where the installation keeps them',
    query: {
      ...PAGE,
      ...OF_ORGANISATION,
      api_id: said(text, 'Only keys with rights on this API.'),
      policy_id: said(text, 'Only keys with this policy.'),
      filter: said(text, 'How an entry begins.'),
      after: said(text, '`next` of the list before.'),
    },
    answer: keyList('KeyList'),
  },
  'POST /keys': {
    id: 'createKey',
    summary: 'Create a key',
    query: { ...OF_ORGANISATION, ...KEEP },
    body: inJson(SESSION_SCHEMA),
    answer: KeySaved,
  },
  'POST /keys/create': {
    id: 'createKeyAtOlderPath',
    summary: 'Create a key, as `POST /keys` does',
    query: { ...OF_ORGANISATION, ...KEEP },
    body: inJson(SESSION_SCHEMA),
    answer: KeySaved,
  },
  'POST /keys/preview': {
    id: 'previewKey',
    summary: 'Get the session that a key would have, with its policies applied, without creating it',
    query: OF_ORGANISATION,
    body: inJson(SESSION_SCHEMA),
    answer: SESSION_SCHEMA,
  },
  'POST /keys/policy/{hash}': {
    id: 'setKeyPolicies',
    summary: 'Replace the policies of a key',
    body: inJson(KeyPolicies),
    answer: KeySaved,
  },
  'POST /keys/{key}/rotate': {
    id: 'rotateKey',
    summary: 'Give a key a new value; the session stays, the old value ends',
    query: FOUND_BY,
    answer: KeySaved,
  },
  'GET /keys/{key}': {
    id: 'getKey',
    summary: 'Get the session of a key, with its policies applied and its counts',
    query: FOUND_BY,
    answer: SESSION_SCHEMA,
  },
  'POST /keys/{key}': {
    id: 'createCustomKey',
    summary: 'Create a key of this value, or a basic-auth user of this name',
    query: {
      ...OF_ORGANISATION,
      ...KEEP,
      username: said(flag, 'The path names a basic-auth user.'),
      hashed: said(flag, 'Refused: a hash makes no key.'),
    },
    body: inJson(SESSION_SCHEMA),
    answer: KeySaved,
  },
  'PUT /keys/{key}': {
    id: 'updateKey',
    summary: 'Replace the session of a key',
    query: { ...FOUND_BY, ...KEEP },
    body: inJson(SESSION_SCHEMA),
    answer: KeySaved,
  },
  'DELETE /keys/{key}': {
    id: 'deleteKey',
    summary: 'Delete a key',
    query: { ...FOUND_BY, api_id: said(text, '`-1` is answered with `null`.') },
    answer: { anyOf: [KeySaved, { type: 'null' }] },
  },
}

/** Limits of whole organisations. */
export const ORGANISATION_OPERATIONS: AdminOperations = {
  'GET /org/keys': {
    id: 'listOrganisationLimits',
    summary: 'List the organisations that have limits',
    query: PAGE,
    answer: keyList('OrganisationList'),
  },
  'GET /org/keys/{org}': {
    id: 'getOrganisationLimits',
    summary: 'Get the session that limits an organisation',
    answer: SESSION_SCHEMA,
  },
  'POST /org/keys/{org}': {
    id: 'createOrganisationLimits',
    summary: 'Set the session that limits an organisation',
    query: { reset_quota: said(flag, 'Starts its quota again.') },
    body: inJson(SESSION_SCHEMA),
    answer: OrganisationLimitsSaved,
  },
  'PUT /org/keys/{org}': {
    id: 'updateOrganisationLimits',
    summary: 'Replace the session that limits an organisation',
    query: { reset_quota: said(flag, 'Starts its quota again.') },
    body: inJson(SESSION_SCHEMA),
    answer: OrganisationLimitsSaved,
  },
  'DELETE /org/keys/{org}': {
    id: 'deleteOrganisationLimits',
    summary: 'Delete the limits of an organisation',
    answer: changedObject('OrganisationLimitsDeleted', ['deleted']),
  },
}
