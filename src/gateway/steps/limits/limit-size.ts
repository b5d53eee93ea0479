import { prebuilt } from '../../../errors/fault.ts'
import type { Step } from '../../server/exchange.ts'

const TOO_LARGE_API = prebuilt('body_too_large_api')
const TOO_LARGE = prebuilt('body_too_large')
const LENGTH_REQUIRED = prebuilt('length_required')

/** Methods whose bodies mean nothing: exempt from the API's limit, not from the installation's, nor from that of their operation. */
const BODILESS = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE'])

/**
 * Bounds the request body: the installation's bound first (413), then the API's and the operation's (400, or 411 without a length).
 * All in bytes, 0 = none.
 */
export function limitSize(globalBytes: number, apiBytes: number, perOperation: boolean): Step | undefined {
  if (globalBytes === 0 && apiBytes === 0 && !perOperation) return undefined
  return function limitSize(x) {
    if (globalBytes > 0) {
      if (x.bodyLength > globalBytes) return TOO_LARGE
      x.bodyLimitBytes = globalBytes
      x.bodyFault = TOO_LARGE
    }
    const own = x.operation?.sizeLimitBytes || (BODILESS.has(x.method) ? 0 : apiBytes)
    if (own === 0) return undefined
    if (x.bodyLength < 0) return LENGTH_REQUIRED
    return x.bodyLength > own ? TOO_LARGE_API : undefined
  }
}
