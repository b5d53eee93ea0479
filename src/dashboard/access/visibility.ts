import { isAdmin } from '../../model/people/permission.ts'
import { policyApisOf } from '../../model/policies/policy-body.ts'
import type { StoredDocument, Where } from '../../store/ports/ports.ts'
import type { ApiOwners } from '../apis/api-owners.ts'
import type { Actor } from './actor.ts'

/** A document to check: as stored, or its body. */
type Seen = Pick<StoredDocument, 'body'>

/** The visibility of an actor: the documents of the organisation, and of these, with ownership on, those that are not owned by others. */
export interface Visibility {
  /** True when nothing is hidden by ownership: it is off, or the actor is an administrator. Organisations are apart all the same. */
  readonly everything: boolean
  /** True for a document of the actor's organisation; for an unbounded actor, of any, or of the one it looks at and of none. */
  org(document: Seen): boolean
  /** True for an API that the actor may see. */
  api(document: Seen): boolean
  /** The same by `api_id`; false for one that is not there. */
  apiId(apiId: string): boolean
  /** True for a policy that names an API that the actor may see, or none that exists. */
  policy(document: Seen): boolean
  /** True for everything based on these APIs, by the rule of policies. */
  anyApi(apiIds: readonly string[]): boolean
  /** How many of these are APIs of the actor's organisation that others own. */
  hidden(apiIds: readonly string[]): number
  /** The condition of lists of any kind: the organisation. */
  whereOrg(): Where
  /** The condition of lists of APIs: organisation and owner. */
  where(): Where
  /** Ids of all APIs that the actor may see; undefined where ownership hides nothing. */
  apiIds(): readonly string[] | undefined
}

/** The index value of an API without owners. */
export const NO_OWNER = '*'

/** The visibility of the actor. `owners` must be up to date (`ApiOwners.fresh`) where ownership is on. */
export function visibilityOf(actor: Actor | undefined, owners: ApiOwners, ownershipOn: boolean): Visibility {
  const orgId = actor?.orgId ?? ''
  const bounded = actor !== undefined && orgId !== ''
  const viewing = actor?.viewing === true
  const everything = !ownershipOn || actor === undefined || isAdmin(actor.permissions) || !bounded || viewing
  const mine: readonly string[] = bounded
    ? [NO_OWNER, `u:${actor.userId}`, ...(actor.groupId === '' ? [] : [`g:${actor.groupId}`])]
    : [NO_OWNER]
  // A user without an organisation only looks at one; their own record belongs to none.
  const org = ({ body }: Seen) => !bounded || body.org_id === orgId || (viewing && body.org_id === '')
  const visible = (apiId: string) => {
    const found = owners.of(apiId)
    if (found === undefined || (bounded && found.orgId !== orgId)) return false
    return everything || found.owners.some((owner) => mine.includes(owner))
  }
  const anyApi = (apiIds: readonly string[]) =>
    everything || apiIds.some(visible) || !apiIds.some((apiId) => owners.of(apiId)?.orgId === orgId)
  const isHidden = (apiId: string) => owners.of(apiId)?.orgId === orgId && !visible(apiId)
  const whereOrg = (): Where => (bounded ? { org_id: orgId } : {})
  return {
    everything,
    org,
    api: (document) => org(document) && (everything || visible(textOf(document.body.api_id))),
    apiId: visible,
    policy: (document) => org(document) && anyApi(policyApisOf(document.body)),
    anyApi,
    hidden: (apiIds) => (everything ? 0 : new Set(apiIds.filter(isHidden)).size),
    whereOrg,
    where: () => (everything ? whereOrg() : { ...whereOrg(), owner: mine }),
    apiIds: () => (everything ? undefined : owners.ids(visible)),
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
