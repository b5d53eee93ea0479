import { call, type Envelope } from '../calls/call.ts'
import type { Page } from './developers.ts'

/** The overrides of an entry with `override`. */
export interface EntryConfiguration {
  readonly override?: boolean
  readonly key_request_fields?: readonly (string | { readonly name: string })[]
  readonly require_key_approval?: boolean
  readonly redirect_on_key_request?: boolean
  readonly redirect_to?: string
}

/** An entry of the catalogue: a policy, or a keyless API that is only shown. */
export interface CatalogueEntry {
  readonly name: string
  readonly short_description: string
  readonly long_description: string
  readonly show: boolean
  readonly api_id: string
  readonly policy_id: string
  /** Id of a stored documentation; '' = none. */
  readonly documentation: string
  readonly version: string
  readonly is_keyless?: boolean
  readonly config: EntryConfiguration
  readonly fields: Readonly<Record<string, string>>
  readonly auth_type: string
}

export interface Catalogue {
  readonly id: string
  readonly email: string
  readonly apis: readonly CatalogueEntry[]
}

export interface Documentation {
  readonly id: string
  readonly api_id: string
  readonly doc_type: string
  /** Base64 of the text. */
  readonly documentation: string
}

/** A policy, as far as the portal's pages look at it. */
export interface OfferedPolicy {
  readonly _id: string
  readonly id: string
  readonly name: string
  readonly state: string
}

export interface KeylessApi {
  readonly api_id: string
  readonly name: string
}

export const CATALOGUE_KEY = ['catalogue'] as const
export const DOCUMENTATION_KEY = ['documentation'] as const
export const OFFERS_KEY = ['portal-offers'] as const
const PATH = '/api/portal/catalogue'
const DOCUMENTATION = '/api/portal/documentation'
const POLICIES = '/api/portal/policies/search'

/** The catalogue; an empty one before it is made. @throws CallError */
export function readCatalogue(signal?: AbortSignal): Promise<Catalogue> {
  return call('GET', PATH, { query: { or_empty: true }, ...(signal && { signal }) })
}

/** Replaces the entries that the person sees. @throws CallError 400 naming the field */
export function saveCatalogue(catalogue: Catalogue): Promise<unknown> {
  return call('PUT', PATH, { body: { email: catalogue.email, apis: catalogue.apis } })
}

/** @throws CallError 404 */
export function readDocumentation(id: string, signal: AbortSignal): Promise<Documentation> {
  return call('GET', `${DOCUMENTATION}/${encodeURIComponent(id)}`, { signal })
}

/** Stores a text; answers the id that an entry names it by. @throws CallError 413 */
export async function createDocumentation(about: string, docType: string, text: string): Promise<string> {
  const body = { api_id: about, doc_type: docType, documentation: toBase64(text) }
  return (await call<Envelope<null>>('POST', DOCUMENTATION, { body })).Message
}

/** @throws CallError */
export function deleteDocumentation(id: string): Promise<unknown> {
  return call('DELETE', `${DOCUMENTATION}/${encodeURIComponent(id)}`)
}

/** The first policies in force whose name or id holds the text, by name. @throws CallError */
export async function searchPolicies(q: string, signal: AbortSignal): Promise<readonly OfferedPolicy[]> {
  const query = { q, active: '1', sort: 'name', p: 1 }
  return (await call<Page<OfferedPolicy>>('GET', POLICIES, { query, signal })).Data
}

/** The policies of these ids, whichever of their ids they are; those that are gone are left out. @throws CallError */
export async function policiesNamed(
  ids: readonly string[],
  signal: AbortSignal,
  authType = '',
): Promise<readonly OfferedPolicy[]> {
  const query = { policy_ids: ids.join(','), auth_type: authType, p: -1 }
  return (await call<Page<OfferedPolicy>>('GET', POLICIES, { query, signal })).Data
}

/** The first APIs that anybody may call and whose name holds the text. @throws CallError */
export async function searchKeylessApis(q: string, signal: AbortSignal): Promise<readonly KeylessApi[]> {
  const query = { q, auth_type: 'keyless', compressed: 1, sort: 'name', p: 1 }
  const answer = await call<{ readonly apis: readonly { readonly api_definition: KeylessApi }[] }>('GET', '/api/apis', {
    query,
    signal,
  })
  return answer.apis.map(({ api_definition: { api_id, name } }) => ({ api_id, name }))
}

/** The text of a documentation. */
export function fromBase64(text: string): string {
  return new TextDecoder().decode(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)))
}

function toBase64(text: string): string {
  const letters = Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte))
  return btoa(letters.join(''))
}
