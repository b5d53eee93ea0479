import { call } from '../calls/call.ts'

/** The definition of a label. */
export interface LabelDefinition {
  readonly id: string
  readonly name: string
  /** The key in APIs; never changes. */
  readonly key: string
  /** Those that are allowed; empty = any text. */
  readonly values: readonly string[]
}

export interface LabelUse {
  readonly key: string
  readonly values: readonly { readonly value: string; readonly count: number }[]
}

export const LABEL_DEFINITIONS_KEY = ['label-definitions'] as const
export const LABEL_USE_KEY = ['label-use'] as const

/** All labels of the organisation, by name. */
export async function listLabels(): Promise<readonly LabelDefinition[]> {
  const query = { p: -1 }
  return (await call<{ readonly labels: readonly LabelDefinition[] }>('GET', '/api/labels', { query })).labels
}

/** Which labels APIs carry, and how many do. */
export async function listLabelUse(): Promise<readonly LabelUse[]> {
  return (await call<{ readonly labels: readonly LabelUse[] }>('GET', '/api/apis/labels')).labels
}

export function createLabel(body: { readonly name: string; readonly values: readonly string[] }) {
  return call<LabelDefinition>('POST', '/api/labels', { body })
}

export function changeLabel(id: string, body: { readonly name: string; readonly values: readonly string[] }) {
  return call<LabelDefinition>('PUT', `/api/labels/${id}`, { body })
}

export function deleteLabel(id: string) {
  return call('DELETE', `/api/labels/${id}`)
}
