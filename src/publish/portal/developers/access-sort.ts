import { fault } from '../../../errors/fault.ts'
import { SCHEMES } from '../../../model/authentication/schemes.ts'
import { policyApisOf, policyAuthTypesOf, stateOf } from '../../../model/policies/policy-index.ts'
import type { Documents, StoredDocument } from '../../../store/ports/ports.ts'
import { apiOfOrg } from '../../apis/api-ids.ts'
import type { PublishParts } from '../../documents/parts.ts'
import { policyNamed } from './policy-named.ts'

/** The access that a policy gives a developer: a key, or an OAuth client. */
export type AccessType = 'key' | 'oauth'

/** Words of policies and APIs for the sorts that are served, in lower case. */
const SORTS: ReadonlyMap<string, AccessType> = new Map([
  ...SCHEMES.flatMap(({ type, access }) => (access === undefined ? [] : [[type.toLowerCase(), access] as const])),
  ['auth_token', 'key'],
  ['oauth2', 'oauth'],
])
const MOST_POLICIES = 100

/**
 * The requested policies for a developer, by either of their ids, each once.
 * @throws Fault `subscription_refused` (400) naming one that does not exist or gives no new keys
 */
export async function wantedPolicies(
  parts: PublishParts,
  orgId: string,
  named: readonly string[],
): Promise<StoredDocument[]> {
  if (named.length === 0) throw fault('subscription_refused', 'apply_policies: is missing')
  if (named.length > MOST_POLICIES) throw fault('subscription_refused', `apply_policies: more than ${MOST_POLICIES}`)
  const found = new Map<string, StoredDocument>()
  for (const id of named) {
    const policy = await policyNamed(parts, orgId, id)
    if (policy === undefined)
      throw fault('subscription_refused', `apply_policies: there is no policy ${id.slice(0, 100)}`)
    if (stateOf(policy.body) !== 'active')
      throw fault('subscription_refused', `apply_policies: policy ${id} is not active`)
    found.set(policy.id, policy)
  }
  return [...found.values()]
}

/** The id by which keys and clients name a policy. */
export function policyIdOf({ id, body }: StoredDocument): string {
  return typeof body.id === 'string' && body.id !== '' ? body.id : id
}

/**
 * The kind of access that these policies give, by their own members and by the APIs that they have rights on. All must give one kind.
 * @throws Fault `key_needless` (400) when no credential is asked for, `access_unserved` (400) naming the kind, `subscription_refused` (400)
 * when they are of several kinds
 */
export async function accessTypeOf(
  parts: { readonly documents: Pick<Documents, 'find'> },
  policies: readonly StoredDocument[],
): Promise<AccessType> {
  const types = new Map<string, string>()
  for (const { body } of policies) {
    const own = [
      ...policyAuthTypesOf(body),
      ...(await typesOfApis(parts, String(body.org_id ?? ''), policyApisOf(body))),
    ]
    for (const type of own) types.set(type.toLowerCase(), type)
  }
  if (types.size > 0 && [...types.keys()].every((type) => type === 'keyless')) throw fault('key_needless')
  types.delete('keyless')
  // An API that asks for a client certificate besides takes the key as well.
  if (types.has('authtoken')) types.delete('mutualtls')
  const unserved = [...types].find(([type]) => !SORTS.has(type))
  if (unserved !== undefined) throw fault('access_unserved', unserved[1])
  const sorts = new Set([...types.keys()].map((type) => SORTS.get(type)!))
  if (sorts.size > 1)
    throw fault('subscription_refused', 'apply_policies: some ask for a key, others for an OAuth client')
  const [only = 'key'] = sorts
  return only
}

async function typesOfApis(
  { documents }: { readonly documents: Pick<Documents, 'find'> },
  orgId: string,
  apiIds: readonly string[],
): Promise<string[]> {
  const types: string[] = []
  for (const apiId of apiIds) {
    const listed = (await apiOfOrg(documents, orgId, apiId))?.body.auth_types
    if (Array.isArray(listed)) types.push(...listed.map(String))
  }
  return types
}
