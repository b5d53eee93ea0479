import { toFault } from '../errors/fault.ts'
import { extensionOf } from './api/extension.ts'
import { objectOf, objectsOf, textOf } from './api/members.ts'
import { documentOf } from './api/place.ts'
import { readApi } from './api/read.ts'
import type { ApiDocument } from './api.ts'
import { entriesOf } from './catalogue.ts'
import { isObject, type Json, type JsonObject } from './json.ts'
import { requestedPolicies } from './key-request.ts'
import { policyIdsOf } from './merge-policies.ts'
import { policyApisOf } from './policy-index.ts'
import type { Session } from './session.ts'

/** What a document names of another one. */
export interface Reference {
  readonly kind: 'api' | 'policy'
  readonly id: string
  /** Where it is, without positions in lists: `x-svc-api-gateway.upstream.url`. */
  readonly at: string
  /** The whole text there: `svc://orders/v2`. */
  readonly text: string
}

/** Where documents of each kind name APIs and policies. Other kinds name nothing that has owners. */
const REFERENCES: Readonly<Record<string, (body: JsonObject) => Reference[]>> = Object.assign(Object.create(null), {
  api: ofApi,
  policy: (body) => named('api', policyApisOf(body), 'access_rights'),
  session: (body) => [
    ...named('api', Object.keys(isObject(body.access_rights) ? body.access_rights : {}), 'access_rights'),
    ...named('policy', policyIdsOf(body as unknown as Session), 'apply_policies'),
  ],
  oauth_client: (body) => [
    ...named('api', textsIn(body.api_ids), 'api_ids'),
    ...named('policy', [...textsIn(body.policies), ...textsIn([body.registered_by_policy ?? ''])], 'policies'),
  ],
  catalogue: (body) =>
    entriesOf(body).flatMap(({ api_id, policy_id }) => [
      ...named('api', textsIn([api_id ?? '']), 'apis.api_id'),
      ...named('policy', textsIn([policy_id ?? '']), 'apis.policy_id'),
    ]),
  key_request: (body) => named('policy', requestedPolicies(body), 'apply_policies'),
} satisfies Record<string, (body: JsonObject) => Reference[]>)

/** Every reference of a document to an API or a policy. */
export function referencesOf(kind: string, body: JsonObject): Reference[] {
  return REFERENCES[kind]?.(body) ?? []
}

/** References of a document that were not in it before, or stood elsewhere or otherwise. */
export function newReferences(kind: string, body: JsonObject, before: JsonObject | undefined): Reference[] {
  const keyOf = ({ kind: referred, id, at, text }: Reference) => JSON.stringify([referred, id, at, text])
  const had = new Set(before === undefined ? [] : referencesOf(kind, before).map(keyOf))
  return referencesOf(kind, body).filter((reference) => !had.has(keyOf(reference)))
}

/** Members of definitions, of both formats, whose texts are ids of policies, however deep they lie in them. */
const POLICIES: ReadonlySet<string> = new Set([
  ...['jwt_default_policies', 'jwt_scope_to_policy_mapping', 'scope_to_policy', 'defaultPolicies', 'policyId'],
])
/** An address of another API; what the gateway takes for its id ends at the first of these. */
const INNER = /^\s*svc:\/\/([^/?#]*)([^/?]*)/i

function ofApi(body: JsonObject): Reference[] {
  const document = documentOf(body)
  const found = named('api', versionIds(document.format, document.definition), 'versions')
  for (const url of targetsOf(document))
    for (const id of innerApis(url)) found.push({ kind: 'api', id, at: 'upstream.targets', text: url })
  const walk = (value: Json, at: string, isPolicy: boolean) => {
    if (typeof value === 'string') {
      if (isPolicy && value !== '') found.push({ kind: 'policy', id: value, at, text: value })
      for (const id of innerApis(value)) found.push({ kind: 'api', id, at, text: value })
    } else if (Array.isArray(value)) for (const item of value) walk(item, at, isPolicy)
    else if (isObject(value))
      for (const [name, item] of Object.entries(value)) walk(item, join(at, name), isPolicy || POLICIES.has(name))
  }
  walk(document.definition, '', false)
  return found
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
  return [...new Set([short, short + rest])].filter((id) => id !== '' && id !== 'self')
}

function named(kind: Reference['kind'], ids: readonly string[], at: string): Reference[] {
  return ids.map((id) => ({ kind, id, at, text: id }))
}

function textsIn(values: Json | undefined): string[] {
  return Array.isArray(values) ? (values.filter((value) => typeof value === 'string' && value !== '') as string[]) : []
}

const join = (at: string, name: string) => (at === '' ? name : `${at}.${name}`)
