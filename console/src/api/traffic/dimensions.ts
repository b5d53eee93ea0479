import { say, type TextName } from '../../texts/say.ts'

/** The subject of a row of `GET /api/usage...`. Other parts are 0 or ''. */
export interface UsageRowId {
  readonly day: number
  readonly month: number
  readonly year: number
  readonly hour: number
  readonly minute: number
  readonly code: number
  readonly path: string
  readonly method: string
  readonly key: string
  readonly alias: string
  readonly iso_country: string
  readonly api_id: string
  readonly api_name: string
  readonly api_version: string
  readonly oauth_id: string
  readonly tag: string
  readonly developer_id: string
  readonly developer_email: string
}

/** One dimension of requests. Its title is the text `analytics.by.<name>`. */
interface DimensionRow {
  /** The call that lists requests by it, without the time. */
  readonly path: string
  /** The parameter of a call that narrows requests down to a value, or the parameters that do. */
  readonly parameter: string | ((value: string) => Readonly<Record<string, string>>)
  /** True when it is closed to users who may see only the analytics of their own APIs. */
  readonly isBeyondApis?: boolean
  /** True when requests are counted by it in whole hours alone. */
  readonly isByHour?: boolean
  /** How people call what a row is about. */
  readonly name: (id: UsageRowId) => string
  /** A second line where the name alone leaves open what is meant; '' = none. */
  readonly hint?: (id: UsageRowId) => string
  /** The filters that narrow requests down to those of a row. */
  readonly filter: (id: UsageRowId) => Readonly<Record<string, string>>
  /** True when the value of its filter is its name. */
  readonly isItself?: boolean
  /** Why there may be no rows. */
  readonly empty?: TextName
}

/** The placeholder for requests without a key. */
export const OPEN_KEY = '00000000'
/** The dashboard's name of the version of an API without versions. */
const UNVERSIONED = 'Non Versioned'
const HASH_CHARACTERS = 12
const REGIONS = new Intl.DisplayNames(undefined, { type: 'region', fallback: 'code' })

/** All of them, in the order of the tabs. */
export const DIMENSIONS = {
  api: {
    path: '/api/usage/apis',
    parameter: 'api_id',
    name: (id) => apiName(id),
    filter: (id) => ({ api: id.api_id }),
  },
  version: {
    path: '/api/usage/versions',
    parameter: 'api_version',
    name: (id) => (id.api_version === UNVERSIONED ? apiName(id) : `${apiName(id)} · ${id.api_version}`),
    hint: (id) => (id.api_version === UNVERSIONED ? say('analytics.unversioned') : ''),
    filter: (id) => ({ api: id.api_id, version: id.api_version }),
    isItself: true,
  },
  key: {
    path: '/api/activity/keys',
    isByHour: true,
    parameter: 'key',
    isBeyondApis: true,
    name: (id) => (id.key === OPEN_KEY ? say('analytics.noKey') : id.alias || shortHash(id.key)),
    hint: (id) => (id.alias === '' ? '' : shortHash(id.key)),
    filter: (id) => ({ key: id.key }),
  },
  client: {
    path: '/api/activity/oauthid',
    isByHour: true,
    parameter: 'client',
    isBeyondApis: true,
    name: (id) => id.oauth_id,
    filter: (id) => ({ client: id.oauth_id }),
    isItself: true,
    empty: 'analytics.empty.client',
  },
  endpoint: {
    path: '/api/activity/endpoints',
    parameter: 'endpoint',
    isBeyondApis: true,
    name: (id) => `${id.method} ${id.path}`,
    hint: (id) => apiName(id),
    filter: (id) => ({ api: id.api_id, endpoint: `${id.method} ${id.path}` }),
    isItself: true,
    empty: 'analytics.empty.endpoint',
  },
  status: {
    path: '/api/usage/codes',
    parameter: 'code',
    name: (id) => String(id.code),
    filter: (id) => ({ status: String(id.code) }),
    isItself: true,
  },
  tag: {
    path: '/api/usage/tags',
    isByHour: true,
    parameter: 'tags',
    isBeyondApis: true,
    name: (id) => id.tag,
    filter: (id) => ({ tag: id.tag, developer: '' }),
    isItself: true,
    empty: 'analytics.empty.tag',
  },
  developer: {
    path: '/api/activity/developers',
    isByHour: true,
    parameter: (id) => ({ tags: `dev-${id}` }),
    isBeyondApis: true,
    name: (id) => id.developer_email || say('analytics.gone', { id: id.developer_id }),
    filter: (id) => ({ developer: id.developer_id, tag: '' }),
    empty: 'analytics.empty.developer',
  },
  country: {
    path: '/api/activity/geo',
    isByHour: true,
    parameter: 'country',
    isBeyondApis: true,
    name: ({ iso_country: code }) => (/^[A-Z]{2}$/.test(code) ? (REGIONS.of(code) ?? '') : say('analytics.noCountry')),
    filter: (id) => ({ country: id.iso_country }),
    empty: 'analytics.empty.country',
  },
} as const satisfies Readonly<Record<string, DimensionRow>>

export type Dimension = keyof typeof DIMENSIONS

/** All names, in the order of the tabs. */
export const DIMENSION_NAMES = Object.keys(DIMENSIONS) as readonly Dimension[]

/** The row of a dimension, with the members that not all have. */
export function dimensionRow(name: Dimension): DimensionRow {
  return DIMENSIONS[name]
}

/** The filters of requests, as parameters of the page's address; '' = none. */
export type UsageFilters = Readonly<Record<Dimension | 'errors', string>>

/** All requests. */
export const NO_FILTERS = Object.fromEntries([...DIMENSION_NAMES, 'errors'].map((name) => [name, ''])) as UsageFilters

/** A hash as people can compare it. */
function shortHash(hash: string): string {
  return hash.length > HASH_CHARACTERS ? `${hash.slice(0, HASH_CHARACTERS)}…` : hash
}

function apiName({ api_id, api_name }: UsageRowId): string {
  return api_name || say('analytics.gone', { id: api_id })
}
