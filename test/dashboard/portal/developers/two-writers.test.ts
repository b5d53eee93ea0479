import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { JsonObject } from '../../../../src/model/json/json.ts'
import { gatewayWorld } from '../../../worlds/dashboard/gateway-world.ts'
import { keyedApi } from '../../../worlds/dashboard/key-world.ts'
import { DEVELOPERS } from '../../../worlds/portal/portal-people.ts'

/** Acts of the second writer between the read and the write of the first. */
const STEPS = ['key', 'app', 'rotate', 'end'] as const
/** Writes of the first, with the copy that it read. */
const WRITES = [
  'put',
  'put without holdings',
  'put with empty lists',
  'patch',
  'patch one key',
  'patch no app',
] as const

test('property: a writer with an old copy ends nothing, and the answer names what stays', async (t) => {
  const world = await gatewayWorld(t)
  const { root, asked, origin } = world
  const proxy = { listen_path: '/orders/', target_url: origin.url, strip_listen_path: true }
  await world.api('orders', { definition: { ...keyedApi('orders'), proxy } })
  await world.oauth({ id: 'sales' })
  for (const id of ['gold', 'silver', 'bronze', 'tin']) await world.policy(id, ['orders'])
  await world.policy('apps', ['sales'])
  let number = 0
  const uses = async (key: string) =>
    (await world.gateway.call('/orders/x', { headers: { authorization: key } })).status === 200

  const run = async (before: readonly ('key' | 'app')[], steps: readonly (typeof STEPS)[number][], write: string) => {
    const id = String((await asked(200, 'POST', DEVELOPERS, root, { email: `dev-${++number}@example.test` })).Message)
    const path = `${DEVELOPERS}/${id}`
    const free = ['gold', 'silver', 'bronze', 'tin']
    /** The model: what is in force, by hash and client id. */
    const keys = new Map<string, string>()
    const apps = new Map<string, string>()
    const issue = async () => {
      const policy = free.pop()
      if (policy === undefined) return
      const { RawKey } = await asked(200, 'POST', `${path}/keys`, root, { apply_policies: [policy] })
      const listed = Object.keys((await asked(200, 'GET', path, root)).keys as JsonObject)
      keys.set(listed.find((hash) => !keys.has(hash))!, String(RawKey))
    }
    const register = async () => {
      const oauth_info = { redirect_uri: 'https://app.test/cb' }
      const app = await asked(200, 'POST', `${path}/keys`, root, { apply_policies: ['apps'], oauth_info })
      apps.set(String(app.client_id), await world.token('sales', String(app.client_id), String(app.secret)))
    }
    for (const each of before) await (each === 'key' ? issue() : register())
    const copy = await asked(200, 'GET', path, root)
    for (const step of steps) {
      const [hash] = [...keys.keys()]
      if (step === 'key') await issue()
      else if (step === 'app') await register()
      else if (hash === undefined) continue
      else if (step === 'rotate') {
        const { key_id, key_hash } = await asked(200, 'POST', `/api/keys/${hash}/rotate?hashed=true`, root, {})
        keys.delete(hash)
        keys.set(String(key_hash), String(key_id))
      } else if (step === 'end') {
        await asked(200, 'DELETE', `/api/keys/${hash}?hashed=true`, root)
        keys.delete(hash)
      }
    }
    const { keys: _keys, subscriptions: _subs, oauth_clients: _apps, api_keys: _api, ...bare } = copy
    const fields = { fields: { note: write } }
    const sent: JsonObject =
      write === 'put'
        ? { ...copy, ...fields }
        : write === 'put without holdings'
          ? { ...bare, ...fields }
          : write === 'put with empty lists'
            ? { ...copy, ...fields, keys: {}, subscriptions: {}, oauth_clients: {} }
            : write === 'patch'
              ? fields
              : write === 'patch one key'
                ? {
                    ...fields,
                    keys: Object.fromEntries(Object.keys(copy.keys as JsonObject).map((hash) => [hash, null])),
                  }
                : { ...fields, oauth_clients: { apps: null } }
    const current = await asked(200, 'GET', path, root)
    const answer = await asked(200, write.startsWith('put') ? 'PUT' : 'PATCH', path, root, sent)
    const after = await asked(200, 'GET', path, root)
    // Nothing ends, and the record says so.
    const shown = JSON.stringify([before, steps, write])
    for (const name of ['keys', 'subscriptions', 'oauth_clients'] as const)
      assert.deepEqual(after[name], current[name], `${shown} ${name}`)
    assert.deepEqual(new Set(Object.keys(after.keys as JsonObject)), new Set(keys.keys()), shown)
    for (const key of keys.values()) assert.equal(await uses(key), true, shown)
    for (const token of apps.values()) assert.equal(await world.use('/sales/x', token), 200, shown)
    assert.equal((after.fields as JsonObject).note, write, shown)
    // The answer names what the record left out of what is in force, and nothing else.
    const listedKeys = write.startsWith('put')
      ? sent.keys
      : write === 'patch one key'
        ? Object.fromEntries(
            [...keys.keys()].filter((hash) => !Object.hasOwn(sent.keys as JsonObject, hash)).map((hash) => [hash, []]),
          )
        : undefined
    const said = (Meta: unknown) =>
      ((Meta as JsonObject | null)?.kept ?? {}) as { keys?: string[]; oauth_clients?: string[] }
    const left =
      listedKeys === undefined ? [] : [...keys.keys()].filter((hash) => !Object.hasOwn(listedKeys as JsonObject, hash))
    assert.deepEqual(new Set(said(answer.Meta).keys ?? []), new Set(left), `${shown} named keys`)
    const known = JSON.stringify(sent.oauth_clients ?? null)
    const isSilent = sent.oauth_clients === undefined
    const leftApps = isSilent ? [] : [...apps.keys()].filter((clientId) => !known.includes(clientId))
    assert.deepEqual(new Set(said(answer.Meta).oauth_clients ?? []), new Set(leftApps), `${shown} named apps`)
  }
  for (const write of WRITES) await run(['key', 'app'], ['key', 'app'], write)
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('key' as const, 'app' as const), { maxLength: 3 }),
      fc.array(fc.constantFrom(...STEPS), { minLength: 1, maxLength: 4 }),
      fc.constantFrom(...WRITES),
      run,
    ),
    { numRuns: 12 },
  )
})
