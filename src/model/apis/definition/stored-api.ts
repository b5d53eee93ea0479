import { isDeepStrictEqual } from 'node:util'
import { schemeOfRules } from '../../authentication/schemes.ts'
import { isObject, type JsonObject, presentMembers } from '../../json/json.ts'
import type { Millis } from '../../time/clock.ts'
import type { Api, ApiDocument } from './api.ts'
import { type ApiMetadata, mergeMetadata, metadataOfApi } from './api-metadata.ts'
import { EXTENSION, isEmpty, textOf, textsOf } from './members.ts'
import { type ListenPlace, templateKey } from './template.ts'
import { isUnownable } from './territory.ts'
import { getAt } from './tree.ts'

/** An API document with its indexed values and metadata; written by `storedBody` alone. */
export type StoredApi = ApiDocument &
  ApiMetadata & {
    readonly active: boolean
    /** `rest`, or `internal`. */
    readonly api_type: string
    /** In the words of lists: `keyless`, `authToken`, `oauth`, `mutualTLS`. */
    readonly auth_types: readonly string[]
    /** RFC 3339. */
    readonly created_at: string
    readonly updated_at: string
    /** Equal for APIs that may collide (`collides` decides); absent for an internal one, which no request can enter. */
    readonly place?: string
    /** RFC 3339: since when it wants that place. Of several the one that wants it longest holds it. */
    readonly place_since?: string
    /** RFC 3339: since when it is active there; absent while it is switched off. Of an organisation's own APIs the first one is served. */
    readonly active_since?: string
    /** Ids of the APIs that are versions of this one. */
    readonly version_ids?: readonly string[]
    /** Ids of the APIs that this one is a version of. */
    readonly base_ids?: readonly string[]
  }

/**
 * The text that APIs at one place have in common: host, and path without regard to case and names of placeholders. An API that is
 * switched off keeps its place, so that no other organisation receives its callers meanwhile.
 */
export function placeOf(api: ListenPlace): string | undefined {
  if (api.internal) return undefined
  return `${api.domain} ${templateKey(api.listenPath, true)}`
}

/** The keys by which a place can be found. */
export interface PlaceKeys {
  /** '' where no organisation can own the domain, and where there is none. */
  readonly domain: string
  /** First segment of the path, behind '/'; `*` where it is a placeholder or there is none, so that it may be any. */
  readonly head: string
}

/** Reads the keys of a text that `placeOf` made. */
export function placeKeys(place: string): PlaceKeys {
  const space = place.indexOf(' ')
  const [, first = ''] = place.slice(space + 1).split('/', 2)
  const domain = place.slice(0, space)
  return { domain: isUnownable(domain) ? '' : domain, head: first === '' || first.startsWith('{') ? '*' : `/${first}` }
}

/** The parts of a stored body besides the definition. */
export interface StoredMore {
  /** The previous body, whose metadata is kept. */
  readonly before?: JsonObject | undefined
  /** The new metadata; absent members stay. */
  readonly metadata?: ApiMetadata | undefined
  /** Given: the APIs that this one is a version of. Else as before. */
  readonly baseIds?: readonly string[]
  /** When the definition was changed; absent = it was not. */
  readonly changedAt?: Millis
  /** Of a new copy that is to take over from an API: the storage id of that API. */
  readonly stagedOf?: string | undefined
}

/** The body that is stored of a definition that was read as `api`. */
export function storedBody(document: ApiDocument, api: Api, more: StoredMore = {}): JsonObject {
  const { before = {}, metadata = {}, changedAt } = more
  const place = placeOf(api)
  const versionIds = versionIdsOf(api)
  const baseIds = more.baseIds ?? textsOf(before, 'base_ids')
  const now = changedAt === undefined ? undefined : new Date(changedAt).toISOString()
  const createdAt = textOf(before, 'created_at') || now
  const updatedAt = now ?? textOf(before, 'updated_at')
  const stagedOf = more.stagedOf ?? textOf(before, 'staged_of')
  const { api_id, org_id, name, format, definition } = document
  const body: JsonObject = {
    ...{ api_id, org_id, name, format, definition },
    active: api.active,
    api_type: api.internal ? 'internal' : 'rest',
    auth_types: authTypesOf(api),
    ...(createdAt && { created_at: createdAt }),
    ...(updatedAt && { updated_at: updatedAt }),
    ...(place !== undefined && { place, ...sincePlaced(before, place, now) }),
    ...(place !== undefined && api.active && sinceActive(before, place, now)),
    ...(versionIds.length > 0 && { version_ids: versionIds }),
    ...(baseIds.length > 0 && { base_ids: [...baseIds] }),
    ...(stagedOf !== '' && { staged_of: stagedOf }),
    ...mergeMetadata(metadataOfApi(before), metadata),
  }
  return isSameBody(body, before) ? { ...body, updated_at: before.updated_at! } : body
}

/** True where nothing but the date differs, and what a read adds: empty members. */
function isSameBody(body: JsonObject, before: JsonObject): boolean {
  return before.updated_at !== undefined && isDeepStrictEqual(comparable(body), comparable(before))
}

function comparable({ updated_at: _date, definition = null, ...rest }: JsonObject): JsonObject {
  const held = Object.entries(rest).filter(([, value]) => !isEmpty(value))
  if (!isObject(definition)) return { ...Object.fromEntries(held), definition }
  const shown =
    rest.format === 'classic' ? { tags: [], is_oas: false, active: false, ...presentMembers(definition) } : definition
  return { ...Object.fromEntries(held), definition: shown }
}

function sincePlaced(before: JsonObject, place: string, now: string | undefined): { place_since?: string } {
  const since = before.place === place ? textOf(before, 'place_since') : now
  return since === undefined || since === '' ? {} : { place_since: since }
}

function sinceActive(before: JsonObject, place: string, now: string | undefined): { active_since?: string } {
  const was = before.place === place && before.active === true
  const since = was ? textOf(before, 'active_since') || textOf(before, 'place_since') : now
  return since === undefined || since === '' ? {} : { active_since: since }
}

/** Ids of the APIs that are versions of this one, each once. */
export function versionIdsOf(api: Api): string[] {
  return [...new Set(Object.values(api.versioning?.apis ?? {}))]
}

function authTypesOf({ auth, clientCertificates }: Api): string[] {
  const schemes = auth === undefined ? [] : (auth.alternatives?.flat() ?? [auth])
  const words = new Set(schemes.map((scheme) => schemeOfRules(scheme).type))
  const methods = [...words, ...(clientCertificates === undefined ? [] : ['mutualTLS'])]
  return methods.length === 0 ? ['keyless'] : methods
}

/** The listen path that a definition names, in either format. */
export function listenPathIn(definition: JsonObject): string | undefined {
  const path = 'openapi' in definition ? [EXTENSION, 'server', 'listenPath', 'value'] : ['proxy', 'listen_path']
  const value = getAt(definition, path)
  return typeof value === 'string' ? value : undefined
}

/** The document that a stored body holds. */
export function documentOf(body: JsonObject): ApiDocument {
  return {
    api_id: textOf(body, 'api_id'),
    org_id: textOf(body, 'org_id'),
    name: textOf(body, 'name'),
    format: body.format === 'oas' ? 'oas' : 'classic',
    definition: isObject(body.definition) ? body.definition : {},
  }
}
