import { createHash } from 'node:crypto'
import { newApiId, newDocumentId } from '../../documents/ids.ts'
import { isObject, type JsonObject } from '../../json/json.ts'
import { normaliseText } from '../../text/fold.ts'
import type { ApiDocument } from './api.ts'
import { EXTENSION, extensionOf, flagOf, objectOf, objectsOf, textOf, textsOf } from './members.ts'

/**
 * A copy of a definition with the ids that it lacks: `api_id` (32 hex), storage id (24 hex), organisation, and a slug (classic).
 * Takes definitions that nobody has checked yet; what is not an object where one should be stays as it is.
 */
export function fillIds(
  format: ApiDocument['format'],
  definition: JsonObject,
  defaults: { readonly orgId: string },
): Omit<ApiDocument, 'format'> {
  return format === 'classic' ? fillClassic(definition, defaults.orgId) : fillOas(definition, defaults.orgId)
}

/** A classic definition that is active where it does not say: in files and through the gateway an API is created to be served. */
export function activeByDefault(classic: JsonObject): JsonObject {
  return classic.active === undefined || classic.active === null ? { ...classic, active: true } : classic
}

function fillClassic(classic: JsonObject, defaultOrg: string): Omit<ApiDocument, 'format'> {
  const api_id = textOf(classic, 'api_id') || newApiId()
  const org_id = textOf(classic, 'org_id') || defaultOrg
  const name = textOf(classic, 'name')
  const ids = {
    id: textOf(classic, 'id') || newDocumentId(),
    api_id,
    org_id,
    slug: textOf(classic, 'slug') || slugOf(name),
  }
  return { api_id, org_id, name, definition: { ...classic, ...ids, ...mistyped(classic, ids) } }
}

function fillOas(document: JsonObject, defaultOrg: string): Omit<ApiDocument, 'format'> {
  const extension = extensionOf(document)
  const info = objectOf(extension, 'info')
  const api_id = textOf(info, 'id') || newApiId()
  const org_id = textOf(info, 'orgId') || defaultOrg
  const name = textOf(info, 'name')
  if (extension === undefined || (extension.info !== undefined && !isObject(extension.info))) {
    return { api_id, org_id, name, definition: document }
  }
  const ids = { id: api_id, dbId: textOf(info, 'dbId') || newDocumentId(), orgId: org_id }
  const filled = { ...document, [EXTENSION]: { ...extension, info: { ...info, ...ids, ...mistyped(info, ids) } } }
  return { api_id, org_id, name, definition: filled }
}

/** Members of another type stay, for the schema to refuse. */
function mistyped(given: JsonObject, ids: JsonObject): JsonObject {
  const names = Object.keys(ids).filter((name) => typeof (given[name] ?? '') !== 'string')
  return Object.fromEntries(names.map((name) => [name, given[name]!]))
}

/** Lower case words joined by `-`; a name without any letter or digit gets a short hash instead. */
export function slugOf(name: string): string {
  const words = normaliseText(name, 'NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
  return words || createHash('sha256').update(name).digest('hex').slice(0, 12)
}

/** The fields of APIs in lists. */
export interface ApiSummary {
  readonly api_id: string
  readonly name: string
  readonly active: boolean
  readonly listenPath: string
  /** Lower case; '' = every host. */
  readonly domain: string
  /** Addresses that requests are forwarded to, the API's own first, each once; without user names, passwords and queries. */
  readonly upstreams: readonly string[]
}

/** The tags of an API, from documents that may no longer be valid too; undefined where they are switched off. */
export function tagsOf({ format, definition }: ApiDocument): readonly string[] | undefined {
  if (format === 'classic') return flagOf(definition, 'tags_disabled') ? undefined : textsOf(definition, 'tags')
  const gatewayTags = objectOf(objectOf(extensionOf(definition), 'server'), 'gatewayTags')
  return flagOf(gatewayTags, 'enabled') ? textsOf(gatewayTags, 'tags') : undefined
}

/** Reads the line that a list shows, from documents that may no longer be valid too. */
export function summaryOf(document: ApiDocument): ApiSummary {
  const { api_id, name, definition } = document
  if (document.format === 'classic') {
    const domain = flagOf(definition, 'domain_disabled') ? '' : textOf(definition, 'domain').toLowerCase()
    const proxy = objectOf(definition, 'proxy')
    const balanced = flagOf(proxy, 'enable_load_balancing') ? textsOf(proxy, 'target_list') : []
    return {
      api_id,
      name,
      active: flagOf(definition, 'active'),
      listenPath: textOf(proxy, 'listen_path'),
      domain,
      upstreams: shownUpstreams([textOf(proxy, 'target_url'), ...balanced]),
    }
  }
  const extension = extensionOf(definition)
  const server = objectOf(extension, 'server')
  const custom = objectOf(server, 'customDomain')
  const upstream = objectOf(extension, 'upstream')
  const balancing = objectOf(upstream, 'loadBalancing')
  const balanced = flagOf(balancing, 'enabled') ? objectsOf(balancing, 'targets') : []
  return {
    api_id,
    name,
    active: flagOf(objectOf(objectOf(extension, 'info'), 'state'), 'active'),
    listenPath: textOf(objectOf(server, 'listenPath'), 'value'),
    domain: flagOf(custom, 'enabled') ? textOf(custom, 'name').toLowerCase() : '',
    upstreams: shownUpstreams([textOf(upstream, 'url'), ...balanced.map((target) => textOf(target, 'url'))]),
  }
}

/** The texts that an API is found by in lists: its name, host and path, ids and upstreams. Names, labels and categories have indexes of their own. */
export function searchTextsOf(document: ApiDocument, storageId: string): string[] {
  const { api_id, name, listenPath, domain, upstreams } = summaryOf(document)
  return [name, `${domain}${listenPath}`, api_id, storageId, ...upstreams].filter((text) => text !== '')
}

/** The storage id that a stored definition names; '' where it names none. */
export function storageIdIn({ format, definition }: ApiDocument): string {
  return format === 'classic' ? textOf(definition, 'id') : textOf(objectOf(extensionOf(definition), 'info'), 'dbId')
}

function shownUpstreams(addresses: readonly string[]): string[] {
  return [...new Set(addresses.map(withoutCredentials).filter((address) => address !== ''))]
}

/** An address up to its query, without user name and password. */
function withoutCredentials(address: string): string {
  const [bare = ''] = address.split(/[?#]/, 1)
  const from = bare.indexOf('://') + 3
  if (from < 3) return bare
  const slash = bare.indexOf('/', from)
  const end = slash === -1 ? bare.length : slash
  return bare.slice(0, from) + bare.slice(bare.lastIndexOf('@', end) + 1 || from)
}
