import { newDocumentId } from '../../../src/model/documents/ids.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import type { SecretParts } from '../../../src/publish/documents/parts.ts'
import { KeyedMutex } from '../../../src/runtime/keyed-mutex.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import type { Store } from '../../../src/store/ports/ports.ts'

/** The dependencies of the publishing functions, over the memory store and a fake clock. */
export interface Stored extends SecretParts {
  readonly store: Store
  readonly clock: FakeClock
}

export function openParts(): Stored {
  const clock = new FakeClock()
  const store = openMemoryStore({ clock })
  const { documents, counters, tokens } = store
  return {
    store,
    documents,
    counters,
    tokens,
    clock,
    sealKey: Buffer.alloc(32, 7),
    defaultOrg: () => '',
    locks: new KeyedMutex(),
    config: {
      gateway: {
        hash_keys: true,
        min_token_length: 16,
        allow_explicit_policy_id: true,
        enable_duplicate_slugs: false,
      },
      compat: { vendor_aliases: [] },
    },
  }
}

/** Stores a classic definition as it is, past all checks. */
export async function putApi(store: Store, apiId: string, more: JsonObject = {}, orgId = ''): Promise<void> {
  const definition = {
    api_id: apiId,
    org_id: orgId,
    name: apiId,
    active: true,
    use_oauth2: true,
    oauth_meta: { allowed_access_types: ['authorization_code', 'client_credentials', 'refresh_token'] },
    proxy: { listen_path: `/${apiId}/`, target_url: 'http://127.0.0.1:9/', strip_listen_path: true },
    version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
    ...more,
  }
  const body = { api_id: apiId, org_id: orgId, name: apiId, format: 'classic', definition }
  await store.documents.commit([{ op: 'put', kind: 'api', id: newDocumentId(), body, ifRevision: 0 }], undefined)
}

export async function putPolicy(store: Store, id: string, apiIds: readonly string[], orgId = ''): Promise<void> {
  const access_rights = Object.fromEntries(apiIds.map((apiId) => [apiId, { api_id: apiId, versions: ['Default'] }]))
  const documentId = newDocumentId()
  const body = { _id: documentId, id, org_id: orgId, access_rights }
  await store.documents.commit([{ op: 'put', kind: 'policy', id: documentId, body, ifRevision: 0 }], undefined)
}

/** Stores an access token as an authorization server would. */
export async function putToken(
  { store, clock }: Pick<Stored, 'store' | 'clock'>,
  token: string,
  {
    clientId,
    epoch,
    apiId,
    family = '',
    lifeS = 3600,
  }: { clientId: string; epoch: string; apiId: string; family?: string; lifeS?: number },
): Promise<void> {
  const now = clock.wall()
  const expires = Math.floor(now / 1000) + lifeS
  const body: JsonObject = {
    access_rights: { [apiId]: { api_id: apiId, versions: ['Default'] } },
    expires,
    oauth_client_id: clientId,
    oauth_token: { api_id: apiId, epoch, scope: '', family, issued_at: Math.floor(now / 1000), username: '' },
  }
  const row = { body, orgId: '', apiIds: [apiId], policyIds: [], clientId, family, evictAt: (expires + 60) * 1000 }
  await store.documents.commit([{ op: 'putSession', hash: hashKey(token), row }], undefined)
}

/** Stores a refresh token of a family. */
export async function putRefresh(
  { store, clock }: Pick<Stored, 'store' | 'clock'>,
  token: string,
  { clientId, epoch, apiId, family }: { clientId: string; epoch: string; apiId: string; family: string },
): Promise<void> {
  const expiresAt = clock.wall() + 1_000_000
  const body = { epoch, scope: '', username: '', jkt: '', x5t: '', access_hash: '' }
  const row = { sort: 'refresh', apiId, clientId, family, expiresAt, keepUntil: expiresAt, body } as const
  await store.documents.commit([{ op: 'putTicket', hash: hashKey(token), row }], undefined)
}
