import { call, type Envelope, isRecord } from '../calls/call.ts'

/** A JSON object of a definition. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }
export type Definition = { readonly [name: string]: Json }

/** One API in a list, as `?facts=1` shows it. */
export interface ApiFacts {
  readonly id: string
  readonly api_id: string
  readonly name: string
  readonly is_oas: boolean
  readonly active: boolean
  readonly internal: boolean
  readonly listen_path: string
  readonly domain: string
  /** Several: they are balanced. */
  readonly upstreams: readonly string[]
  readonly auth_types: readonly string[]
  readonly categories: readonly string[]
  readonly tags: readonly string[]
  readonly labels: readonly { readonly key: string; readonly value: string }[]
  readonly updated_at: string
  /** Number of nodes by state. */
  readonly nodes: Readonly<Record<string, number>>
}

/** One API as pages about it know it. */
export interface ApiView {
  /** `api_id`, which everything else names it by. */
  readonly id: string
  readonly name: string
  readonly isOas: boolean
  readonly active: boolean
  readonly internal: boolean
  readonly listenPath: string
  readonly domain: string
  /** The editable form: the OpenAPI document with its extension, or the classic definition. */
  readonly definition: Definition
  /** The same in classic terms, for both formats. */
  readonly classic: Definition
  readonly userOwners: readonly string[]
  readonly groupOwners: readonly string[]
  readonly categories: readonly string[]
  readonly createdAt: string
  readonly updatedAt: string
}

/** The filters of the list; `labels` are `key:value`. */
export interface ApiQuery {
  readonly p: number
  readonly page_size?: string
  readonly q?: string
  readonly sort?: string
  readonly active?: string
  readonly auth_type?: string
  readonly category?: string
  readonly labels?: readonly string[]
}

export const APIS_KEY = ['apis'] as const
/** Key of one API; everything about it hangs below. */
export const apiKey = (id: string) => [...APIS_KEY, 'one', id] as const

const at = (id: string) => `/api/apis/${encodeURIComponent(id)}`
const oasAt = (id: string) => `/api/apis/oas/${encodeURIComponent(id)}`

/** A page of APIs, and how many pages there are. @throws CallError */
export function listApis(
  query: ApiQuery,
  signal?: AbortSignal,
): Promise<{ readonly apis: readonly ApiFacts[]; readonly pages: number; readonly total?: number }> {
  return call('GET', '/api/apis', { query: { facts: 1, ...query }, ...(signal && { signal }) })
}

/** Categories in use, to filter by. @throws CallError */
export async function listCategories(signal?: AbortSignal): Promise<readonly { name: string; count: number }[]> {
  const answer = await call<{ categories: { name: string; count: number }[] }>('GET', '/api/apis/categories', {
    ...(signal && { signal }),
  })
  return answer.categories
}

interface Wrapper {
  readonly api_definition: Definition & { readonly api_id: string; readonly name: string; readonly is_oas: boolean }
  readonly oas?: Definition
  readonly user_owners: readonly string[]
  readonly user_group_owners: readonly string[]
  readonly categories?: readonly string[]
  readonly created_at: string
  readonly updated_at: string
}

/** One API with its definition. @throws CallError 400 when there is none, 401 when it is not yours */
export async function readApi(id: string, signal?: AbortSignal): Promise<ApiView> {
  const wrapper = await call<Wrapper>('GET', at(id), { query: { extension: 'svc' }, ...(signal && { signal }) })
  const classic = wrapper.api_definition
  const proxy = isRecord(classic.proxy) ? classic.proxy : {}
  return {
    id: classic.api_id,
    name: classic.name,
    isOas: classic.is_oas,
    active: classic.active === true,
    internal: classic.internal === true,
    listenPath: String(proxy.listen_path ?? ''),
    domain: classic.domain_disabled === true ? '' : String(classic.domain ?? ''),
    definition: wrapper.oas ?? classic,
    classic,
    userOwners: wrapper.user_owners,
    groupOwners: wrapper.user_group_owners,
    categories: wrapper.categories ?? [],
    createdAt: wrapper.created_at,
    updatedAt: wrapper.updated_at,
  }
}

/** Replaces the stored definition of an API, in its format. @throws CallError */
export function saveDefinition({ id, isOas }: Pick<ApiView, 'id' | 'isOas'>, definition: Definition): Promise<unknown> {
  return isOas
    ? call('PUT', oasAt(id), { body: definition })
    : call('PUT', at(id), { body: { api_definition: definition } })
}

/** The response of creating an API. */
interface Made {
  readonly ID: string
}

/** Makes an API of a definition in either format; an OpenAPI document must have the extension. Answers its id. @throws CallError */
export async function createApi(definition: Definition, query: Readonly<Record<string, string>> = {}): Promise<string> {
  const isOas = definition.openapi !== undefined
  const [path, body] = isOas ? ['/api/apis/oas', definition] : ['/api/apis', { api_definition: definition }]
  return (await call<Made>('POST', path as string, { body, query })).ID
}

/** Deletes an API; with `purge` its versions too. @throws CallError */
export function deleteApi(id: string, purge: boolean): Promise<unknown> {
  return call('DELETE', at(id), { query: { purge: purge ? 'true' : undefined } })
}

/** Purges an API's cached responses on every gateway. @throws CallError */
export function purgeResponses(id: string): Promise<unknown> {
  return call('DELETE', `/api/cache/responses/${encodeURIComponent(id)}`)
}

/** Where callers reach an API. @throws CallError */
export async function readUrl(id: string, signal?: AbortSignal): Promise<string> {
  return (await call<{ ApiURL: string }>('GET', `${at(id)}/url`, { ...(signal && { signal }) })).ApiURL
}

/** Where callers reach an API: at each gateway that loads it. @throws CallError */
export async function readUrls(id: string, signal: AbortSignal): Promise<readonly string[]> {
  return (await call<{ urls: readonly string[] }>('GET', `${at(id)}/urls`, { signal })).urls
}

/** Where an OpenAPI document comes from: its text, JSON or YAML, or the address that the dashboard reads it from. */
export type Source = { readonly text: string } | { readonly url: string }

/** The options for the API that an import creates. */
export interface ImportTuning {
  readonly listenPath?: string
  readonly upstreamURL?: string
  readonly authentication?: string
  readonly allowList?: string
  readonly validateRequest?: string
  readonly mockResponse?: string
}

/** A part of a definition that has no effect, or is not checked. */
export interface DefinitionWarning {
  readonly path: string
  readonly message: string
}

/** The document that an import would store, and the warnings about it. */
export interface ImportPreview {
  readonly document: Definition
  readonly warnings: readonly DefinitionWarning[]
}

/** The preview of an import. @throws CallError */
export function previewImport(source: Source, tuning: ImportTuning, signal?: AbortSignal): Promise<ImportPreview> {
  return importTo('POST', '/api/apis/oas/dry-run', source, { ...tuning, report: 'true' }, signal)
}

/** The warnings about a stored definition. @throws CallError */
export async function readWarnings(id: string, signal?: AbortSignal): Promise<readonly DefinitionWarning[]> {
  const sent = { ...(signal && { signal }) }
  return (await call<Pick<ImportPreview, 'warnings'>>('GET', `${at(id)}/warnings`, sent)).warnings
}

/** Makes an API of a plain document. Answers its id. @throws CallError */
export async function importApi(source: Source, tuning: ImportTuning): Promise<string> {
  return (await importTo<Made>('POST', '/api/apis/oas/import', source, { ...tuning })).ID
}

/** The preview of an import over an API. @throws CallError */
export function previewReimport(
  id: string,
  source: Source,
  tuning: ImportTuning,
  signal?: AbortSignal,
): Promise<ImportPreview> {
  return importTo('PATCH', oasAt(id), source, { ...tuning, dry_run: 'true', report: 'true' }, signal)
}

/** Puts a plain document over an API, which keeps its settings. @throws CallError */
export function reimport(id: string, source: Source, tuning: ImportTuning): Promise<unknown> {
  return importTo('PATCH', oasAt(id), source, { ...tuning })
}

/** The text goes as a file, so that the dashboard reads YAML as well as JSON. */
function importTo<Answer>(
  method: string,
  path: string,
  source: Source,
  query: Record<string, string>,
  signal?: AbortSignal,
): Promise<Answer> {
  if ('url' in source) return call(method, path, { query, body: { url: source.url }, ...(signal && { signal }) })
  const body = new FormData()
  body.append('file', new Blob([source.text]), 'openapi')
  return call(method, path, { query, body, ...(signal && { signal }) })
}

/** Who owns an API. @throws CallError */
export function readApiOwners(
  id: string,
  signal?: AbortSignal,
): Promise<{ userIds: string[]; userGroupIds: string[] }> {
  return call('GET', `${at(id)}/access`, { ...(signal && { signal }) })
}

/** Replaces who owns an API. @throws CallError */
export function saveApiOwners(
  id: string,
  access: { readonly userIds: readonly string[]; readonly userGroupIds: readonly string[] },
): Promise<unknown> {
  return call('PUT', `${at(id)}/access`, { body: access })
}

/** Replaces the categories of an API in OpenAPI format. @throws CallError */
export function saveCategories(id: string, categories: readonly string[]): Promise<unknown> {
  return call<Envelope>('PUT', `${oasAt(id)}/categories`, { body: { categories } })
}

/** Brings a classic API into OpenAPI format, in its place. @throws CallError */
export function migrateApi(id: string): Promise<{
  readonly apis: readonly { readonly status: string; readonly reason: string }[]
}> {
  return call('POST', '/api/apis/migrate', { body: { mode: 'direct', apiIDs: [id] } })
}

interface Person {
  readonly id: string
  readonly email_address: string
  readonly first_name: string
  readonly last_name: string
}

/** Who may become an owner: users and groups of the organisation; those that the caller may not list are empty. @throws CallError */
export async function listPossibleOwners(
  may: { readonly users: boolean; readonly groups: boolean },
  signal?: AbortSignal,
): Promise<{
  readonly users: readonly Person[]
  readonly groups: readonly { readonly id: string; readonly name: string }[]
}> {
  const sent = { query: { p: -1 }, ...(signal && { signal }) }
  const [users, groups] = await Promise.all([
    may.users ? call<{ users: Person[] }>('GET', '/api/users', sent) : { users: [] },
    may.groups ? call<{ groups: { id: string; name: string }[] }>('GET', '/api/usergroups', sent) : { groups: [] },
  ])
  return { users: users.users, groups: groups.groups }
}
