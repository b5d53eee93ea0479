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
import { openSecrets } from '../../src/store/secrets/secret-file.ts'
import { openStore } from '../../src/store/sqlite/connection/open.ts'
import { temporaryFolder } from '../contract/adapters.ts'
import { ROOT, runShell } from '../worlds/docs/printed.ts'

test('an old seal key is kept until nothing is sealed under it, unless the end is forced', async (t) => {
  const path = temporaryFolder(t)
  const rotate = async (words: string, folder = path) => {
    const { code, stderr } = await runShell(`${join(ROOT, 'bin/gatehouse')} rotate-secret seal ${words}`, ROOT, {
      ...process.env,
      SVC_STORAGE_PATH: folder,
    })
    return { code, stderr, previous: JSON.parse(readFileSync(join(folder, 'secrets.json'), 'utf8')).seal_key_previous }
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

  assert.equal((await rotate('')).code, 0)
  await refused(/no server has started with the new seal_key/)
  const keys = await sealKeysOf(store, openSecrets(path))
  await refused(/documents: 1, keys: 1/)
  await resealStore({ ...store, keys })
  await refused(/documents: 0, keys: 1/)
  const copy = temporaryFolder(t)
  cpSync(path, copy, { recursive: true })
  const forced = await rotate('--end --force', copy)
  assert.deepEqual([forced.code, forced.previous], [0, undefined], forced.stderr)
  await putSession(keys)
  const ended = await rotate('--end')
  assert.deepEqual([ended.code, ended.previous], [0, undefined], ended.stderr)
})
