import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { type MailServer, mailSettings, startMailServer } from '../../worlds/dashboard/mail-server.ts'
import { Browser, cheapHash, PASSWORD } from '../../worlds/dashboard/sign-in-world.ts'
import { atPortal, DEVELOPERS, type PeopleWorld, portalPeople } from '../../worlds/portal/portal-people.ts'

const ADA = 'ada@example.test'
const NEXT = 'another battery staple'

/** Something that a person was given; says whether it is good for anything. What is good once is used up by the question. */
type Artefact = () => Promise<boolean>

interface World {
  readonly world: PeopleWorld
  readonly post: MailServer
  asAdmin(method: string, path: string, body?: JsonObject): Promise<JsonObject>
}

async function start(t: TestContext): Promise<World> {
  const post = await startMailServer(t)
  const world = await portalPeople(t, { env: { ...mailSettings(post), SVC_DB_SSOENABLEUSERLOOKUP: 'true' } })
  await world.configure({ portal_url: 'https://portal.example.test/' })
  const admin = await world.admin()
  const [organisation] = (await world.store.documents.list('organisation', { limit: 1 })).rows
  const body = { ...organisation!.body, sso_enabled: true }
  await world.store.documents.commit([{ op: 'put', kind: 'organisation', id: organisation!.id, body }], undefined)
  return {
    ...{ world, post },
    async asAdmin(method, path, body) {
      const answer = await world.call(method, path, { as: admin, ...(body !== undefined && { body }) })
      assert.equal(answer.status, 200, `${method} ${path} ${answer.text}`)
      return answer.json as JsonObject
    },
  }
}

const tokenIn = (post: MailServer) => /reset-password#([\w-]{43})\b/.exec(post.mails.at(-1)!.text)![1]!

async function nonce({ world }: World, ForSection: string, more: JsonObject = {}): Promise<string> {
  const body = { OrgID: world.orgId, EmailAddress: ADA, ForSection, ...more }
  const answer = await world.call('POST', '/admin/sso', { as: 'installation', body })
  assert.equal(answer.status, 200, answer.text)
  return String((answer.json as JsonObject).Meta)
}

/** A kind of person: how one comes to be, what one is given, and the ways in which one ends. */
interface Kind {
  readonly name: string
  readonly make: (world: World) => Promise<string>
  readonly artefacts: (world: World, id: string) => Promise<Readonly<Record<string, Artefact>>>
  readonly ends: Readonly<Record<string, (world: World, id: string) => Promise<unknown>>>
}

const USER: Kind = {
  name: 'a user',
  async make({ asAdmin }) {
    const made = await asAdmin('POST', '/api/users', {
      ...{ first_name: 'Ada', last_name: 'Byron', email_address: ADA, active: true, password: PASSWORD },
      user_permissions: { apis: 'read' },
    })
    return String(made.Meta)
  },
  async artefacts(given, id) {
    const { world, post } = given
    const browser = new Browser(world)
    assert.equal((await browser.login(ADA)).status, 200)
    const key = String((await given.asAdmin('GET', `/api/users/${id}`)).access_key)
    assert.equal((await world.call('POST', '/api/password/forgot', { body: { email: ADA } })).status, 200)
    await world.parts.mailLinks.settled()
    const link = tokenIn(post)
    const open = await nonce(given, 'dashboard', { SSOOnlyForRegisteredUsers: true })
    return {
      'browser session': () => browser.isIn(),
      'API credential': async () =>
        (await world.call('GET', '/api/apis', { headers: { authorization: key } })).status === 200,
      nonce: async () => (await world.call('GET', `/tap?nonce=${encodeURIComponent(open)}`)).status < 400,
      'link of a forgotten password': async () =>
        (await world.call('POST', '/api/password/reset', { body: { token: link, new_password: NEXT } })).status === 200,
    }
  },
  ends: {
    deleted: ({ asAdmin }, id) => asAdmin('DELETE', `/api/users/${id}`),
    'switched off and deleted': async ({ asAdmin }, id) => {
      await asAdmin('PUT', `/api/users/${id}`, { active: false })
      await asAdmin('DELETE', `/api/users/${id}`)
    },
  },
}

const DEVELOPER: Kind = {
  name: 'a developer',
  make: ({ world }) => world.developer({ email: ADA, password: cheapHash(PASSWORD), fields: { Name: 'Ada' } }),
  async artefacts(given, id) {
    const { world, post } = given
    const open = await nonce(given, 'portal')
    await world.asked(200, 'PUT', `${DEVELOPERS}/${id}`, { email: ADA, fields: { Name: 'Ada' }, nonce: open })
    const browser = await atPortal(world, ADA)
    assert.equal((await world.call('POST', '/portal/password/forgot', { body: { email: ADA } })).status, 200)
    await world.parts.portalMailLinks.settled()
    const link = tokenIn(post)
    return {
      'portal session': () => browser.isIn(),
      'link of a forgotten password': async () =>
        (await world.call('POST', '/portal/password/reset', { body: { token: link, new_password: NEXT } })).status ===
        200,
      // Last, because it changes the record, and the link is good for the record of then.
      nonce: async () => (await world.call('GET', `/portal/sso?nonce=${encodeURIComponent(open)}`)).status < 400,
    }
  },
  ends: {
    deleted: ({ world }, id) => world.asked(200, 'DELETE', `${DEVELOPERS}/${id}`),
    'switched off and deleted': async ({ world }, id) => {
      await world.asked(200, 'PUT', `${DEVELOPERS}/${id}`, { email: ADA, inactive: true, fields: { Name: 'Ada' } })
      await world.asked(200, 'DELETE', `${DEVELOPERS}/${id}`)
    },
  },
}

for (const kind of [USER, DEVELOPER])
  for (const [ending, end] of Object.entries(kind.ends))
    test(`nothing of ${kind.name} that is ${ending} is good for anything, nor for the next of that address`, async (t) => {
      const given = await start(t)
      const id = await kind.make(given)
      // Each is good before: asked in the order of the list, because a new password ends the rest.
      for (const [what, good] of Object.entries(await kind.artefacts(given, id))) assert.ok(await good(), what)
      await end(given, id)
      const second = await kind.make(given)
      assert.notEqual(second, id)
      const lasting = await kind.artefacts(given, second)
      await end(given, second)
      for (const [what, good] of Object.entries(lasting)) assert.equal(await good(), false, `${what}, at once`)
      const third = await kind.make(given)
      const others = await kind.artefacts(given, third)
      await end(given, third)
      const fourth = await kind.make(given)
      for (const [what, good] of Object.entries({ ...lasting, ...others }))
        assert.equal(await good(), false, `${what}, with another of that address`)
      // More mails to one address must wait.
      given.world.clock.advance(3_600_000)
      for (const [what, good] of Object.entries(await kind.artefacts(given, fourth)))
        assert.ok(await good(), `${what} of the next`)
    })
