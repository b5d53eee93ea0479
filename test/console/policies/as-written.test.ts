import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBasicUser, createKey, saveKey } from '../../../console/src/api/access/keys.ts'
import { createPolicy, savePolicy } from '../../../console/src/api/access/policies.ts'

test('the console says of policies and keys that paths of rights are as written', async (t) => {
  const asked: URL[] = []
  t.mock.method(globalThis, 'fetch', async (url: string) => {
    asked.push(new URL(url, 'http://dashboard'))
    return new Response('{}')
  })
  await createPolicy({})
  await savePolicy('p', {})
  await createKey({})
  await createKey({}, 'own')
  await createBasicUser('ann', 'secret', {})
  await saveKey('hash', {})
  assert.equal(asked.length, 6)
  for (const { pathname, searchParams } of asked) assert.equal(searchParams.get('paths'), 'as_written', pathname)
})
