import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import {
  bits,
  der,
  octets,
  oid,
  pemOf,
  publicKeyInfo,
  sequence,
  set,
  TRUE,
  time,
  type Validity,
} from './certificates.ts'

/** A certificate that a test has issued, with its key. */
export interface Issued {
  readonly cert: string
  readonly key: string
  /** SHA-256 of the certificate, lower-case hex. */
  readonly fingerprint: string
  readonly keys: { readonly publicKey: KeyObject; readonly privateKey: KeyObject }
  readonly subject: Buffer
  readonly serial: Buffer
}

/** A name in an alternative name or a constraint. */
export type TestName =
  | { readonly dns: string }
  | { readonly email: string }
  | { readonly uri: string }
  | { readonly ip: string }
  | { readonly directory: string }

/** The contents of a certificate; what is absent is not in it. */
export interface Contents {
  /** The common name; '' = a certificate without a subject. */
  readonly name: string
  readonly ca?: boolean
  readonly pathLength?: number
  /** Bits of the key usage by their numbers (RFC 5280 section 4.2.1.3). */
  readonly usage?: readonly number[]
  /** Object identifiers of the extended key usage. */
  readonly purposes?: readonly string[]
  readonly names?: readonly TestName[]
  readonly permitted?: readonly TestName[]
  readonly excluded?: readonly TestName[]
  /** Object identifier of an extension that is critical. */
  readonly critical?: string
  /** Bytes of an extension that is not, and that nobody knows. */
  readonly harmless?: number
  readonly validity?: Validity
  /** Signed over SHA-1. */
  readonly sha1?: boolean
  /** With an RSA key of so many bits. */
  readonly rsaBits?: number
  /** Same key pair as that one. */
  readonly keysOf?: Issued
}

export const DIGITAL_SIGNATURE = 0
export const KEY_ENCIPHERMENT = 2
export const KEY_CERT_SIGN = 5
export const CRL_SIGN = 6
export const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2'
export const SERVER_AUTH = '1.3.6.1.5.5.7.3.1'

const LONG: Validity = { from: '2020-01-01T00:00:00Z', until: '2049-12-31T23:59:59Z' }
/** Signature algorithms by kind of key and hash. */
const ALGORITHMS: Readonly<Record<string, string>> = {
  'ec sha256': '1.2.840.10045.4.3.2',
  'ec sha1': '1.2.840.10045.4.1',
  'rsa sha256': '1.2.840.113549.1.1.11',
}

/**
 * Issues a certificate (RFC 5280 section 4.1) with a new key (P-256 unless it says otherwise) that names `issuer`, or itself, as its issuer; `signer` has another one
 * sign it.
 */
export function issue(contents: Contents, issuer?: Issued, signer: Pick<Issued, 'keys'> | undefined = issuer): Issued {
  const keys = contents.keysOf?.keys ?? newKeys(contents.rsaBits)
  const subject = nameOf(contents.name)
  const { from, until } = contents.validity ?? LONG
  const issuerKeys = issuer?.keys ?? keys
  const extensions = [...keyIdentifiers(keys.publicKey, issuerKeys.publicKey), ...extensionsOf(contents)]
  const serial = Buffer.concat([Buffer.of(1), randomBytes(15)])
  const { privateKey } = (signer ?? { keys }).keys
  const hash = contents.sha1 ? 'sha1' : 'sha256'
  const algorithm = sequence(oid(ALGORITHMS[`${privateKey.asymmetricKeyType} ${hash}`]!))
  const body = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, serial),
    algorithm,
    issuer?.subject ?? subject,
    sequence(time(from), time(until)),
    subject,
    publicKeyInfo(keys.publicKey),
    der(0xa3, sequence(...extensions)),
  )
  const whole = sequence(body, algorithm, bits(sign(hash, body, privateKey)))
  return {
    cert: pemOf(whole),
    key: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    fingerprint: createHash('sha256').update(whole).digest('hex'),
    keys,
    subject,
    serial,
  }
}

/** A list of what a CA has revoked (RFC 5280 section 5.1), PEM, valid `until` ('' = it does not say), with the extension `critical`; `signer` has another one sign it. */
export function revocationList(
  issuer: Issued,
  revoked: readonly Issued[],
  { until = LONG.until, critical, signer = issuer }: { until?: string; critical?: string; signer?: Issued } = {},
): string {
  const algorithm = sequence(oid(ALGORITHMS['ec sha256']!))
  const entries = revoked.map(({ serial }) => sequence(der(0x02, serial), time(LONG.from)))
  const extensions =
    critical === undefined ? [] : [der(0xa0, sequence(sequence(oid(critical), TRUE, octets(sequence()))))]
  const body = sequence(
    ...[der(0x02, Buffer.of(1)), algorithm, issuer.subject, time(LONG.from)],
    ...(until === '' ? [] : [time(until)]),
    ...(entries.length === 0 ? [] : [sequence(...entries)]),
    ...extensions,
  )
  const whole = sequence(body, algorithm, bits(sign('sha256', body, signer.keys.privateKey)))
  return pemOf(whole).replaceAll('CERTIFICATE', 'X509 CRL')
}

function newKeys(rsaBits: number | undefined) {
  return rsaBits === undefined
    ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
    : generateKeyPairSync('rsa', { modulusLength: rsaBits })
}

function nameOf(common: string): Buffer {
  return common === '' ? sequence() : sequence(set(sequence(oid('2.5.4.3'), der(0x0c, Buffer.from(common)))))
}

/** They tell keys of one name apart (RFC 5280 sections 4.2.1.1 and 4.2.1.2). */
function keyIdentifiers(own: KeyObject, issuer: KeyObject): Buffer[] {
  const hash = (key: KeyObject) => createHash('sha256').update(publicKeyInfo(key)).digest().subarray(0, 20)
  return [
    sequence(oid('2.5.29.14'), octets(octets(hash(own)))),
    sequence(oid('2.5.29.35'), octets(sequence(der(0x80, hash(issuer))))),
  ]
}

function extensionsOf(contents: Contents): Buffer[] {
  const { ca, pathLength, usage, purposes, names, permitted, excluded, critical, harmless } = contents
  const extension = (id: string, value: Buffer, isCritical = true) =>
    sequence(oid(id), ...(isCritical ? [TRUE] : []), octets(value))
  const basic = [...(ca ? [TRUE] : []), ...(pathLength === undefined ? [] : [der(0x02, Buffer.of(pathLength))])]
  const subtrees = (tag: number, list: readonly TestName[] | undefined) =>
    list === undefined ? [] : [der(tag, Buffer.concat(list.map((name) => sequence(generalName(name)))))]
  return [
    ...(ca === undefined ? [] : [extension('2.5.29.19', sequence(...basic))]),
    ...(usage === undefined ? [] : [extension('2.5.29.15', bitString(usage))]),
    ...(purposes === undefined ? [] : [extension('2.5.29.37', sequence(...purposes.map(oid)), false)]),
    ...(names === undefined ? [] : [extension('2.5.29.17', sequence(...names.map(generalName)), false)]),
    ...(permitted === undefined && excluded === undefined
      ? []
      : [extension('2.5.29.30', sequence(...subtrees(0xa0, permitted), ...subtrees(0xa1, excluded)))]),
    ...(critical === undefined ? [] : [extension(critical, sequence())]),
    ...(harmless === undefined ? [] : [extension('1.3.6.1.4.1.99999.2', octets(randomBytes(harmless)), false)]),
  ]
}

function generalName(name: TestName): Buffer {
  if ('email' in name) return der(0x81, Buffer.from(name.email))
  if ('dns' in name) return der(0x82, Buffer.from(name.dns))
  if ('directory' in name) return der(0xa4, nameOf(name.directory))
  if ('uri' in name) return der(0x86, Buffer.from(name.uri))
  // An address, or a network as `10.0.0.0/255.0.0.0`.
  return der(0x87, Buffer.from(name.ip.split(/[./]/).map(Number)))
}

function bitString(numbers: readonly number[]): Buffer {
  const byte = numbers.reduce((sum, bit) => sum | (0x80 >> bit), 0)
  // Trailing zeros are not counted (X.690 section 11.2.2).
  const unused = byte === 0 ? 0 : Math.log2(byte & -byte)
  return der(0x03, byte === 0 ? Buffer.of(0) : Buffer.of(unused, byte))
}
