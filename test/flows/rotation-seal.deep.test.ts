import assert from 'node:assert/strict'
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { newDocumentId } from '../../src/model/documents/ids.ts'
import { keySealContext } from '../../src/model/keys/key.ts'
import { hashKey, newSecret, seal, secretBytes } from '../../src/model/secrets/secret.ts'
import { sealKeysOf } from '../../src/process/seal-keys.ts'
import { openInstallation } from '../../src/publish/organisations/installation.ts'
import { resealStore } from '../../src/publish/organisations/reseal.ts'
import { sealedStore } from '../../src/store/sealed/sealed-store.ts'
import { openSecrets } from '../../src/store/secrets/secret-file.ts'
import { openStore } from '../../src/store/sqlite/connection/open.ts'
import { temporaryFolder } from '../contract/adapters.ts'
import { ROOT, runShell } from '../worlds/docs/printed.ts'

test('an old seal key is kept until nothing is sealed under it, unless the end is forced', async (t) => {
  const path = temporaryFolder(t)
  const rotate = async (words: string, folder = path) => {
    const { code, stdout, stderr } = await runShell(
      `${join(ROOT, 'bin/gatehouse')} rotate-secret seal ${words}`,
      ROOT,
      {
        ...process.env,
        SVC_STORAGE_PATH: folder,
      },
    )
    return {
      code,
      stdout,
      stderr,
      previous: JSON.parse(readFileSync(join(folder, 'secrets.json'), 'utf8')).seal_key_previous,
    }
  }
  const old = openSecrets(path).seal_key
  const refused = async (reason: RegExp) => {
    const { code, stderr, previous } = await rotate('--end')
    assert.notEqual(code, 0)
    assert.match(stderr, reason)
    assert.equal(previous, old)
  }
  // It stays open: the command reads beside a server.
  const store = await openStore({ path })
  t.after(() => store.close())
  const sealKey = secretBytes(old)
  await openInstallation({ ...store, sealKey } as unknown as Parameters<typeof openInstallation>[0])
  const [id, text, hash] = [newDocumentId(), newSecret(), hashKey('a key')]
  const session = { body: {}, orgId: 'o', apiIds: [], policyIds: [], clientId: '', evictAt: 0 }
  const putSession = (key: Parameters<typeof seal>[0]) => {
    const row = { ...session, sealedKey: seal(key, 'a key', keySealContext(hash.toString('hex'))) }
    return store.documents.commit([{ op: 'putSession', hash, row }], undefined)
  }
  const body = { secret: seal(sealKey, text, `idp_profile:${id}`).toString('base64') }
  await store.documents.commit([{ op: 'put', kind: 'idp_profile', id, body }], undefined)
  await putSession(sealKey)
  const place = { queue: 'a', createdAt: Date.now() }
  const sealed = seal(sealKey, '{}', `delivery:a:${place.createdAt}`)
  await store.documents.commit([{ op: 'putDelivery', row: { ...place, sealed } }], undefined)
  const refresh = hashKey('a refresh token')
  const until = { expiresAt: Date.now() + 3_600_000, keepUntil: Date.now() + 3_600_000 }
  const ticket = { sort: 'refresh', apiId: 'a', clientId: 'app', family: '', ...until } as const
  await sealedStore(store, sealKey).documents.commit(
    [{ op: 'putTicket', hash: refresh, row: { ...ticket, body: { key_rules: { hmac_string: 'shared' } } } }],
    undefined,
  )
  const policy = { meta_data: { client_secret: 'a secret of this place' } }
  await sealedStore(store, sealKey).documents.commit(
    [{ op: 'put', kind: 'policy', id: newDocumentId(), body: policy }],
    { actor: 'ada', action: 'policy created', orgId: '', at: Date.now(), detail: {} },
  )

  assert.equal((await rotate('')).code, 0)
  await refused(/no server has started with the new seal_key/)
  const keys = await sealKeysOf(store, openSecrets(path))
  await refused(/documents: 2, keys: 1, refresh tokens and codes: 1, waiting messages: 1/)
  await resealStore({ ...store, keys })
  await refused(/documents: 0, keys: 1, refresh tokens and codes: 1, waiting messages: 1/)
  const copy = temporaryFolder(t)
  cpSync(path, copy, { recursive: true })
  const forced = await rotate('--end --force', copy)
  assert.deepEqual([forced.code, forced.previous], [0, undefined], forced.stderr)
  await putSession(keys)
  await refused(/documents: 0, keys: 0, refresh tokens and codes: 1, waiting messages: 1/)
  const [message] = await store.outbox.list({ queue: 'a', dead: false, after: 0, limit: 1 })
  await store.documents.commit(
    [
      { op: 'deleteTicket', hash: refresh },
      { op: 'settleDelivery', id: message!.id, outcome: { is: 'dead', error: 'answered 500' } },
    ],
    undefined,
  )
  const ended = await rotate('--end')
  assert.deepEqual([ended.code, ended.previous], [0, undefined], ended.stderr)
  assert.match(ended.stdout, /cannot be read: changes of the audit log, .*: 1; messages that were given up: 1\./)
})
