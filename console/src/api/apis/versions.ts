import { call } from '../calls/call.ts'

/** One version of an API; the first of a list is the base itself. */
export interface VersionView {
  readonly id: string
  readonly name: string
  readonly versionName: string
  readonly internal: boolean
  /** RFC 3339, '' = never. */
  readonly expirationDate: string
  readonly isDefaultVersion: boolean
}

/** The versions of an API. @throws CallError */
export async function listVersions(id: string, signal?: AbortSignal): Promise<readonly VersionView[]> {
  const path = `/api/apis/${encodeURIComponent(id)}/versions`
  return (await call<{ apis: VersionView[] }>('GET', path, { ...(signal && { signal }) })).apis
}

/** Makes a version of an API the base of the others. @throws CallError */
export function rebase(baseId: string, nextId: string): Promise<unknown> {
  return call('PATCH', `/api/apis/oas/${encodeURIComponent(baseId)}/rebase/${encodeURIComponent(nextId)}`)
}
