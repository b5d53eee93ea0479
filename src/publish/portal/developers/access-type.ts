import { fault } from '../../../errors/fault.ts'
import { SCHEMES } from '../../../model/authentication/schemes.ts'
import { policyApisOf, policyAuthTypesOf, stateOf } from '../../../model/policies/policy-body.ts'
import type { Documents, StoredDocument } from '../../../store/ports/ports.ts'
import { apiOfOrg } from '../../apis/api-ids.ts'
import type { PublishParts } from '../../documents/parts.ts'
import { findPolicy } from '../../policies/policy-ids.ts'

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
    const policy = await findPolicy(parts, id, orgId)
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

/** The access that policies give. */
export interface PolicyAccess {
  readonly type: AccessType
  /** Of a key: the OAuth APIs of its policies, which take tokens only. */
  readonly leftOut: readonly string[]
}

/**
 * The access that these policies give, by their own members and by the APIs that they have rights on. Policies that all have rights on
 * OAuth APIs give an OAuth client where a redirect URI is given (`wantsApp`); its tokens reach their other APIs too. Those that all have
 * rights on APIs with keys give a key otherwise.
 * @throws Fault `key_needless` (400) when no credential is asked for, `access_unserved` (400) naming the kind, `subscription_refused` (400)
 * when neither of them does for all
 */
export async function accessTypeOf(
  parts: { readonly documents: Pick<Documents, 'find'> },
  policies: readonly StoredDocument[],
  wantsApp: boolean,
): Promise<PolicyAccess> {
  const all = new Map<string, string>()
  const each: string[][] = []
  const oauthApis = new Set<string>()
  for (const { body } of policies) {
    const orgId = String(body.org_id ?? '')
    const types = [...policyAuthTypesOf(body)]
    for (const apiId of policyApisOf(body)) {
      const ofApi = await typesOfApi(parts, orgId, apiId)
      if (ofApi.includes('oauth')) oauthApis.add(apiId)
      types.push(...ofApi)
    }
    for (const type of types) all.set(type.toLowerCase(), type)
    each.push(types.map((type) => type.toLowerCase()))
  }
  if (all.size > 0 && [...all.keys()].every((type) => type === 'keyless')) throw fault('key_needless')
  all.delete('keyless')
  // An API that asks for a client certificate besides takes the key as well.
  if (all.has('authtoken')) all.delete('mutualtls')
  const unserved = [...all].find(([type]) => !SORTS.has(type))
  if (unserved !== undefined) throw fault('access_unserved', unserved[1])
  const sorts = each
    .map((types) => new Set(types.flatMap((type) => SORTS.get(type) ?? [])))
    .filter(({ size }) => size > 0)
  const give = (type: AccessType) => sorts.every((set) => set.has(type))
  if (sorts.length > 0 && give('oauth') && (wantsApp || !give('key'))) return { type: 'oauth', leftOut: [] }
  if (give('key')) return { type: 'key', leftOut: [...oauthApis] }
  throw fault('subscription_refused', 'apply_policies: some ask for a key, others for an OAuth client')
}

async function typesOfApi(
  { documents }: { readonly documents: Pick<Documents, 'find'> },
  orgId: string,
  apiId: string,
): Promise<string[]> {
  const listed = (await apiOfOrg(documents, orgId, apiId))?.body.auth_types
  return Array.isArray(listed) ? listed.map(String) : []
}
