import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ticketHash } from '../../../src/dashboard/sign-in/sessions.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import type { TestUser } from '../../worlds/dashboard/harness.ts'
import { type Account, journey, world } from '../../worlds/dashboard/openid-world.ts'
import { Browser, locationOf, sessionIn } from '../../worlds/dashboard/sso-world.ts'
import { DEVELOPERS, PortalBrowser } from '../../worlds/portal/portal-people.ts'

// Sessions that a user without administrator rights has let in, by a nonce or an identity profile.

const KINDS = ['guest of a nonce', 'guest of a profile', 'user by a nonce', 'user by a profile', 'developer'] as const
type Kind = (typeof KINDS)[number]
const GUESTS: readonly Kind[] = ['guest of a nonce', 'guest of a profile']
const USERS: readonly Kind[] = ['user by a nonce', 'user by a profile']

/** Who let them in, and whom. */
interface Cast {
  readonly author: TestUser
  readonly authorGroup: string
  /** Of the guests. */
  readonly group: string
  readonly users: readonly TestUser[]
}

type Ask = (method: string, path: string, body?: unknown) => Promise<JsonObject>

interface Change {
  readonly name: string
  readonly apply: (ask: Ask, cast: Cast) => Promise<unknown>
  readonly back: (ask: Ask, cast: Cast) => Promise<unknown>
  /** Sessions that end for good, used between the change and its way back or not. */
  readonly ends: readonly Kind[]
  /** True: only those that were used meanwhile. */
  readonly whenUsed?: true
}

const rights = (user_permissions: JsonObject) => ({ user_permissions })
const AUTHOR = { idm: 'write', users: 'write', apis: 'write' }

const author = (body: JsonObject) => (ask: Ask, cast: Cast) => ask('PUT', `/api/users/${cast.author.id}`, body)
const authorGroup = (body: JsonObject) => (ask: Ask, cast: Cast) =>
  ask('PUT', `/api/usergroups/${cast.authorGroup}`, body)
const guests = (body: JsonObject) => (ask: Ask, cast: Cast) => ask('PUT', `/api/usergroups/${cast.group}`, body)
const users = (body: JsonObject) => async (ask: Ask, cast: Cast) => {
  for (const { id } of cast.users) await ask('PUT', `/api/users/${id}`, body)
}
const owners = (of: (cast: Cast) => JsonObject) => (ask: Ask, cast: Cast) =>
  ask('PUT', '/api/apis/owned/access', { userIds: [], userGroupIds: [], ...of(cast) })
const nobody = owners(() => ({}))

const CHANGES: readonly Change[] = [
  { name: 'nothing', apply: async () => {}, back: async () => {}, ends: [] },
  { name: 'author off', apply: author({ active: false }), back: author({ active: true }), ends: KINDS },
  {
    name: 'group of the author off',
    apply: authorGroup({ active: false }),
    back: authorGroup({ active: true }),
    ends: KINDS,
  },
  {
    name: 'author deleted',
    apply: (ask, cast) => ask('DELETE', `/api/users/${cast.author.id}`),
    async back(ask) {
      const { audit_logs: entries } = (await ask('GET', '/api/audit-logs?p=-1')) as { audit_logs: JsonObject[] }
      await ask('POST', `/api/audit-logs/${entries.find(({ action }) => action === 'user.delete')!._id}/undo`)
    },
    ends: KINDS,
  },
  {
    name: 'author has fewer rights',
    apply: authorGroup(rights({ idm: 'write', users: 'write' })),
    back: authorGroup(rights(AUTHOR)),
    ends: [...GUESTS, ...USERS],
    whenUsed: true,
  },
  {
    name: 'more rights than the author',
    apply: async (ask, cast) => {
      await users(rights({ IsAdmin: 'admin' }))(ask, cast)
      await guests(rights({ apis: 'write', keys: 'read' }))(ask, cast)
    },
    back: async (ask, cast) => {
      await users(rights({ apis: 'read' }))(ask, cast)
      await guests(rights({ apis: 'read' }))(ask, cast)
    },
    ends: [...GUESTS, ...USERS],
    whenUsed: true,
  },
  {
    name: 'as many rights as the author',
    apply: users(rights(AUTHOR)),
    back: users(rights({ apis: 'read' })),
    ends: [],
  },
  {
    name: 'the user owns an API',
    apply: owners((cast) => ({ userIds: cast.users.map(({ id }) => id) })),
    back: nobody,
    ends: USERS,
    whenUsed: true,
  },
  {
    name: 'the group owns an API',
    apply: owners((cast) => ({ userGroupIds: [cast.group] })),
    back: nobody,
    ends: GUESTS,
    whenUsed: true,
  },
]

test('sessions of a guarantor without administrator rights never exceed that user', async (t) => {
  const accounts: Record<string, Account> = {}
  const env = { SVC_DB_SSOENABLEUSERLOOKUP: 'true', SVC_DB_ENABLEOWNERSHIP: 'true' }
  const at = await world(t, accounts, {}, env)
  const { boss, base, call, user, group } = at
  const askAs =
    (as: TestUser): Ask =>
    async (method, path, body) => {
      const answer = await call(method, path, { as, ...(body !== undefined && { body }) })
      assert.equal(answer.status, 200, `${method} ${path} ${answer.text}`)
      return answer.json as JsonObject
    }
  const ask = askAs(boss)
  const api = { api_id: 'owned', name: 'owned', active: true, use_keyless: true, version_data: VERSIONS }
  const proxy = { listen_path: '/owned/', target_url: 'http://127.0.0.1:1/' }
  await ask('POST', '/api/apis', { api_definition: { ...api, proxy } })
  const { Data: staff } = (await ask('GET', '/api/tib/profiles/staff')) as { Data: JsonObject }
  const developer = String((await ask('POST', DEVELOPERS, { email: 'dev@example.test', fields: {} })).Message)

  const open = async (name: string): Promise<{ cast: Cast; opens: (kind: Kind) => Promise<boolean> }> => {
    const authors = await group(AUTHOR)
    const cast: Cast = {
      authorGroup: authors,
      author: await user({ IsAdmin: 'false' }, { groupId: authors }),
      group: await group({ apis: 'read' }),
      users: [await user({ apis: 'read' }), await user({ apis: 'read' })],
    }
    const byAuthor = askAs(cast.author)
    await byAuthor('PUT', '/api/tib/profiles/staff', { ...staff, Name: name, DefaultUserGroupID: cast.group })
    const nonce = async (wanted: object) =>
      encodeURIComponent(String((await byAuthor('POST', '/api/sso', { ForSection: 'dashboard', ...wanted })).Meta))
    const tapped = async (EmailAddress: string) => {
      const browser = new Browser()
      await browser.visit(`${base}/tap?nonce=${await nonce({ EmailAddress, GroupID: cast.group })}`)
      return async () => (await browser.visit(`${base}/api/apis`)).status === 200
    }
    const signedIn = async (email: string) => {
      accounts[email] = { email, email_verified: true }
      const { browser } = await journey(at, email)
      return async () => (await browser.visit(`${base}/api/apis`)).status === 200
    }
    const portal = new PortalBrowser(at)
    const text = await nonce({ ForSection: 'portal' })
    await ask('PUT', `${DEVELOPERS}/${developer}`, {
      email: 'dev@example.test',
      fields: {},
      nonce: decodeURIComponent(text),
    })
    await portal.send('GET', `/portal/sso?nonce=${text}`)
    const sessions: Record<Kind, () => Promise<boolean>> = {
      'guest of a nonce': await tapped('guest@example.test'),
      'guest of a profile': await signedIn(`${cast.group}@example.test`),
      'user by a nonce': await tapped(cast.users[0]!.email),
      'user by a profile': await signedIn(cast.users[1]!.email),
      developer: async () => (await portal.send('GET', '/portal/csrf')).status === 200,
    }
    return { cast, opens: (kind) => sessions[kind]() }
  }
  const states = async (opens: (kind: Kind) => Promise<boolean>) => {
    const found: Record<string, boolean> = {}
    for (const kind of KINDS) found[kind] = await opens(kind)
    return found
  }
  const expected = (ends: readonly Kind[]) => Object.fromEntries(KINDS.map((kind) => [kind, !ends.includes(kind)]))
  for (const { name, apply, back, ends, whenUsed } of CHANGES)
    for (const used of whenUsed ? [true] : [true, false]) {
      const { cast, opens } = await open(name)
      assert.deepEqual(await states(opens), expected([]), `${name}: before`)
      await apply(ask, cast)
      if (used) assert.deepEqual(await states(opens), expected(ends), name)
      await back(ask, cast)
      assert.deepEqual(await states(opens), expected(ends), `${name}, ${used ? 'used' : 'not used'} and back`)
    }
})

const VERSIONS = { not_versioned: true, versions: { Default: { name: 'Default' } } }

test('whom such a session lets in ends with the same user, and never owns more', async (t) => {
  const at = await world(t, {}, {}, { SVC_DB_SSOENABLEUSERLOOKUP: 'true', SVC_DB_ENABLEOWNERSHIP: 'true' })
  const { base, call, user, boss } = at
  const [author, low] = [await user({ users: 'write', apis: 'read' }), await user({ users: 'write', apis: 'read' })]
  const tapped = async (nonce: string) => {
    const browser = new Browser()
    await browser.visit(`${base}/tap?nonce=${encodeURIComponent(nonce)}`)
    const isIn = async () => (await sessionIn(at, browser))?.user.id === low.id
    assert.ok(await isIn())
    return { isIn, cookie: browser.cookies(new URL(base)) }
  }
  const body = { ForSection: 'dashboard', EmailAddress: low.email }
  const meta = ({ json }: { json: unknown }) => String((json as JsonObject).Meta)
  const open = async () => {
    const first = await tapped(meta(await call('POST', '/api/sso', { as: author, body })))
    const { cookie } = first
    const { csrf_token } = (await call('GET', '/api/session', { headers: { cookie } })).json as JsonObject
    const headers = { cookie, 'x-csrf-token': String(csrf_token) }
    const moved = await call('PUT', `/api/users/${low.id}`, { headers, body: { email_address: 'evil@example.test' } })
    assert.equal(moved.status, 403, moved.text)
    return tapped(meta(await call('POST', '/api/sso', { headers, body })))
  }
  const owning = await open()
  const proxy = { listen_path: '/owned/', target_url: 'http://127.0.0.1:1/' }
  const api = { api_id: 'owned', name: 'owned', active: true, use_keyless: true, version_data: VERSIONS, proxy }
  assert.equal((await call('POST', '/api/apis', { as: boss, body: { api_definition: api } })).status, 200)
  const access = (userIds: string[]) =>
    call('PUT', '/api/apis/owned/access', { as: boss, body: { userIds, userGroupIds: [] } })
  assert.equal((await access([low.id])).status, 200)
  assert.equal(await owning.isIn(), false)
  assert.equal((await access([])).status, 200)
  const other = await open()
  for (const active of [false, true])
    assert.equal((await call('PUT', `/api/users/${author.id}`, { as: boss, body: { active } })).status, 200)
  assert.deepEqual([await owning.isIn(), await other.isIn()], [false, false])
})

test('a session vouched for by a plain user gets no credential that outlasts it', async (t) => {
  const at = await world(t, {}, {}, { SVC_DB_SSOENABLEUSERLOOKUP: 'true' })
  const { base, call, user, boss } = at
  const low = await user({ apis: 'read' })
  const enter = async (as: TestUser) => {
    const made = await call('POST', '/api/sso', { as, body: { ForSection: 'dashboard', EmailAddress: low.email } })
    const browser = new Browser()
    await browser.visit(`${base}/tap?nonce=${encodeURIComponent(String((made.json as JsonObject).Meta))}`)
    assert.equal((await sessionIn(at, browser))?.user.id, low.id)
    const cookie = browser.cookies(new URL(base))
    const { csrf_token } = (await call('GET', '/api/session', { headers: { cookie } })).json as JsonObject
    const headers = { cookie, 'x-csrf-token': String(csrf_token) }
    const me = (await call('GET', '/api/users/me', { headers })).json as JsonObject
    const begin = await call('POST', '/api/second-factor/totp', { headers })
    const body = { new_password: 'a new password of another' }
    const reset = await call('POST', `/api/users/${low.id}/actions/reset`, { headers, body })
    return [me.access_key !== '', begin.status, reset.status]
  }
  assert.deepEqual(await enter(await user({ users: 'write', apis: 'read' })), [false, 403, 403])
  assert.deepEqual(await enter(boss), [true, 200, 200])
})

test('a sign-in that a node of an earlier version began ends with its guarantor too', async (t) => {
  const at = await world(t, {}, {}, { SVC_DB_SSOENABLEUSERLOOKUP: 'true' })
  const { base, call, user, boss, store } = at
  const [author, low] = [await user({ users: 'write', apis: 'read' }), await user({ apis: 'read' })]
  const putTotp = async (totp: JsonObject | undefined) => {
    const { body } = (await store.documents.get('user', low.id as never))!
    const { totp: _before, ...rest } = body
    const next = { ...rest, ...(totp && { totp }) }
    await store.documents.commit([{ op: 'put', kind: 'user', id: low.id as never, body: next }], undefined)
  }
  await putTotp({ sealed: 'AA==', confirmed_at: '2026-01-01T00:00:00Z', last_step: 0 })
  const sent = { ForSection: 'dashboard', EmailAddress: low.email }
  const made = await call('POST', '/api/sso', { as: author, body: sent })
  const begun = await new Browser().visit(
    `${base}/tap?nonce=${encodeURIComponent(String((made.json as JsonObject).Meta))}`,
  )
  const ticket = new URLSearchParams(locationOf(begun).slice(2)).get('sign_in')!
  const row = (await store.tokens.getTicket(ticketHash('sign_in', ticket)))!
  const { guarantor: _ours, ...stored } = row.body
  // Those look for this name, and write it.
  assert.equal(((stored.vouched as JsonObject).voucher as JsonObject).user_id, author.id)
  const put = { op: 'putTicket', hash: ticketHash('sign_in', ticket), row: { ...row, body: stored } } as const
  await store.documents.commit([put], undefined)
  await putTotp(undefined)
  const done = await call('POST', '/api/login/continue', { body: { ticket } })
  assert.equal(done.status, 200, done.text)
  const cookie = String(done.headers['set-cookie']).split(';')[0]!
  const isIn = async () => (await call('GET', '/api/session', { headers: { cookie } })).status === 200
  assert.equal(await isIn(), true)
  assert.equal((await call('PUT', `/api/users/${author.id}`, { as: boss, body: { active: false } })).status, 200)
  assert.equal(await isIn(), false)
})
