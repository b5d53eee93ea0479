import type { Dimension, UsageFilters, UsageRow } from '../../api/traffic/analytics.ts'
import { say } from '../../texts/say.ts'
import { OPEN_KEY } from './scene.ts'

/** What the dashboard calls an API without versions. */
const UNVERSIONED = 'Non Versioned'
const HASH_CHARACTERS = 12
const REGIONS = new Intl.DisplayNames(undefined, { type: 'region', fallback: 'code' })

/** How people call what a row is about. */
export function rowName(dimension: Dimension, { id }: UsageRow): string {
  const names: Readonly<Record<Dimension, () => string>> = {
    api: () => apiName(id),
    version: () => (id.api_version === UNVERSIONED ? apiName(id) : `${apiName(id)} · ${id.api_version}`),
    key: () => (id.key === OPEN_KEY ? say('analytics.noKey') : id.alias || shortHash(id.key)),
    client: () => id.oauth_id,
    endpoint: () => `${id.method} ${id.path}`,
    status: () => String(id.code),
    tag: () => id.tag,
    developer: () => id.developer_email || say('analytics.gone', { id: id.developer_id }),
    country: () =>
      /^[A-Z]{2}$/.test(id.iso_country) ? (REGIONS.of(id.iso_country) ?? '') : say('analytics.noCountry'),
  }
  return names[dimension]()
}

/** A second line where the name alone leaves open what is meant. */
export function rowHint(dimension: Dimension, { id }: UsageRow): string {
  if (dimension === 'version') return id.api_version === UNVERSIONED ? say('analytics.unversioned') : ''
  if (dimension === 'endpoint') return apiName(id)
  return dimension === 'key' && id.alias !== '' ? shortHash(id.key) : ''
}

/** What narrows requests down to those of a row; undefined for a row of requests that lack it. */
export function rowFilter(dimension: Dimension, { id }: UsageRow): Partial<UsageFilters> | undefined {
  const filters: Readonly<Record<Dimension, Partial<UsageFilters>>> = {
    api: { api: id.api_id },
    version: { api: id.api_id, version: id.api_version },
    key: { key: id.key },
    client: { client: id.oauth_id },
    endpoint: { api: id.api_id, endpoint: `${id.method} ${id.path}` },
    status: { status: String(id.code) },
    tag: { tag: id.tag, developer: '' },
    developer: { developer: id.developer_id, tag: '' },
    country: { country: id.iso_country },
  }
  const filter = filters[dimension]
  return Object.values(filter).every((value) => value === '') ? undefined : filter
}

/** What names the rows of a list apart. */
export function rowKey({ id }: UsageRow): string {
  return JSON.stringify(Object.values(id))
}

/** What to tell apart next, once requests are narrowed down. */
export function nextDimension(dimensions: readonly Dimension[], filters: UsageFilters): Dimension {
  const order: readonly Dimension[] = ['api', 'key', 'status', 'endpoint', 'version']
  return order.find((name) => dimensions.includes(name) && filters[name] === '') ?? 'status'
}

/** A hash as people can compare it. */
function shortHash(hash: string): string {
  return hash.length > HASH_CHARACTERS ? `${hash.slice(0, HASH_CHARACTERS)}…` : hash
}

function apiName({ api_id, api_name }: UsageRow['id']): string {
  return api_name || say('analytics.gone', { id: api_id })
}
