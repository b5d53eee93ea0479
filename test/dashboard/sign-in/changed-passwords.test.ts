import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { isObject, type JsonObject } from '../../../src/model/json/json.ts'
import { publishApi } from '../../../src/publish/apis/apis.ts'
import { type GatewayWorld, gatewayWorld } from '../../worlds/dashboard/gateway-world.ts'
import { rightsOn } from '../../worlds/dashboard/key-world.ts'
import { type MailServer, mailSettings, startMailServer } from '../../worlds/dashboard/mail-server.ts'
import { Browser, cheapHash, meta, person, rewrite, signedIn } from '../../worlds/dashboard/sign-in-world.ts'
import { oauthApi } from '../../worlds/gateway/oauth-fixtures.ts'
import { atPortal, DEVELOPERS, PASSWORD } from '../../worlds/portal/portal-people.ts'
import { askForToken, SHOP_CLIENT } from '../../worlds/portal/shop-tokens.ts'

const NEXT = 'another battery staple'

interface World extends GatewayWorld {
  readonly post: MailServer
}

async function start(t: TestContext): Promise<World> {
  const post = await startMailServer(t)
  const world = await gatewayWorld(t, { ...mailSettings(post), SVC_DB_SECURITY_ALLOWADMINRESETPASSWORD: 'true' })
  const definition = oauthApi(world.origin.url, { id: 'shop' })
  const { oa } = (definition.components as { securitySchemes: { oa: { flows: JsonObject } } }).securitySchemes
  oa.flows.password = { tokenUrl: '/oauth/token', scopes: {} }
  const { revision } = await publishApi(world.parts, { format: 'oas', definition, orgId: world.orgId, actor: 'test' })
  await world.gateway.gateway.live.settled(revision)
  await world.policy('wide', ['shop'])
  const client = { ...SHOP_CLIENT, policy_id: 'wide' }
  await world.asked(200, 'POST', '/api/apis/oauth/shop', world.root, client)
  await world.asked(200, 'PUT', '/api/portal/configuration', world.root, { portal_url: 'https://portal.example.test/' })
  return { ...world, post }
}

async function svc(world: World, method: string, path: string, body?: JsonObject): Promise<JsonObject> {
  const answer = await world.gateway.svc(method, path, body)
  assert.equal(answer.status, 200, `${method} ${path} ${answer.text}`)
  return answer.json as JsonObject
}

const linkIn = (post: MailServer) => /reset-password#([\w-]{43})\b/.exec(post.mails.at(-1)!.text)![1]!

/** Something that a subject was given; says whether it is good for anything. What is good once is used up by the question. */
type Artefacts = Readonly<Record<string, () => Promise<boolean>>>
type Way = (world: World, name: string) => Promise<unknown>

/** A kind of subject: how one comes to be, what its password gives, and every way in that can change the password. */
interface Kind {
  readonly make: (world: World, name: string) => Promise<unknown>
  readonly given: (world: World, name: string) => Promise<Artefacts>
  readonly changes: Readonly<Record<string, Way>>
  /** Writes of the subject that leave its password as it is. */
  readonly saves: Readonly<Record<string, Way>>
}

const session = (more: JsonObject = {}): JsonObject => ({ access_rights: rightsOn('shop'), ...more })
const withPassword = (password: string) => session({ basic_auth_data: { password } })
/** The stored form of each subject's password, by name. */
const hashes = new Map<string, string>()
const hashOf = (name: string) => hashes.get(name) ?? hashes.set(name, cheapHash(PASSWORD)).get(name)!

const BASIC: Kind = {
  make: (world, name) =>
    svc(
      world,
      'POST',
      `/svc/keys/${name}`,
      session({
        org_id: world.orgId,
        basic_auth_data: { password: hashOf(name) },
      }),
    ),
  async given(world, username) {
    const { json } = await askForToken(world, { grant_type: 'password', username, password: PASSWORD })
    const body = json as Record<string, string>
    const { access_token = '', refresh_token = '' } = body
    assert.notEqual(refresh_token, '', JSON.stringify(body))
    return {
      'access token': async () => (await world.use('/shop/x', access_token)) === 200,
      'refresh token': async () =>
        (await askForToken(world, { grant_type: 'refresh_token', refresh_token })).status === 200,
    }
  },
  changes: {
    'PUT /svc/keys': (world, name) => svc(world, 'PUT', `/svc/keys/${name}?org_id=${world.orgId}`, withPassword(NEXT)),
    'POST /svc/keys': (world, name) =>
      svc(world, 'POST', `/svc/keys/${name}`, { ...withPassword(NEXT), org_id: world.orgId }),
    'POST /svc/keys with a hash': (world, name) =>
      svc(world, 'POST', `/svc/keys/${name}`, { ...withPassword(cheapHash(NEXT)), org_id: world.orgId }),
    'POST /api/apis/keys/basic': ({ asked, root }, name) =>
      asked(200, 'POST', `/api/apis/keys/basic/${name}`, root, withPassword(NEXT)),
    'PUT /api/apis/keys': ({ asked, root }, name) =>
      asked(200, 'PUT', `/api/keys/${name}?username=true`, root, withPassword(NEXT)),
    'POST /api/moves/keys': ({ asked, root }, user_name) =>
      asked(200, 'POST', '/api/moves/keys', root, { user_name, session: session(), password_hash: cheapHash(NEXT) }),
  },
  saves: {
    'PUT /svc/keys': (world, name) => svc(world, 'PUT', `/svc/keys/${name}?org_id=${world.orgId}`, session()),
    'POST /svc/keys': (world, name) =>
      svc(world, 'POST', `/svc/keys/${name}`, { ...withPassword(hashOf(name)), org_id: world.orgId }),
    'POST /api/moves/keys': ({ asked, root }, user_name) =>
      asked(200, 'POST', '/api/moves/keys', root, { user_name, session: session(), password_hash: hashOf(user_name) }),
    'PUT /api/apis/keys': ({ asked, root }, name) =>
      asked(200, 'PUT', `/api/keys/${name}?username=true`, root, session({ alias: 'Ann' })),
  },
}

const ids = new Map<string, string>()
const developerAt = (name: string) => `${DEVELOPERS}/${ids.get(name)}`
const addressOf = (name: string) => `${name}@example.test`

const DEVELOPER: Kind = {
  async make({ asked, root }, name) {
    const record = { email: addressOf(name), password: hashOf(name), fields: { Name: name } }
    ids.set(name, String((await asked(200, 'POST', DEVELOPERS, root, record)).Message))
  },
  async given(world, name) {
    const browser = await atPortal(world, addressOf(name))
    await world.call('POST', '/portal/password/forgot', { body: { email: addressOf(name) } })
    await world.parts.portalMailLinks.settled()
    const token = linkIn(world.post)
    const reset = { body: { token, new_password: 'yet another staple' } }
    return {
      'portal session': () => browser.isIn(),
      'link of a forgotten password': async () =>
        (await world.call('POST', '/portal/password/reset', reset)).status === 200,
    }
  },
  changes: {
    PUT: ({ asked, root }, name) =>
      asked(200, 'PUT', developerAt(name), root, { email: addressOf(name), password: NEXT, fields: { Name: name } }),
    'PUT with a hash': ({ asked, root }, name) =>
      asked(200, 'PUT', developerAt(name), root, {
        ...{ email: addressOf(name), password: cheapHash(NEXT), fields: { Name: name } },
      }),
    PATCH: ({ asked, root }, name) => asked(200, 'PATCH', developerAt(name), root, { password: NEXT }),
    'POST password/{id}': ({ asked, root }, name) =>
      asked(200, 'POST', `${DEVELOPERS}/password/${ids.get(name)}`, root, { password: NEXT }),
    'link of a mail': async (world, name) => {
      world.clock.advance(3_600_000)
      await world.call('POST', '/portal/password/forgot', { body: { email: addressOf(name) } })
      await world.parts.portalMailLinks.settled()
      const body = { token: linkIn(world.post), new_password: NEXT }
      assert.equal((await world.call('POST', '/portal/password/reset', { body })).status, 200)
    },
  },
  saves: {
    PUT: ({ asked, root }, name) =>
      asked(200, 'PUT', developerAt(name), root, {
        ...{ email: addressOf(name), password: hashOf(name), fields: { Name: 'Another' } },
      }),
    PATCH: ({ asked, root }, name) => asked(200, 'PATCH', developerAt(name), root, { fields: { Name: 'Another' } }),
    'sign-in': (world, name) => atPortal(world, addressOf(name)),
  },
}

const userAt = (name: string) => `/api/users/${ids.get(name)}`

const USER: Kind = {
  async make(world, name) {
    const more = { email_address: addressOf(name), password_hash: hashOf(name), user_permissions: { apis: 'read' } }
    ids.set(name, (await person(world, more)).id)
  },
  async given(world, name) {
    const browser = await signedIn(world, { id: '', email: addressOf(name) })
    await world.call('POST', '/api/password/forgot', { body: { email: addressOf(name) } })
    await world.parts.mailLinks.settled()
    const reset = { body: { token: linkIn(world.post), new_password: 'yet another staple' } }
    return {
      'browser session': () => browser.isIn(),
      'link of a forgotten password': async () =>
        (await world.call('POST', '/api/password/reset', reset)).status === 200,
    }
  },
  changes: {
    'its own reset': async (world, name) => {
      const browser = await signedIn(world, { id: '', email: addressOf(name) })
      const body = { current_password: PASSWORD, new_password: NEXT }
      assert.equal((await browser.send('POST', `${userAt(name)}/actions/reset`, body)).status, 200)
    },
    'reset by an administrator': ({ asked, root }, name) =>
      asked(200, 'POST', `${userAt(name)}/actions/reset`, root, { new_password: NEXT }),
    'PUT /admin/users': (world, name) => byInstallation(world, name, { password: NEXT }),
    'PUT /admin/users with a hash': (world, name) => byInstallation(world, name, { password: cheapHash(NEXT) }),
    'link of a mail': async (world, name) => {
      world.clock.advance(600_000)
      await world.call('POST', '/api/password/forgot', { body: { email: addressOf(name) } })
      await world.parts.mailLinks.settled()
      const body = { token: linkIn(world.post), new_password: NEXT }
      assert.equal((await world.call('POST', '/api/password/reset', { body })).status, 200)
    },
    'a sign-in that asks for another one': async (world, name) => {
      await rewrite(world, ids.get(name)!, { password_max_days: 1, password_updated: '2001-01-01T00:00:00Z' })
      const browser = new Browser(world)
      const { ticket } = meta(await browser.login(addressOf(name)))
      const body = { ticket, new_password: NEXT }
      assert.equal((await browser.send('POST', '/api/login/continue', body)).status, 200)
    },
  },
  saves: {
    'PUT /admin/users': (world, name) => byInstallation(world, name, { first_name: 'Eve', password: hashOf(name) }),
    'PUT /api/users': ({ asked, root }, name) => asked(200, 'PUT', userAt(name), root, { first_name: 'Eve' }),
    'sign-in': (world, name) => signedIn(world, { id: '', email: addressOf(name) }),
  },
}

async function byInstallation(world: World, name: string, body: JsonObject): Promise<void> {
  const answer = await world.call('PUT', `/admin/users/${ids.get(name)}`, { as: 'installation', body })
  assert.equal(answer.status, 200, answer.text)
}

const KINDS: Readonly<Record<string, Kind>> = { 'basic user': BASIC, developer: DEVELOPER, 'dashboard user': USER }

for (const [kind, { make, given, changes, saves }] of Object.entries(KINDS))
  test(`a changed password ends what the old one gave: ${kind}`, async (t) => {
    const world = await start(t)
    let count = 0
    const subject = async () => {
      const name = `${kind.replaceAll(' ', '-')}-${++count}`
      await make(world, name)
      return { name, artefacts: await given(world, name) }
    }
    for (const [way, change] of Object.entries(changes)) {
      const { name, artefacts } = await subject()
      await change(world, name)
      for (const [what, good] of Object.entries(artefacts)) assert.equal(await good(), false, `${what}, ${way}`)
    }
    for (const [way, save] of Object.entries(saves)) {
      const { name, artefacts } = await subject()
      await save(world, name)
      // A link of a mail is good for the account as it was alone.
      for (const [what, good] of Object.entries(artefacts))
        if (!what.startsWith('link')) assert.ok(await good(), `${what}, saved by ${way}`)
    }
  })

test('undo restores nothing that was ended by deletion, switch, expiry or password', async (t) => {
  const world = await start(t)
  const entries: Readonly<Record<string, Way>> = {
    deletion: (_, name) => svc(world, 'DELETE', `/svc/keys/${name}?org_id=${world.orgId}`),
    'switched off': (_, name) =>
      svc(world, 'PUT', `/svc/keys/${name}?org_id=${world.orgId}`, session({ is_inactive: true })),
    expiry: (_, name) => svc(world, 'PUT', `/svc/keys/${name}?org_id=${world.orgId}`, session({ expires: 1 })),
    'another password': (_, name) =>
      svc(world, 'PUT', `/svc/keys/${name}?org_id=${world.orgId}`, { ...withPassword(NEXT), alias: 'Ann' }),
  }
  for (const [what, change] of Object.entries(entries)) {
    const name = what.replaceAll(' ', '-')
    await BASIC.make(world, name)
    const artefacts = await BASIC.given(world, name)
    await change(world, name)
    const { rows } = await world.store.audit.list({ orgId: world.orgId, limit: 1 })
    await world.asked(200, 'POST', `/api/audit-logs/${rows[0]!.id}/undo`, world.root)
    const found = await svc(world, 'GET', `/svc/keys/${name}?org_id=${world.orgId}`)
    assert.ok(isObject(found.access_rights), `the user is back: ${what}`)
    for (const [artefact, good] of Object.entries(artefacts))
      assert.equal(await good(), false, `${artefact}, ${what} undone`)
  }
})
