import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/model/json/json.ts'
import type { StoredDocument } from '../../../src/store/ports/ports.ts'
import { startTestDashboard, type TestDashboard, type TestUser } from '../../worlds/dashboard/harness.ts'
import { assertDone, assertRefused, bodyOf, dashboardFor } from '../../worlds/dashboard/people.ts'

const KEYS = ['apis', 'keys', 'users', 'user_groups', 'policies', 'analytics', 'tester']
const DEEP = process.env.GATEHOUSE_DEEP === '1'

/** The acts that rights allow, one by one, from the words of the specification alone. */
function atoms(rights: JsonObject, group: boolean): Set<string> {
  const admin = !group && (rights.IsAdmin === 'admin' || Object.keys(rights).length === 0)
  const found = new Set<string>(admin ? ['admin'] : [])
  if (!group && (admin || rights.ResetPassword === 'admin')) found.add('reset')
  for (const key of KEYS) {
    const value = rights[key]
    if (admin ? value !== 'deny' : value === 'write') found.add(`${key}:write`)
    if (admin ? value !== 'deny' : value === 'write' || value === 'read') found.add(`${key}:read`)
  }
  if (found.has('analytics:read') && !(rights.analytics === 'read' && rights.owned_analytics === 'owned' && !admin))
    found.add('analytics:all')
  return found
}

interface Standing {
  /** Rights in force by user. */
  readonly inForce: Map<string, Set<string>>
  /** Those of the users themselves, which wait behind a group's. */
  readonly own: Map<string, Set<string>>
}

async function standing({ store: { documents } }: TestDashboard): Promise<Standing> {
  const all = async (kind: string): Promise<StoredDocument[]> => (await documents.list(kind, { limit: 1000 })).rows
  const groups = new Map((await all('user_group')).map(({ id, body }) => [String(id), body]))
  const inForce = new Map<string, Set<string>>()
  const own = new Map<string, Set<string>>()
  for (const { id, body } of await all('user')) {
    const group = groups.get(String(body.group_id))
    own.set(id, atoms(body.user_permissions as JsonObject, false))
    const rights = body.group_id === '' ? body.user_permissions : (group?.user_permissions ?? { none: 'deny' })
    inForce.set(id, atoms(rights as JsonObject, body.group_id !== ''))
  }
  return { inForce, own }
}

/** Asserts that every permission that a call granted was the caller's. */
function assertNothingRaised(before: Standing, after: Standing, caller: string, what: string): void {
  const had = before.inForce.get(caller)!
  for (const which of ['inForce', 'own'] as const) {
    for (const [id, rights] of after[which]) {
      const known = before[which].get(id) ?? new Set()
      const raised = [...rights].filter((atom) => !known.has(atom) && !had.has(atom))
      assert.deepEqual(raised, [], `${what} gave ${id} what its caller has not (${which})`)
    }
  }
}

const someRights = fc.oneof(
  fc.dictionary(fc.constantFrom(...KEYS, 'policy'), fc.constantFrom<string>('read', 'write', 'deny', 'admin', ''), {
    maxKeys: 3,
  }),
  fc.constantFrom<JsonObject>(
    {},
    { IsAdmin: 'admin' },
    { IsAdmin: true },
    { IsAdmin: 'true', apis: 'read' },
    { IsAdmin: 'false' },
    { ResetPassword: 'admin', apis: 'read' },
    { nonsense: 7 },
    { analytics: 'read', owned_analytics: 'owned' },
    { analytics: 'read', owned_analytics: 'all' },
    { toString: 'write' },
  ),
)
const index = fc.nat(11)
const body = fc.record(
  {
    user_permissions: someRights,
    group_id: fc.oneof(fc.constant(''), index),
    active: fc.boolean(),
    org_id: fc.constant(''),
    id: fc.constant('65a000000000000000000001'),
    name: fc.constant('g'),
    email_address: index,
  },
  { requiredKeys: [] },
)
const step = fc.record({
  by: index,
  at: index,
  what: fc.constantFrom(
    'newUser',
    'editUser',
    'editUser',
    'newGroup',
    'editGroup',
    'editGroup',
    'dropUser',
    'revoke',
    'key',
  ),
  body,
})
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

test('no sequence of calls by others than administrators raises anybody above the caller', async (t) => {
  const tally = { done: 0, refused: 0 }
  await fc.assert(
    fc.asyncProperty(
      fc.array(someRights, { minLength: 4, maxLength: 6 }),
      fc.array(step, { minLength: 20, maxLength: 40 }),
      async (groupRights, steps) => {
        // A thousand of them at once would not fit into memory.
        const dashboard = await startTestDashboard()
        try {
          await walk(dashboard, groupRights as JsonObject[], steps, tally)
        } finally {
          await dashboard.close()
        }
      },
    ),
    { numRuns: DEEP ? 400 : 12 },
  )
  t.diagnostic(`${tally.done} calls done, ${tally.refused} refused`)
  // A property that nothing gets through would say nothing.
  assert.ok(tally.done > tally.refused / 20, JSON.stringify(tally))
})

async function walk(
  dashboard: TestDashboard,
  groupRights: readonly JsonObject[],
  steps: readonly Step[],
  tally: { done: number; refused: number },
): Promise<void> {
  const admin = await dashboard.admin()
  const groups: string[] = []
  for (const rights of groupRights) groups.push(await dashboard.group(rights))
  const users = [
    await dashboard.user({ users: 'write', user_groups: 'write', apis: 'read' }),
    await dashboard.user({ users: 'write', keys: 'write', analytics: 'read', owned_analytics: 'owned' }),
    await dashboard.user({ user_groups: 'write', tester: 'write' }, { groupId: groups[0]! }),
    await dashboard.user({ IsAdmin: 'admin' }, { groupId: groups[1]! }),
    await dashboard.user({}, { groupId: groups[2]! }),
  ]
  for (const [number, each] of steps.entries()) {
    const caller = users[each.by % users.length]!
    const before = await standing(dashboard)
    if (before.inForce.get(caller.id) === undefined) continue
    const status = await take(dashboard, each, { caller, groups, number, targets: [...users, admin] })
    tally[status === 200 ? 'done' : 'refused']++
    assertNothingRaised(before, await standing(dashboard), caller.id, JSON.stringify(each))
  }
}

interface Around {
  readonly caller: TestUser
  readonly targets: readonly TestUser[]
  readonly groups: readonly string[]
  readonly number: number
}

/** Makes the call of a step; answers its status. */
async function take(dashboard: TestDashboard, { what, at, body }: Step, around: Around): Promise<number> {
  const { caller: as, targets, groups, number } = around
  const target = targets[at % targets.length]!.id
  const group = groups[at % groups.length]!
  const { group_id: place, email_address: email, ...rest } = body
  const sent = {
    ...rest,
    ...(place !== undefined && { group_id: typeof place === 'number' ? groups[place % groups.length]! : place }),
    ...(email !== undefined && { email_address: `other-${number}-${email}@example.test` }),
  }
  const call = async (method: string, path: string, more?: JsonObject) =>
    (await dashboard.call(method, path, { as, isRandom: true, ...(more !== undefined && { body: more }) })).status
  if (what === 'newUser')
    return call('POST', '/api/users', { ...sent, email_address: `new-${number}@example.test` } as JsonObject)
  if (what === 'editUser') return call('PUT', `/api/users/${target}`, sent as JsonObject)
  if (what === 'newGroup') return call('POST', '/api/usergroups', { ...sent, name: `New ${number}` } as JsonObject)
  if (what === 'editGroup') return call('PUT', `/api/usergroups/${group}`, sent as JsonObject)
  if (what === 'dropUser') return call('DELETE', `/api/users/${target}`)
  return call('PUT', `/api/users/${target}/actions/${what === 'key' ? 'key/reset' : 'revoke'}`)
}

test('who manages users gives only what they have, and acts upon nobody who has more', async (t) => {
  const dashboard = await dashboardFor(t)
  const manager = await dashboard.user({ users: 'write', user_groups: 'write', apis: 'read' })
  const [admin, equal] = [await dashboard.admin(), await dashboard.user({ apis: 'read' })]
  const call = (method: string, path: string, body?: unknown) => dashboard.call(method, path, { as: manager, body })
  const email_address = 'new@example.test'
  const give = 'You cannot grant permissions that you do not have'
  for (const user_permissions of [{ IsAdmin: 'admin' }, { IsAdmin: true }, { apis: 'write' }, { keys: 'read' }])
    assertRefused(await call('POST', '/api/users', { email_address, user_permissions }), 403, give)
  assertRefused(await call('PUT', `/api/users/${manager.id}`, { user_permissions: { IsAdmin: 'admin' } }), 403, give)
  assertRefused(await call('PUT', `/api/users/${equal.id}`, { user_permissions: { apis: 'write' } }), 403, give)
  const above = /^You cannot change a user/
  const path = `/api/users/${admin.id}`
  assertRefused(await call('PUT', path, { last_name: 'x' }), 403, above)
  assertRefused(await call('PUT', path, { active: false }), 403, above)
  assertRefused(await call('DELETE', path), 403, above)
  assertRefused(await call('PUT', `${path}/actions/revoke`), 403, above)
  assertRefused(await call('PUT', `${path}/actions/key/reset`), 403, above)
  const address = { email_address: 'mine@example.test' }
  assertRefused(
    await call('PUT', `/api/users/${equal.id}`, address),
    403,
    /^Only an administrator can change the email/,
  )
  assertDone(await call('PUT', `/api/users/${equal.id}`, { last_name: 'x' }), 'User updated')
  bodyOf(await call('POST', '/api/users', { email_address, user_permissions: { apis: 'read' } }))
})

test('nobody reaches more through a group', async (t) => {
  const dashboard = await dashboardFor(t)
  const rights = { users: 'write', user_groups: 'write', apis: 'read' }
  const manager = await dashboard.user(rights)
  const [strong, weak] = [await dashboard.group({ keys: 'write' }), await dashboard.group({ apis: 'read' })]
  const hidden = await dashboard.user({ IsAdmin: 'admin' }, { groupId: weak })
  const call = (method: string, path: string, body?: unknown) => dashboard.call(method, path, { as: manager, body })
  const give = 'You cannot grant permissions that you do not have'
  assertRefused(await call('PUT', `/api/users/${manager.id}`, { group_id: strong }), 403, give)
  // Taken out of the group, the own rights come to light.
  assertRefused(await call('PUT', `/api/users/${hidden.id}`, { group_id: '' }), 403, give)
  assertRefused(
    await dashboard.call('PUT', `/api/users/${hidden.id}`, { as: hidden, body: { group_id: '' } }),
    403,
    /^access/,
  )
  const group = /^You cannot change a group/
  assertRefused(await call('POST', '/api/usergroups', { name: 'x', user_permissions: { keys: 'read' } }), 403, group)
  assertRefused(await call('PUT', `/api/usergroups/${weak}`, { user_permissions: { keys: 'read' } }), 403, group)
  assertRefused(await call('PUT', `/api/usergroups/${strong}`, { user_permissions: { apis: 'read' } }), 403, group)
  assertRefused(await call('DELETE', `/api/usergroups/${strong}`), 403, group)
  assertDone(
    await call('PUT', `/api/usergroups/${weak}`, { user_permissions: { users: 'read' } }),
    'User group updated',
  )
})

test('an administrator of the organisation makes administrators', async (t) => {
  const dashboard = await dashboardFor(t)
  const admin = await dashboard.admin()
  const body = { email_address: 'new@example.test', user_permissions: { IsAdmin: 'admin' } }
  bodyOf(await dashboard.call('POST', '/api/users', { as: admin, body }))
})

test('nobody resets a way to sign in of a user who has rights that they do not have', async (t) => {
  const world = await startTestDashboard()
  t.after(world.close)
  const denied = await world.user({ IsAdmin: 'admin', ResetPassword: 'admin', keys: 'deny' })
  const [full, lesser] = [await world.admin(), await world.user({ apis: 'read' })]
  const calls = [
    ['POST', 'actions/reset'],
    ['DELETE', 'second-factor'],
    ['DELETE', 'sso-identity'],
  ] as const
  for (const [method, what] of calls) {
    const send = (id: string) =>
      world.call(method, `/api/users/${id}/${what}`, { as: denied, body: { new_password: 'Correct-horse-7' } })
    const refused = await send(full.id)
    assert.equal(refused.status, 403, what)
    assert.match(refused.text, /permissions that you do not have/, what)
    assert.equal((await send(lesser.id)).status, 200, what)
  }
})
