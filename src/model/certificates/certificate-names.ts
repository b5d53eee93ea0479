import { BlockList, isIP } from 'node:net'
import type { GeneralName, GeneralSubtrees, Name } from '@peculiar/asn1-x509'
import type { Json, JsonObject } from '../json/json.ts'

/** The forms of names that constraints are understood of (RFC 5280 section 4.2.1.10); `other` is all the rest. */
type Form = 'dns' | 'email' | 'uri' | 'ip' | 'directory' | 'other'

/** A name, or a subtree of names. */
export interface CertificateName {
  readonly form: Form
  /** Lower case; of a directory name its parts, from the root. */
  readonly value: string | readonly string[]
}

/** The constraints that a CA puts on the names below it. */
export interface NameRules {
  readonly permitted: readonly CertificateName[]
  readonly excluded: readonly CertificateName[]
}

const COMMON_NAME = '2.5.4.3'
const EMAIL_ADDRESS = '1.2.840.113549.1.9.1'
const HOST_NAME = /^[a-z0-9_-]+(\.[a-z0-9_-]+)+$/
/** Comparisons of a certificate with the constraints of one CA: beyond that the certificate is refused. */
const MOST_COMPARED = 65_536

/** The relative distinguished names of a name, comparable: letter case and runs of blanks do not count (RFC 5280 section 7.1). */
export function rdnsOf(name: Name): string[] {
  return Array.from(name, (rdn) =>
    Array.from(rdn, ({ type, value }) => `${type}=${folded(value.toString()).trim().replace(/\s+/g, ' ')}`)
      .sort()
      .join('+'),
  )
}

/**
 * All names of a certificate that constraints are about: the alternative names, the subject, its addresses of mail, and a common name that
 * looks like that of a host where no alternative name is one.
 */
export function namesOf(subject: Name, alternatives: Iterable<GeneralName> = []): CertificateName[] {
  const names = Array.from(alternatives, nameOf)
  const named = (type: string) =>
    Array.from(subject, (rdn) => Array.from(rdn))
      .flat()
      .filter((attribute) => attribute.type === type)
      .map(({ value }) => folded(value.toString()))
  const hosts = names.some(({ form }) => form === 'dns')
    ? []
    : named(COMMON_NAME).filter((name) => HOST_NAME.test(name))
  return [
    ...names,
    ...hosts.map((value) => ({ form: 'dns', value }) as const),
    ...named(EMAIL_ADDRESS).map((value) => ({ form: 'email', value }) as const),
    ...(subject.length === 0 ? [] : [{ form: 'directory', value: rdnsOf(subject) } as const]),
  ]
}

/** The subtrees of a constraint. One with a distance is of no form that we understand. */
export function subtreesOf(subtrees: GeneralSubtrees | undefined): CertificateName[] {
  return Array.from(subtrees ?? [], ({ base, minimum, maximum }) =>
    minimum === 0 && maximum === undefined ? nameOf(base) : { form: nameOf(base).form, value: [] },
  )
}

/** Why the constraints of a CA forbid the names of a certificate below it; undefined when they do not. */
export function flawOfNames(names: readonly CertificateName[], { permitted, excluded }: NameRules): string | undefined {
  if (names.length * (permitted.length + excluded.length) > MOST_COMPARED) return 'it has too many names'
  for (const name of names) {
    const ofForm = permitted.filter(({ form }) => form === name.form)
    if (ofForm.length > 0 && !ofForm.some((subtree) => isWithin(name, subtree) === true))
      return 'a name is not permitted'
    if (excluded.some((subtree) => subtree.form === name.form && isWithin(name, subtree) !== false))
      return 'a name is excluded'
  }
  return undefined
}

function nameOf(name: GeneralName): CertificateName {
  const { dNSName, rfc822Name, uniformResourceIdentifier, iPAddress, directoryName } = name
  if (dNSName !== undefined) return { form: 'dns', value: folded(dNSName) }
  if (rfc822Name !== undefined) return { form: 'email', value: folded(rfc822Name) }
  if (uniformResourceIdentifier !== undefined) return { form: 'uri', value: folded(uniformResourceIdentifier) }
  if (iPAddress !== undefined) return { form: 'ip', value: iPAddress }
  return directoryName === undefined
    ? { form: 'other', value: '' }
    : { form: 'directory', value: rdnsOf(directoryName) }
}

/** True when a name is within a subtree of its form; undefined when that cannot be said. */
function isWithin({ form, value }: CertificateName, { value: base }: CertificateName): boolean | undefined {
  if (form === 'directory') {
    if (typeof value === 'string' || typeof base === 'string') return undefined
    return base.every((rdn, at) => rdn === value[at])
  }
  if (typeof value !== 'string' || typeof base !== 'string') return undefined
  if (form === 'dns') return base === '' || value === base || value.endsWith(base.startsWith('.') ? base : `.${base}`)
  if (form === 'email')
    return base.includes('@') ? value === base : isHostWithin(value.slice(value.lastIndexOf('@') + 1), base)
  if (form === 'uri') return isUriWithin(value, base)
  return form === 'ip' ? isAddressWithin(value, base) : undefined
}

/** `example.com` is that host alone, `.example.com` those below it. */
function isHostWithin(host: string, base: string): boolean {
  return base === '' || (base.startsWith('.') ? host.endsWith(base) : host === base)
}

/** A URI without a host name cannot be judged. */
function isUriWithin(uri: string, base: string): boolean | undefined {
  const host = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#@]*@)?([a-z0-9._-]+)(?::\d*)?(?:[/?#]|$)/.exec(uri)?.[1]
  return host === undefined || isIP(host) !== 0 ? undefined : isHostWithin(host, base)
}

function isAddressWithin(address: string, base: string): boolean | undefined {
  const [network = '', bits = ''] = base.split('/')
  const [sort, family] = [isIP(network), isIP(address)]
  if (sort === 0 || family === 0 || !/^\d{1,3}$/.test(bits)) return undefined
  if (sort !== family) return false
  const list = new BlockList()
  list.addSubnet(network, Number(bits), sort === 4 ? 'ipv4' : 'ipv6')
  return list.check(address, family === 4 ? 'ipv4' : 'ipv6')
}

function folded(text: string): string {
  return text.toLowerCase()
}

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
