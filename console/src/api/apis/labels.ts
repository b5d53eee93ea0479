import { call } from '../calls/call.ts'

/** A label of the organisation, as a word that APIs may carry. */
export interface LabelView {
  readonly id: string
  readonly name: string
  readonly key: string
  readonly values: readonly string[]
  readonly value_type: 'free_text' | 'predefined'
}

/** A label that an API carries. */
export interface Carried {
  readonly key: string
  readonly value: string
}

export const LABELS_KEY = ['labels'] as const

/** All labels of the organisation. @throws CallError */
export async function listLabels(signal?: AbortSignal): Promise<readonly LabelView[]> {
  const sent = { query: { p: -1 }, ...(signal && { signal }) }
  return (await call<{ labels: LabelView[] }>('GET', '/api/labels', sent)).labels
}

/** The values that APIs carry, by key, and how many carry each. @throws CallError */
export async function labelsInUse(
  signal?: AbortSignal,
): Promise<readonly { readonly key: string; readonly values: readonly { value: string; count: number }[] }[]> {
  const sent = signal === undefined ? {} : { signal }
  return (
    await call<{ labels: { key: string; values: { value: string; count: number }[] }[] }>(
      'GET',
      '/api/apis/labels',
      sent,
    )
  ).labels
}

const of = (apiId: string) => `/api/apis/${encodeURIComponent(apiId)}/labels`

/** The labels of an API. @throws CallError */
export function labelsOf(apiId: string, signal?: AbortSignal): Promise<readonly Carried[]> {
  return call('GET', of(apiId), { ...(signal && { signal }) })
}

/** Applies a label to an API; one that it carries gets the new value. @throws CallError */
export function applyLabel(apiId: string, label: Carried): Promise<readonly Carried[]> {
  return call('POST', of(apiId), { body: label })
}

/** Takes a label off an API. @throws CallError */
export function takeLabelOff(apiId: string, key: string): Promise<unknown> {
  return call('DELETE', `${of(apiId)}/${encodeURIComponent(key)}`)
}
