import { setMember } from '../apis/definition/tree.ts'
import { isObject, type Json } from '../json/json.ts'
import {
  betterDepth,
  betterQuota,
  betterRate,
  betterThrottle,
  type Quota,
  quotaOf,
  type Rate,
  rateOf,
  type ThrottleLimits,
  throttleOf,
} from '../limits/limit-parts.ts'
import type { AccessDefinition, AllowedUrl, EndpointLimit, Policy, Session } from '../sessions/session.ts'
import type { PolicyKind } from './policy.ts'

/** A known policy of a session, under the id by which the session names it. */
export interface NamedPolicy {
  readonly id: string
  readonly policy: Policy
  readonly kind: PolicyKind
}

/** The gathered rules for one API, or for the top level. */
export interface Gathered {
  acl: boolean
  /** Each list once is united with all others at the end: one after another would take quadratic time. */
  readonly versions: Set<string>
  readonly pathLists: (readonly AllowedUrl[])[]
  rateSet: boolean
  rate: Rate | undefined
  throttle: ThrottleLimits
  quotaSet: boolean
  quota: Quota | undefined
  depthSet: boolean
  maxQueryDepth: number
  readonly endpoints: EndpointLimit[]
  apiName: string
  readonly extra: Map<string, ExtraField>
}

/** Everything that the policies of a session give. */
export interface GatheredAll {
  readonly top: Gathered
  readonly apis: Map<string, Gathered>
}

/** Gathers what the policies give, API by API and for the top level. Session values of parts that a policy controls do not count. */
export function gather(session: Session, known: readonly NamedPolicy[]): GatheredAll {
  const all: GatheredAll = { top: nothing(), apis: new Map() }
  const controls = (part: 'rate' | 'quota' | 'depth') => known.some(({ kind }) => kind[part])
  if (!controls('rate')) {
    all.top.rate = rateOf(session, { policy: '' })
    all.top.throttle = throttleOf(session)
  }
  if (!controls('quota')) all.top.quota = quotaOf(session, { policy: '' })
  if (!controls('depth')) all.top.maxQueryDepth = session.max_query_depth ?? 0
  for (const applied of known) {
    const rights = Object.entries(applied.policy.access_rights ?? {})
    if (!applied.kind.perApi) takeNumbers(all.top, applied.policy, applied.kind, { policy: applied.id })
    for (const [apiId, right] of rights) takeRight(apiOf(all, apiId), apiId, right, applied)
  }
  return all
}

function takeRight(into: Gathered, apiId: string, right: AccessDefinition, { id, policy, kind }: NamedPolicy): void {
  if (kind.acl) takeAcl(into, right)
  if (kind.acl || kind.rate) for (const endpoint of right.endpoints ?? []) into.endpoints.push(endpoint)
  if (!kind.perApi) {
    takeNumbers(into, policy, kind, { policy: id })
    return
  }
  const own = { policy: id, scope: apiScope(apiId) }
  const whole = { policy: id, scope: policyScope(id) }
  takeRate(
    into,
    rateOf(right.limit, own) ?? rateOf(policy, whole),
    throttleOf(statesRate(right) ? right.limit : policy),
  )
  takeQuota(into, quotaOf(right.limit, own) ?? quotaOf(policy, whole))
  takeDepth(into, right.limit?.max_query_depth || (policy.max_query_depth ?? 0))
}

function takeNumbers(into: Gathered, policy: Policy, kind: PolicyKind, origin: { readonly policy: string }): void {
  if (kind.rate) takeRate(into, rateOf(policy, origin), throttleOf(policy))
  if (kind.quota) takeQuota(into, quotaOf(policy, origin))
  if (kind.depth) takeDepth(into, policy.max_query_depth ?? 0)
}

/** Notes that a source states the rate, and keeps it where it is the more generous one. */
export function takeRate(into: Gathered, rate: Rate | undefined, throttle: ThrottleLimits): void {
  into.rateSet = true
  into.rate = betterRate(into.rate, rate)
  into.throttle = betterThrottle(into.throttle, throttle)
}

/** Notes that a source states the quota, and keeps the pair where it is the more generous one. */
export function takeQuota(into: Gathered, quota: Quota | undefined): void {
  into.quotaSet = true
  into.quota = betterQuota(into.quota, quota)
}

/** Notes that a source states the query depth, and keeps the deeper one. */
export function takeDepth(into: Gathered, depth: number): void {
  into.depthSet = true
  into.maxQueryDepth = betterDepth(into.maxQueryDepth, depth)
}

/** Adds rights: versions, paths and what else an access definition holds. */
export function takeAcl(into: Gathered, right: AccessDefinition): void {
  into.pathLists.push(right.allowed_urls ?? [])
  into.acl = true
  for (const version of right.versions ?? []) into.versions.add(version)
  into.apiName ||= right.api_name ?? ''
  takeExtra(into.extra, right)
}

/** Scope of counts that belong to one API of a session. */
export function apiScope(apiId: string): string {
  return `a.${apiId}`
}

/** Scope of counts that belong to the APIs to which one policy gave their numbers. */
export function policyScope(policyId: string): string {
  return `p.${policyId}`
}

/** True when the access right has its own rate. */
export function statesRate(right: AccessDefinition): boolean {
  return rateOf(right.limit, { policy: '' }) !== undefined
}

function apiOf({ apis }: GatheredAll, apiId: string): Gathered {
  const known = apis.get(apiId)
  if (known !== undefined) return known
  const made = nothing()
  apis.set(apiId, made)
  return made
}

/** An API of which nothing is known yet. */
export function nothing(): Gathered {
  return {
    acl: false,
    versions: new Set(),
    pathLists: [],
    rateSet: false,
    rate: undefined,
    throttle: { intervalS: 0, retryLimit: 0 },
    quotaSet: false,
    quota: undefined,
    depthSet: false,
    maxQueryDepth: 0,
    endpoints: [],
    apiName: '',
    extra: new Map(),
  }
}

const ENFORCED = new Set(['api_id', 'api_name', 'versions', 'allowed_urls', 'limit', 'allowance_scope', 'endpoints'])

/** A field as it was gathered so far; of a list also the texts of its items. */
interface ExtraField {
  value: Json
  texts: Set<string> | undefined
}

/** Lists are united, true wins, objects are united by name, else the first stays. */
function takeExtra(all: Map<string, ExtraField>, right: AccessDefinition): void {
  for (const [name, value] of Object.entries(right) as [string, Json][]) {
    if (ENFORCED.has(name)) continue
    const known = all.get(name)
    if (known === undefined || known.value === null || known.value === false) {
      all.set(name, { value: copyOf(value), texts: undefined })
    } else if (Array.isArray(known.value) && Array.isArray(value)) {
      const texts = known.texts ?? textsOf(known.value)
      const added = value.filter((item) => !texts.has(JSON.stringify(item)))
      for (const item of added) known.value.push(item)
      known.texts = textsOf(added, texts)
    } else if (isObject(known.value) && isObject(value)) {
      for (const [each, item] of Object.entries(value))
        if (!Object.hasOwn(known.value, each)) setMember(known.value, each, item)
    }
  }
}

const copyOf = (value: Json): Json => (Array.isArray(value) ? [...value] : isObject(value) ? { ...value } : value)

function textsOf(items: readonly Json[], texts = new Set<string>()): Set<string> {
  for (const item of items) texts.add(JSON.stringify(item))
  return texts
}
