import { call } from '../calls/call.ts'
import type { LabelView } from './labels.ts'

export function createLabel(body: { readonly name: string; readonly values: readonly string[] }) {
  return call<LabelView>('POST', '/api/labels', { body })
}

export function changeLabel(id: string, body: { readonly name: string; readonly values: readonly string[] }) {
  return call<LabelView>('PUT', `/api/labels/${encodeURIComponent(id)}`, { body })
}

export function deleteLabel(id: string) {
  return call('DELETE', `/api/labels/${encodeURIComponent(id)}`)
}
