import { createHmac } from 'node:crypto'
import { type SealKey, seal, unseal } from '../../model/secrets/secret.ts'
import type { EventTarget } from '../../publish/events/events.ts'
import type { Change, DeliveryInput } from '../../store/ports/ports.ts'
import type { OAuthApi, OAuthParts } from '../endpoints/parts.ts'

/** The notification of an API about issued tokens. All members are present, '' where they do not apply. */
export interface TokenNotification {
  readonly auth_code: string
  readonly new_oauth_token: string
  readonly refresh_token: string
  readonly old_refresh_token: string
  readonly notification_type: 'new' | 'refresh'
}

/** One announcement as it is sent. `headers` holds secrets: it is for the wire alone. */
export interface WebhookMessage {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** POST unless given; GET and DELETE carry no body. */
  readonly method?: string
}

const USER_AGENT = 'Gatehouse-Notifications/1'
const EVENT_USER_AGENT = 'Svc-Dash-Hookshot'

/**
 * The change that puts a notice into the outbox; undefined when the API tells nobody. It belongs into the commit of the tokens,
 * so that there is never one without the other. The notice holds tokens, so it is stored sealed.
 */
export function deliveryOf(
  parts: Pick<OAuthParts, 'sealKey' | 'clock'>,
  api: OAuthApi,
  notice: TokenNotification,
): Change | undefined {
  if (api.oauth.notifyUrl === '') return undefined
  const place = { queue: api.apiId, createdAt: parts.clock.wall() }
  const text = JSON.stringify({ org_id: api.orgId, body: bodyOf(notice) })
  return { op: 'putDelivery', row: { ...place, sealed: seal(parts.sealKey, text, contextOf(place)) } }
}

/**
 * The body of a stored message, and the organisation whose API issued the tokens; undefined in messages of older versions. @throws Fault
 * `seal_broken` when it was sealed under another key or for another place
 */
export function openDelivery(
  sealKey: SealKey,
  row: DeliveryInput,
): { readonly body: string; readonly orgId: string | undefined } {
  const text = unseal(sealKey, row.sealed, contextOf(row)).toString('utf8')
  const { body, org_id: orgId } = JSON.parse(text) as { readonly body?: string; readonly org_id?: string }
  return body === undefined ? { body: text, orgId: undefined } : { body, orgId }
}

/**
 * The message on the wire for a body at a time of sending (Unix seconds). Without a shared secret nothing can be signed, and the two fields
 * that prove the sender are absent. Receivers of the incumbent find the secret under the first alias' name, too.
 */
export function webhookMessage(sharedSecret: string, body: string, atS: number, alias?: string): WebhookMessage {
  const headers = { 'Content-Type': 'application/json', 'User-Agent': USER_AGENT }
  if (sharedSecret === '') return { headers, body }
  return {
    headers: {
      ...headers,
      'X-Svc-Shared-Secret': sharedSecret,
      ...(alias !== undefined && { [`X-${alias[0]!.toUpperCase()}${alias.slice(1)}-Shared-Secret`]: sharedSecret }),
      'X-Svc-Signature': signatureOf(sharedSecret, body, atS),
    },
    body,
  }
}

/** The payload of an event: its own fields do not replace ours. */
export function eventMessage({ method, headers, secret }: EventTarget, body: string, atS: number): WebhookMessage {
  const signed = webhookMessage(secret, body, atS)
  return { method, body, headers: { ...headers, ...signed.headers, 'User-Agent': EVENT_USER_AGENT } }
}

/**
 * The value of `X-Svc-Signature`: `t=<Unix seconds>,v1=<hex>`, where the hex is HMAC-SHA-256 under the shared secret over
 * `<t>.<body>`. The time is that of the try, so a receiver may refuse old ones; repeated tries have the same body.
 */
export function signatureOf(sharedSecret: string, body: string, atS: number): string {
  const hex = createHmac('sha256', sharedSecret).update(`${atS}.`).update(body).digest('hex')
  return `t=${atS},v1=${hex}`
}

/** Exactly these members in this order, without others of the caller's object. */
function bodyOf(notice: TokenNotification): string {
  const { auth_code, new_oauth_token, refresh_token, old_refresh_token, notification_type } = notice
  return JSON.stringify({ auth_code, new_oauth_token, refresh_token, old_refresh_token, notification_type })
}

/** A sealed message cannot be moved to the queue of another API, whose receiver would then read it. */
function contextOf({ queue, createdAt }: Pick<DeliveryInput, 'queue' | 'createdAt'>): string {
  return `delivery:${queue}:${createdAt}`
}
