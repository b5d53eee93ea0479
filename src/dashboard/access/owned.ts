import { fault } from '../../errors/fault.ts'
import { isDocumentId } from '../../model/documents/ids.ts'
import { isKeyHash } from '../../model/keys/key.ts'
import type { Intent } from '../../model/people/permission.ts'
import { requestedPolicies } from '../../model/portal/key-requests/key-request.ts'
import { hashKey } from '../../model/secrets/secret.ts'
import { findByEitherId } from '../../publish/documents/own-ids.ts'
import { findBasicUser } from '../../publish/keys/basic-auth-users.ts'
import { apisOfRegistration } from '../../publish/oauth-clients/oauth-client-lists.ts'
import type { Awaitable, Documents, SessionRow, StoredDocument } from '../../store/ports/ports.ts'
import { apiNamed } from '../apis/api-document.ts'
import { clientsNamed, developerAppNamed } from '../oauth-clients/clients-named.ts'
import type { Owned } from '../routes/route.ts'
import type { DashboardParts } from '../server/parts.ts'
import { checkSoleDocumentOwner, checkSoleKeyOwner } from './co-owned.ts'
import type { Visibility } from './visibility.ts'

/** Where one caller's look-up is made. */
interface LookUp {
  readonly parts: DashboardParts
  readonly visibility: Visibility
  /** The caller's organisation. */
  readonly orgId: string
}

/**
 * Refuses a call about something that others own, and a write of what others own in part. What is not there, or belongs to another
 * organisation, passes: the route itself says that it is not there, in the words of its noun.
 * @throws Fault `not_owner` (401), `shared_with_others` (403)
 */
export async function checkOwned(
  look: LookUp,
  { noun, by, keepsOthers }: Owned,
  params: Readonly<Record<string, string>>,
  intent: Intent,
): Promise<void> {
  const id = params[by] ?? ''
  if (await HIDDEN[noun](look, id)) throw fault('not_owner')
  if (intent === 'write' && keepsOthers !== true) await SHARED[noun](look, id)
}

/** For each noun: refuses to write one that is based on several APIs, of which others own some. */
const SHARED: Readonly<Record<Owned['noun'], (look: LookUp, id: string) => Promise<void>>> = {
  // Owned as a whole.
  api: async () => {},
  policy: (look, id) => checkDocument(look, findPolicyDocument(look.parts.documents, look.orgId, id)),
  // Registrations of others under the same id are none of the caller's.
  async oauth_client(look, id) {
    const { seen } = await clientsNamed(look.parts, look.visibility, id)
    for (const stored of seen) await checkDocument(look, stored)
  },
  developer_app: (look, id) => checkDocument(look, developerAppNamed(look.parts, look.visibility, id)),
  key_request: (look, id) => checkDocument(look, documentNamed(look, 'key_request', id)),
  documentation: (look, id) => checkDocument(look, documentNamed(look, 'portal_documentation', id)),
  async key(look, id) {
    for (const row of await sessionsNamed(look, id))
      if (row.orgId === look.orgId) await checkSoleKeyOwner(look.parts, look, row)
  },
}

async function checkDocument(
  { parts, visibility }: LookUp,
  found: Awaitable<StoredDocument | undefined>,
): Promise<void> {
  const stored = await found
  if (stored !== undefined && visibility.org(stored)) await checkSoleDocumentOwner(parts, { visibility }, [stored])
}

/** For each noun: whether there is such a thing in the organisation which the caller may not see. */
const HIDDEN: Readonly<Record<Owned['noun'], (look: LookUp, id: string) => Promise<boolean>>> = {
  async api({ parts, visibility }, id) {
    const found = await apiNamed(parts.documents, visibility, id)
    return found !== undefined && !visibility.api(found)
  },
  async policy({ parts, visibility, orgId }, id) {
    const found = await findPolicyDocument(parts.documents, orgId, id)
    return found !== undefined && visibility.org(found) && !visibility.policy(found)
  },
  async oauth_client({ parts, visibility }, id) {
    const { own, seen } = await clientsNamed(parts, visibility, id)
    return own.length > 0 && seen.length === 0
  },
  async developer_app({ parts, visibility }, id) {
    const app = await developerAppNamed(parts, visibility, id)
    if (app === undefined || visibility.everything) return false
    return !visibility.anyApi(await apisOfRegistration(parts, app.body))
  },
  async key_request(look, id) {
    const { parts, visibility, orgId } = look
    const found = await documentNamed(look, 'key_request', id)
    if (found === undefined || !visibility.org(found) || visibility.everything) return false
    for (const policyId of requestedPolicies(found.body)) {
      const policy = await parts.documents.find('policy', 'org_policy', `${orgId}/${policyId}`)
      if (policy !== undefined && visibility.policy(policy)) return false
    }
    return true
  },
  async documentation(look, id) {
    const { parts, visibility, orgId } = look
    const found = await documentNamed(look, 'portal_documentation', id)
    if (found === undefined || !visibility.org(found) || visibility.everything) return false
    return !(await seesDocumented(parts, visibility, orgId, String(found.body.api_id ?? '')))
  },
  async key(look, id) {
    for (const row of await sessionsNamed(look, id))
      if (row.orgId === look.orgId && !(await seesSession(look, row))) return true
    return false
  },
}

async function documentNamed({ parts }: LookUp, kind: string, id: string): Promise<StoredDocument | undefined> {
  return isDocumentId(id) ? parts.documents.get(kind, id) : undefined
}

/** True when the caller may see the API or policy that documentation is about. Documentation of something deleted is hidden. */
export async function seesDocumented(
  { documents }: Pick<DashboardParts, 'documents'>,
  visibility: Visibility,
  orgId: string,
  about: string,
): Promise<boolean> {
  if (about === '' || visibility.everything) return true
  const api = await apiNamed(documents, visibility, about)
  if (api !== undefined) return visibility.api(api)
  const policy = await findPolicyDocument(documents, orgId, about)
  return policy !== undefined && visibility.org(policy) && visibility.policy(policy)
}

/** A policy of an organisation by the `id` that keys name it by, else by its storage id. */
export async function findPolicyDocument(
  documents: Documents,
  orgId: string,
  id: string,
): Promise<StoredDocument | undefined> {
  const found = await findByEitherId({ documents }, 'policy', orgId, id)
  // Callers of no organisation see those of all.
  if (found !== undefined || orgId !== '') return found
  return isDocumentId(id) ? documents.get('policy', id) : undefined
}

/** True when the caller may see a key or token: when they see one of its APIs or of the APIs of its policies, or it names none. */
export async function seesSession(
  { parts, visibility, orgId }: LookUp,
  row: Pick<SessionRow, 'apiIds' | 'policyIds'>,
): Promise<boolean> {
  if (visibility.everything) return true
  const policies = await parts.policyApis.fresh()
  return visibility.anyApi([...row.apiIds, ...row.policyIds.flatMap((id) => policies.of(orgId, id))])
}

/** All meanings of a key in a path: the key itself, its hash, or the name of a user. */
async function sessionsNamed({ parts, orgId }: LookUp, name: string): Promise<SessionRow[]> {
  const found = [
    await parts.tokens.getSession(hashKey(name)),
    isKeyHash(name) ? await parts.tokens.getSession(Buffer.from(name, 'hex')) : undefined,
    await findBasicUser(parts, orgId, name),
  ]
  return found.filter((row) => row !== undefined)
}
