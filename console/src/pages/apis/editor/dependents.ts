import type { ApiView } from '../../../api/apis/apis.ts'
import { listVersions } from '../../../api/apis/versions.ts'
import { call } from '../../../api/calls/call.ts'

const MOST_NAMES = 3

/** Something that hangs on an API: how many of it there are (at least), and how some are called. */
export interface Dependent {
  readonly kind: 'versions' | 'policies' | 'clients' | 'keys'
  readonly number: number
  readonly names: readonly string[]
}

/** The objects that depend on an API, as far as the reader may see them. */
export async function readDependents(api: ApiView, signal: AbortSignal): Promise<readonly Dependent[]> {
  const id = encodeURIComponent(api.id)
  const sent = { signal, query: { p: -1 } }
  const found = await Promise.allSettled([
    listVersions(api.id, signal).then((all) =>
      dependent(
        'versions',
        all.slice(1).map(({ name }) => name),
      ),
    ),
    call<{ Data?: { name: string }[] }>('GET', '/api/portal/policies/search', {
      signal,
      query: { api_id: api.id, p: -1 },
    }).then(({ Data }) =>
      dependent(
        'policies',
        (Data ?? []).map(({ name }) => name),
      ),
    ),
    call<{ apps?: { description?: string; client_id: string }[] }>(
      'GET',
      `/api/apis/oauth/${encodeURIComponent(id)}`,
      sent,
    ).then(({ apps }) =>
      dependent(
        'clients',
        (apps ?? []).map(({ description, client_id }) => description || client_id),
      ),
    ),
    call<{ data?: { keys?: string[] } }>('GET', `/api/apis/${encodeURIComponent(id)}/keys`, sent).then(({ data }) =>
      dependent('keys', data?.keys ?? []),
    ),
  ])
  return found.flatMap((each) => (each.status === 'fulfilled' && each.value.number > 0 ? [each.value] : []))
}

function dependent(kind: Dependent['kind'], names: readonly string[]): Dependent {
  const shown = kind === 'keys' ? [] : names.slice(0, MOST_NAMES)
  return {
    kind,
    number: names.length,
    names: names.length > shown.length && shown.length > 0 ? [...shown, '…'] : shown,
  }
}
