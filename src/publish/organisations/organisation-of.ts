import { fault } from '../../errors/fault.ts'
import { isDocumentId } from '../../model/documents/ids.ts'
import { isObject, type JsonObject } from '../../model/json/json.ts'
import { policyIdsOf } from '../../model/policies/merge-policies.ts'
import type { Session } from '../../model/sessions/session.ts'
import { orgOf, type PublishParts } from '../documents/parts.ts'

/** More references are not looked up: the first ones say where an object belongs. */
const MOST = 100

/**
 * A session or policy with the organisation that it belongs to: the one that it names, else the one of its APIs and policies, else the
 * default one. Nothing is added where there is no organisation.
 * @throws Fault `query_invalid` (400) where its references belong to several organisations, and none of them is the default one
 */
export async function inItsOrganisation(parts: PublishParts, body: JsonObject): Promise<JsonObject> {
  if ((body.org_id ?? '') !== '') return body
  const orgId = await organisationOfReferences(parts, body)
  return orgId === '' ? body : { ...body, org_id: orgId }
}

async function organisationOfReferences(parts: PublishParts, body: JsonObject): Promise<string> {
  const own = parts.defaultOrg()
  const ofApis = new Set<string>()
  for (const apiId of apisNamed(body)) {
    const orgId = await organisationOfApi(parts, apiId)
    if (orgId !== undefined) ofApis.add(orgId)
  }
  const ofPolicies = await organisationsOfPolicies(parts, body)
  // Two organisations may have policies of one id: the APIs tell which are meant.
  const both = [...ofApis].filter((orgId) => ofPolicies.has(orgId))
  const found = both.length > 0 ? both : [...new Set([...ofApis, ...ofPolicies])]
  if (found.length === 0 || found.includes(own)) return own
  if (found.length > 1)
    throw fault('query_invalid', 'org_id: is missing, and the APIs and policies belong to several organisations')
  return found[0]!
}

/**
 * Refuses rights that could never be used: each API that they name is there and belongs to another organisation. Only callers with the
 * secret of a gateway get the reason: users of one organisation must not learn which APIs another one has.
 * @throws Fault as `code` (400) naming the first API and both organisations' fields
 */
export async function checkSameOrganisation(
  parts: PublishParts,
  orgId: string,
  apiIds: readonly string[],
  code: 'key_invalid' | 'policy_invalid',
): Promise<void> {
  if (parts.orgOfLoaded === undefined || apiIds.length === 0 || apiIds.length > MOST) return
  for (const apiId of apiIds) {
    const theirs = await organisationOfApi(parts, apiId)
    if (theirs === undefined || theirs === orgId) return
  }
  throw fault(code, `access_rights: API ${apiIds[0]} belongs to another organisation than org_id says`)
}

/** The organisation of an API that is stored or loaded; undefined when there is none. */
async function organisationOfApi(parts: PublishParts, apiId: string): Promise<string | undefined> {
  const stored = apiId === '' ? undefined : await parts.documents.find('api', 'api_id', apiId)
  if (stored === undefined) return parts.orgOfLoaded?.(apiId)
  return typeof stored.body.org_id === 'string' ? stored.body.org_id : ''
}

async function organisationsOfPolicies(parts: PublishParts, body: JsonObject): Promise<Set<string>> {
  const found = new Set<string>()
  for (const id of policiesNamed(body)) {
    const { rows } = await parts.documents.list('policy', { where: { id }, limit: MOST })
    const stored = isDocumentId(id) ? await parts.documents.get('policy', id) : undefined
    for (const { body: policy } of stored === undefined ? rows : [...rows, stored])
      found.add(orgOf({ ...parts, defaultOrg: () => '' }, policy.org_id))
  }
  return found
}

function apisNamed({ access_rights: rights }: JsonObject): string[] {
  if (!isObject(rights)) return []
  return Object.entries(rights)
    .map(([name, right]) =>
      isObject(right) && typeof right.api_id === 'string' && right.api_id !== '' ? right.api_id : name,
    )
    .slice(0, MOST)
}

function policiesNamed({ apply_policies: list, apply_policy_id: single }: JsonObject): string[] {
  const session: Session = {
    ...(Array.isArray(list) && { apply_policies: list.filter((id) => typeof id === 'string') }),
    ...(typeof single === 'string' && { apply_policy_id: single }),
  }
  return policyIdsOf(session).slice(0, MOST)
}
