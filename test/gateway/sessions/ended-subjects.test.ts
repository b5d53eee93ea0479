import assert from 'node:assert/strict'
import { createPublicKey } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { hashSync } from 'bcryptjs'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { classic } from '../../worlds/base/definitions.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { rightsOn } from '../../worlds/gateway/admin-fixtures.ts'
import { base64 } from '../../worlds/gateway/jwt-fixtures.ts'
import { policyOf } from '../../worlds/gateway/oauth-fixtures.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

const CALLBACK = 'https://app.example.org/cb'
const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code'
const PASSWORD = hashSync('correct horse', 4)

/** Something that a subject was given; says whether it is good for anything. What is good once is used up by the question. */
type Artefact = () => Promise<boolean>

async function start(t: TestContext, format: 'opaque' | 'jwt') {
  const origin = await startOrigin()
  const gate = await startTestGateway()
  t.after(async () => {
    await gate.close()
    await origin.close()
  })
  const made = async (method: string, path: string, body?: JsonObject) => {
    const answer = await gate.svc(method, path, body)
    assert.equal(answer.status, 200, `${method} ${path} ${answer.text}`)
    return answer.json as JsonObject
  }
  const definition = classic('a', '/a/', origin.url, {
    ...{ use_keyless: false, use_oauth2: true },
    oauth_meta: {
      allowed_access_types: ['authorization_code', 'client_credentials', 'password', 'refresh_token'],
      ...{ device_authorization: true, auth_login_redirect: 'https://login.example.org/', access_token_format: format },
    },
  })
  const subjects = {
    api: () => made('POST', '/svc/apis', definition),
    policy: () => made('POST', '/svc/policies', policyOf('p', ['a', 'j', 'k'])),
    client: () =>
      made('POST', '/svc/oauth/clients/create', {
        ...{ client_id: 'app', secret: 'secret-of-app', redirect_uri: CALLBACK, api_id: 'a', policies: ['p'] },
      }),
    user: (more: JsonObject = {}) =>
      made('POST', '/svc/keys/ann', {
        ...{ access_rights: rightsOn('a', 'j', 'k'), basic_auth_data: { password: PASSWORD } },
        ...more,
      }),
  }
  await subjects.api()
  await made('POST', '/svc/apis', classic('k', '/k/', origin.url, { use_keyless: false, use_standard_auth: true }))
  await subjects.policy()
  await subjects.client()
  await subjects.user()

  const post = async (endpoint: string, form: Record<string, string>, as = 'app') => {
    const answer = await gate.call(`/a/${endpoint}`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${base64(`${as}:secret-of-${as}`)}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams(form).toString(),
    })
    return { status: answer.status, body: (answer.json ?? {}) as Record<string, string>, headers: answer.headers }
  }
  const token = async (form: Record<string, string>) => {
    const { status, body } = await post('oauth/token', form)
    assert.equal(status, 200, JSON.stringify(body))
    return body
  }
  const asJwts = format === 'jwt'
  if (asJwts) {
    await token({ grant_type: 'client_credentials' })
    const { keys } = (await gate.call('/a/oauth/jwks')).json as unknown as { keys: JsonObject[] }
    const pem = createPublicKey({ key: keys[0]!, format: 'jwk' }).export({ type: 'spki', format: 'pem' })
    const jwt = { enable_jwt: true, jwt_signing_method: 'ecdsa', jwt_source: base64(pem), jwt_default_policies: ['p'] }
    await made('POST', '/svc/apis', classic('j', '/j/', origin.url, { use_keyless: false, ...jwt }))
  }
  const opens = async (path: string, text: string | undefined) =>
    (await gate.call(`/${path}/x`, { headers: { authorization: `Bearer ${text}` } })).status === 200
  const access = (text: string | undefined): Record<string, Artefact> => ({
    'its API': () => opens('a', text),
    'an API that takes keys': () => opens('k', text),
    ...(asJwts && { 'an API that takes its JSON Web Tokens': () => opens('j', text) }),
    introspection: async () => {
      const asked = await post('oauth/introspect', { token: String(text) })
      return (asked.body.active as unknown as boolean | undefined) === true
    },
  })
  const tokens = async (form: Record<string, string>, name: string): Promise<Record<string, Artefact>> => {
    const { access_token, refresh_token } = await token(form)
    const artefacts = Object.entries(access(access_token)).map(
      ([place, good]) => [`${name} at ${place}`, good] as const,
    )
    const refresh = async () =>
      (await post('oauth/token', { grant_type: 'refresh_token', refresh_token: refresh_token! })).status === 200
    return { ...Object.fromEntries(artefacts), ...(refresh_token && { [`refresh token of ${name}`]: refresh }) }
  }
  const request = { client_id: 'app', redirect_uri: CALLBACK, response_type: 'code' }
  const code = async () => {
    const given = await gate.svc(
      'POST',
      '/a/svc/oauth/authorize-client',
      new URLSearchParams(request).toString() as never,
      {
        'content-type': 'application/x-www-form-urlencoded',
      },
    )
    assert.equal(given.status, 200, given.text)
    return String((given.json as JsonObject).code)
  }
  const exchange = (text: string) => ({ grant_type: 'authorization_code', code: text, redirect_uri: CALLBACK })
  const device = async () => (await post('oauth/device_authorization', {})).body
  const approve = (user_code: string) =>
    gate.svc(
      'POST',
      '/a/svc/oauth/authorize-client',
      new URLSearchParams({ user_code, decision: 'approve' }).toString() as never,
      {
        'content-type': 'application/x-www-form-urlencoded',
      },
    )
  return {
    gate,
    made,
    subjects,
    ofUser: () => tokens({ grant_type: 'password', username: 'ann', password: 'correct horse' }, 'token of a user'),
    async ofClient(): Promise<Record<string, Artefact>> {
      const unused = await code()
      const approved = await device()
      const pending = await device()
      assert.equal((await approve(approved.user_code!)).status, 200)
      const pushed = (await post('oauth/par', request)).body.request_uri!
      const poll = async (device_code: string) =>
        (await post('oauth/token', { grant_type: DEVICE, device_code })).status === 200
      return {
        ...(await tokens({ grant_type: 'client_credentials' }, 'token of the client')),
        ...(await tokens(exchange(await code()), 'token of a code')),
        code: async () => (await post('oauth/token', exchange(unused))).status === 200,
        'device code that was approved': () => poll(approved.device_code!),
        'user code': async () => (await approve(pending.user_code!)).status === 200,
        'pushed request': async () => {
          const query = new URLSearchParams({ client_id: 'app', request_uri: pushed })
          const { status, headers } = await gate.call(`/a/oauth/authorize?${query}`)
          return status === 307 && String(headers.location).startsWith('https://login.example.org/')
        },
      }
    },
  }
}

type World = Awaited<ReturnType<typeof start>>

/** Each kind of subject: how it ends, and how another of the same name is created. */
const ENDINGS: readonly {
  readonly name: string
  readonly of: 'ofUser' | 'ofClient'
  readonly end: (world: World) => Promise<unknown>
  readonly again: (world: World) => Promise<unknown>
}[] = [
  {
    name: 'a user that is deleted',
    of: 'ofUser',
    end: ({ made }) => made('DELETE', '/svc/keys/ann'),
    again: ({ subjects }) => subjects.user(),
  },
  {
    name: 'a user that is switched off',
    of: 'ofUser',
    end: ({ subjects }) => subjects.user({ is_inactive: true }),
    again: ({ subjects }) => subjects.user(),
  },
  {
    name: 'a user that expires and is extended',
    of: 'ofUser',
    end: ({ made }) => made('PUT', '/svc/keys/ann', { access_rights: rightsOn('a', 'j', 'k'), expires: 1 }),
    again: ({ made }) => made('PUT', '/svc/keys/ann', { access_rights: rightsOn('a', 'j', 'k'), expires: 0 }),
  },
  {
    name: 'a user that is switched off, deleted and made active',
    of: 'ofUser',
    end: ({ made }) => made('PUT', '/svc/keys/ann', { access_rights: rightsOn('a', 'j', 'k'), is_inactive: true }),
    again: async ({ made, subjects }) => {
      await made('DELETE', '/svc/keys/ann')
      await subjects.user()
    },
  },
  {
    name: 'a client that is deleted',
    of: 'ofClient',
    end: ({ made }) => made('DELETE', '/svc/oauth/clients/a/app'),
    again: ({ subjects }) => subjects.client(),
  },
  {
    name: 'an API that is deleted',
    of: 'ofClient',
    end: ({ made }) => made('DELETE', '/svc/apis/a'),
    again: async ({ subjects }) => {
      await subjects.api()
      await subjects.client()
    },
  },
  {
    name: 'an API that is deleted, of a user',
    of: 'ofUser',
    end: ({ made }) => made('DELETE', '/svc/apis/a'),
    again: async ({ subjects }) => {
      await subjects.api()
      await subjects.client()
    },
  },
  {
    name: 'a policy that is deleted',
    of: 'ofClient',
    end: ({ made }) => made('DELETE', '/svc/policies/p'),
    again: ({ subjects }) => subjects.policy(),
  },
]

for (const format of ['opaque', 'jwt'] as const)
  for (const { name, of, end, again } of ENDINGS)
    test(`${format}: nothing of ${name} is good for anything, nor for the next of that name`, async (t) => {
      const world = await start(t, format)
      // Each is good before: asked of others of its kind, because some are used up by it.
      for (const [what, good] of Object.entries(await world[of]())) assert.ok(await good(), what)
      const untouched = await world[of]()
      const lasting = await world[of]()
      for (const [what, good] of Object.entries(lasting))
        if (!/refresh|code|request/.test(what)) assert.ok(await good(), what)
      await end(world)
      for (const [what, good] of Object.entries(lasting)) assert.equal(await good(), false, `${what}, at once`)
      await again(world)
      for (const [what, good] of Object.entries({ ...lasting, ...untouched }))
        assert.equal(await good(), false, `${what}, with another of that name`)
      for (const [what, good] of Object.entries(await world[of]())) assert.ok(await good(), `${what} of the next`)
    })

test('a user that has expired has no tokens, also when it is extended later', async (t) => {
  const world = await start(t, 'opaque')
  const rights = rightsOn('a', 'k')
  const expires = Math.floor(world.gate.clock.wall() / 1000) + 60
  await world.made('PUT', '/svc/keys/ann', { access_rights: rights, expires })
  const artefacts = Object.values(await world.ofUser())
  world.gate.clock.advance(61_000)
  for (const good of artefacts) assert.equal(await good(), false)
  await world.made('PUT', '/svc/keys/ann', { access_rights: rights, expires: expires + 3600 })
  for (const good of artefacts) assert.equal(await good(), false)
})

test('what else changes of a user leaves the tokens', async (t) => {
  const world = await start(t, 'opaque')
  const artefacts = Object.values(await world.ofUser())
  await world.made('PUT', '/svc/keys/ann', { access_rights: rightsOn('a', 'k'), tags: ['vip'] })
  await world.subjects.user({ alias: 'Ann' })
  for (const good of artefacts) assert.ok(await good())
  const shown = await world.made('GET', '/svc/keys/ann')
  assert.equal(JSON.stringify(shown).includes('generation'), false)
})

test('a user whose policies are switched off or gone has no tokens, and introspection says so', async (t) => {
  const world = await start(t, 'opaque')
  const put = (more: JsonObject) => world.made('PUT', '/svc/policies/u', policyOf('u', ['a', 'j', 'k'], more))
  await world.made('POST', '/svc/policies', policyOf('u', ['a', 'j', 'k']))
  await world.subjects.user({ apply_policies: ['u'] })
  const endings: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['inactive', () => put({ is_inactive: true })],
    ['deleted', () => world.made('DELETE', '/svc/policies/u')],
  ]
  for (const [name, end] of endings) {
    for (const [what, good] of Object.entries(await world.ofUser())) assert.ok(await good(), `${what} before ${name}`)
    const lasting = await world.ofUser()
    await end()
    for (const [what, good] of Object.entries(lasting)) assert.equal(await good(), false, `${what}, ${name}`)
    await assert.rejects(world.ofUser(), /invalid_grant/, `password grant, ${name}`)
    if (name === 'inactive') await put({})
  }
})
