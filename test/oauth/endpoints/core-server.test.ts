import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fault } from '../../../src/errors/fault.ts'
import type { Endpoint } from '../../../src/oauth/endpoints/parts.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import { openWorld, STORES } from '../../worlds/oauth/core-world.ts'
import { basic, SECRET } from '../../worlds/oauth/front-fixtures.ts'

const [memory] = STORES
const ENDPOINTS: readonly Endpoint[] = [
  'authorize',
  'token',
  'revoke',
  'revoke_all',
  'introspect',
  'jwks',
  'metadata',
  'openid_configuration',
  'par',
  'device_authorization',
  'register',
  'authorize_client',
]

test('every endpoint refuses a method that it has not, with Allow and JSON, and is never kept', async (t) => {
  const world = await openWorld(t, memory!)
  for (const endpoint of ENDPOINTS) {
    const { status, body, fields } = await world.ask(endpoint, { method: 'PATCH' })
    assert.deepEqual([endpoint, status, typeof body.error], [endpoint, 405, 'string'])
    assert.match(fields, /^Allow: [A-Z, ]+\r$/m)
    assert.match(fields, /^Cache-Control: .*no-store/m)
    assert.match(fields, /^X-Frame-Options: DENY\r$/m)
  }
})

test('a store that is away is 503, a defect 500: neither tells what happened inside', async (t) => {
  const inner = openMemoryStore()
  t.after(() => inner.close())
  let broken: Error | undefined
  const store = {
    ...inner,
    documents: {
      ...inner.documents,
      async commit(...given: Parameters<typeof inner.documents.commit>) {
        if (broken !== undefined) throw broken
        return inner.documents.commit(...given)
      },
    },
  }
  const world = await openWorld(t, memory!, { store })
  await world.putClient()
  const ask = () => world.token({ grant_type: 'client_credentials' })
  broken = fault('store_away', 'at /somewhere/secret')
  const away = await ask()
  assert.deepEqual(
    [away.status, away.body],
    [503, { error: 'temporarily_unavailable', error_description: 'Try again later' }],
  )
  broken = new TypeError('at /somewhere/secret')
  const defect = await ask()
  assert.deepEqual([defect.status, defect.body.error], [500, 'server_error'])
  assert.ok(!JSON.stringify([away, defect]).includes('somewhere'))
  assert.equal(world.log.length, 2)
  assert.ok(!JSON.stringify(world.log).includes(SECRET))
})

test('a client whose secret cannot be opened is a defect, not a wrong secret, and lets nobody in', async (t) => {
  const world = await openWorld(t, memory!)
  await world.putClient({ secrets: [{ sealed: Buffer.alloc(60, 1).toString('base64'), until: 0 }] })
  const { status, body } = await world.token({ grant_type: 'client_credentials' }, { headers: basic('shop') })
  assert.deepEqual([status, body.error], [500, 'server_error'])
})
