import { call } from '../calls/call.ts'
import { APIS_KEY } from './apis.ts'

/** The definition of a label of the organisation. */
export interface LabelView {
  readonly id: string
  readonly name: string
  /** The key in APIs; never changes. */
  readonly key: string
  /** Those that are allowed; empty = any text. */
  readonly values: readonly string[]
  readonly value_type: 'free_text' | 'predefined'
}

/** A label that an API carries. */
export interface ApiLabel {
  readonly key: string
  readonly value: string
}

/** A label in use: how many APIs carry each of its values. */
export interface LabelUse {
  readonly key: string
  readonly values: readonly { readonly value: string; readonly count: number }[]
}

export const LABELS_KEY = ['labels'] as const
/** Below that of APIs: a change of an API may change it. */
export const LABEL_USE_KEY = [...APIS_KEY, 'labels'] as const

/** All labels of the organisation. @throws CallError */
export async function listLabels(signal?: AbortSignal): Promise<readonly LabelView[]> {
  const sent = { query: { p: -1 }, ...(signal && { signal }) }
  return (await call<{ labels: LabelView[] }>('GET', '/api/labels', sent)).labels
}

/** The values that APIs carry, by key, and how many carry each. @throws CallError */
export async function labelsInUse(signal?: AbortSignal): Promise<readonly LabelUse[]> {
  const sent = signal === undefined ? {} : { signal }
  return (await call<{ readonly labels: readonly LabelUse[] }>('GET', '/api/apis/labels', sent)).labels
}

const of = (apiId: string) => `/api/apis/${encodeURIComponent(apiId)}/labels`

/** The labels of an API. @throws CallError */
export function labelsOf(apiId: string, signal?: AbortSignal): Promise<readonly ApiLabel[]> {
  return call('GET', of(apiId), { ...(signal && { signal }) })
}

/** Applies a label to an API; one that it carries gets the new value. @throws CallError */
export function applyLabel(apiId: string, label: ApiLabel): Promise<readonly ApiLabel[]> {
  return call('POST', of(apiId), { body: label })
}

/** Takes a label off an API. @throws CallError */
export function detachLabel(apiId: string, key: string): Promise<unknown> {
  return call('DELETE', `${of(apiId)}/${encodeURIComponent(key)}`)
}
