import { METHODS } from 'node:http'

const KNOWN = new Set(METHODS)

/** A method as requests name it: a known one in upper case, since in another no request has it (RFC 9110 section 9.1). */
export function methodName(text: string): string {
  const upper = text.toUpperCase()
  return KNOWN.has(upper) ? upper : text
}
