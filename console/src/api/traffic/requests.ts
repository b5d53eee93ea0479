import { call, callWhole, download, withQuery } from '../calls/call.ts'

/** One request as `GET /api/logs` answers it; latencies in milliseconds. */
export interface RequestRecord {
  readonly Method: string
  readonly Host: string
  readonly Path: string
  readonly RawPath: string
  readonly ContentLength: number
  readonly UserAgent: string
  readonly ResponseCode: number
  readonly APIKey: string
  readonly TimeStamp: string
  readonly APIVersion: string
  readonly APIName: string
  readonly APIID: string
  readonly OauthID: string
  readonly RequestTime: number
  readonly Latency: { readonly Total: number; readonly Upstream: number; readonly Gateway?: number }
  readonly RawRequest: string
  readonly RawResponse: string
  readonly IPAddress: string
  readonly Geo: {
    readonly Country: { readonly ISOCode: string }
    readonly City: { readonly Names: Readonly<Record<string, string>> }
  }
  readonly Network: { readonly BytesIn: number; readonly BytesOut: number }
  readonly Tags: readonly string[]
  readonly Alias: string
  readonly ExpireAt: string
  readonly RequestID: string
  readonly ErrorCode: string
  /** The answer to the caller, where the gateway refused or failed. */
  readonly ErrorBody: string
  /** In milliseconds; empty where the request was not timed. */
  readonly Steps: readonly { readonly Name: string; readonly AtMs: number; readonly Ms: number }[]
}

/** The filters of requests, in the terms of the call. */
export interface RequestFilters {
  readonly api: string
  readonly method: string
  readonly path: string
  readonly status: string
  readonly errors: string
  readonly key: string
  readonly client: string
  readonly tag: string
  /** Of one request, whenever it was. */
  readonly request_id: string
}

/** Both ends in Unix milliseconds. */
export interface RequestSpan {
  readonly fromMs: number
  readonly toMs: number
}

export interface RequestPage {
  readonly records: readonly RequestRecord[]
  readonly pages: number
  /** Requests of this time that were not recorded. */
  readonly dropped: number
  /** How long and how many requests are recorded; 0 = none are. */
  readonly kept: { readonly days: number; readonly count: number }
}

export const REQUESTS_KEY = ['requests'] as const
/** Rows that are read at once. */
const PAGE_ROWS = 500

const PATH = '/api/logs'

/** A page of requests, the newest first. @throws CallError */
export async function listRequests(
  span: RequestSpan,
  filters: RequestFilters,
  page: number,
  signal?: AbortSignal,
  rows = PAGE_ROWS,
): Promise<RequestPage> {
  const query = { ...filters, ...timeOf(span, filters), p: page, page_size: rows }
  const { answer, headers } = await callWhole<{ data: readonly RequestRecord[]; pages: number }>('GET', PATH, {
    query,
    ...(signal && { signal }),
  })
  const number = (name: string) => Number(headers.get(`x-svc-records-${name}`) ?? 0)
  const kept = { days: number('days'), count: number('kept') }
  return { records: answer.data, pages: answer.pages, dropped: number('dropped'), kept }
}

/** All of them as a CSV file. @throws CallError */
export function downloadRequests(span: RequestSpan, filters: RequestFilters): Promise<Blob> {
  return download(PATH, { query: { ...filters, ...timeOf(span, filters), type: 'csv' } })
}

/** Where requests can be followed as server-sent events. */
export function liveAddress(filters: RequestFilters): string {
  return withQuery(`${PATH}/live`, { ...filters })
}

/** APIs to choose from, by a part of their name. */
export async function findApis(text: string, signal?: AbortSignal): Promise<readonly { id: string; name: string }[]> {
  const answer = await call<{ apis?: readonly { api_definition?: { api_id?: string; name?: string } }[] }>(
    'GET',
    '/api/apis/search',
    { query: { q: text, p: 1 }, ...(signal && { signal }) },
  )
  return (answer.apis ?? []).flatMap(({ api_definition: api }) =>
    api?.api_id === undefined ? [] : [{ id: api.api_id, name: api.name ?? api.api_id }],
  )
}

/** A request that is named by its id is looked for at any time. */
function timeOf({ fromMs, toMs }: RequestSpan, filters: RequestFilters): { start?: number; end?: number } {
  if (filters.request_id !== '') return {}
  return { start: Math.floor(fromMs / 1000), end: Math.ceil(toMs / 1000) }
}
