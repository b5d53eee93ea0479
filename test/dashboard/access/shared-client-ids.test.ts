import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Route } from '../../../src/dashboard/routes/route.ts'
import { allRoutes } from '../../../src/dashboard/routes/routes.ts'
import { PERMISSION_KEYS } from '../../../src/model/people/permission.ts'
import { registrationsOf } from '../../../src/publish/oauth-clients/oauth-client-parts.ts'
import { createClient } from '../../../src/publish/oauth-clients/oauth-clients.ts'
import { startWorld } from '../../worlds/access-matrix/matrix-world.ts'

/** Placeholders that hold a client id. */
const CLIENT = /\{(?:appId|clientId)\}/

test('who registers the id of a client of others can do nothing with theirs, by any route', async (t) => {
  const routes: Route[] = []
  const world = await startWorld({
    routes(parts) {
      routes.push(...allRoutes(parts))
      return routes
    },
  })
  t.after(world.close)
  const { open, owned, parts, orgId } = world
  const theirs = async () => {
    const ids = await Promise.all([owned.app, owned.client].map((id) => registrationsOf(parts, id)))
    return JSON.stringify(ids.flat().filter(({ body }) => body.description !== 'of somebody else'))
  }
  const before = await theirs()
  const every = await world.user(Object.fromEntries(PERMISSION_KEYS.map((name) => [name, 'write'])))
  const register = async (id: string) => {
    const taken = (await registrationsOf(parts, id)).some(({ body }) => body.description === 'of somebody else')
    const client = { client_id: id, redirect_uri: 'https://b.test/', secret: 'of-somebody-else', api_ids: [open.api] }
    const body = { ...client, description: 'of somebody else' }
    if (!taken) await createClient(parts, { body, orgId, actor: 'test' })
  }
  const body = {
    ...{ redirect_uri: 'https://evil.test/', client_name: 'evil', client_secret: 'of-somebody-else', token: 'x' },
    ...{ policy_id: '', policies: [], api_ids: [open.api], description: 'of somebody else' },
  }
  let asked = 0
  for (const { method, path } of routes.filter((route) => CLIENT.test(route.path)))
    for (const id of [owned.app, owned.client])
      for (const api of [open.api, owned.api]) {
        await register(id)
        const at = path
          .replace(CLIENT, id)
          .replace('{apiId}', api)
          .replace(/\{\w+\}/g, '1')
        const answer = await world.call(method, at, { as: every, ...(method !== 'GET' && { body }) })
        assert.equal(await theirs(), before, `${method} ${path}: ${answer.text}`)
        asked++
      }
  assert.ok(asked > 60, `only ${asked} calls`)
})
