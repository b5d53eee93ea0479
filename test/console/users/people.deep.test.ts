import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { becomes, eventually } from '../../worlds/base/eventually.ts'
import { openPage, startBrowser } from '../../worlds/browser/chromium.ts'
import { heading, LONG_NAME, ODD_NAME, save } from '../../worlds/console/apis-world.ts'
import { EMAIL, found, type People, permissionsOf, right, setAll } from '../../worlds/console/people-world.ts'
import { confirm, pickOption, shoot, told } from '../../worlds/console/portal-world.ts'
import {
  type ConsoleUser,
  checkThemes,
  PASSWORD,
  passwordOf,
  signIn,
  startConsole,
} from '../../worlds/console/world.ts'

/** Refusals that the journeys bring about themselves. */
const REFUSED = [/status of 40[0134]/]
const SECRET = 'the-admin-secret-of-this-test'
const GROUP = `Team ${ODD_NAME}`
const PERSON = 'Ада <b>عادة</b> 🙂'

const dialog = (page: Page) => page.getByRole('dialog')
test('people: users, groups and what they may', async (t) => {
  const world = await startConsole(t, {
    ...{ SVC_DB_ADMINSECRET: SECRET, SVC_DB_SECURITY_ALLOWADMINRESETPASSWORD: 'true' },
  })
  const browser = await startBrowser(t)
  const { page } = await openPage(t, browser, { base: world.base, allow: REFUSED })
  await signIn(page, world.admin, '/users')
  const people = { t, world, browser, page }
  await t.test('a user is added, with rights of its own', () => addUser(people))
  await t.test('permissions of the organisation stand in the table', () => ownPermissions(people))
  await t.test('a group takes the place of the rights of its members', () => useGroup(people))
  await t.test('a user is added to a group, and may not sign in yet', () => addMember(people))
  await t.test('a user is changed by two people, and gets another credential and password', () => changeUser(people))
  await t.test('nobody gives more than they have', () => giveTooMuch(people))
  await t.test('a reader looks, and an owner without the right is told so', () => looksOnly(people))
  await t.test('groups and users go by their names', () => deletePeople(people))
})

async function addUser(people: People): Promise<void> {
  const { world, page } = people
  await page.getByLabel('Search by email address').fill('<nobody>')
  await page.getByText('No email address contains “<nobody>”').waitFor()
  await page.getByLabel('Search by email address').fill('rae@')
  await page.getByRole('link', { name: 'Rae Test' }).waitFor()
  await eventually('the search stands in the address', () => new URL(page.url()).search === '?q=rae%40')
  await page.reload()
  await page.getByRole('link', { name: 'Rae Test' }).waitFor()
  await page.getByRole('link', { name: 'Add user' }).click()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('link', { name: 'Add user' }).click()
  const add = page.getByRole('button', { name: 'Add user' })
  await add.click()
  await page.getByText('Required', { exact: true }).waitFor()
  await page.getByText('This user has no permissions.').waitFor()
  await page.getByLabel('First name').fill(PERSON)
  await page.getByLabel('Last name').fill(LONG_NAME)
  await page.getByLabel('Email address').fill(EMAIL)
  await passwordOf(page).fill('short')
  await page.getByLabel('Password expires after').fill('90')
  await setAll(page, 'Write')
  await setAll(page, 'None')
  await page.getByLabel('Administrator').check()
  await right(page, 'Keys', 'Allowed').waitFor()
  await page.getByLabel('Administrator').uncheck()
  await setAll(page, 'Read')
  await page.getByLabel('Analytics of own APIs only').check()
  await right(page, 'Keys', 'Write').check()
  await right(page, 'Policies', 'Deny').check()
  await right(page, 'Templates', 'None').check()
  await checkThemes(page)
  await shoot(page, 'user-new')
  await add.click()
  await page
    .getByRole('alert')
    .filter({ hasText: /password/i })
    .waitFor()
  await passwordOf(page).fill(PASSWORD)
  await add.click()
  await heading(page, `${PERSON} ${LONG_NAME}`).waitFor()
  const { user_permissions, password_max_days } = await found(people)
  const rights = user_permissions as JsonObject
  assert.deepEqual(
    [rights.keys, rights.policies, rights.apis, rights.owned_analytics, rights.api_assets, password_max_days],
    ['write', 'deny', 'read', 'owned', undefined, 90],
  )
  assert.equal((await permissionsOf(world, EMAIL, PASSWORD))?.keys, 'write')
  await checkThemes(page)
  await shoot(page, 'user')
}

async function ownPermissions(people: People): Promise<void> {
  const { world, page } = people
  await page.goto('/users')
  await page.getByRole('button', { name: 'Add permission' }).click()
  await page.getByPlaceholder('Key', { exact: true }).fill('billing')
  await page.getByPlaceholder('Name', { exact: true }).fill(`Billing ${ODD_NAME}`)
  await page.getByRole('button', { name: 'Add permission' }).click()
  await page.getByPlaceholder('Key', { exact: true }).last().fill('mistaken')
  await save(page)
  await told(page)
  await page.getByRole('button', { name: 'Remove mistaken' }).click()
  await save(page)
  await told(page)
  await checkThemes(page)
  await shoot(page, 'users')
  await page.goto(`/users/${(await found(people)).id}`)
  await right(page, `Billing ${ODD_NAME}`, 'Read').check()
  await save(page)
  await told(page)
  assert.equal(((await found(people)).user_permissions as JsonObject).billing, 'read')
  assert.deepEqual(((await world.api('GET', '/api/org/permissions')).json as JsonObject).additional_permissions, {
    billing: `Billing ${ODD_NAME}`,
  })
}

async function useGroup(people: People): Promise<void> {
  const { world, page } = people
  await page.goto('/groups')
  await page.getByText('No groups yet').waitFor()
  await checkThemes(page)
  await page.getByRole('link', { name: 'Create group' }).last().click()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('link', { name: 'Create group' }).first().click()
  await page.getByRole('textbox', { name: 'Name' }).fill(GROUP)
  await page.getByLabel('Description').fill(LONG_NAME)
  await page.getByLabel('Password expires after').fill('30')
  await page.getByLabel('Members may sign in').uncheck()
  await setAll(page, 'Read')
  await page.getByLabel('Analytics of own APIs only').check()
  for (const choice of ['Write', 'None'] as const) await setAll(page, choice)
  await right(page, 'APIs', 'Write').check()
  await right(page, 'Users', 'Read').check()
  await page.getByRole('button', { name: 'Create group' }).click()
  await heading(page, GROUP).waitFor()
  await becomes(() => page.getByLabel('Members may sign in').isChecked(), false)
  await page.getByLabel('Members may sign in').check()
  await save(page)
  await told(page)
  await page.getByText('No members').waitFor()
  await checkThemes(page)
  await shoot(page, 'group')
  await page.goto(`/users/${(await found(people)).id}`)
  await pickOption(page, page.getByRole('combobox', { name: 'Group' }), GROUP)
  await page.getByText(`This user has the permissions of the group “${GROUP}”`).waitFor()
  await save(page)
  await told(page)
  await eventually('the group decides', async () => {
    const rights = await permissionsOf(world, EMAIL, PASSWORD)
    return rights?.apis === 'write' && rights.keys === undefined
  })
  await page.goto('/groups')
  await page.getByRole('link', { name: GROUP }).click()
  await page.getByRole('link', { name: PERSON }).waitFor()
  await changeGroup(people)
  await page.getByLabel('Members may sign in').uncheck()
  await save(page)
  await told(page)
  assert.equal(await permissionsOf(world, EMAIL, PASSWORD), undefined, 'nobody of the group signs in')
  await page.getByLabel('Members may sign in').check()
  await save(page)
  await told(page)
  assert.equal((await permissionsOf(world, EMAIL, PASSWORD))?.apis, 'read')
  await page.goto('/groups')
  await page.getByRole('cell', { name: '2 permissions' }).waitFor()
  await shoot(page, 'groups')
}

/** Every field of a group, and what its members may from then on. */
async function changeGroup({ world, page }: People): Promise<void> {
  const id = new URL(page.url()).pathname.split('/')[2]!
  await page.getByRole('textbox', { name: 'Name' }).fill('Renamed')
  await page.getByLabel('Description').fill('Short')
  await page.getByLabel('Password expires after').fill('60')
  for (const choice of ['Write', 'Read'] as const) {
    await setAll(page, choice)
    if (choice === 'Read') await page.getByLabel('Analytics of own APIs only').uncheck()
    await save(page)
    await told(page)
    const { keys, owned_analytics } = (await permissionsOf(world, EMAIL, PASSWORD))!
    assert.deepEqual([keys, owned_analytics], choice === 'Read' ? ['read', undefined] : ['write', 'owned'])
  }
  await heading(page, 'Renamed').waitFor()
  const { json } = await world.api('GET', `/api/usergroups/${id}`)
  const { name, description, password_max_days } = json as JsonObject
  assert.deepEqual([name, description, password_max_days], ['Renamed', 'Short', 60])
  await setAll(page, 'None')
  await right(page, 'APIs', 'Read').check()
  await right(page, 'Users', 'Read').check()
  await page.getByRole('textbox', { name: 'Name' }).fill(GROUP)
}

async function addMember(people: People): Promise<void> {
  const { world, page } = people
  const email = 'member@example.test'
  await page.goto('/users/new')
  await page.getByLabel('Email address').fill(email)
  await passwordOf(page).fill(PASSWORD)
  await page.getByLabel('May sign in').uncheck()
  await pickOption(page, page.getByRole('combobox', { name: 'Group' }), GROUP)
  await page.getByRole('button', { name: 'Add user' }).click()
  await heading(page, email).waitFor()
  const { id, group_name } = await found(people, email)
  assert.equal(group_name, GROUP)
  assert.equal(await permissionsOf(world, email, PASSWORD), undefined, 'who may not sign in does not')
  await page.getByLabel('Administrator').check()
  await save(page)
  await told(page)
  assert.equal(((await found(people, email)).user_permissions as JsonObject).IsAdmin, 'admin')
  assert.equal((await world.api('DELETE', `/api/users/${id}`)).status, 200)
}

async function changeUser(people: People): Promise<void> {
  const { world, page } = people
  const { id } = await found(people)
  await page.goto(`/users/${id}`)
  await page.getByLabel('First name').fill('Mine')
  await world.api('PUT', `/api/users/${id}`, { last_name: 'Theirs' })
  await save(page)
  await dialog(page).getByText('"last_name": "Theirs"').waitFor()
  await dialog(page).getByRole('button', { name: 'Take theirs' }).click()
  await heading(page, `${PERSON} Theirs`).waitFor()
  await becomes(() => page.getByLabel('First name').inputValue(), PERSON)
  await page.getByLabel('First name').fill('Nova')
  await page.getByRole('navigation').getByRole('link', { name: 'Groups' }).click()
  await page
    .getByRole('dialog', { name: 'Discard unsaved changes?' })
    .getByRole('button', { name: 'Keep editing' })
    .click()
  await save(page)
  await told(page)
  assert.equal((await found(people)).first_name, 'Nova')
  await keepMine(people, String(id))

  const { access_key: before } = (await world.api('GET', `/api/users/${id}`)).json as JsonObject
  assert.ok(!(await page.content()).includes(String(before)), 'hidden until it is asked for')
  await page.getByRole('button', { name: 'Show', exact: true }).click()
  await page.getByText(String(before), { exact: true }).waitFor()
  await checkThemes(page)
  await page.getByRole('button', { name: 'Hide', exact: true }).click()
  await page.getByRole('button', { name: 'Regenerate' }).click()
  await dialog(page).getByRole('button', { name: 'Regenerate' }).click()
  await page.getByText('Credential regenerated').waitFor()
  const as = (key: unknown): ConsoleUser => ({ ...world.reader, key: String(key) })
  const { access_key: after } = (await world.api('GET', `/api/users/${id}`)).json as JsonObject
  const status = async (key: unknown) => (await world.api('GET', '/api/users/me', undefined, as(key))).status
  assert.deepEqual([await status(before), await status(after)], [401, 200])

  await page.getByRole('button', { name: 'Set password' }).click()
  await passwordOf(page, 'New password').fill('x')
  await page.getByRole('button', { name: 'Set password' }).click()
  await page
    .getByRole('alert')
    .filter({ hasText: /password/i })
    .first()
    .waitFor()
  await passwordOf(page, 'New password').fill('Another-horse-8')
  await page.getByRole('button', { name: 'Set password' }).click()
  await page.getByText('Password set').waitFor()
  assert.ok(await permissionsOf(world, EMAIL, 'Another-horse-8'))
  await page.getByLabel('May sign in').uncheck()
  await save(page)
  await told(page)
  assert.equal(await status(after), 401, 'nobody who may not sign in calls')
  await page.goto(`/users/${world.admin.id}`)
  await page.getByText('Change your password in your profile').waitFor()
  await right(page, 'Keys', 'Allowed').waitFor()
  await becomes(() => page.getByRole('switch', { name: 'Administrator' }).isChecked(), true)
}

/** Every other field of a user, while another user changes one of them; then all is restored. */
async function keepMine({ world, page }: People, id: string): Promise<void> {
  const read = async () => (await world.api('GET', `/api/users/${id}`)).json as JsonObject
  const before = await read()
  await page.getByLabel('Last name').fill('Moved')
  await page.getByLabel('Email address').fill('moved@example.test')
  await page.getByLabel('Password expires after').fill('45')
  for (const choice of ['None', 'Write', 'Read'] as const) await setAll(page, choice)
  await page.getByLabel('Analytics of own APIs only').uncheck()
  await world.api('PUT', `/api/users/${id}`, { last_name: 'Theirs again' })
  await save(page)
  await dialog(page).getByRole('button', { name: 'Continue editing' }).click()
  await becomes(() => page.getByLabel('Last name').inputValue(), 'Moved')
  await save(page)
  await dialog(page).getByRole('button', { name: 'Keep mine' }).click()
  await told(page)
  const after = await read()
  const { keys, owned_analytics } = after.user_permissions as JsonObject
  assert.deepEqual(
    [after.last_name, after.email_address, after.password_max_days, keys, owned_analytics],
    ['Moved', 'moved@example.test', 45, 'read', undefined],
  )
  const { last_name, email_address, password_max_days, user_permissions } = before
  const back = { last_name, email_address, password_max_days, user_permissions } as JsonObject
  assert.equal((await world.api('PUT', `/api/users/${id}`, back)).status, 200)
  await page.reload()
  await heading(page, 'Nova Theirs').waitFor()
}

async function giveTooMuch({ t, world, browser }: People): Promise<void> {
  const rights = { users: 'write', user_groups: 'write', keys: 'read' }
  const email = 'hr@example.test'
  await world.api('POST', '/api/users', {
    email_address: email,
    active: true,
    password: PASSWORD,
    user_permissions: rights,
  })
  const { page } = await openPage(t, browser, { base: world.base, allow: REFUSED })
  await signIn(page, { email, password: PASSWORD, firstName: '' }, '/users/new')
  await page.getByLabel('Email address').fill('friend@example.test')
  await right(page, 'Keys', 'Write').check()
  await page.getByRole('button', { name: 'Add user' }).click()
  await page.getByText('You cannot grant permissions that you do not have').waitFor()
  await checkThemes(page)
  await right(page, 'Keys', 'Read').check()
  await page.getByRole('button', { name: 'Add user' }).click()
  await heading(page, 'friend@example.test').waitFor()
  await page.goto(`/users/${world.admin.id}`)
  await page.getByText('You cannot see it').waitFor()
  await page.getByLabel('First name').fill('Eve')
  await save(page)
  await page.getByText('You cannot change a user who has permissions that you do not have').waitFor()
  assert.equal(((await world.api('GET', '/api/users/me')).json as JsonObject).first_name, 'Ada')
}

async function looksOnly({ t, world, browser }: People): Promise<void> {
  const { page: reader } = await openPage(t, browser, { base: world.base })
  await signIn(reader, world.reader, '/users')
  await reader.getByRole('link', { name: 'Olu Test' }).click()
  await becomes(() => reader.getByLabel('First name').isDisabled(), true)
  await becomes(() => right(reader, 'APIs', 'Deny').isDisabled(), true)
  await becomes(() => reader.getByRole('button', { name: /^Save|^Delete|^Regenerate|^Set/ }).count(), 0)
  await checkThemes(reader)
  for (const [path, link] of [
    ['/groups', GROUP],
    ['/users/new', ''],
    ['/groups/new', ''],
    ['/identity/new', ''],
  ] as const) {
    await reader.goto(path)
    if (link === '') await reader.getByText('You do not have access').waitFor()
    else await reader.getByRole('link', { name: link }).click()
  }
  await reader.goto('/organisations')
  await reader.getByText('Yours').waitFor()
  await checkThemes(reader)
  await shoot(reader, 'organisations')

  const { page: owner } = await openPage(t, browser, { base: world.base, allow: [/status of 403/] })
  await signIn(owner, world.owner, '/users')
  for (const path of [
    '/users',
    '/groups',
    '/identity',
    `/users/${world.admin.id}`,
    '/groups/0123456789abcdef01234567',
  ]) {
    await owner.goto(path)
    await owner.getByText('You do not have access').waitFor()
    await owner.getByRole('heading', { level: 1 }).waitFor()
  }
  await checkThemes(owner)
  await owner.goto(`/users/${world.owner.id}`)
  await owner.getByLabel('Email address').waitFor()
}

async function deletePeople(people: People): Promise<void> {
  const { world, page } = people
  await page.goto('/groups')
  await page.getByRole('link', { name: GROUP }).click()
  const group = new URL(page.url()).pathname
  await page.getByRole('button', { name: 'Delete group' }).click()
  const question = dialog(page)
  await question.getByRole('textbox').fill(GROUP)
  await question.getByRole('button', { name: 'Delete', exact: true }).click()
  await question.getByRole('alert').waitFor()
  await shoot(page, 'group-in-use')
  await question.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('link', { name: 'Nova Theirs' }).click()
  const user = new URL(page.url()).pathname
  await page.getByRole('button', { name: 'Delete user' }).click()
  await dialog(page).getByText('APIs that only this user owns').waitFor()
  await confirm(page, 'Nova Theirs', 'Delete')
  await heading(page, 'Users').waitFor()
  await page.goBack()
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.goto(group)
  await page.getByRole('button', { name: 'Delete group' }).click()
  await confirm(page, GROUP, 'Delete')
  await page.getByText('No groups yet').waitFor()
  for (const [path, title, list] of [
    [group, 'Group not found', 'Groups'],
    [user, 'User not found', 'Users'],
    ['/users/%3Cscript%3E', 'User not found', 'Users'],
  ] as const) {
    await page.goto(path)
    await heading(page, title).waitFor()
    if (list === 'Groups') await checkThemes(page)
    await page.getByRole('link', { name: 'Back to list' }).click()
    await heading(page, list).waitFor()
  }
  assert.equal((await world.api('GET', `/api${user}`)).status, 404)
  assert.equal(await permissionsOf(world, EMAIL, 'Another-horse-8'), undefined)
}
