import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'

/** A certificate and its key, as PEM, and the SHA-256 (hex) of the certificate. */
export interface TestCertificate {
  readonly cert: string
  readonly key: string
  readonly fingerprint: string
}

function der(tag: number, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  if (body.length < 128) return Buffer.concat([Buffer.from([tag, body.length]), body])
  const length = body.length < 256 ? [0x81, body.length] : [0x82, body.length >> 8, body.length & 255]
  return Buffer.concat([Buffer.from([tag, ...length]), body])
}

const sequence = (...parts: Buffer[]) => der(0x30, ...parts)
const identifier = (hex: string) => der(0x06, Buffer.from(hex, 'hex'))

const ECDSA_SHA256 = sequence(identifier('2a8648ce3d040302'))
const COMMON_NAME = identifier('550403')
const SUBJECT_ALT_NAME = identifier('551d11')
const BASIC_CONSTRAINTS = identifier('551d13')

function name(common: string): Buffer {
  return sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from(common)))))
}

function extension(id: Buffer, value: Buffer): Buffer {
  return sequence(id, der(0x04, value))
}

function extensions(names: readonly string[]): Buffer {
  const alternatives = names.map((one) => der(0x82, Buffer.from(one)))
  const address = der(0x87, Buffer.from([127, 0, 0, 1]))
  const list = [
    extension(BASIC_CONSTRAINTS, sequence(der(0x01, Buffer.from([0xff])))),
    extension(SUBJECT_ALT_NAME, sequence(...alternatives, address)),
  ]
  return der(0xa3, sequence(...list))
}

function pem(label: string, bytes: Buffer): string {
  return `-----BEGIN ${label}-----\n${bytes.toString('base64').replace(/(.{64})(?=.)/g, '$1\n')}\n-----END ${label}-----\n`
}

/** A self-signed P-256 certificate for these DNS names and 127.0.0.1, valid for all of this century. */
export function selfSigned(...names: string[]): TestCertificate {
  return signed('20991231235959Z', names)
}

/** The same, expired since 2001. */
export function expired(...names: string[]): TestCertificate {
  return signed('20010101000000Z', names)
}

function signed(notAfter: string, names: readonly string[]): TestCertificate {
  const { privateKey, publicKey }: { privateKey: KeyObject; publicKey: KeyObject } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
  })
  const subject = name(names[0] ?? 'nobody')
  const serial = createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest()
    .subarray(0, 8)
  serial[0] = 1
  const validity = sequence(der(0x17, Buffer.from('000101000000Z')), der(0x18, Buffer.from(notAfter)))
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, serial),
    ECDSA_SHA256,
    subject,
    validity,
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    extensions(names),
  )
  const signature = sign('sha256', body, privateKey)
  const whole = sequence(body, ECDSA_SHA256, der(0x03, Buffer.from([0]), signature))
  return {
    cert: pem('CERTIFICATE', whole),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    fingerprint: createHash('sha256').update(whole).digest('hex'),
  }
}
