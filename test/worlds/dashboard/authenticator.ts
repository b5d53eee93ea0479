import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import type { JsonObject } from '../../../src/model/json/json.ts'

type Cbor = number | string | Buffer | Map<number | string, Cbor>

/** CBOR (RFC 8949) of what an authenticator says: whole numbers, texts, bytes, maps. */
function cbor(value: Cbor): Buffer {
  if (typeof value === 'number') return value >= 0 ? head(0, value) : head(1, -1 - value)
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value])
  return Buffer.concat([head(5, value.size), ...[...value].flatMap(([key, entry]) => [cbor(key), cbor(entry)])])
}

function head(major: number, length: number): Buffer {
  if (length < 24) return Buffer.from([(major << 5) | length])
  if (length < 256) return Buffer.from([(major << 5) | 24, length])
  return Buffer.from([(major << 5) | 25, length >> 8, length & 0xff])
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest()

/** The lies that an answer may contain. */
export interface Lies {
  readonly origin?: string
  readonly rpId?: string
  readonly challenge?: string
  readonly type?: string
  readonly userVerified?: boolean
  readonly userPresent?: boolean
  readonly counter?: number
  /** Signs something else. */
  readonly badSignature?: boolean
  readonly userHandle?: string
}

/** A passkey in software, with the browser around it: makes what `navigator.credentials` would answer. */
export class Authenticator {
  readonly id = randomBytes(32)
  readonly #origin: string
  readonly #keys: { readonly publicKey: KeyObject; readonly privateKey: KeyObject }
  counter = 0
  #userHandle = ''

  constructor(origin: string) {
    this.#origin = origin
    this.#keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  }

  /** Answers `navigator.credentials.create`. */
  create(options: JsonObject, lies: Lies = {}): JsonObject {
    this.#userHandle = String((options.user as JsonObject).id)
    const { x, y } = this.#keys.publicKey.export({ format: 'jwk' })
    const key = new Map<number, Cbor>([
      ...[[1, 2] as const, [3, -7] as const, [-1, 1] as const],
      [-2, Buffer.from(x!, 'base64url')],
      [-3, Buffer.from(y!, 'base64url')],
    ])
    const length = Buffer.from([this.id.length >> 8, this.id.length & 0xff])
    const attested = Buffer.concat([Buffer.alloc(16), length, this.id, cbor(key as Map<number | string, Cbor>)])
    const rpId = lies.rpId ?? String((options.rp as JsonObject).id)
    const authData = this.#authData(rpId, 0x40, lies, attested)
    const object = cbor(
      new Map<string, Cbor>([
        ['fmt', 'none'],
        ['attStmt', new Map()],
        ['authData', authData],
      ]),
    )
    return this.#credential({
      clientDataJSON: this.#clientData('webauthn.create', options, lies).toString('base64url'),
      attestationObject: object.toString('base64url'),
      transports: ['internal'],
    })
  }

  /** Answers `navigator.credentials.get`. */
  get(options: JsonObject, lies: Lies = {}): JsonObject {
    this.counter++
    const authData = this.#authData(lies.rpId ?? String(options.rpId), 0, lies)
    const clientData = this.#clientData('webauthn.get', options, lies)
    const signed = Buffer.concat([authData, sha256(lies.badSignature ? 'something else' : clientData)])
    return this.#credential({
      clientDataJSON: clientData.toString('base64url'),
      authenticatorData: authData.toString('base64url'),
      signature: sign('sha256', signed, this.#keys.privateKey).toString('base64url'),
      userHandle: lies.userHandle ?? this.#userHandle,
    })
  }

  #credential(response: JsonObject): JsonObject {
    const id = this.id.toString('base64url')
    return { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response }
  }

  #authData(rpId: string, flags: number, lies: Lies, attested: Buffer = Buffer.alloc(0)): Buffer {
    const present = lies.userPresent === false ? 0 : 0x01
    const verified = lies.userVerified === false ? 0 : 0x04
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(lies.counter ?? this.counter)
    return Buffer.concat([sha256(rpId), Buffer.from([flags | present | verified]), counter, attested])
  }

  #clientData(type: string, options: JsonObject, lies: Lies): Buffer {
    const challenge = lies.challenge ?? String(options.challenge)
    return Buffer.from(JSON.stringify({ type: lies.type ?? type, challenge, origin: lies.origin ?? this.#origin }))
  }
}
