import { prebuilt } from '../../../errors/fault.ts'
import type { Step } from '../../server/exchange.ts'

/** Refuses a version or API past its end, and announces the end (`X-Svc-Api-Expires`) until then. Unix milliseconds. */
export function checkExpiry(expiresAt: number | undefined, versionName: string): Step | undefined {
  if (expiresAt === undefined) return undefined
  const announced = `X-Svc-Api-Expires: ${new Date(expiresAt).toUTCString()}\r\n`
  const expired = prebuilt('version_expired', `Version ${versionName} has expired`)
  return function checkExpiry(x) {
    if (x.wall >= expiresAt) return expired
    x.answerExtra += announced
    return undefined
  }
}
