import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  hkdfSync,
  type KeyObject,
} from 'node:crypto'
import { fault } from '../../errors/fault.ts'

// Sealed values, format v1: `$sealed:v1:<recipient>:<key>:<box>`, the last two in base64url. `recipient` is the first 16 hex digits
// of the SHA-256 of the recipient's raw X25519 public key (RFC 7748), `key` the raw public key that was made for this value.
// HKDF-SHA-256 (RFC 5869) over the shared secret, salt = key and recipient's key, info = `gatehouse-moves-v1`, gives 44 bytes: an
// AES-256-GCM key and a nonce. `box` is cipher text and tag; the place of the value is authenticated, so that it opens nowhere else.

/** How a value begins that is sealed for a recipient. */
export const SEALED_PREFIX = '$sealed:'

const INFO = 'gatehouse-moves-v1'
const TAG_BYTES = 16
const RAW = /^[A-Za-z0-9_-]{43}$/
const SPKI = Buffer.from('302a300506032b656e032100', 'hex')
const PKCS8 = Buffer.from('302e020100300506032b656e04220420', 'hex')

/** Whose private key opens what is sealed. */
export interface Recipient {
  readonly key: KeyObject
  readonly raw: Buffer
  /** As sealed values name it. */
  readonly id: string
}

/** Who opens sealed values. */
export interface SealIdentity extends Recipient {
  readonly privateKey: KeyObject
}

/** Reads an X25519 public key in PEM (`openssl pkey -pubout`). @throws Fault `option_invalid` */
export function readRecipient(pem: string, name: string): Recipient {
  // Node takes a private key for its public half: one that is passed about as a recipient is no secret any more.
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem))
    throw fault(
      'option_invalid',
      `${name}: this is a private key; name the file of its public key (openssl pkey -in FILE -pubout)`,
    )
  return recipientOf(keyIn(() => createPublicKey(pem), name))
}

/** Reads an X25519 private key in PEM (`openssl genpkey -algorithm X25519`). @throws Fault `option_invalid` */
export function readIdentity(pem: string, name: string): SealIdentity {
  const privateKey = keyIn(() => createPrivateKey(pem), name)
  return { ...recipientOf(createPublicKey(privateKey)), privateKey }
}

/**
 * Seals a secret for a recipient. Sealing is deterministic: the same secret, place and `seed` give the same text (a secret of
 * the caller's), so that a file changes only when its object does: the one-time key follows from all of them.
 */
export function sealFor(recipient: Recipient, seed: string, place: string, secret: string): string {
  const material = Buffer.from(JSON.stringify([seed, secret]))
  const context = Buffer.concat([recipient.raw, Buffer.from(place)])
  const own = Buffer.from(hkdfSync('sha256', material, context, `${INFO}-key`, 32))
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8, own]), format: 'der', type: 'pkcs8' })
  const { raw } = recipientOf(createPublicKey(privateKey))
  const [key, nonce] = boxKey(privateKey, recipient.key, raw, recipient.raw)
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(Buffer.from(place))
  const box = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return `${SEALED_PREFIX}v1:${recipient.id}:${raw.toString('base64url')}:${box.toString('base64url')}`
}

/** Opens a sealed value at its place. @throws Fault `sealed_unreadable` */
export function openSealed(identity: SealIdentity, place: string, sealed: string): string {
  const [version, id, key = '', box = ''] = sealed.slice(SEALED_PREFIX.length).split(':')
  if (version !== 'v1') throw fault('sealed_unreadable', `it is sealed in a format that is not known here: ${version}`)
  if (id !== identity.id)
    throw fault('sealed_unreadable', `it is sealed for another key (${id}, this is ${identity.id})`)
  if (!RAW.test(key)) throw fault('sealed_unreadable', 'it is malformed')
  const raw = Buffer.from(key, 'base64url')
  const bytes = Buffer.from(box, 'base64url')
  if (bytes.length < TAG_BYTES) throw fault('sealed_unreadable', 'it is malformed')
  try {
    const other = createPublicKey({ key: Buffer.concat([SPKI, raw]), format: 'der', type: 'spki' })
    const [secretKey, nonce] = boxKey(identity.privateKey, other, raw, identity.raw)
    const decipher = createDecipheriv('aes-256-gcm', secretKey, nonce, { authTagLength: TAG_BYTES })
    decipher.setAAD(Buffer.from(place))
    decipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES))
    return Buffer.concat([decipher.update(bytes.subarray(0, bytes.length - TAG_BYTES)), decipher.final()]).toString()
  } catch (cause) {
    throw fault('sealed_unreadable', 'it was changed, or belongs to another place', cause)
  }
}

function boxKey(privateKey: KeyObject, publicKey: KeyObject, own: Buffer, recipient: Buffer): [Buffer, Buffer] {
  const shared = diffieHellman({ privateKey, publicKey })
  const bytes = Buffer.from(hkdfSync('sha256', shared, Buffer.concat([own, recipient]), INFO, 44))
  return [bytes.subarray(0, 32), bytes.subarray(32)]
}

function recipientOf(key: KeyObject): Recipient {
  const raw = key.export({ format: 'der', type: 'spki' }).subarray(SPKI.length)
  return { key, raw, id: createHash('sha256').update(raw).digest('hex').slice(0, 16) }
}

function keyIn(read: () => KeyObject, name: string): KeyObject {
  let key: KeyObject
  try {
    key = read()
  } catch (cause) {
    throw fault('option_invalid', `${name}: is no key in PEM that can be read`, cause)
  }
  if (key.asymmetricKeyType !== 'x25519') throw fault('option_invalid', `${name}: must be an X25519 key`)
  return key
}
