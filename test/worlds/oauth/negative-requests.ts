import { generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto'
import type { Answer } from '../base/client.ts'
import { REDIRECT, SECRET } from '../flows/oauth-world.ts'
import type { At, Side } from './sides.ts'

/** How a request is sent to one of the sides. */
export interface Sending {
  /** Basic credentials; '' = none. `shop` with its secret unless given. */
  readonly as?: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly query?: string
  /** Content type of the body; '' = none. */
  readonly type?: string
}

export type Form = Readonly<Record<string, string>> | string

const FORM = 'application/x-www-form-urlencoded'

/** Basic credentials as a client writes them; `pair` = `id:secret`, not encoded. */
export function basicOf(pair: string, encoding: BufferEncoding = 'utf8'): string {
  return `Basic ${Buffer.from(pair, encoding).toString('base64')}`
}

/** `Authorization` of one of the clients. */
export const as = (clientId: string, secret = SECRET) => basicOf(`${clientId}:${secret}`)

/** Sends a form to an endpoint, by default as `shop`. */
export function post(side: Side, at: At, form: Form = {}, sending: Sending = {}): Promise<Answer> {
  const { as: authorization = as('shop'), method = 'POST', headers = {}, query = '', type = FORM } = sending
  const body = typeof form === 'string' ? form : new URLSearchParams(form).toString()
  return side.send(at, {
    method,
    query,
    headers: {
      accept: 'application/json',
      ...(type !== '' && { 'content-type': type }),
      ...(authorization !== '' && { authorization }),
      ...headers,
    },
    ...(body !== '' && { body }),
  })
}

/** One request. */
export const one =
  (at: At, form: Form = {}, sending: Sending = {}) =>
  (side: Side) =>
    post(side, at, form, sending)

/** Client credentials; a text is the whole form. */
export const credentials = (form: Form = {}, sending: Sending = {}) =>
  one('token', typeof form === 'string' ? form : { grant_type: 'client_credentials', ...form }, sending)

/** A browser at the authorization endpoint; values of `undefined` are left out. */
export function browse(side: Side, params: Readonly<Record<string, string | undefined>>, more = ''): Promise<Answer> {
  const all = {
    client_id: 'shop',
    response_type: 'code',
    redirect_uri: REDIRECT,
    state: 'st',
    scope: 'read',
    ...params,
  }
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(all)) if (value !== undefined) query.set(name, value)
  return side.send('authorize', { query: `?${query}${more}`, headers: { accept: 'application/json' } })
}

/** Members of a JSON answer. */
export const bodyOf = (answer: Answer) => (answer.json ?? {}) as Readonly<Record<string, string>>

/** Exchanges a fresh code of `shop`; answers the tokens. */
export async function tokensOf(side: Side): Promise<Readonly<Record<string, string>>> {
  const form = { grant_type: 'authorization_code', code: await side.code(), redirect_uri: REDIRECT }
  const answer = await post(side, 'token', form)
  if (answer.status !== 200) throw new Error(`${side.name} gave no tokens: ${answer.text}`)
  return bodyOf(answer)
}

/** The holder of a DPoP key. */
export interface Holder {
  readonly privateKey: KeyObject
  readonly jwk: Record<string, unknown>
}

export function newHolder(): Holder {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { privateKey, jwk: publicKey.export({ format: 'jwk' }) as Record<string, unknown> }
}

const HOLDER = newHolder()

/** A DPoP proof for the token endpoint of a side, right but for what is given. Members of `undefined` are left out. */
export function proof(
  side: Side,
  claims: Record<string, unknown> = {},
  header: Record<string, unknown> = {},
  signer: KeyObject = HOLDER.privateKey,
): string {
  const about = {
    jti: randomUUID(),
    htm: 'POST',
    htu: side.url('token'),
    iat: Math.floor(Date.now() / 1000),
    ...claims,
  }
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const text = `${encode({ typ: 'dpop+jwt', alg: 'ES256', jwk: HOLDER.jwk, ...header })}.${encode(about)}`
  return `${text}.${sign('sha256', Buffer.from(text), { key: signer, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
}

/** The private key of the usual holder, as no proof may show it. */
export const PRIVATE_JWK = HOLDER.privateKey.export({ format: 'jwk' }) as Record<string, unknown>
