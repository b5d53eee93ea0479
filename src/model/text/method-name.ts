import { METHODS } from 'node:http'

const KNOWN = new Set(METHODS)

/** A method as requests name it: a known one in upper case, since in another no request has it (RFC 9110 section 9.1). */
export function methodName(text: string): string {
  const upper = text.toUpperCase()
  return KNOWN.has(upper) ? upper : text
}

/** True for what a request can name as its method (RFC 9110 section 9.1), but for `*`, which reads like any of them. */
export function isMethod(text: string): boolean {
  return text !== '*' && TOKEN.test(text)
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
