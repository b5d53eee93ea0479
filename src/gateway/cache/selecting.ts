import type { Fields } from '../../wire/http1/fields.ts'

/** Fields whose members mean the same in any spelling of letters and spaces. */
const FOLDED: ReadonlySet<string> = new Set(['accept', 'accept-charset', 'accept-encoding', 'accept-language'])

/** Fields that the gateway writes: what callers sent there is not what the upstream chose by. */
const OWN: ReadonlySet<string> = new Set(['x-forwarded-for', 'x-real-ip', 'forwarded'])

/** Field names that a Vary names, in lower case, each once and in order; undefined when nothing that a request holds decides (RFC 9111 section 4.1). */
export function selectingNames(vary: readonly string[], besides: readonly string[]): readonly string[] | undefined {
  const named = vary.flatMap((value) => value.split(',')).map((name) => name.trim().toLowerCase())
  const names = new Set([...besides, ...named].filter((name) => name !== ''))
  if (names.has('*')) return undefined
  for (const name of OWN) if (names.has(name)) return undefined
  return names.size === 0 ? NONE : [...names].sort()
}

const NONE: readonly string[] = []

/** The values of these request fields, as a text that is equal where they match (RFC 9111 section 4.1). */
export function varyKeyOf(request: Fields, names: readonly string[]): string {
  let text = ''
  for (const name of names) text += `${foldedValue(name, request.all(name))}\n`
  return text
}

function foldedValue(name: string, values: readonly string[]): string {
  // Absent is not the same as empty.
  if (values.length === 0) return '\0'
  const joined = values.join(', ')
  if (!FOLDED.has(name)) return joined
  const members = joined
    .toLowerCase()
    .replace(/[ \t]+/g, '')
    .split(',')
  // The order of codings has no meaning; of languages some upstreams take the first.
  return name === 'accept-encoding' ? [...new Set(members.map(foldedCoding))].sort().join(',') : members.join(',')
}

/** One spelling for what means the same (RFC 9110 sections 8.4.1 and 12.5.3): `x-gzip` is `gzip`, no weight is 1, zeros at its end say nothing. */
function foldedCoding(member: string): string {
  const [, coding, weight] = /^(?:x-(?=gzip|compress))?([^;]*)(?:;q=([01](?:\.\d{0,3})?))?$/.exec(member) ?? []
  if (coding === undefined) return member
  return weight === undefined || Number(weight) >= 1 ? coding : `${coding};q=${Number(weight)}`
}
