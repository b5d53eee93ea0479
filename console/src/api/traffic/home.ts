import { call, isRecord } from '../calls/call.ts'
import { mayDo, type Session } from '../people/session.ts'
import { readBreakdown, type Span, type UsageRow } from './analytics.ts'
import { NO_FILTERS } from './dimensions.ts'

/** An API that the first call goes to. */
export interface FirstApi {
  readonly id: string
  readonly name: string
  readonly url: string
  /** Field that its key goes into; undefined = needs none, or not a key. */
  readonly keyField: string | undefined
  /** False when its requests are not counted, so that no call of it is ever seen. */
  readonly isCounted: boolean
}

/** Progress of the first steps. */
export interface FirstSteps {
  /** The newest API that is no sample; undefined = none yet. */
  readonly api: FirstApi | undefined
  readonly hasKey: boolean
  readonly hasCalled: boolean
  /** A sample upstream for the first API. */
  readonly upstream: string
}

/** A certificate that ends soon. */
export interface Notice {
  readonly id: string
  readonly kind: 'critical' | 'warning'
  readonly message: string
}

export const FIRST_STEPS_KEY = ['first-steps'] as const

/** The sample objects of a fresh installation. */
const SAMPLES: ReadonlySet<string> = new Set(['sample', 'protected'])
const HOUR_MS = 3_600_000
const WEEK_HOURS = 7 * 24

/** The items that need an administrator's attention. */
export const listNotices = (signal: AbortSignal) => call<readonly Notice[]>('GET', '/api/org/notifications', { signal })

/** The last hours up to now, whole hours; `back` of such times earlier. */
export function lastHours(hours: number, back = 0): Span {
  const toMs = (Math.floor(Date.now() / HOUR_MS) + 1 - back * hours) * HOUR_MS
  return { fromMs: toMs - hours * HOUR_MS, toMs }
}

/** The requests of the last hours by API, most first. */
export async function usageByApi(hours: number, signal: AbortSignal, errors = ''): Promise<readonly UsageRow[]> {
  const sorted = { by: errors === '' ? 'hits' : 'error', descending: true, page: 1 }
  return (await readBreakdown('api', lastHours(hours), { ...NO_FILTERS, errors }, sorted, signal)).data
}

/** Reads the progress of the first steps; invisible objects count as not done. */
export async function readFirstSteps(session: Session, signal: AbortSignal): Promise<FirstSteps> {
  const rows = (await call<{ readonly apis: readonly unknown[] }>('GET', '/api/apis', { query: { p: 1 }, signal })).apis
  const definitions = rows.flatMap((row) => (isRecord(row) && isRecord(row.api_definition) ? [row.api_definition] : []))
  const found = definitions.find(({ api_id }) => !SAMPLES.has(String(api_id)))
  const sample = definitions.find(({ api_id }) => api_id === 'sample')
  const target = isRecord(sample?.proxy) ? String(sample.proxy.target_url ?? '') : ''
  return {
    api: found && (await firstApiOf(found, signal)),
    hasKey: await hasCredential(session, found, signal),
    hasCalled: mayDo(session, 'analytics', 'read') && (await wasCalled(signal)),
    upstream: target === '' ? `${window.location.origin}/hello` : target,
  }
}

/** The API that a command calls. @throws CallError */
export async function readCalledApi(id: string, signal: AbortSignal): Promise<FirstApi> {
  const { api_definition: definition } = await call<{ readonly api_definition: Record<string, unknown> }>(
    'GET',
    `/api/apis/${encodeURIComponent(id)}`,
    { signal },
  )
  return firstApiOf(definition, signal)
}

async function firstApiOf(definition: Record<string, unknown>, signal: AbortSignal): Promise<FirstApi> {
  const id = String(definition.api_id)
  const path = `/api/apis/${encodeURIComponent(id)}/url`
  const { ApiURL } = await call<{ readonly ApiURL: string }>('GET', path, { signal })
  const configs = isRecord(definition.auth_configs) ? definition.auth_configs : {}
  const token = isRecord(configs.authToken) ? String(configs.authToken.auth_header_name ?? '') : ''
  return {
    ...{ id, name: String(definition.name), url: ApiURL, isCounted: definition.do_not_track !== true },
    keyField: definition.use_standard_auth === true && token !== '' ? token : undefined,
  }
}

/** Whether there is a key, or a client of the API. */
async function hasCredential(session: Session, api: Record<string, unknown> | undefined, signal: AbortSignal) {
  if (mayDo(session, 'keys', 'read')) {
    const keys = await call<{ readonly data: { readonly keys: readonly unknown[] } }>('GET', '/api/apis/keys', {
      query: { p: 1 },
      signal,
    }).catch(() => undefined)
    if ((keys?.data.keys.length ?? 0) > 0) return true
  }
  if (api === undefined || !mayDo(session, 'oauth', 'read')) return false
  const path = `/api/apis/oauth/${encodeURIComponent(String(api.api_id))}`
  const clients = await call('GET', path, { query: { p: 1 }, signal }).catch(() => undefined)
  if (Array.isArray(clients)) return clients.length > 0
  return isRecord(clients) && Array.isArray(clients.apps) && clients.apps.length > 0
}

async function wasCalled(signal: AbortSignal): Promise<boolean> {
  return (await usageByApi(WEEK_HOURS, signal)).some(({ id, success }) => !SAMPLES.has(id.api_id) && success > 0)
}

/** Makes this key, for one API. */
export function makeFirstKey(key: string, api: FirstApi): Promise<unknown> {
  return call('POST', `/api/keys/${encodeURIComponent(key)}`, { body: firstKeyBody(api) })
}

/** The body of the first key: access to one API. */
export function firstKeyBody({ id, name }: FirstApi) {
  return { alias: 'First key', access_rights: { [id]: { api_id: id, api_name: name, versions: ['Default'] } } }
}

const KEY_BYTES = 32

/** A key that nobody can guess, 256 bits in base64url. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES))
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}
