import type { OperationRule } from '../../../model/apis/definition/api.ts'
import type { Step } from '../../server/exchange.ts'

/** Methods whose requests say that they have no content (RFC 9110 section 8.6). */
const WITH_CONTENT = new Set(['POST', 'PUT', 'PATCH'])

/** Prepares requests whose upstream is asked with another method, which `forward` then writes. */
export function changeMethod(rules: readonly OperationRule[]): Step | undefined {
  if (rules.every(({ toMethod }) => toMethod === '')) return undefined
  return function changeMethod(x) {
    if (WITH_CONTENT.has(x.operation?.toMethod ?? '')) x.hasLength = true
    return undefined
  }
}
