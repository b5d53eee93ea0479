import { call, type Envelope, isRecord } from '../calls/call.ts'
import type { CatalogueEntry } from './catalogue.ts'
import type { Access, Developer, Page } from './developers.ts'

/** A developer's wish for a key. */
export interface KeyRequest {
  readonly id: string
  readonly apply_policies: readonly string[]
  readonly for_plan: string
  readonly by_user: string
  readonly fields: Readonly<Record<string, string>>
  readonly approved: boolean
  readonly date_created: string
  readonly oauth_info: { readonly redirect_uri: string }
  /** Empty when the developer is gone. */
  readonly portal_developer: Partial<Developer>
  readonly catalogues: readonly CatalogueEntry[]
}

export const KEY_REQUESTS_KEY = ['key-requests'] as const
const PATH = '/api/portal/requests'

/** The newest first. `approved` is `true`, `false` or '' for both. @throws CallError */
export function listKeyRequests(
  query: { readonly p: string; readonly approved?: string; readonly by_user?: string },
  signal: AbortSignal,
): Promise<Page<KeyRequest>> {
  return call('GET', PATH, { query, signal })
}

/** The created key or app; undefined when the developer collects it by a link. @throws CallError 409 when there is no way to send one */
export async function approveKeyRequest(id: string): Promise<Access | undefined> {
  const answer = await call<Access | Envelope>('PUT', `${PATH}/approve/${encodeURIComponent(id)}`)
  return isRecord(answer) && 'Status' in answer ? undefined : (answer as Access)
}

/** Declines a request that waits, or forgets one that was approved. @throws CallError */
export function removeKeyRequest(id: string): Promise<unknown> {
  return call('DELETE', `${PATH}/${encodeURIComponent(id)}`)
}
