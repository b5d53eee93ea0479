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
  /** True for a policy that names an API that the actor may see, or none. */
  policy(document: Seen): boolean
  /**
   * True for everything based on these APIs, by the rule of policies. Where none of them exists any more, it belongs to whom they did.
   */
  anyApi(apiIds: readonly string[]): boolean
  /** How many of these are APIs of the actor's organisation that others own, or owned where none of them exists any more. */
  hidden(apiIds: readonly string[]): number
  /** The APIs that a deleted policy of the organisation was for, by either id. */
  apisOfDeletedPolicy(policyId: string): readonly string[]
  /** The condition of lists of any kind: the organisation. */
  whereOrg(): Where
  /** The condition of lists of APIs: organisation and owner. */
  where(): Where
  /** Ids of all APIs that the actor may see, and of deleted ones that were the actor's; undefined where ownership hides nothing. */
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
  const isMine = ({ owners: own }: { readonly owners: readonly string[] }) => own.some((owner) => mine.includes(owner))
  const visible = (apiId: string) => {
    const found = owners.of(apiId)
    if (found === undefined || (bounded && found.orgId !== orgId)) return false
    return everything || isMine(found)
  }
  /** The APIs of the organisation among these, or those of them that were there before. */
  const known = (apiIds: readonly string[]) => {
    const ids = [...new Set(apiIds)]
    const there = ids.map((apiId) => owners.of(apiId)).filter((found) => found?.orgId === orgId)
    const found = there.length > 0 ? there : ids.map((apiId) => owners.ofDeleted(orgId, apiId))
    return found.filter((each) => each !== undefined)
  }
  const anyApi = (apiIds: readonly string[]) => {
    if (everything) return true
    const found = known(apiIds)
    return found.length === 0 || found.some(isMine)
  }
  const whereOrg = (): Where => (bounded ? { org_id: orgId } : {})
  return {
    everything,
    org,
    api: (document) => org(document) && (everything || visible(textOf(document.body.api_id))),
    apiId: visible,
    policy: (document) => org(document) && anyApi(policyApisOf(document.body)),
    anyApi,
    hidden: (apiIds) => (everything ? 0 : known(apiIds).filter((found) => !isMine(found)).length),
    apisOfDeletedPolicy: (policyId) => owners.apisOfDeletedPolicy(orgId, policyId),
    whereOrg,
    where: () => (everything ? whereOrg() : { ...whereOrg(), owner: mine }),
    apiIds: () =>
      everything
        ? undefined
        : [...owners.ids(visible), ...owners.deletedIds((tombstone) => tombstone.orgId === orgId && isMine(tombstone))],
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
