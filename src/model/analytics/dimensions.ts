/** How analytics calls narrow requests down to some values of a dimension. */
export interface DimensionFilter {
  /** Its name in a query. */
  readonly parameter: string
  readonly description: string
  /** 1024 characters by default. */
  readonly maxLength?: number
  /** True where case means nothing and values are stored in upper case. */
  readonly isUpperCase?: boolean
  /** True where every user may use it: its values can be limited by API. */
  readonly isByApi?: boolean
}

/** One dimension: where it is stored, and how the dashboard shows it. Those that need more than their text have code of their own there. */
export interface DimensionRow {
  /** Its column in `hit_dimension`. */
  readonly column: string
  /**
   * The version of each store's schema that brings the column: the next one of the store. Of a released dimension it never
   * changes. Absent: the column was there before.
   */
  readonly since?: { readonly embedded: number; readonly postgres: number }
  /** True for what tells callers apart: left out of the sums by API. */
  readonly isOfCaller?: boolean
  /** True for what is left out of the counts by minute besides: its values would make too many rows of each. */
  readonly isByHour?: boolean
  readonly filter?: DimensionFilter
  /** Its name in the `id` of a row of analytics, with its description. */
  readonly member?: { readonly name: string; readonly description: string }
  /** The call that lists requests by it. */
  readonly list?: {
    readonly path: string
    readonly summary: string
    /** Its name in generated clients, which never changes. */
    readonly operationId: string
    /** True when requests that lack it are left out of the list. */
    readonly isSparse?: boolean
  }
}

/** The dimensions that requests must share to be counted in one row, besides the hour and the status. A new one goes last. */
export const HIT_DIMENSIONS = {
  orgId: { column: 'org_id' },
  apiId: { column: 'api_id' },
  /** `Non Versioned` when the API is not versioned. */
  version: {
    column: 'version',
    filter: { parameter: 'api_version', description: '`Non Versioned` for APIs without versions', isByApi: true },
    member: {
      name: 'api_version',
      description: 'Name of the version of the API. Blank where rows are not by version.',
    },
  },
  /** Hash (hex) of the key or token, '' for keyless calls. Never the key. */
  keyHash: { column: 'key_hash', isOfCaller: true },
  alias: { column: 'alias', isOfCaller: true },
  clientId: {
    column: 'client_id',
    isOfCaller: true,
    filter: { parameter: 'client', description: 'Requests of this OAuth client' },
    member: { name: 'oauth_id', description: 'Client id of the OAuth client. Blank where rows are not by client.' },
    list: {
      path: '/api/activity/oauthid',
      summary: 'Requests by OAuth client',
      operationId: 'listUsageByOauthClient',
      isSparse: true,
    },
  },
  /** Policy, session, header and node tags, sorted, joined by commas. */
  tags: { column: 'tags', isOfCaller: true },
  /** `METHOD /path` of a tracked endpoint, '' otherwise. */
  endpoint: {
    column: 'endpoint',
    filter: { parameter: 'endpoint', description: 'Requests of this tracked endpoint, as in `GET /users/{id}`' },
  },
  /** ISO 3166-1 code of the client's country, '' where it is not known. */
  country: {
    column: 'country',
    isByHour: true,
    filter: {
      parameter: 'country',
      description: 'Requests from this country, ISO 3166-1',
      maxLength: 2,
      isUpperCase: true,
    },
    member: {
      name: 'iso_country',
      description: 'Country of the caller (ISO 3166-1 alpha-2). Blank where rows are not by country.',
    },
    list: { path: '/api/activity/geo', summary: 'Requests by country', operationId: 'listUsageByCountry' },
  },
} as const satisfies Readonly<Record<string, DimensionRow>>

export type DimensionName = keyof typeof HIT_DIMENSIONS

/** The dimensions of a request. */
export type HitDimensions = { readonly [Name in DimensionName]: string }

/** All names, in the order in which texts of dimensions are packed and stored. */
export const DIMENSIONS = Object.keys(HIT_DIMENSIONS) as readonly DimensionName[]

/** The row of a dimension, with the members that not all have. */
export function dimensionRow(name: DimensionName): DimensionRow {
  return HIT_DIMENSIONS[name]
}

/** The dimensions that counts by minute have. */
export const MINUTE_DIMENSIONS: readonly DimensionName[] = DIMENSIONS.filter((name) => {
  const { isOfCaller, isByHour } = dimensionRow(name)
  return isOfCaller !== true && isByHour !== true
})

/** The dimensions of requests of which nothing is known. */
export const NO_DIMENSIONS = Object.fromEntries(DIMENSIONS.map((name) => [name, ''])) as unknown as HitDimensions
