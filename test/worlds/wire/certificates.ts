import { generateKeyPairSync, type KeyObject, randomBytes, sign, X509Certificate } from 'node:crypto'

/** A throw-away certificate that signed itself, P-256. */
export interface Certificate {
  readonly cert: string
  readonly key: string
  /** SHA-256 of the certificate, lower-case hex. */
  readonly fingerprint: string
}

/** When a certificate is valid, RFC 3339; whole seconds, from 1950 to 2049. */
export interface Validity {
  readonly from: string
  readonly until: string
}

/** The clocks of tests are in 2023, TLS uses the machine's. */
const LONG: Validity = { from: '2020-01-01T00:00:00Z', until: '2049-12-31T23:59:59Z' }

const ECDSA_SHA256 = '1.2.840.10045.4.3.2'
const COMMON_NAME = '2.5.4.3'
const SUBJECT_ALT_NAME = '2.5.29.17'
const BASIC_CONSTRAINTS = '2.5.29.19'

/** Makes a certificate (RFC 5280) for a DNS name. */
export function makeCertificate(name: string, { from, until }: Validity = LONG): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const algorithm = sequence(oid(ECDSA_SHA256))
  const subject = sequence(set(sequence(oid(COMMON_NAME), der(0x0c, Buffer.from(name)))))
  const extensions = sequence(
    sequence(oid(SUBJECT_ALT_NAME), octets(sequence(der(0x82, Buffer.from(name, 'latin1'))))),
    // It is its own authority.
    sequence(oid(BASIC_CONSTRAINTS), TRUE, octets(sequence(TRUE))),
  )
  const body = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.concat([Buffer.of(1), randomBytes(15)])),
    algorithm,
    subject,
    sequence(time(from), time(until)),
    subject,
    publicKeyInfo(publicKey),
    der(0xa3, extensions),
  )
  const signed = sequence(body, algorithm, bits(sign('sha256', body, privateKey)))
  const cert = pemOf(signed)
  const fingerprint = new X509Certificate(cert).fingerprint256.replaceAll(':', '').toLowerCase()
  return { cert, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), fingerprint }
}

/** A certificate as PEM. An empty line would turn the text before it into headers (RFC 1421). */
export function pemOf(bytes: Buffer): string {
  return `-----BEGIN CERTIFICATE-----\n${bytes
    .toString('base64')
    .match(/.{1,64}/g)!
    .join('\n')}\n-----END CERTIFICATE-----\n`
}

/** The public key as certificates hold it (RFC 5280 section 4.1.2.7). */
export const publicKeyInfo = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' })

/** Tag, length and content (X.690). */
export function der(tag: number, content: Uint8Array): Buffer {
  const { length } = content
  const size =
    length < 128
      ? [length]
      : length < 256
        ? [0x81, length]
        : length < 65_536
          ? [0x82, length >> 8, length & 0xff]
          : [0x83, length >> 16, (length >> 8) & 0xff, length & 0xff]
  return Buffer.concat([Buffer.of(tag, ...size), content])
}

export const TRUE = der(0x01, Buffer.of(0xff))
export const sequence = (...parts: Buffer[]) => der(0x30, Buffer.concat(parts))
export const set = (...parts: Buffer[]) => der(0x31, Buffer.concat(parts))
export const octets = (content: Buffer) => der(0x04, content)
export const bits = (content: Buffer) => der(0x03, Buffer.concat([Buffer.of(0), content]))
/** `2020-01-01T00:00:00Z` as `200101000000Z`. */
export const time = (text: string) => der(0x17, Buffer.from(text.replace(/[-:T]/g, '').slice(2), 'latin1'))

export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  return der(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
}

function base128(value: number): number[] {
  const digits = [value & 0x7f]
  for (let left = value >> 7; left > 0; left >>= 7) digits.unshift((left & 0x7f) | 0x80)
  return digits
}
