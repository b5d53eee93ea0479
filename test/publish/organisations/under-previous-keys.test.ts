import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { test } from 'node:test'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { countUnderPreviousKeys } from '../../../src/process/old-seal-key.ts'
import {
  type Cell,
  columnsOf,
  TRANSFER_TABLE_NAMES,
  type TransferTableName,
} from '../../../src/store/ports/transfer.ts'
import { unpackBodies } from '../../../src/store/prepare/audited.ts'
import { sealedStore } from '../../../src/store/sealed/sealed-store.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'
import { openSqliteSource } from '../../../src/store/sqlite/transfer/snapshot.ts'
import { temporaryFolder } from '../../contract/adapters.ts'
import { type OAuthWorld, oauthApi, startWorld } from '../../worlds/gateway/oauth-fixtures.ts'
import { selfSigned } from '../../worlds/wire/engine-certificate.ts'

const CALLBACK = 'https://app.example.org/cb'
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
/** Of the gateways of tests. */
const SEAL_KEY = Buffer.alloc(32, 7)
/** Bytes that are no secrets: hashes, and counts of requests. */
const NOT_SEALED: ReadonlySet<string> = new Set(['hash', 'samples', 'request', 'response'])

/** True for what has the form of something sealed: the byte 1 first, and long enough. */
const looksSealed = (bytes: Uint8Array) => bytes.length > 29 && bytes[0] === 1

/** By its form alone, without any key. */
function holdsSealed(name: string, cell: Cell): boolean {
  if (cell instanceof Uint8Array && name !== 'bodies') return !NOT_SEALED.has(name) && looksSealed(cell)
  const text = cell instanceof Uint8Array ? JSON.stringify(unpackBodies(cell) ?? '') : String(cell)
  return [...text.matchAll(/"([A-Za-z0-9+/]{40,}={0,2})"/g)].some(([, found]) =>
    looksSealed(Buffer.from(found!, 'base64')),
  )
}

async function fill(world: OAuthWorld): Promise<void> {
  const { gateway } = world
  const settings = {
    refreshReuseGraceSeconds: 60,
    notifications: { onKeyChangeUrl: 'http://127.0.0.1:9/hook', sharedSecret: 'shared with the receiver' },
  }
  await world.publish(oauthApi(world.origin.url, { id: 'a', settings }))
  await world.policy('p', ['a'])
  await world.client('app', { api_id: 'a', policies: ['p'], redirect_uris: [CALLBACK] })
  const pair = selfSigned('api.example.org')
  assert.equal((await gateway.svc('POST', '/svc/certs', pair.cert + pair.key)).status, 200)
  const access_rights = { a: { api_id: 'a', versions: ['Default'] } }
  assert.equal((await gateway.svc('POST', '/svc/keys', { access_rights })).status, 200)
  const signing = { access_rights, hmac_enabled: true, hmac_string: 'shared with the caller' }
  assert.equal((await gateway.svc('POST', '/svc/keys', signing)).status, 200)
  const asked = { client_id: 'app', response_type: 'code', redirect_uri: CALLBACK }
  const decide = async () =>
    (await gateway.svc('POST', '/a/svc/oauth/authorize-client', new URLSearchParams(asked).toString(), FORM)).json
  const { code } = (await decide()) as { code: string }
  const exchange = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK }
  const { refresh_token } = (await world.ask('/a/', 'app', exchange)).json as { refresh_token: string }
  assert.equal((await world.ask('/a/', 'app', { grant_type: 'refresh_token', refresh_token })).status, 200)
  const now = gateway.clock.wall()
  const [expiresAt, keepUntil] = [now + 60_000, now + 3_600_000]
  const row = { apiId: 'a', clientId: 'app', family: '', expiresAt, keepUntil, body: { key_rules: signing } }
  await sealedStore(gateway.store, SEAL_KEY).documents.commit(
    [{ op: 'putTicket', hash: randomBytes(32), row: { ...row, sort: 'code' } }],
    undefined,
  )
  const [first] = await gateway.store.outbox.list({ queue: 'a', dead: false, after: 0, limit: 1 })
  const outcome = { is: 'dead', error: 'answered 500' } as const
  await gateway.store.documents.commit([{ op: 'settleDelivery', id: first!.id, outcome }], undefined)
}

test('what is sealed under a previous key is counted in every table that has some', async (t) => {
  const folder = temporaryFolder(t)
  const clock = new FakeClock()
  const store = await openStore({ path: folder, clock })
  t.after(() => store.close())
  const world = await startWorld(t, {
    store,
    clock,
    env: { SVC_GW_HASHKEYS: 'false', SVC_WEBHOOKS_ALLOWPRIVATE: 'true' },
  })
  await fill(world)
  const source = openSqliteSource(join(folder, 'gatehouse.db'))
  t.after(() => source.close())
  const expected: Partial<Record<TransferTableName, number>> = {}
  await source.snapshot(async ({ rows }) => {
    for (const table of TRANSFER_TABLE_NAMES)
      for await (const batch of rows(table))
        for (const cells of batch)
          if (columnsOf(table).some(([name], i) => holdsSealed(name, cells[i]!)))
            expected[table] = (expected[table] ?? 0) + 1
  })
  const old = SEAL_KEY
  const countAt = (keys: { current: Uint8Array; previous: Uint8Array[] }, now: number) =>
    source.snapshot((snapshot) => countUnderPreviousKeys(snapshot, { ...keys, lookup: old }, now))
  const next = { current: randomBytes(32), previous: [old] }
  const { documents, keys, tickets, messages, deadMessages, auditChanges } = await countAt(next, clock.wall())
  assert.deepEqual(
    {
      ...{ document: documents, session: keys, ticket: tickets, delivery: messages + deadMessages },
      audit_change: auditChanges,
    },
    expected,
  )
  assert.ok(
    documents >= 3 && keys >= 2 && tickets >= 2 && messages >= 1 && deadMessages === 1,
    JSON.stringify(expected),
  )
  const none = { documents: 0, keys: 0, tickets: 0, messages: 0, deadMessages: 0, auditChanges: 0 }
  assert.deepEqual(await countAt({ current: old, previous: [next.current] }, clock.wall()), none)
  const later = await countAt(next, clock.wall() + 3650 * 86_400_000)
  assert.deepEqual(
    { ...later, documents, keys: 0 },
    { ...none, documents, messages, deadMessages, auditChanges },
    'tokens end',
  )
})
