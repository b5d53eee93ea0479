import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { journey, world } from '../../worlds/dashboard/openid-world.ts'
import { Browser, locationOf, type SsoWorld } from '../../worlds/dashboard/sso-world.ts'
import { DEVELOPERS, PortalBrowser } from '../../worlds/portal/portal-people.ts'

const PROFILES = '/api/tib/profiles'

/** Says what something is good for: everything that it opened, nothing, or it is there without rights. */
type Artefact = () => Promise<'opens' | 'no rights' | 'ended'>

const OPENERS = ['guest', 'guest of a nonce', 'user', 'key', 'portal session'] as const
type Opener = (typeof OPENERS)[number]

interface Change {
  readonly name: string
  readonly apply: (at: World) => Promise<unknown>
  /** Openers that are not named open as before. */
  readonly expected: Partial<Record<Opener, 'no rights' | 'ended'>>
}

interface World extends SsoWorld {
  asked(method: string, path: string, body?: unknown): Promise<JsonObject>
  /** Changes members of both profiles. */
  edit(members: JsonObject): Promise<void>
}

const BY_PROFILE = { guest: 'ended', user: 'ended', key: 'ended' } as const
const ALL = { ...BY_PROFILE, 'guest of a nonce': 'ended', 'portal session': 'ended' } as const

const switched = async (at: World, sso_enabled: boolean) => {
  const body = { ...(await at.store.documents.get('organisation', at.orgId as never))!.body, sso_enabled }
  const path = `/admin/organisations/${at.orgId}`
  const { status, text } = await at.call('PUT', path, { as: 'installation', body })
  assert.equal(status, 200, text)
}

const removed = async (at: World) => {
  for (const id of ['staff', 'other']) await at.asked('DELETE', `${PROFILES}/${id}`)
}

const CHANGES: readonly Change[] = [
  { name: 'another name', apply: (at) => at.edit({ Name: 'Another' }), expected: {} },
  { name: 'another place to go', apply: (at) => at.edit({ ReturnURL: '/users' }), expected: {} },
  { name: 'the same, with other blanks', apply: (at) => at.edit({ UserGroupSeparator: '' }), expected: {} },
  { name: 'no mapping', apply: (at) => at.edit({ UserGroupMapping: {} }), expected: { guest: 'no rights' } },
  {
    name: 'a mapping of others',
    apply: (at) => at.edit({ UserGroupMapping: { others: 'x' } }),
    expected: { guest: 'no rights' },
  },
  {
    name: 'registered users only',
    apply: (at) => at.edit({ SSOOnlyForRegisteredUsers: true }),
    expected: { guest: 'ended' },
  },
  {
    name: 'a domain of its own',
    apply: (at) => at.edit({ ProviderConstraints: { Domain: 'x.test' } }),
    expected: BY_PROFILE,
  },
  { name: 'another claim of groups', apply: (at) => at.edit({ CustomUserGroupField: 'roles' }), expected: BY_PROFILE },
  { name: 'another action', apply: (at) => at.edit({ MatchedPolicyID: 'other' }), expected: BY_PROFILE },
  { name: 'profile deleted', apply: removed, expected: BY_PROFILE },
  {
    name: 'profile deleted and put back',
    async apply(at) {
      const { Data: staff } = await at.asked('GET', `${PROFILES}/staff`)
      await removed(at)
      const { rows } = await at.store.audit.list({ orgId: at.orgId, limit: 2 })
      for (const { id } of rows) await at.asked('POST', `/api/audit-logs/${id}/undo`)
      assert.deepEqual((await at.asked('GET', `${PROFILES}/staff`)).Data, staff)
    },
    expected: BY_PROFILE,
  },
  { name: 'single sign-on off', apply: (at) => switched(at, false), expected: ALL },
  {
    name: 'single sign-on off and on',
    async apply(at) {
      await switched(at, false)
      await switched(at, true)
    },
    expected: ALL,
  },
]

test('a session of single sign-on ends with its opener and has its present rights', async (t) => {
  const accounts = {
    guest: { email: 'guest@example.test', email_verified: true, groups: ['readers'] },
    user: { email: 'user@example.test', email_verified: true, groups: ['readers'] },
  }
  const given = await world(t, accounts, {}, { SVC_DB_SSOENABLEUSERLOOKUP: 'true' })
  const { boss, base, call, orgId, store } = given
  const asked: World['asked'] = async (method, path, body) => {
    const answer = await call(method, path, { as: boss, ...(body !== undefined && { body }) })
    assert.equal(answer.status, 200, `${method} ${path} ${answer.text}`)
    return answer.json as JsonObject
  }
  const edit: World['edit'] = async (members) => {
    for (const id of ['staff', 'other']) {
      const { Data: data } = await asked('GET', `${PROFILES}/${id}`)
      await asked('PUT', `${PROFILES}/${id}`, { ...(data as JsonObject), ...members })
    }
  }
  const at: World = { ...given, asked, edit }
  const group = String(
    (await asked('POST', '/api/usergroups', { name: 'Readers', user_permissions: { apis: 'read' } })).Meta,
  )
  const person = { first_name: 'U', last_name: 'V', active: true, email_address: 'user@example.test' }
  await asked('POST', '/api/users', { ...person, user_permissions: { apis: 'read' } })
  const access_rights = { a: { api_id: 'a', api_name: 'a', versions: ['Default'] } }
  for (const id of ['gold', 'other'])
    await asked('POST', '/api/portal/policies', { id, name: id, active: true, access_rights, partitions: {} })
  const developer = String((await asked('POST', DEVELOPERS, { email: 'dev@example.test', fields: {} })).Message)

  const browserIn =
    (browser: Browser): Artefact =>
    async () => {
      const { status } = await browser.visit(`${base}/api/apis`)
      return status === 200 ? 'opens' : status === 403 ? 'no rights' : 'ended'
    }
  const nonce = async (ForSection: string) => {
    const body = { OrgID: orgId, EmailAddress: 'dev@example.test', ForSection, GroupID: group }
    return String(((await call('POST', '/admin/sso', { as: 'installation', body })).json as JsonObject).Meta)
  }
  const open = async (): Promise<Record<Opener, Artefact>> => {
    const guest = await journey(at, 'guest')
    const user = await journey(at, 'user')
    const tapped = new Browser()
    await tapped.visit(`${base}/tap?nonce=${encodeURIComponent(await nonce('dashboard'))}`)
    const { end } = await journey(at, 'guest', '/auth/other/openid-connect')
    const key = decodeURIComponent(/#token=(.+)$/.exec(locationOf(end))?.[1] ?? '')
    const portal = new PortalBrowser(given)
    const text = await nonce('portal')
    await asked('PUT', `${DEVELOPERS}/${developer}`, { email: 'dev@example.test', fields: {}, nonce: text })
    await portal.send('GET', `/portal/sso?nonce=${encodeURIComponent(text)}`)
    return {
      guest: browserIn(guest.browser),
      'guest of a nonce': browserIn(tapped),
      user: browserIn(user.browser),
      key: async () => ((await call('GET', `/api/keys/${key}`, { as: boss })).status === 200 ? 'opens' : 'ended'),
      'portal session': async () => ((await portal.send('GET', '/portal/csrf')).status === 200 ? 'opens' : 'ended'),
    }
  }
  const mapping = { CustomUserGroupField: 'groups', UserGroupMapping: { readers: group } }
  const make = async () => {
    for (const id of ['staff', 'other'])
      if ((await store.documents.find('idp_profile', 'id', id)) !== undefined)
        await asked('DELETE', `${PROFILES}/${id}`)
    const profile = { ...given.staff, ...mapping }
    await given.profile(profile)
    const action = { ActionType: 'GenerateTemporaryAuthToken', MatchedPolicyID: 'gold', ReturnURL: '/keys' }
    await given.profile({ ...profile, ...action, ID: 'other' })
  }
  for (const { name, apply, expected } of CHANGES) {
    await switched(at, true)
    await make()
    const artefacts = await open()
    for (const opener of OPENERS) assert.equal(await artefacts[opener](), 'opens', opener)
    await apply(at)
    for (const opener of OPENERS)
      assert.equal(await artefacts[opener](), expected[opener] ?? 'opens', `${opener}: ${name}`)
    // Ended sessions do not come back.
    await switched(at, true)
    for (const opener of OPENERS)
      if (expected[opener] === 'ended' && name !== 'registered users only')
        assert.equal(await artefacts[opener](), 'ended', `${opener}: ${name}, later`)
  }
})
