import { isDeepStrictEqual } from 'node:util'
import { fault } from '../../../errors/fault.ts'
import type { DocumentId } from '../../../model/documents/ids.ts'
import { isObject, type JsonObject } from '../../../model/json/json.ts'
import { policyApisOf } from '../../../model/policies/policy-body.ts'
import { entriesOf, readEntries, replaceVisible } from '../../../model/portal/catalogue/catalogue.ts'
import { textMember } from '../../../model/portal/settings/portal-fields.ts'
import type { Documents, StoredDocument } from '../../../store/ports/ports.ts'
import { apiOfOrg } from '../../apis/api-ids.ts'
import type { PublishParts } from '../../documents/parts.ts'
import { areKeyless } from '../../keys/keyless.ts'
import { findPolicy, withPolicyIds } from '../../policies/policy-ids.ts'
import { createSingleton, findSingleton, saveSingleton } from '../settings/single-document.ts'

const KIND = 'catalogue'

/** The caller's visibility of policies and APIs. */
export interface CatalogueVisibility {
  readonly everything: boolean
  api(document: Pick<StoredDocument, 'body'>): boolean
  policy(document: Pick<StoredDocument, 'body'>): boolean
  /** True for what is based on these APIs; of deleted ones their last owners count. */
  anyApi(apiIds: readonly string[]): boolean
  /** The APIs that a deleted policy was for. */
  apisOfDeletedPolicy(policyId: string): readonly string[]
  /** How many of these APIs others own. */
  hidden(apiIds: readonly string[]): number
}

/** Who writes a catalogue. */
export interface CatalogueChange {
  readonly orgId: string
  readonly sent: JsonObject
  readonly visibility: CatalogueVisibility
  /** Throws for entries that name what the writer does not see; `before` are those that were seen. */
  readonly checkNamed: (after: JsonObject, before: JsonObject) => Promise<void>
  readonly actor: string
}

/** The catalogue of an organisation; undefined before it is made. One indexed read. */
export function catalogueOf(
  parts: { readonly documents: Pick<Documents, 'find'> },
  orgId: string,
): Promise<StoredDocument | undefined> {
  return findSingleton(parts, KIND, orgId)
}

/** The visible entries, in order: those of policies and APIs of other owners are left out. */
export async function visibleEntries(
  parts: PublishParts,
  orgId: string,
  entries: readonly JsonObject[],
  visibility: CatalogueVisibility,
): Promise<JsonObject[]> {
  if (visibility.everything) return [...entries]
  const seen = await Promise.all(entries.map((entry) => isSeen(parts, orgId, entry, visibility)))
  return entries.filter((_entry, index) => seen[index])
}

/**
 * Writes a catalogue over the one before, or makes it: of the entries those that the caller sees are replaced, in order; what others
 * own stays in its place.
 * @throws Fault `portal_invalid` (400) naming the field, or a policy or API that is not there and was not in the catalogue before;
 *   `not_owner` (401) for one that others own; `revision_conflict` (409)
 */
export function saveCatalogue(
  parts: PublishParts,
  { orgId, sent, visibility, checkNamed, actor }: CatalogueChange,
): Promise<DocumentId> {
  if (!Array.isArray(sent.apis))
    throw fault('portal_invalid', 'apis: must be the list of all entries; an empty list leaves none')
  return saveSingleton(parts, {
    kind: KIND,
    orgId,
    actor,
    edit: async (body) => {
      const before = entriesOf(body)
      const visible = new Set(await visibleEntries(parts, orgId, before, visibility))
      const seen = before.filter((entry) => visible.has(entry))
      const entries = await entriesIn(parts, orgId, sent)
      await checkNamed({ apis: entries }, { apis: seen })
      const own = await checked(parts, orgId, entries, before)
      await checkSharedKept(parts, orgId, { before: seen, after: own, visibility })
      return {
        ...rest(body ?? {}),
        ...rest(sent),
        ...head(sent, body),
        apis: replaceVisible(before, (entry) => visible.has(entry), own),
      }
    },
  })
}

/** Makes a catalogue. @throws Fault as `saveCatalogue`, `portal_taken` (409) when there is another one already */
export function createCatalogue(
  parts: PublishParts,
  { orgId, sent, visibility, checkNamed, actor }: CatalogueChange,
): Promise<DocumentId> {
  return createSingleton(parts, {
    kind: KIND,
    orgId,
    actor,
    name: 'catalogue',
    saysNothing: (sent.apis ?? null) === null || (Array.isArray(sent.apis) && sent.apis.length === 0),
    edit: async () => {
      const entries = await entriesIn(parts, orgId, sent)
      await checkNamed({ apis: entries }, {})
      const apis = await checked(parts, orgId, entries, [])
      await checkSharedKept(parts, orgId, { before: [], after: apis, visibility })
      return { ...rest(sent), ...head(sent, undefined), apis }
    },
  })
}

/** The entries in a body, with the `id`s of their policies. @throws Fault `portal_invalid` (400) naming the place */
function entriesIn(parts: PublishParts, orgId: string, sent: JsonObject): Promise<JsonObject[]> {
  return Promise.all(readEntries(sent).map((entry) => withPolicyIds(parts, orgId, 'entry', entry)))
}

/** Entries of policies with APIs that others own stay as they are, and none is made. @throws Fault `shared_with_others` (403) */
async function checkSharedKept(
  parts: PublishParts,
  orgId: string,
  {
    before,
    after,
    visibility,
  }: { before: readonly JsonObject[]; after: readonly JsonObject[]; visibility: CatalogueVisibility },
): Promise<void> {
  if (visibility.everything) return
  const shared = async (entries: readonly JsonObject[]) => {
    const found: JsonObject[] = []
    for (const entry of entries) {
      const policy = await findPolicy(parts, String(entry.policy_id ?? ''), orgId)
      if (policy !== undefined && visibility.hidden(policyApisOf(policy.body)) > 0)
        found.push({ ...entry, policy_id: policy.body.id ?? '' })
    }
    return found
  }
  const [was, is] = [await shared(before), await shared(after)]
  if (isDeepStrictEqual(was, is)) return
  const count = new Set([...was, ...is].map(({ policy_id }) => policy_id)).size
  const policies = count === 1 ? '1 policy' : `${count} policies`
  throw fault(
    'shared_with_others',
    `The catalogue offers ${policies} with APIs that others own: their entries must stay as they are`,
  )
}

function rest({ id: _id, _id: _storage, org_id: _org, apis: _apis, email: _email, ...others }: JsonObject): JsonObject {
  return others
}

function head(sent: JsonObject, before: JsonObject | undefined): JsonObject {
  return { email: textMember({ email: sent.email ?? before?.email ?? '' }, 'email', { longest: 254 }) }
}

async function isSeen(
  parts: PublishParts,
  orgId: string,
  { policy_id, api_id }: JsonObject,
  visibility: CatalogueVisibility,
): Promise<boolean> {
  const [policyId, apiId] = [String(policy_id ?? ''), String(api_id ?? '')]
  const policy = policyId === '' ? undefined : await findPolicy(parts, policyId, orgId)
  if (policy !== undefined) return visibility.policy(policy)
  const api = await apiOfOrg(parts.documents, orgId, apiId)
  return api === undefined
    ? visibility.anyApi([apiId, ...visibility.apisOfDeletedPolicy(policyId)])
    : visibility.api(api)
}

async function checked(
  parts: PublishParts,
  orgId: string,
  sent: readonly JsonObject[],
  before: readonly JsonObject[],
): Promise<JsonObject[]> {
  const known = new Set(before.flatMap(({ policy_id, api_id }) => [policy_id, api_id]))
  return Promise.all(
    sent.map(async (entry, at) => {
      const place = `apis.${at}`
      const { policy_id, api_id } = entry as { policy_id: string; api_id: string }
      const policy = policy_id === '' ? undefined : await findPolicy(parts, policy_id, orgId)
      const api = await apiOfOrg(parts.documents, orgId, api_id)
      if (policy_id === '' && api_id === '') throw fault('portal_invalid', `${place}: policy_id is missing`)
      if (policy === undefined && policy_id !== '' && !known.has(policy_id))
        throw fault('portal_invalid', `${place}.policy_id: policy not found`)
      if (policy_id === '' && api === undefined && !known.has(api_id))
        throw fault('portal_invalid', `${place}.api_id: API not found`)
      return completed(parts, orgId, entry, policy, api)
    }),
  )
}

/** Fills in what follows from policy and API, where the caller does not say it. */
async function completed(
  { documents }: PublishParts,
  orgId: string,
  entry: JsonObject,
  policy: StoredDocument | undefined,
  api: StoredDocument | undefined,
): Promise<JsonObject> {
  const apiIds = policy === undefined ? (api === undefined ? [] : [String(api.body.api_id)]) : policyApisOf(policy.body)
  const keyless = entry.is_keyless ?? (await areKeyless(documents, orgId, apiIds))
  return { ...entry, is_keyless: keyless, auth_type: entry.auth_type || (await authTypeOf(documents, orgId, apiIds)) }
}

/** The one way in which these APIs ask who calls; '' when there is none or several. */
async function authTypeOf(
  documents: Pick<Documents, 'find'>,
  orgId: string,
  apiIds: readonly string[],
): Promise<string> {
  const types = new Set<string>()
  for (const apiId of apiIds) {
    const stored = await apiOfOrg(documents, orgId, apiId)
    const listed = isObject(stored?.body) && Array.isArray(stored.body.auth_types) ? stored.body.auth_types : []
    for (const type of listed) types.add(String(type))
  }
  const [only = ''] = types
  return types.size === 1 ? only : ''
}
