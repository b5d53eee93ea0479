import { type Fault, prebuilt } from '../../errors/fault.ts'
import type { JsonObject } from '../json/json.ts'
import {
  type Quota,
  quotaOf,
  type Rate,
  rateOf,
  type ThrottleLimits,
  throttleOf,
  uniteEndpoints,
} from '../limits/limit-parts.ts'
import { compileWeight } from '../patterns/pattern-work.ts'
import { unitePaths } from '../sessions/rights.ts'
import type { AllowedUrl, EndpointLimit, Policy, Session } from '../sessions/session.ts'
import { MOST } from '../sessions/session-fields.ts'
import {
  apiScope,
  type Gathered,
  type GatheredAll,
  gather,
  type NamedPolicy,
  nothing,
  policyScope,
  statesRate,
  takeAcl,
  takeDepth,
  takeQuota,
  takeRate,
} from './merge-policies-gather.ts'
import { policyKind } from './policy.ts'

/** The access of a session to one API once its policies are applied. */
export interface EffectiveRight {
  readonly apiId: string
  readonly apiName: string
  readonly versions: readonly string[]
  /** Empty = every path. */
  readonly allowedUrls: readonly AllowedUrl[]
  /** undefined = unlimited; with the `scope` of its counter, '' = shared by all APIs of the session. */
  readonly rate: (Rate & { readonly scope: string }) | undefined
  readonly quota: (Quota & { readonly scope: string }) | undefined
  readonly throttle: ThrottleLimits
  /** -1 = unlimited, 0 = none stated. */
  readonly maxQueryDepth: number
  readonly endpoints: readonly EndpointLimit[]
  /** Fields of the access definition that this build does not enforce. */
  readonly extra: JsonObject
  /** A second right that every request must fit into as well, and is counted by (`scope-session.ts`). */
  readonly narrowedBy?: EffectiveRight
}

/** A session as its policies make it. */
export interface Merged {
  readonly rights: ReadonlyMap<string, EffectiveRight>
  /** The numbers of the top level. */
  readonly top: {
    readonly rate: Rate | undefined
    readonly quota: Quota | undefined
    readonly throttle: ThrottleLimits
    readonly maxQueryDepth: number
  }
  readonly tags: readonly string[]
  readonly metaData: JsonObject
  readonly isInactive: boolean
  /** Ids of the policies that were applied, in order; unknown ones are not among them. */
  readonly policyIds: readonly string[]
  /** Unix seconds as text: the latest of session and policies; '' when none says. */
  readonly lastUpdated: string
}

type Unscoped = Omit<EffectiveRight, 'rate' | 'quota'> & {
  readonly rate: Rate | undefined
  readonly quota: Quota | undefined
}

/** Ids of the policies of a session, in order, each once: `apply_policies`, or the older `apply_policy_id` when that is empty. */
export function policyIdsOf(session: Session): string[] {
  const list = session.apply_policies ?? []
  if (list.length > 0) return [...new Set(list)]
  const single = session.apply_policy_id ?? ''
  return single === '' ? [] : [single]
}

/**
 * Applies policies to a session. `policies` are in the order of `policyIdsOf(session)`, undefined where an id is not known.
 * `apiOrgOf` gives the organisation of an API, undefined for one that is not loaded: a policy of another organisation is refused.
 *
 * Parts (rights, rate, quota, depth) of several policies are united, the more generous wins: a rate by its time per call, a
 * quota as a pair of maximum and renewal; paths and versions add up, and no list of paths beats any list. Values of the
 * session in a part that a policy controls are ignored. A part that no source states for an API comes from the top level of the
 * session: a limit that states only a quota keeps the rate of the top level.
 * Access rights of the session itself apply only when all its policies are known and none brings rights.
 *
 * Answers a Fault `policies_unusable` with the reason when they cannot be applied together, also when they bring more patterns than
 * requests are compared with (`session-fields.ts`). Takes time that grows with the number of entries. Never throws.
 */
export function mergePolicies(
  session: Session,
  policies: readonly (Policy | undefined)[],
  apiOrgOf?: (apiId: string) => string | undefined,
): Merged | Fault {
  const ids = policyIdsOf(session)
  const known: NamedPolicy[] = []
  for (const [index, id] of ids.entries()) {
    const policy = policies[index]
    if (policy !== undefined) known.push({ id, policy, kind: policyKind(policy) })
  }
  if (ids.length > 0 && known.length === 0) return unusable('none of the policies is known')
  const refusal = conflict(known, apiOrgOf)
  if (refusal !== undefined) return refusal

  const gathered = gather(session, known)
  const covered = [...gathered.apis].filter(([, api]) => api.acl)
  const ownRights = covered.length === 0
  if (ownRights && known.length < ids.length) return unusable('no known policy brings rights')
  const plain = ownRights ? ownRightsOf(session, gathered) : covered.map(([id, api]) => inherit(id, api, gathered.top))
  if (plain.length === 0) return unusable('no policy brings rights, and the key has none')
  const excess = boundExceeded(plain)
  if (excess !== undefined) return unusable(excess)
  return {
    rights: new Map(withScopes(plain).map((right) => [right.apiId, right])),
    top: gathered.top,
    tags: tagsOf(session, known),
    metaData: metaDataOf(session, known),
    isInactive: session.is_inactive === true || known.some(({ policy }) => policy.is_inactive === true),
    policyIds: known.map(({ id }) => id),
    lastUpdated: latest([session.last_updated, ...known.map(({ policy }) => policy.last_updated)]),
  }
}

function unusable(why: string): Fault {
  return prebuilt('policies_unusable', why)
}

/** Why requests cannot be compared with all of these rights; undefined when they can. */
function boundExceeded(rights: readonly Unscoped[]): string | undefined {
  if (rights.length > MOST.rights) return `together they name ${rights.length} APIs, at most ${MOST.rights} are taken`
  let [patterns, characters] = [0, 0]
  for (const { allowedUrls, endpoints } of rights) {
    patterns += allowedUrls.length + endpoints.length
    for (const { url } of allowedUrls) characters += compileWeight(url)
    for (const { path } of endpoints) characters += compileWeight(path)
  }
  const what = 'patterns (allowed_urls, endpoints)'
  if (patterns > MOST.patterns) return `together they have ${patterns} ${what}, at most ${MOST.patterns} are taken`
  if (characters <= MOST.pattern_characters) return undefined
  return `together their ${what} have ${characters} characters, at most ${MOST.pattern_characters} are taken`
}

function conflict(
  known: readonly NamedPolicy[],
  apiOrgOf: ((apiId: string) => string | undefined) | undefined,
): Fault | undefined {
  for (const { id, policy, kind } of known) {
    if (kind.perApi && kind.partitioned) return unusable(`policy ${id} is per_api and partitioned`)
    for (const apiId of Object.keys(policy.access_rights ?? {})) {
      const org = apiOrgOf?.(apiId)
      if (org !== undefined && org !== (policy.org_id ?? ''))
        return unusable(`policy ${id} is of another organisation than API ${apiId}`)
    }
  }
  if (known.some(({ kind }) => kind.perApi) && known.some(({ kind }) => kind.partitioned)) {
    return unusable('per_api and partitioned policies cannot be mixed')
  }
  return undefined
}

/** Rights of the session itself, with the numbers that policies give them. */
function ownRightsOf(session: Session, { apis, top }: GatheredAll): Unscoped[] {
  return Object.entries(session.access_rights ?? {}).map(([apiId, right]) => {
    const api = nothing()
    const origin = { policy: '', scope: apiScope(apiId) }
    const given = apis.get(apiId) ?? nothing()
    takeAcl(api, right)
    const endpoints = uniteEndpoints(right.endpoints ?? [], united(given).endpoints)
    const rate = given.rateSet ? given.rate : rateOf(right.limit, origin)
    const throttle = given.rateSet ? given.throttle : throttleOf(right.limit)
    if (given.rateSet || statesRate(right)) takeRate(api, rate, throttle)
    const quota = given.quotaSet ? given.quota : quotaOf(right.limit, origin)
    if (given.quotaSet || quota !== undefined) takeQuota(api, quota)
    const depth = given.depthSet ? given.maxQueryDepth : (right.limit?.max_query_depth ?? 0)
    if (given.depthSet || depth !== 0) takeDepth(api, depth)
    return { ...inherit(apiId, api, scopedTop(top, right.allowance_scope)), endpoints }
  })
}

/** The numbers of the top level, counted together by the APIs whose rights name the same scope. */
function scopedTop(top: Gathered, allowanceScope = ''): Gathered {
  if (allowanceScope === '') return top
  const scope = { scope: `s.${allowanceScope}` }
  return { ...top, rate: top.rate && { ...top.rate, ...scope }, quota: top.quota && { ...top.quota, ...scope } }
}

/** The lists of all sources as one each. */
function united({ pathLists, versions, endpoints, extra }: Gathered) {
  return {
    versions: [...versions],
    allowedUrls: unitePaths(pathLists),
    endpoints: uniteEndpoints([], endpoints),
    extra: Object.fromEntries([...extra].map(([name, { value }]) => [name, value])),
  }
}

/** Fills in from the top level what no policy gave the API. Limits of its endpoints belong to the rate. */
function inherit(apiId: string, api: Gathered, top: Gathered): Unscoped {
  const { endpoints, ...lists } = united(api)
  return {
    apiId,
    apiName: api.apiName,
    ...lists,
    rate: api.rateSet ? api.rate : top.rate,
    throttle: api.rateSet ? api.throttle : top.throttle,
    quota: api.quotaSet ? api.quota : top.quota,
    maxQueryDepth: api.depthSet ? api.maxQueryDepth : top.maxQueryDepth,
    endpoints: api.rateSet ? endpoints : [],
  }
}

/**
 * Says who counts together: numbers that one policy (or the session) gave to all APIs share one count; numbers of several
 * policies are counted a policy each. So a count only ever meets one maximum.
 */
function withScopes(rights: readonly Unscoped[]): EffectiveRight[] {
  const rateScope = scopeRule(rights.map(({ rate }) => rate))
  const quotaScope = scopeRule(rights.map(({ quota }) => quota))
  return rights.map((right) => ({
    ...right,
    rate: right.rate === undefined ? undefined : { ...right.rate, scope: rateScope(right.rate) },
    quota: right.quota === undefined ? undefined : { ...right.quota, scope: quotaScope(right.quota) },
  }))
}

function scopeRule(parts: readonly (Rate | Quota | undefined)[]): (part: Rate | Quota) => string {
  const origins = new Set(
    parts.filter((part) => part !== undefined && part.scope === undefined).map((part) => part?.policy),
  )
  return (part) => part.scope ?? (origins.size > 1 && part.policy !== '' ? policyScope(part.policy) : '')
}

function tagsOf(session: Session, known: readonly NamedPolicy[]): readonly string[] {
  const given = new Set(known.flatMap(({ policy }) => policy.tags ?? []))
  return given.size > 0 ? [...given] : [...new Set(session.tags ?? [])]
}

function latest(times: readonly (string | undefined)[]): string {
  let best = ''
  for (const time of times)
    if (time !== undefined && time !== '' && (best === '' || Number(time) > Number(best))) best = time
  return best
}

function metaDataOf(session: Session, known: readonly NamedPolicy[]): JsonObject {
  const all: JsonObject = { ...session.meta_data }
  for (const { policy } of known) {
    for (const [name, value] of Object.entries(policy.meta_data ?? {})) {
      Object.defineProperty(all, name, { value, enumerable: true, configurable: true, writable: true })
    }
  }
  return all
}
