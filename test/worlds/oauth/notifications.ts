import type { TestContext } from 'node:test'
import type { Log, LogFields } from '../../../src/model/logs/log.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import type { OAuthApi } from '../../../src/oauth/endpoints/parts.ts'
import { Deliveries, type DeliveryBounds, type DeliveryParts } from '../../../src/oauth/webhooks/deliver-webhooks.ts'
import { deliveryOf, type TokenNotification } from '../../../src/oauth/webhooks/webhook-messages.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import type { DeliveryRow, Store } from '../../../src/store/ports/ports.ts'
import { eventually } from '../base/eventually.ts'

export const SHARED_SECRET = 'the shared secret of the receiver'
export const SEAL_KEY = Buffer.alloc(32, 7)

/** The dependencies of the delivery of notices, over a store and a clock of the test. */
export interface Bench {
  readonly parts: DeliveryParts
  readonly store: Store
  readonly clock: FakeClock
  /** Every line that went to the log. */
  readonly log: { readonly level: string; readonly fields: LogFields; readonly message: string }[]
  /** Where each API announces its tokens; APIs that are not in it do not exist. */
  readonly targets: Map<string, string>
  /** Puts a notice into the outbox and answers its access token. */
  announce(apiId: string, token?: string): Promise<string>
  /** All of an API's messages that are not delivered yet. */
  rows(apiId: string): Promise<DeliveryRow[]>
  start(bounds?: DeliveryBounds): Deliveries
}

/** The part of an API that notices are made and sent by. */
export function apiOf(apiId: string, notifyUrl: string, notifySecret = SHARED_SECRET): OAuthApi {
  const [, orgId = 'org'] = apiId.split('@')
  return { apiId, orgId, oauth: { notifyUrl, notifySecret } } as unknown as OAuthApi
}

/** The notice of a first token. */
export function noticeOf(token: string): TokenNotification {
  return {
    auth_code: `code of ${token}`,
    new_oauth_token: token,
    refresh_token: `refresh of ${token}`,
    old_refresh_token: '',
    notification_type: 'new',
  }
}

export function openBench(
  t: TestContext,
  options: { store?: Store; clock?: FakeClock; allowPrivate?: boolean } = {},
): Bench {
  const clock = options.clock ?? new FakeClock()
  const store = options.store ?? openMemoryStore({ clock })
  if (options.store === undefined) t.after(() => store.close())
  const log: Bench['log'] = []
  const note = (level: string) => (fields: LogFields, message: string) => void log.push({ level, fields, message })
  const levels: Log = { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') }
  const targets = new Map<string, string>()
  const findApi = (apiId: string) => {
    const target = targets.get(apiId)
    return target === undefined ? undefined : apiOf(apiId, target)
  }
  const { documents, outbox } = store
  const { allowPrivate = true } = options
  const parts = { documents, outbox, clock, log: levels, sealKey: SEAL_KEY, findApi, allowPrivate }
  let made = 0
  return {
    parts,
    store,
    clock,
    log,
    targets,
    async announce(apiId, token = `token-${apiId}-${++made}`) {
      const change = deliveryOf(parts, apiOf(apiId, 'http://somewhere.example/'), noticeOf(token))
      await documents.commit([change!], undefined)
      return token
    },
    rows: async (apiId) => outbox.list({ queue: apiId, dead: false, after: 0, limit: 1000 }),
    start(bounds) {
      const deliveries = new Deliveries(parts, bounds)
      t.after(() => deliveries.close())
      deliveries.start()
      return deliveries
    },
  }
}

/** Waits until nothing is due at the clock's time any more: every try that had to be made was made and written down. */
export function settled({ store, clock }: Bench): Promise<void> {
  return eventually('the outbox has nothing due', async () => (await store.outbox.due(clock.wall(), 1)).length === 0)
}
