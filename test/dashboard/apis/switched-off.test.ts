import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { auditOf } from '../../../src/publish/documents/parts.ts'
import { type MailServer, mailSettings, startMailServer } from '../../worlds/dashboard/mail-server.ts'
import { Browser, cheapHash, PASSWORD, person, signedIn } from '../../worlds/dashboard/sign-in-world.ts'
import {
  atPortal,
  DEVELOPERS,
  type PeopleWorld,
  PortalBrowser,
  portalPeople,
} from '../../worlds/portal/portal-people.ts'

interface World extends PeopleWorld {
  readonly post: MailServer
  asAdmin(method: string, path: string, body?: JsonObject): Promise<JsonObject>
}

async function start(t: TestContext): Promise<World> {
  const post = await startMailServer(t)
  // Sessions outlast the hours after which another mail may be asked for.
  const lasting = { SVC_DB_SESSIONIDLETIME: '86400', SVC_DB_DASHBOARDSESSIONLIFETIME: '864000' }
  const env = { ...mailSettings(post), ...lasting, SVC_DB_SSOENABLEUSERLOOKUP: 'true' }
  const world = await portalPeople(t, { env })
  await world.configure({ portal_url: 'https://portal.example.test/' })
  const admin = await world.admin()
  const [organisation] = (await world.store.documents.list('organisation', { limit: 1 })).rows
  const body = { ...organisation!.body, sso_enabled: true }
  await world.store.documents.commit([{ op: 'put', kind: 'organisation', id: organisation!.id, body }], undefined)
  return {
    ...{ ...world, post },
    async asAdmin(method, path, body) {
      const answer = await world.call(method, path, { as: admin, ...(body !== undefined && { body }) })
      assert.equal(answer.status, 200, `${method} ${path} ${answer.text}`)
      return answer.json as JsonObject
    },
  }
}

interface Subject {
  readonly id: string
  readonly email: string
  readonly groupId: string
}

/** A kind of person: the ways in which one is switched off and on again, and the ways in. */
interface Kind {
  readonly make: (world: World, email: string) => Promise<Subject>
  /** Signs in by password; says whether the session is still open. */
  readonly session: (world: World, subject: Subject) => Promise<() => Promise<boolean>>
  /** Asks for a link and answers its token; undefined = no mail came. */
  readonly link: (world: World, subject: Subject) => Promise<string | undefined>
  readonly reset: (world: World, token: string) => Promise<boolean>
  /** A nonce of single sign-on that was made while the person could come in. */
  readonly nonce: (world: World, subject: Subject) => Promise<string>
  /** Each way in that does not use a link, as something that says whether it let the person in. */
  readonly ways: Readonly<Record<string, (world: World, subject: Subject, nonce: string) => Promise<boolean>>>
  readonly switches: Readonly<Record<string, (world: World, subject: Subject, off: boolean) => Promise<unknown>>>
}

const tokenIn = (mail: { readonly text: string } | undefined) =>
  /reset-password#([\w-]{43})\b/.exec(mail?.text ?? '')?.[1]

async function newNonce(world: World, email: string, ForSection: string): Promise<string> {
  const body = { OrgID: world.orgId, EmailAddress: email, ForSection, SSOOnlyForRegisteredUsers: true }
  const answer = await world.call('POST', '/admin/sso', { as: 'installation', body })
  assert.equal(answer.status, 200, answer.text)
  return String((answer.json as JsonObject).Meta)
}

const DEVELOPER: Kind = {
  async make(world, email) {
    const id = await world.developer({ email, password: cheapHash(PASSWORD), fields: { Name: 'Ada' } })
    return { id, email, groupId: '' }
  },
  async session(world, { email }) {
    const browser = await atPortal(world, email)
    return () => browser.isIn()
  },
  async link(world, { email }) {
    const before = world.post.mails.length
    await world.call('POST', '/portal/password/forgot', { body: { email } })
    await world.parts.portalMailLinks.settled()
    return tokenIn(world.post.mails.slice(before).at(-1))
  },
  reset: async (world, token) =>
    (await world.call('POST', '/portal/password/reset', { body: { token, new_password: PASSWORD } })).status === 200,
  nonce: (world, { email }) => newNonce(world, email, 'portal'),
  ways: {
    password: async (world, { email }) => (await new PortalBrowser(world).login(email)).status === 200,
    async 'single sign-on'(world, { id, email }, nonce) {
      const { inactive } = await world.read(id)
      await world.asked(200, 'PUT', `${DEVELOPERS}/${id}`, { email, nonce, inactive, fields: { Name: 'Ada' } })
      return (await world.call('GET', `/portal/sso?nonce=${encodeURIComponent(nonce)}`)).status < 400
    },
  },
  switches: {
    PUT: (world, { id, email }, inactive) =>
      world.asked(200, 'PUT', `${DEVELOPERS}/${id}`, { email, inactive, fields: { Name: 'Ada' } }),
    PATCH: (world, { id }, inactive) => world.asked(200, 'PATCH', `${DEVELOPERS}/${id}`, { inactive }),
    async 'an undone entry'(world, { id }, inactive) {
      if (!inactive) return world.asked(200, 'PATCH', `${DEVELOPERS}/${id}`, { inactive: false })
      // Behind the product's back, so that only the undoing can end anything.
      const found = await world.store.documents.get('developer', id as never)
      const off = { ...found!.body, inactive: true }
      const put = (body: JsonObject) => ({ op: 'put', kind: 'developer', id: id as never, body }) as const
      const audit = auditOf(world.parts, 'test', 'developer.update', world.orgId, { id })
      await world.store.documents.commit([put(off)], undefined)
      await world.store.documents.commit([put(found!.body)], audit)
      const { rows } = await world.store.audit.list({ orgId: world.orgId, limit: 1 })
      return world.asAdmin('POST', `/api/audit-logs/${rows[0]!.id}/undo`)
    },
  },
}

const USER: Kind = {
  async make(world, email) {
    const groupId = await world.group({ apis: 'read' })
    const { id } = await person(world, { email_address: email, group_id: groupId })
    return { id, email, groupId }
  },
  async session(world, subject) {
    const browser = await signedIn(world, subject)
    return () => browser.isIn()
  },
  async link(world, { email }) {
    const before = world.post.mails.length
    await world.call('POST', '/api/password/forgot', { body: { email } })
    await world.parts.mailLinks.settled()
    return tokenIn(world.post.mails.slice(before).at(-1))
  },
  reset: async (world, token) =>
    (await world.call('POST', '/api/password/reset', { body: { token, new_password: PASSWORD } })).status === 200,
  nonce: (world, { email }) => newNonce(world, email, 'dashboard'),
  ways: {
    password: async (world, { email }) => (await new Browser(world).login(email)).status === 200,
    'single sign-on': async (world, _subject, nonce) =>
      (await world.call('GET', `/tap?nonce=${encodeURIComponent(nonce)}`)).status < 400,
  },
  switches: {
    'PUT /api/users': ({ asAdmin }, { id }, off) => asAdmin('PUT', `/api/users/${id}`, { active: !off }),
    async 'PUT /admin/users'({ call }, { id }, off) {
      const { status } = await call('PUT', `/admin/users/${id}`, { as: 'installation', body: { active: !off } })
      assert.equal(status, 200)
    },
    revoke: ({ asAdmin }, { id }, off) =>
      off ? asAdmin('PUT', `/api/users/${id}/actions/revoke`) : asAdmin('PUT', `/api/users/${id}`, { active: true }),
    'its group': ({ asAdmin }, { groupId }, off) => asAdmin('PUT', `/api/usergroups/${groupId}`, { active: !off }),
    async 'another group, inactive'({ asAdmin, group }, { id, groupId }, off) {
      const to = off ? await group({ apis: 'read' }, { active: false }) : groupId
      await asAdmin('PUT', `/api/users/${id}`, { group_id: to })
    },
  },
}

const KINDS: Readonly<Record<string, Kind>> = { developer: DEVELOPER, 'dashboard user': USER }

for (const [kind, { make, session, link, reset, nonce, ways, switches }] of Object.entries(KINDS))
  test(`a deactivated person has no session, sign-in or link, and gets none back: ${kind}`, async (t) => {
    const world = await start(t)
    let count = 0
    for (const [name, toggle] of Object.entries(switches)) {
      const subject = await make(world, `person-${++count}@example.test`)
      const isOpen = await session(world, subject)
      const token = await link(world, subject)
      const early = await nonce(world, subject)
      assert.ok((await isOpen()) && token !== undefined, name)
      await toggle(world, subject, true)
      assert.equal(await isOpen(), false, `session, ${name}`)
      for (const [way, comesIn] of Object.entries(ways))
        assert.equal(await comesIn(world, subject, early), false, `${way}, ${name}`)
      assert.equal(await reset(world, token!), false, `link of before, ${name}`)
      world.clock.advance(3_600_000)
      assert.equal(await link(world, subject), undefined, `link, ${name}`)
      await toggle(world, subject, false)
      assert.equal(await isOpen(), false, `session once it is on again, ${name}`)
      for (const [way, comesIn] of Object.entries(ways))
        assert.ok(await comesIn(world, subject, await nonce(world, subject)), `${way}, ${name} again`)
    }
  })
