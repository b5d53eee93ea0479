import { call, type Envelope, type Tag, underTag } from '../calls/call.ts'

/** A webhook. The secret that it signs with is never shown. */
export interface Webhook {
  readonly id: string
  readonly name: string
  readonly method: string
  readonly target_path: string
  readonly header_map: Readonly<Record<string, string>>
}

export interface WebhookEdit extends Omit<Webhook, 'id'> {
  /** Undefined: as before; '' = messages are not signed. */
  readonly shared_secret?: string
}

/** A webhook of an API and its event; the hook by id or, where it was written by hand, by name. */
export interface HookReference {
  readonly event_name: string
  readonly event_timeout: number
  readonly hook: { readonly id?: string; readonly name?: string }
}

/** A message that waits to be sent, or was given up. */
export interface Delivery {
  readonly id: number
  readonly created_at: string
  readonly attempts: number
  readonly dead: boolean
  readonly error: string
  readonly next_at?: string
}

export const WEBHOOKS_KEY = ['webhooks'] as const
const DELIVERIES_KEY = ['webhook-deliveries'] as const

export function listWebhooks(
  page: number,
  signal: AbortSignal,
): Promise<{ readonly hooks: readonly Webhook[]; readonly pages: number }> {
  return call('GET', '/api/hooks', { query: { p: page }, signal })
}

/** All webhooks, to choose from. @throws CallError */
export async function everyWebhook(signal: AbortSignal): Promise<readonly Webhook[]> {
  return (await call<{ hooks: readonly Webhook[] }>('GET', '/api/hooks', { query: { p: -1 }, signal })).hooks
}

const webhooksPathOf = (apiId: string) => `/api/apis/${encodeURIComponent(apiId)}/webhooks`

/** The webhooks that an API tells. @throws CallError */
export async function readHookReferences(apiId: string, signal?: AbortSignal): Promise<readonly HookReference[]> {
  const answer = await call<{ hook_references: readonly HookReference[] }>('GET', webhooksPathOf(apiId), {
    ...(signal && { signal }),
  })
  return answer.hook_references
}

/** Changes the webhooks of an API; refused where another writer was faster. @throws CallError */
export async function changeHookReferences(
  apiId: string,
  change: (before: readonly HookReference[]) => readonly HookReference[],
): Promise<unknown> {
  const tag: Tag = new Map()
  const before = await underTag(tag, () => readHookReferences(apiId))
  return underTag(tag, () => call('PUT', webhooksPathOf(apiId), { body: { hook_references: change(before) } }))
}

export function readWebhook(id: string, signal?: AbortSignal): Promise<Webhook> {
  return call('GET', `/api/hooks/${encodeURIComponent(id)}`, { ...(signal && { signal }) })
}

export function createWebhook(webhook: WebhookEdit): Promise<Envelope> {
  return call('POST', '/api/hooks', { body: webhook })
}

/** Replaces what is known of a webhook; members that this console does not know are kept by being sent again. */
export function changeWebhook(id: string, webhook: WebhookEdit): Promise<Envelope> {
  return call('PUT', `/api/hooks/${encodeURIComponent(id)}`, { body: webhook })
}

export function deleteWebhook(id: string): Promise<Envelope> {
  return call('DELETE', `/api/hooks/${encodeURIComponent(id)}`)
}

/** Sends a message at once. @throws CallError 400 with what came of it, when it did not arrive */
export function testWebhook(id: string): Promise<Envelope> {
  return call('POST', `/api/hooks/${encodeURIComponent(id)}/test`)
}

/** Messages that wait for a receiver, or were given up: at most 100 of them are listed. */
export interface DeliveryQueue {
  readonly key: readonly string[]
  /** Who may write it may send again. */
  readonly permission: 'hooks' | 'oauth'
  list(signal: AbortSignal): Promise<{ readonly deliveries: readonly Delivery[] }>
  resend(delivery: number): Promise<Envelope>
}

/** The messages of a webhook. */
export function webhookQueue(id: string): DeliveryQueue {
  return {
    key: [...DELIVERIES_KEY, id],
    permission: 'hooks',
    list: (signal) => call('GET', `/api/hooks/${encodeURIComponent(id)}/deliveries`, { signal }),
    resend: (delivery) =>
      call('POST', `/api/hooks/${encodeURIComponent(id)}/deliveries/${encodeURIComponent(delivery)}/resend`),
  }
}

/** The notifications of tokens that an API issued. */
export function notificationQueue(apiId: string): DeliveryQueue {
  const id = encodeURIComponent(apiId)
  return {
    key: [...DELIVERIES_KEY, 'api', apiId],
    permission: 'oauth',
    list: (signal) => call('GET', `/api/apis/${encodeURIComponent(id)}/notifications`, { signal }),
    resend: (delivery) =>
      call('POST', `/api/apis/${encodeURIComponent(id)}/notifications/${encodeURIComponent(delivery)}/resend`),
  }
}
