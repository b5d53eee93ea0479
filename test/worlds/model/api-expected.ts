import type { Api } from '../../../src/model/apis/definition/api.ts'
import { readApi } from '../../../src/model/apis/read/read.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'

export const NO_RULES = {
  expiresAt: undefined,
  overrideTarget: '',
  requestHeaders: undefined,
  responseHeaders: undefined,
  sizeLimitBytes: 0,
  operations: [],
}

export const TOKEN_IN_HEADER = {
  method: 'token',
  header: 'authorization',
  query: undefined,
  cookie: undefined,
  strip: false,
  stripHeaders: ['authorization'],
  stripQueries: [],
  stripCookies: [],
} as const

export const PLAIN: Api = {
  apiId: 'i',
  orgId: 'o',
  name: 'Orders',
  format: 'classic',
  active: true,
  internal: false,
  expiresAt: undefined,
  listenPath: '/orders/',
  stripListenPath: false,
  ignoreCase: false,
  domain: '',
  certificates: [],
  clientCertificates: undefined,
  tags: [],
  upstream: { targets: [{ url: 'http://up:8080/', weight: 1 }], preserveHost: false, insecure: false, timeoutMs: 0 },
  auth: TOKEN_IN_HEADER,
  oauth: undefined,
  versioning: undefined,
  rules: NO_RULES,
  cors: undefined,
  cache: undefined,
  ip: undefined,
  rateLimit: undefined,
  batches: false,
  modules: undefined,
  contextVariables: false,
  skipRateLimit: false,
  skipQuota: false,
  onStoreFailure: 'refuse',
  keepQuotaOnSave: false,
  sessionLifetimeS: 0,
  record: { tagHeaders: [], detailed: false },
}

/** An OpenAPI document says less: what it leaves out is off. */
export const BARE: Api = { ...PLAIN, format: 'oas', auth: undefined, tags: undefined, record: undefined }

export const OPERATION = {
  ignoreCase: false,
  allow: false,
  block: false,
  internal: false,
  ignoreAuthentication: false,
  sizeLimitBytes: 0,
  rateLimit: undefined,
  requestHeaders: undefined,
  responseHeaders: undefined,
  timeoutMs: 0,
  track: false,
  doNotTrack: false,
  mock: undefined,
  checks: [],
  requestBody: undefined,
  answerBody: undefined,
  rewrite: undefined,
  toMethod: '',
  cache: undefined,
  scopes: undefined,
}

/** Reads a definition under fixed ids. */
export function read(format: Api['format'], definition: JsonObject): Api {
  return readApi({ api_id: 'i', org_id: 'o', name: 'n', format, definition })
}

/** Tables of outside names have no prototype; for the comparison they may have one. */
export function plain(api: Api): Api {
  if (api.versioning === undefined) return api
  const { apis, inline } = api.versioning
  return { ...api, versioning: { ...api.versioning, apis: { ...apis }, inline: { ...inline } } }
}
