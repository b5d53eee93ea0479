import { isDocumentId } from '../../../model/documents/ids.ts'
import { isObject, type Json, type JsonObject } from '../../../model/json/json.ts'
import { blankScalars } from '../../../model/json/scalar-fields.ts'
import { NEVER, toEmail } from '../../../model/people/user.ts'
import { DEVELOPER_FIELDS } from '../../../model/portal/developers/developer-fields.ts'
import { withoutSecrets } from '../../../model/secrets/secret-places.ts'
import { foldCase } from '../../../model/text/fold.ts'
import type { Change, Documents, StoredDocument } from '../../../store/ports/ports.ts'

type Reading = { readonly documents: Pick<Documents, 'get' | 'find' | 'list'> }

/** A developer of an organisation by storage id ('' = of any); that of another organisation is as one that is not there. */
export async function developerIn(
  { documents }: Reading,
  orgId: string,
  id: string,
): Promise<StoredDocument | undefined> {
  const found = isDocumentId(id) ? await documents.get('developer', id) : undefined
  return found !== undefined && (orgId === '' || found.body.org_id === orgId) ? found : undefined
}

/** A developer of an organisation by email address, in any letter case. One indexed read. */
export async function developerByEmail(
  { documents }: Reading,
  orgId: string,
  address: string,
): Promise<StoredDocument | undefined> {
  const email = toEmail(address)
  if (email === undefined) return undefined
  const found = await documents.find('developer', 'org_email', `${orgId}/${foldCase(email)}`)
  // The index folds more than letter case; the identity of a developer must not.
  return found !== undefined && toEmail(found.body.email) === email ? found : undefined
}

/** Members that callers know, with their defaults, in the order of an answer: fields that came later are behind the others. */
const SHOWN: Readonly<Record<string, Json>> = {
  email: '',
  date_created: NEVER,
  inactive: false,
  org_id: '',
  keys: {},
  subscriptions: {},
  api_keys: {},
  fields: {},
  nonce: '',
  sso_key: '',
  oauth_clients: {},
  password_max_days: 0,
  password_updated: NEVER,
  PWHistory: [],
  last_login_date: NEVER,
  ...blankScalars(DEVELOPER_FIELDS),
}

/**
 * A developer as callers see it, with both `id` and `_id`. Neither the password nor former ones are in it; the nonce, which opens
 * a session, and other secrets only `withSecrets`.
 */
export function toDeveloperView(
  { id, body }: Pick<StoredDocument, 'id' | 'body'>,
  { withSecrets = false }: { readonly withSecrets?: boolean } = {},
): JsonObject {
  const { password: _hash, PWHistory: _former, ...rest } = body
  const shown: JsonObject = { id, _id: id, ...SHOWN, ...rest, oauth_clients: appsSeen(body.oauth_clients) }
  return withSecrets ? shown : { ...withoutSecrets(shown), nonce: '', sso_key: '' }
}

/** The change that writes a developer over its read state. It fails with `revision_conflict` when another writer was faster. */
export function putDeveloper({ id, revision }: StoredDocument, body: JsonObject): Change {
  return { op: 'put', kind: 'developer', id, body, ifRevision: revision }
}

/** Clients look for `secret`: it is blank, as in all lists. */
function appsSeen(apps: Json | undefined): JsonObject {
  if (!isObject(apps)) return {}
  return Object.fromEntries(
    Object.entries(apps).map(([policyId, list]) => [
      policyId,
      Array.isArray(list) ? list.map((app) => (isObject(app) ? { ...app, secret: '' } : app)) : [],
    ]),
  )
}
