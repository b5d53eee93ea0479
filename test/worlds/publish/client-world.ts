import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { Fault } from '../../../src/errors/fault.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import type { OAuthClient } from '../../../src/model/oauth-clients/oauth-client.ts'
import { clientOf, storedClient } from '../../../src/publish/oauth-clients/oauth-client-parts.ts'
import { createClient } from '../../../src/publish/oauth-clients/oauth-clients.ts'
import type { Store } from '../../../src/store/ports/ports.ts'
import { openParts, putApi, putPolicy, type Stored } from './stored.ts'

export const REDIRECT = 'https://app.example/cb'
export const actor = 'test'

/** Two APIs with the OAuth method, one without any, a policy on `gold` of them and one on a single API. */
export async function putOAuthApis(store: Store, gold: readonly string[]): Promise<void> {
  await putApi(store, 'orders')
  await putApi(store, 'stock')
  await putApi(store, 'open', { use_oauth2: false, use_keyless: true })
  await putPolicy(store, 'gold', [...gold])
  await putPolicy(store, 'silver', ['stock'])
}

/** A store with these APIs that ends with the test. */
export async function opened(t: TestContext): Promise<Stored> {
  const parts = openParts()
  t.after(() => parts.store.close())
  await putOAuthApis(parts.store, ['orders', 'stock', 'open'])
  return parts
}

/** A new client of the API `orders`, unless the body says otherwise. */
export const made = (parts: Stored, body: JsonObject = {}) =>
  createClient(parts, { body: { api_id: 'orders', redirect_uri: REDIRECT, ...body }, actor })

/** A client as it is stored now. */
export async function now(parts: Stored, clientId: string): Promise<OAuthClient | undefined> {
  const stored = await storedClient(parts, { client_id: clientId })
  return stored && clientOf(stored.body)
}

/** For `assert.rejects`: a refusal of this code in these words. */
export const refused = (code: string, words: RegExp) => (error: unknown) => {
  assert.ok(error instanceof Fault, String(error))
  assert.equal(error.code, code)
  assert.match(error.message, words)
  return true
}

/** Resolves when the tokens that earlier calls made void are swept. */
export async function sweepsEnded({ locks }: Stored): Promise<void> {
  await locks.run('token_sweep', async () => {})
}
