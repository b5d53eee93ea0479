import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { toDocumentId } from '../../../src/model/documents/ids.ts'
import type { OAuthClient } from '../../../src/model/oauth-clients/oauth-client.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import { startPlain } from '../../worlds/gateway/oauth-fixtures.ts'
import { SlowStore } from '../../worlds/gateway/slow-store.ts'

/** A world on a store that answers later, and what writes the document of its client. */
async function startSlow(t: TestContext, turns = 3) {
  const clock = new FakeClock()
  const store = new SlowStore(openMemoryStore({ clock }), turns)
  t.after(() => store.close())
  const world = await startPlain(t, {}, { store, clock })
  const stored = (await store.documents.find('oauth_client', 'client_id', 'app'))!
  const put = (body: OAuthClient) =>
    store.documents.commit([{ op: 'put', kind: 'oauth_client', id: toDocumentId(stored.id), body }], undefined)
  return { world, store, stored, put }
}

test('with a store that answers later a changed client is in force for the next request', async (t) => {
  const { world, stored, put } = await startSlow(t)
  const token = await world.token('/a/', 'app')
  for (let round = 0; round < 20; round++) {
    assert.equal((await world.get('/a/x', token)).status, 200)
    await put({ ...stored.body, epoch: `other-${round}` })
    assert.equal((await world.get('/a/x', token)).status, 401)
    await put(stored.body)
  }
})

test('a request that joins a reading from before the change does not get its client', async (t) => {
  // The answer of the store stays under way for so many turns that the change falls in between.
  const { world, store, stored, put } = await startSlow(t, 100)
  const token = await world.token('/a/', 'app')
  await put({ ...stored.body, description: 'read anew' })
  let asked = () => {}
  const reading = new Promise<void>((resolve) => {
    asked = resolve
  })
  store.onRead = (name) => {
    if (name === 'find') asked()
  }
  const first = world.get('/a/x', token)
  await reading
  for (let i = 0; i < 5; i++) await nextTurn()
  await put({ ...stored.body, epoch: 'another' })
  const second = world.get('/a/x', token)
  assert.deepEqual([(await first).status, (await second).status], [401, 401])
})

test('a revoked token is refused at once, also while the node reads everything anew', async (t) => {
  const { world, store } = await startSlow(t)
  const token = await world.token('/a/', 'app')
  assert.equal((await world.get('/a/x', token)).status, 200)
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  store.onRead = (name) => (name === 'scan' ? held : undefined)
  const reload = world.gateway.gateway.live.reload()
  const ended = await world.gateway.call('/a/oauth/revoke', {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from('app:secret-of-app').toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: `token=${token}`,
  })
  assert.equal(ended.status, 200, ended.text)
  assert.equal((await world.get('/a/x', token)).status, 401)
  release()
  await reload
})
