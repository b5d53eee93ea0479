import { CONNECTION_SPECIFIC, type Field, isPseudo, KIND } from '../hpack/field.ts'

/** Fields that frame, route or authenticate a message are no trailers (RFC 9110 section 6.5.1). */
const NOT_TRAILING: ReadonlySet<string> = new Set([
  ...CONNECTION_SPECIFIC,
  ...['host', 'content-length', 'expect', 'te', 'trailer', 'authorization', 'cookie', 'set-cookie', 'content-type'],
])

/** Fields of a request that count only where the gateway lets them through: who sent it, and names that upstreams confuse with others. */
const NOT_FROM_CLIENTS = /^(?:forwarded|x-forwarded-.*|x-real-ip|proxy|.*[!#$%&'*+.^_`|~].*)$/

/** Trailers of a request, as `trailerLines`. */
export function requestTrailerLines(fields: readonly Field[]): string | undefined {
  return trailerLines(fields.filter(({ name }) => !NOT_FROM_CLIENTS.test(name)))
}

/** Trailers as `name: value\r\n` lines, without those that have no place there; undefined when they are malformed (RFC 9113 section 8.1). */
export function trailerLines(fields: readonly Field[]): string | undefined {
  let lines = ''
  for (const { kind, name, line } of fields) {
    if (kind === KIND.malformed || isPseudo(kind)) return undefined
    if (!NOT_TRAILING.has(name)) lines += line
  }
  return lines
}
