import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { claimAt } from '../../../src/dashboard/single-sign-on/claims.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { boundIdentity } from '../../../src/model/people/user-security.ts'
import { ADMIN, BASE, directory } from '../../worlds/dashboard/ldap-directory.ts'
import { type Account, journey, world } from '../../worlds/dashboard/openid-world.ts'
import {
  Browser,
  locationOf,
  type SsoWorld,
  sessionIn,
  ssoWorld,
  whyRefused,
} from '../../worlds/dashboard/sso-world.ts'

const LOOK_UP = { SVC_DB_SSOENABLEUSERLOOKUP: 'true' }
const quiet = { concurrency: false }

/** A user of the organisation with this address. */
async function userAt(at: SsoWorld, email: string): Promise<string> {
  const { id } = await at.user({ apis: 'read' })
  const user = (await at.store.documents.get('user', id as never))!
  const body = { ...user.body, email_address: email }
  await at.store.documents.commit([{ op: 'put', kind: 'user', id: user.id, body }], undefined)
  return id
}

async function change(at: SsoWorld, edit: JsonObject): Promise<void> {
  const { json } = await at.call('GET', '/api/tib/profiles/staff', { as: at.boss })
  const body = { ...(json as { Data: JsonObject }).Data, ...edit }
  const put = await at.call('PUT', '/api/tib/profiles/staff', { as: at.boss, body })
  assert.equal(put.status, 200, put.text)
}

/** Whom a sign-in leads to: the id of a user, `guest`, or `refused`. */
async function whoIs(at: SsoWorld, login: string, start?: string): Promise<string> {
  const { browser, end } = await journey(at, login, start)
  if (end.status === 403) return 'refused'
  const id = (await sessionIn(at, browser))?.user.id ?? 'nobody'
  return id.startsWith('sso-') ? 'guest' : id
}

test('an address leads to a user only where the provider says that it is verified', quiet, async (t) => {
  const accounts: Record<string, Account> = {}
  const at = await world(t, accounts, {}, LOOK_UP)
  const absent = Symbol('absent')
  const values: readonly [unknown, boolean][] = [
    [true, true],
    ['true', true],
    ...[absent, false, 'false', 0, 1, null, '', 'True', 'yes', [true], {}].map((value) => [value, false] as const),
  ] as [unknown, boolean][]
  let number = 0
  for (const CustomEmailField of ['', 'email', 'upn'])
    for (const TrustUnverifiedEmail of [false, true]) {
      await change(at, { CustomEmailField, TrustUnverifiedEmail })
      for (const [email_verified, verified] of values) {
        const login = `p${++number}`
        const email = `${login}@example.test`
        const id = await userAt(at, email)
        accounts[login] = {
          ...(CustomEmailField === 'upn' ? { upn: email, email: `other-${email}` } : { email }),
          ...(email_verified !== absent && { email_verified }),
        }
        const met = TrustUnverifiedEmail || (verified && CustomEmailField !== 'upn')
        const where = JSON.stringify({ CustomEmailField, TrustUnverifiedEmail, email_verified: String(email_verified) })
        assert.equal(await whoIs(at, login), met ? id : 'refused', where)
        if (!met) assert.match(whyRefused(at), /verified/, where)
      }
    }
})

test('an address in another spelling is another address, verified, trusted or in a nonce', quiet, async (t) => {
  const accounts: Record<string, Account> = {}
  const at = await world(t, accounts, {}, LOOK_UP)
  const blanks = [' ', '\u00a0', '\ufeff', '\u2003', '\t', '\n']
  const spellings: readonly ((email: string) => string)[] = [
    ...blanks.flatMap((blank) => [(email: string) => email + blank, (email: string) => blank + email]),
    (email) => email.replace('k', '\u212A'),
  ]
  let number = 0
  for (const [CustomEmailField, TrustUnverifiedEmail] of [
    ['', false],
    ['', true],
    ['upn', true],
  ] as const) {
    await change(at, { CustomEmailField, TrustUnverifiedEmail })
    for (const spelled of spellings) {
      const login = `k${++number}`
      const id = await userAt(at, `${login}@example.test`)
      const email = spelled(`${login}@example.test`)
      accounts[login] = { ...(CustomEmailField === 'upn' ? { upn: email } : { email }), email_verified: true }
      assert.equal(await whoIs(at, login), 'refused', JSON.stringify({ CustomEmailField, TrustUnverifiedEmail, email }))
      const wanted = { ForSection: 'dashboard', OrgID: at.orgId, EmailAddress: email }
      const { status, json } = await at.call('POST', '/admin/sso', { as: 'installation', body: wanted })
      if (status === 400) continue
      const browser = new Browser()
      await browser.visit(`${at.base}/tap?nonce=${encodeURIComponent(String((json as JsonObject).Meta))}`)
      assert.notEqual((await sessionIn(at, browser))?.user.id, id, `nonce for ${JSON.stringify(email)}`)
      accounts[login] = { email: `${login.toUpperCase()}@Example.test`, email_verified: true }
      if (CustomEmailField === '') assert.equal(await whoIs(at, login), id, 'ASCII letters have no case')
    }
  }
})

test('an account is met by the identity that it was entered with first, and by nothing else', quiet, async (t) => {
  const accounts: Record<string, Account> = {
    ada: { email: 'ada@example.test', email_verified: true },
    twin: { email: 'ADA@example.test', email_verified: true },
    folded: { email: '\u212Aim@example.test', email_verified: true },
  }
  const at = await world(t, accounts, {}, { ...LOOK_UP, SVC_DB_SECURITY_ALLOWADMINRESETPASSWORD: 'true' })
  const stored = (await at.call('GET', '/api/tib/profiles/staff', { as: at.boss })).json as { Data: JsonObject }
  const config = stored.Data.ProviderConfig as { UseProviders: JsonObject[] }
  const secret = {
    UseProviders: [{ ...config.UseProviders[0], Secret: 'secret of the client at the OpenID provider' }],
  }
  await at.profile({ ...stored.Data, ID: 'other', ProviderConfig: { ...config, ...secret } })
  const other = '/auth/other/openid-connect'
  const ada = await userAt(at, 'ada@example.test')
  const kim = await userAt(at, 'kim@example.test')
  assert.equal(await whoIs(at, 'folded'), 'refused', 'the Kelvin sign is no k')
  assert.equal(await whoIs(at, 'ada'), ada)
  assert.equal(await whoIs(at, 'twin'), 'refused', 'another sub')
  assert.match(whyRefused(at), /bound/)
  assert.equal(await whoIs(at, 'ada', other), 'refused', 'the same sub of another profile')
  const nonce = await at.call('POST', '/admin/sso', {
    as: 'installation',
    body: { OrgID: at.orgId, EmailAddress: 'ada@example.test' },
  })
  const tapped = await at.call('GET', `/tap?nonce=${encodeURIComponent((nonce.json as { Meta: string }).Meta)}`)
  assert.equal(tapped.status, 403, 'a nonce with the address')
  for (const email of ['ada.lovelace@example.test', 'kim@example.test', '']) {
    accounts.ada = { email, email_verified: email === 'kim@example.test' }
    assert.equal(await whoIs(at, 'ada'), ada, `the address is now ${email}`)
  }
  accounts.ada = {}
  assert.equal(await whoIs(at, 'ada'), ada, 'there is no address any more')
  const release = (id: string) => at.call('DELETE', `/api/users/${id}/sso-identity`, { as: at.boss })
  assert.equal((await release(ada)).status, 200)
  assert.equal(await whoIs(at, 'twin'), ada)
  accounts.ada = { email: 'ada@example.test', email_verified: true }
  assert.equal(await whoIs(at, 'ada'), 'refused')
  assert.equal(boundIdentity((await at.store.documents.get('user', kim as never))!.body), '')
  const shown = await at.call('GET', `/api/users/${ada}`, { as: at.boss })
  assert.doesNotMatch(shown.text, /sso_identity/)
})

test('a user created again, and a guest, are other people than the former holder of the address', quiet, async (t) => {
  const accounts: Record<string, Account> = {
    ada: { email: 'ada@example.test', email_verified: true },
    twin: { email: 'ada@example.test' },
  }
  const at = await world(t, accounts, {}, LOOK_UP)
  const first = await userAt(at, 'ada@example.test')
  assert.equal(await whoIs(at, 'ada'), first)
  assert.equal((await at.call('DELETE', `/api/users/${first}`, { as: at.boss })).status, 200)
  assert.equal(await whoIs(at, 'ada'), 'guest')
  const guests = await Promise.all(
    ['ada', 'ada', 'twin'].map(async (login) => (await sessionIn(at, (await journey(at, login)).browser))?.user.id),
  )
  assert.equal(guests[0], guests[1])
  assert.notEqual(guests[0], guests[2])
  const second = await userAt(at, 'ada@example.test')
  assert.equal(await whoIs(at, 'twin'), 'refused')
  assert.equal(await whoIs(at, 'ada'), second)
})

test('a domain is asked of verified addresses, and so is what a key is named by', quiet, async (t) => {
  const accounts: Record<string, Account> = { ada: { email: 'ada@example.test' } }
  const at = await world(t, accounts, { ProviderConstraints: { Domain: 'example.test' } })
  assert.equal(await whoIs(at, 'ada'), 'refused')
  accounts.ada = { email: 'ada@example.test', email_verified: true }
  assert.equal(await whoIs(at, 'ada'), 'guest')
  const policy = { id: 'gold', name: 'Gold', org_id: at.orgId, active: true, partitions: {} }
  const access_rights = { a: { api_id: 'a', api_name: 'a', versions: ['Default'] } }
  const made = await at.call('POST', '/api/portal/policies', { as: at.boss, body: { ...policy, access_rights } })
  assert.equal(made.status, 200, made.text)
  const keys = { ActionType: 'GenerateTemporaryAuthToken', MatchedPolicyID: 'gold', ProviderConstraints: {} }
  await change(at, { ...keys, CustomUserIDField: 'email' })
  assert.equal((await journey(at, 'ada')).end.status, 200, whyRefused(at))
  accounts.twin = { email: 'ada@example.test' }
  assert.equal((await journey(at, 'twin')).end.status, 403, 'it would end the key of the other')
})

test('a user with a second factor is bound after it was shown, not before', quiet, async (t) => {
  const at = await world(t, { ada: { email: 'ada@example.test', email_verified: true } }, {}, LOOK_UP)
  const id = await userAt(at, 'ada@example.test')
  const user = (await at.store.documents.get('user', id as never))!
  const totp = { sealed: 'AA==', confirmed_at: '2026-01-01T00:00:00Z', last_step: 0 }
  await at.store.documents.commit([{ op: 'put', kind: 'user', id: user.id, body: { ...user.body, totp } }], undefined)
  const { end } = await journey(at, 'ada')
  assert.match(locationOf(end), /^\/#sign_in=/)
  const bound = async () => boundIdentity((await at.store.documents.get('user', id as never))!.body)
  assert.equal(await bound(), '')
  const ticket = new URLSearchParams(locationOf(end).slice(2)).get('sign_in')
  const { totp: _gone, ...without } = (await at.store.documents.get('user', id as never))!.body
  await at.store.documents.commit([{ op: 'put', kind: 'user', id: user.id, body: without }], undefined)
  const done = await at.call('POST', '/api/login/continue', { body: { ticket } })
  assert.equal(done.status, 200, done.text)
  assert.notEqual(await bound(), '')
})

test('a directory is asked for what it calls somebody for good, however the name is typed', async (t) => {
  const people = [
    { uid: 'ada', password: 'right', mail: 'ada@example.test', uuid: '597ae2f6-16a6-1027-98f4-d28b5365dc14' },
    { uid: 'eve', password: 'eves', mail: 'eve@example.test' },
  ]
  const { at, signIn } = await directoryWorld(t, people)
  const ada = await userAt(at, 'ada@example.test')
  assert.equal(await signIn('ada', 'right'), ada)
  assert.equal(await signIn('ada@example.test', 'right'), ada, 'by another name')
  people[1]!.mail = 'ada@example.test'
  assert.equal(await signIn('eve', 'eves'), 'refused')
  people[0]!.mail = 'ada.lovelace@example.test'
  people[0]!.uid = 'lovelace'
  assert.equal(await signIn('lovelace', 'right'), ada, 'the entry has moved')
})

async function directoryWorld(t: TestContext, people: readonly { uid: string; password: string; mail: string }[]) {
  const at = await ssoWorld(t, LOOK_UP)
  const { port } = await directory(t, people)
  await at.profile({
    ID: 'ad',
    ActionType: 'GenerateOrLoginUserProfile',
    ProviderName: 'ADProvider',
    ProviderConfig: {
      LDAPServer: '127.0.0.1',
      LDAPPort: String(port),
      LDAPBaseDN: BASE,
      LDAPFilter: '(|(uid=*USERNAME*)(mail=*USERNAME*))',
      LDAPAdminUser: ADMIN.dn,
      LDAPAdminPassword: ADMIN.password,
    },
  })
  const signIn = async (username: string, password: string) => {
    const browser = new Browser()
    const end = await browser.visit(`${at.base}/auth/ad/ADProvider`, { username, password })
    return end.status === 403 ? 'refused' : (await sessionIn(at, browser))?.user.id
  }
  return { at, signIn }
}

test('groups that are there and map to none make nobody an administrator', quiet, async (t) => {
  const accounts: Record<string, Account> = {}
  const plain = await world(t, accounts)
  const readers = await plain.group({ apis: 'read' })
  const mapping = { CustomUserGroupField: 'groups', UserGroupMapping: { readers } }
  const rights = async (at: SsoWorld, login: string) => {
    const { browser } = await journey(at, login)
    return (await sessionIn(at, browser))?.user.permissions
  }
  // The sign-in is refused: there is no session.
  const nothing = undefined
  accounts.none = {}
  assert.deepEqual(await rights(plain, 'none'), { IsAdmin: 'admin' }, 'no mapping is configured')
  const given: unknown[] = ['', ' ', [], [''], ['unknown'], 'unknown', 7, true, null, { readers: true }, [['readers']]]
  for (const [i, groups] of given.entries()) accounts[`g${i}`] = { groups }
  for (const edit of [
    mapping,
    { ...mapping, UserGroupMapping: {} },
    { CustomUserGroupField: '', UserGroupMapping: { readers } },
  ]) {
    await change(plain, edit)
    for (const [i, groups] of given.entries())
      assert.deepEqual(await rights(plain, `g${i}`), nothing, `${JSON.stringify(groups)} ${JSON.stringify(edit)}`)
    assert.deepEqual(await rights(plain, 'none'), nothing, JSON.stringify(edit))
  }
  const usual = await plain.group({ hooks: 'read' })
  await change(plain, { ...mapping, DefaultUserGroupID: usual })
  for (const i of given.keys())
    assert.deepEqual(await rights(plain, `g${i}`), { hooks: 'read' }, JSON.stringify(given[i]))
  for (const groups of [
    { GroupsIDs: [] },
    { GroupsIDs: [''] },
    { GroupsIDs: [' '] },
    { GroupID: ' ' },
    { GroupID: 'x' },
  ]) {
    const asked = await plain.call('POST', '/admin/sso', {
      as: 'installation',
      body: { OrgID: plain.orgId, ...groups },
    })
    const { Meta: nonce } = asked.json as { Meta: string }
    const { status, headers } = await plain.call('GET', `/tap?nonce=${encodeURIComponent(nonce)}`)
    assert.deepEqual([status, headers['set-cookie']], [403, undefined], JSON.stringify(groups))
  }
})

test('groups are read from nested claims and from claims whose name has dots', quiet, async (t) => {
  const accounts: Record<string, Account> = {
    nested: { realm_access: { roles: ['readers'] } },
    named: { 'https://acme.example/roles': ['readers'] },
    dotted: { 'a.b': 'readers' },
  }
  const at = await world(t, accounts)
  const readers = await at.group({ apis: 'read' })
  for (const [login, field] of [
    ['nested', 'realm_access.roles'],
    ['named', 'https://acme.example/roles'],
    ['dotted', 'a.b'],
  ] as const) {
    await change(at, { CustomUserGroupField: field, UserGroupMapping: { readers } })
    const { browser } = await journey(at, login)
    assert.deepEqual((await sessionIn(at, browser))?.user.permissions, { apis: 'read' }, field)
  }
})

test('every member of nested claims is found by its path, the exact name first', () => {
  const name = fc.constantFrom('a', 'b', 'a.b', 'https://acme.example/roles', '__proto__', 'constructor', '')
  const claims = fc.dictionary(
    name,
    fc.oneof(fc.string(), fc.dictionary(name, fc.oneof(fc.nat(), fc.dictionary(name, fc.boolean())))),
  )
  fc.assert(
    fc.property(claims, fc.array(name, { minLength: 1, maxLength: 3 }), (given, path) => {
      const asked = path.join('.')
      const found = claimAt(new Map(Object.entries(given)), asked)
      // All values that some way of cutting the name into members leads to.
      const ways = (value: unknown, rest: string): unknown[] => {
        if (typeof value !== 'object' || value === null) return []
        const cuts = [...rest].flatMap((char, i) => (char === '.' && i > 0 ? [i] : []))
        return [
          ...(Object.hasOwn(value, rest) ? [(value as JsonObject)[rest]] : []),
          ...cuts.flatMap((at) =>
            Object.hasOwn(value, rest.slice(0, at))
              ? ways((value as JsonObject)[rest.slice(0, at)], rest.slice(at + 1))
              : [],
          ),
        ]
      }
      const all = ways(given, asked)
      assert.equal(found === undefined, all.length === 0)
      if (found !== undefined) assert.ok(all.includes(found))
      if (Object.hasOwn(given, asked)) assert.equal(found, given[asked])
    }),
  )
})

test('a profile that takes unverified addresses says so: in the answer, the settings and the log', quiet, async (t) => {
  const at = await world(t, { ada: { email: 'ada@example.test' } }, {}, LOOK_UP)
  const settings = async () => {
    const { json } = await at.call('GET', '/api/sso/settings', { as: at.boss })
    return (json as { trust_unverified_email: string[] }).trust_unverified_email
  }
  assert.deepEqual(await settings(), [])
  const { json } = await at.call('GET', '/api/tib/profiles/staff', { as: at.boss })
  const { Data } = json as { Data: JsonObject }
  const put = (TrustUnverifiedEmail: unknown) =>
    at.call('PUT', '/api/tib/profiles/staff', { as: at.boss, body: { ...Data, TrustUnverifiedEmail } })
  for (const value of ['true', 1, null, {}]) assert.equal((await put(value)).status, 400, JSON.stringify(value))
  assert.match(((await put(true)).json as { Warning: string }).Warning, /TrustUnverifiedEmail/)
  assert.deepEqual(await settings(), ['staff'])
  await journey(at, 'ada')
  assert.ok(at.log.some(({ level, message }) => level === 'warn' && message.includes('TrustUnverifiedEmail')))
})
