import { toFault } from '../../errors/fault.ts'
import type { ApiDocument } from '../apis/definition/api.ts'
import { metadataOfApi } from '../apis/definition/api-metadata.ts'
import { extensionOf, objectOf, objectsOf, textOf } from '../apis/definition/members.ts'
import { documentOf } from '../apis/definition/stored-api.ts'
import { readApi } from '../apis/read/read.ts'
import { isObject, type Json, type JsonObject } from '../json/json.ts'
import { readOwners } from '../people/ownership.ts'
import { policyApisOf } from '../policies/policy-body.ts'
import { entriesOf } from '../portal/catalogue/catalogue.ts'
import { requestedPolicies } from '../portal/key-requests/key-request.ts'

/** The kinds of referenced objects: `subject` is the subject of documentation, an API or a policy. */
export const REFERENCE_KINDS = [
  'api',
  'policy',
  'client',
  'hook',
  'documentation',
  'subject',
  'user',
  'user_group',
] as const
export type ReferenceKind = (typeof REFERENCE_KINDS)[number]

/** A reference of a document. */
export interface Reference {
  readonly kind: ReferenceKind
  readonly id: string
  /** Where it is, without positions in lists: `x-svc-api-gateway.upstream.url`. */
  readonly at: string
  /** The whole text there: `svc://orders/v2`; of references that mean something together, all of them. */
  readonly text: string
}

/**
 * The one table of references: where documents of each kind name others. Kinds that are not here name nothing that has owners or
 * belongs to an organisation. Certificates have no owners, and those of other organisations are not found where they are used.
 */
const TABLE = {
  api: (body) => [...ofApi(body), ...ownersIn(body), ...hooksIn(body)],
  api_owners: ownersIn,
  policy: (body) => named('api', policyApisOf(body), 'access_rights'),
  session: ofSession,
  oauth_client: (body) => [
    ...named('api', textsIn(body.api_ids), 'api_ids'),
    ...named('policy', [...textsIn(body.policies), ...textsIn([body.registered_by_policy ?? ''])], 'policies'),
  ],
  catalogue: (body) => entriesOf(body).flatMap(ofEntry),
  developer: (body) =>
    Object.entries(objectOf(body, 'keys')).flatMap(([hash, label]) => named('policy', textsIn(label), `keys.${hash}`)),
  idp_profile: (body) => named('policy', textsIn([body.MatchedPolicyID ?? '']), 'MatchedPolicyID'),
  key_request: (body) => [
    ...named('policy', requestedPolicies(body), 'apply_policies'),
    ...named('subject', textsIn([body.for_api ?? '']), 'for_api'),
  ],
  portal_documentation: (body) => named('subject', textsIn([body.api_id ?? '']), 'api_id'),
} satisfies Record<string, (body: JsonObject) => Reference[]>

/** Kinds of documents that name others. */
export type ReferringKind = keyof typeof TABLE

const REFERENCES: Readonly<Record<string, (body: JsonObject) => Reference[]>> = Object.assign(
  Object.create(null),
  TABLE,
)

/** Every reference of a document. */
export function referencesOf(kind: string, body: JsonObject): Reference[] {
  return REFERENCES[kind]?.(body) ?? []
}

/** References of a document that are new, or that moved or changed. */
export function newReferences(kind: string, body: JsonObject, before: JsonObject | undefined): Reference[] {
  const keyOf = ({ kind: referred, id, at, text }: Reference) => JSON.stringify([referred, id, at, text])
  const had = new Set(before === undefined ? [] : referencesOf(kind, before).map(keyOf))
  return referencesOf(kind, body).filter((reference) => !had.has(keyOf(reference)))
}

/** Members of definitions, of both formats, whose texts are ids of policies, however deep they lie in them. */
export const POLICY_MEMBERS: ReadonlySet<string> = new Set([
  ...['jwt_default_policies', 'jwt_scope_to_policy_mapping', 'scope_to_policy', 'defaultPolicies', 'policyId'],
  ...['registration_policies', 'registrationPolicies'],
])
/** An address of another API; what the gateway takes for its id ends at the first of these. */
const INNER = /^\s*svc:\/\/([^/?#]*)([^/?]*)/i

function ofApi(body: JsonObject): Reference[] {
  const document = documentOf(body)
  const base = textOf(document.definition, 'base_api_id')
  const found = [
    ...named('api', versionIds(document.format, document.definition), 'versions'),
    ...named('api', textsIn([base]), 'base_api_id'),
  ]
  let namesInner = false
  const walk = (value: Json, at: string, isPolicy: boolean) => {
    if (typeof value === 'string') {
      if (isPolicy && value !== '') found.push({ kind: 'policy', id: value, at, text: value })
      namesInner ||= INNER.test(value)
      for (const id of innerApis(value)) found.push({ kind: 'api', id, at, text: value })
    } else if (Array.isArray(value)) for (const item of value) walk(item, at, isPolicy)
    else if (isObject(value))
      for (const [name, item] of Object.entries(value)) walk(item, join(at, name), isPolicy || POLICY_MEMBERS.has(name))
  }
  walk(document.definition, '', false)
  // Reading a definition takes long. Without such an address there is no scheme to borrow.
  for (const url of namesInner ? targetsOf(document) : [])
    for (const id of innerApis(url)) found.push({ kind: 'api', id, at: 'upstream.targets', text: url })
  return found
}

/** Owners of an API, beside its definition. */
function ownersIn(body: JsonObject): Reference[] {
  const { users, groups } = readOwners(body)
  return [...named('user', users, 'user_owners'), ...named('user_group', groups, 'user_group_owners')]
}

function hooksIn(body: JsonObject): Reference[] {
  return (metadataOfApi(body).hook_references ?? []).flatMap(({ hook }) => {
    const { id, name } = isObject(hook) ? hook : {}
    const text = JSON.stringify([id ?? '', name ?? ''])
    return [{ kind: 'hook', id: String(id || name || ''), at: 'hook_references', text }] as const
  })
}

function ofSession(body: JsonObject): Reference[] {
  const clients = Object.entries(objectOf(body, 'oauth_keys')).flatMap(([apiId, ids]) => [
    { kind: 'api', id: apiId, at: 'oauth_keys', text: JSON.stringify([apiId, ids]) } as const,
    ...textsWithin(ids).map(
      (id) => ({ kind: 'client', id, at: 'oauth_keys', text: JSON.stringify([apiId, id]) }) as const,
    ),
  ])
  return [
    ...named('api', Object.keys(objectOf(body, 'access_rights')), 'access_rights'),
    ...policiesOfSession(body),
    ...clients,
  ]
}

/**
 * The policies of a session: those in force, as `policyIdsOf`, and the one that would be if the list were emptied, since both are kept.
 * Of a session that is not checked yet, values that are no ids name no policy.
 */
function policiesOfSession({ apply_policies: list, apply_policy_id: older }: JsonObject): Reference[] {
  const single = named('policy', textsIn([older ?? '']), 'apply_policies')
  if (!Array.isArray(list) || list.length === 0) return single
  const asleep = single.filter(({ id }) => !list.includes(id)).map((each) => ({ ...each, at: 'apply_policy_id' }))
  return [...named('policy', textsIn(list), 'apply_policies'), ...asleep]
}

/** An entry stays as it was when all that it names together does. */
function ofEntry({ api_id, policy_id, documentation }: JsonObject): Reference[] {
  const text = JSON.stringify([policy_id ?? '', api_id ?? '', documentation ?? ''])
  const one = (kind: ReferenceKind, id: Json | undefined, name: string) =>
    textsIn([id ?? '']).map((each) => ({ kind, id: each, at: `apis.${name}`, text }))
  return [
    ...one('policy', policy_id, 'policy_id'),
    ...one('api', api_id, 'api_id'),
    ...one('documentation', documentation, 'documentation'),
  ]
}

/** Targets as the gateway reads them: in the classic form they may borrow the scheme of another one. */
function targetsOf(document: ApiDocument): string[] {
  try {
    return readApi(document).upstream.targets.map(({ url }) => url)
  } catch (error) {
    // One that cannot be read is not served, and is refused where it is to be stored.
    if (toFault(error).code === 'internal') throw error
    return []
  }
}

function versionIds(format: 'classic' | 'oas', definition: JsonObject): string[] {
  if (format === 'classic') return textsIn(Object.values(objectOf(objectOf(definition, 'definition'), 'versions')))
  const versioning = objectOf(objectOf(extensionOf(definition), 'info'), 'versioning')
  return textsIn(objectsOf(versioning, 'versions').map((entry) => textOf(entry, 'id')))
}

/** Ids of APIs that an address means, by every reading of where the id ends; `self` is the API itself. */
function innerApis(text: string): string[] {
  const [, short = '', rest = ''] = INNER.exec(text) ?? []
  // An API that requests name meets all its checks there.
  return [...new Set([short, short + rest])].filter((id) => id !== '' && id !== 'self' && !id.includes('$'))
}

function named(kind: Reference['kind'], ids: readonly string[], at: string): Reference[] {
  return ids.map((id) => ({ kind, id, at, text: id }))
}

function textsIn(values: Json | undefined): string[] {
  return Array.isArray(values) ? (values.filter((value) => typeof value === 'string' && value !== '') as string[]) : []
}

/** Every text in a value, however deep. */
function textsWithin(value: Json): string[] {
  if (typeof value === 'string') return value === '' ? [] : [value]
  return isObject(value) || Array.isArray(value) ? Object.values(value).flatMap(textsWithin) : []
}

const join = (at: string, name: string) => (at === '' ? name : `${at}.${name}`)
