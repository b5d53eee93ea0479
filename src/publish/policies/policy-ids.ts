import { fault } from '../../errors/fault.ts'
import type { ApiDocument } from '../../model/apis/definition/api.ts'
import { EXTENSION } from '../../model/apis/definition/members.ts'
import { getAt, putAt, type TreePath } from '../../model/apis/definition/tree.ts'
import { isDocumentId } from '../../model/documents/ids.ts'
import { POLICY_MEMBERS } from '../../model/documents/references.ts'
import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import { WorkSlice } from '../../runtime/turns.ts'
import type { Documents, StoredDocument } from '../../store/ports/ports.ts'
import { findByEitherId } from '../documents/own-ids.ts'

type Parts = { readonly documents: Documents }

/** The members by which objects name policies. */
const MEMBERS = {
  session: ['apply_policies', 'apply_policy_id'],
  client: ['policies', 'policy_id'],
  entry: ['policy_id'],
  profile: ['MatchedPolicyID'],
} as const

/** `findPolicy`, of one that has to be there. @throws Fault `not_found` (404), and as `findPolicy` */
export async function requirePolicy(parts: Parts, id: string, orgId?: string): Promise<StoredDocument<'policy'>> {
  const stored = await findPolicy(parts, id, orgId)
  if (stored === undefined) throw fault('not_found', 'Policy not found')
  return stored
}

/**
 * Finds a policy by its `id`, else by its `_id`: in this organisation, or in any when none is named; undefined when there is none.
 * @throws Fault `query_invalid` (400) when several organisations use the id, `store_away`
 */
export async function findPolicy(
  parts: Parts,
  id: string,
  orgId?: string,
): Promise<StoredDocument<'policy'> | undefined> {
  if (orgId !== undefined) return findByEitherId(parts, 'policy', orgId, id)
  const { rows } = await parts.documents.list('policy', { where: { id }, limit: 2 })
  const kept = isDocumentId(id) ? await parts.documents.get('policy', id) : undefined
  const [stored, ...others] = kept === undefined ? rows : [...rows, kept]
  if (stored === undefined) return undefined
  if (others.some(({ body }) => orgOf(body) !== orgOf(stored.body)))
    throw fault('query_invalid', `several organisations have a policy ${id}: name one with org_id`)
  return stored
}

/**
 * The `id` of the policy of an organisation that has this `id` or `_id`: objects store the `id`. An id that names no policy stays as it
 * is. @throws Fault `store_away`
 */
export async function resolvePolicyId(parts: Parts, orgId: string, id: string): Promise<string> {
  if (!isDocumentId(id)) return id
  const stored = await findByEitherId(parts, 'policy', orgId, id)
  return typeof stored?.body.id === 'string' && stored.body.id !== '' ? stored.body.id : id
}

/** `resolvePolicyId` for a list, each policy once. @throws Fault `store_away` */
export async function policyIdsIn(parts: Parts, orgId: string, ids: readonly string[]): Promise<string[]> {
  const resolved = await resolvedIds(parts, orgId, new Set(ids))
  return [...new Set(resolved.values())]
}

/** Policies that are looked up at a time. */
const TOGETHER = 100

/** `resolvePolicyId` of each id. The embedded store answers at once, so that nobody else would have a turn meanwhile: they are given some. */
async function resolvedIds(parts: Parts, orgId: string, ids: ReadonlySet<string>): Promise<Map<string, string>> {
  const resolved = new Map<string, string>()
  const named = [...ids]
  const slice = new WorkSlice()
  for (let at = 0; at < named.length; at += TOGETHER) {
    const some = named.slice(at, at + TOGETHER)
    const own = await Promise.all(some.map((id) => resolvePolicyId(parts, orgId, id)))
    for (const [index, id] of some.entries()) resolved.set(id, own[index]!)
    if (slice.isOver) await slice.next()
  }
  return resolved
}

/**
 * A session, OAuth client, catalogue entry or identity profile from outside with the `id`s of its policies in place of `_id`s. To be called before rights are checked: they
 * are judged by `id`. Values of a wrong type are left to the checks of the noun. @throws Fault `store_away`
 */
export async function withPolicyIds(
  parts: Parts,
  orgId: string,
  noun: keyof typeof MEMBERS,
  body: JsonObject,
): Promise<JsonObject> {
  const resolved: JsonObject = {}
  for (const name of MEMBERS[noun]) {
    const value = Object.hasOwn(body, name) ? body[name] : undefined
    if (typeof value === 'string') resolved[name] = await resolvePolicyId(parts, orgId, value)
    else if (isListOfTexts(value) && value.some(isDocumentId)) resolved[name] = await policyIdsIn(parts, orgId, value)
  }
  return { ...body, ...resolved }
}

/** Where definitions name policies. */
const PLACES: Readonly<Record<ApiDocument['format'], readonly TreePath[]>> = {
  classic: [['jwt_default_policies'], ['jwt_scope_to_policy_mapping'], ['scopes'], ['oauth_meta']],
  oas: [[EXTENSION, 'server', 'authentication']],
}

/** A definition from outside with the `id`s of its policies instead of `_id`s; the same object where it names none. @throws Fault `store_away` */
export async function definitionWithPolicyIds(
  parts: Parts,
  orgId: string,
  format: ApiDocument['format'],
  definition: JsonObject,
): Promise<JsonObject> {
  const found = new Set<string>()
  const note = (id: string) => {
    if (isDocumentId(id)) found.add(id)
    return id
  }
  for (const place of PLACES[format])
    replacePolicies(getAt(definition, place) ?? null, POLICY_MEMBERS.has(place[0]!), note)
  const resolved = await resolvedIds(parts, orgId, found)
  if ([...resolved].every(([id, own]) => own === id)) return definition
  const copy = structuredClone(definition)
  for (const place of PLACES[format]) {
    const value = getAt(copy, place)
    const isPolicy = POLICY_MEMBERS.has(place[0]!)
    if (value !== undefined)
      putAt(
        copy,
        place,
        replacePolicies(value, isPolicy, (id) => resolved.get(id) ?? id),
      )
  }
  return copy
}

/** The value with `replace` of each text that is the id of a policy. */
function replacePolicies(value: Json, isPolicy: boolean, replace: (id: string) => string): Json {
  if (typeof value === 'string') return isPolicy ? replace(value) : value
  if (Array.isArray(value)) return value.map((item) => replacePolicies(item, isPolicy, replace))
  if (!isObject(value)) return value
  const entries = Object.entries(value).map(([name, item]) => {
    return [name, replacePolicies(item, isPolicy || POLICY_MEMBERS.has(name), replace)] as const
  })
  return Object.fromEntries(entries)
}

function isListOfTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

function orgOf({ org_id: orgId }: JsonObject): string {
  return typeof orgId === 'string' ? orgId : ''
}
