import { readTrafficJson } from '../../server/json-flaw.ts'

const DECODER = new TextDecoder('utf-8', { fatal: true })
const NO_JSON = 'must be JSON in UTF-8'

/** Reads bytes as JSON without members that are named twice. */
export function jsonValue(bytes: Uint8Array): { readonly value: unknown } | { readonly reason: string } {
  try {
    const read = readTrafficJson(DECODER.decode(bytes))
    return 'value' in read ? { value: read.value } : { reason: read.reason ?? NO_JSON }
  } catch {
    return { reason: NO_JSON }
  }
}
