import type { Json, JsonObject } from '../json/json.ts'

/** The parts of a name (RFC 4519 section 2) in the words of Go, with their identifiers. */
const PARTS: Readonly<Record<string, { readonly member: string; readonly type: readonly number[] }>> = {
  C: { member: 'Country', type: [2, 5, 4, 6] },
  O: { member: 'Organization', type: [2, 5, 4, 10] },
  OU: { member: 'OrganizationalUnit', type: [2, 5, 4, 11] },
  L: { member: 'Locality', type: [2, 5, 4, 7] },
  ST: { member: 'Province', type: [2, 5, 4, 8] },
  street: { member: 'StreetAddress', type: [2, 5, 4, 9] },
  postalCode: { member: 'PostalCode', type: [2, 5, 4, 17] },
  serialNumber: { member: 'SerialNumber', type: [2, 5, 4, 5] },
  CN: { member: 'CommonName', type: [2, 5, 4, 3] },
}

/** The parts of a subject or issuer, by their short names, as `CN=a` and one a line (the form of `X509Certificate`). */
function partsOf(name: string): [part: string, value: string][] {
  return name.split('\n').flatMap((line): [string, string][] => {
    const equals = line.indexOf('=')
    return equals === -1 ? [] : [[line.slice(0, equals), line.slice(equals + 1).replace(/\\(.)/g, '$1')]]
  })
}

/** The common name of a subject or issuer; '' = none. */
export function commonName(name: string): string {
  return partsOf(name).find(([part]) => part === 'CN')?.[1] ?? ''
}

/** A subject or issuer as programs in Go write it (`pkix.Name`). */
export function goName(name: string): JsonObject {
  const parts = partsOf(name)
  const members = Object.entries(PARTS).map(([part, { member }]): [string, Json] => {
    const values = parts.filter(([own]) => own === part).map(([, value]) => value)
    if (member === 'CommonName' || member === 'SerialNumber') return [member, values.at(-1) ?? '']
    return [member, values.length === 0 ? null : values]
  })
  const names = parts.flatMap(([part, value]) => {
    const known = PARTS[part]
    return known === undefined ? [] : [{ Type: [...known.type], Value: value }]
  })
  return { ...Object.fromEntries(members), Names: names, ExtraNames: null }
}
