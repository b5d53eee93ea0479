import { fault } from '../errors/fault.ts'
import type { Fields } from '../wire/fields.ts'

/** Fields that may hold the gateway secret: ours, and those of the words that stand for `svc`. */
export function secretHeaders(words: readonly string[]): readonly string[] {
  return words.map((word) => `x-${word}-authorization`)
}

/**
 * The gateway secret as a request gives it; undefined when it gives none.
 * @throws Fault `request_malformed` when it is given several times
 */
export function givenSecret(request: Fields, headers: readonly string[]): string | undefined {
  const [given, second] = headers.flatMap((header) => request.all(header))
  if (second !== undefined) throw fault('request_malformed', `${headers[0]} given several times: send one credential`)
  return given
}
