import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { becomes, eventually } from '../../worlds/base/eventually.ts'
import {
  type ApisWorld,
  answers,
  at,
  choose,
  field,
  flip,
  heading,
  inspect,
  save,
} from '../../worlds/console/apis-world.ts'
import {
  ANN,
  addApi,
  BOB,
  bearer,
  cavage,
  ISSUER,
  makePolicy,
  messageSigned,
  method,
  moveAbout,
  named,
  overTls,
  part,
  payload,
  put,
  rightsOn,
  shownOnce,
  signed,
  startWays,
  told,
} from '../../worlds/console/authentication-world.ts'
import { checkThemes, passwordOf } from '../../worlds/console/world.ts'
import { base64, hsToken, SECRET } from '../../worlds/gateway/jwt-fixtures.ts'

const REFUSED = [/status of 40[0-4]/]

test('each way to say who calls is set up by its form, and asked for by the gateway', async (t) => {
  const world = await startWays(t)
  const page = await world.open(world.admin, '/apis/new', REFUSED)
  await t.test('name and password, with users that get another password', () => byName(world, page))
  await t.test('tokens of another issuer: by secret, key set and public key', () => byToken(world, page))
  await t.test('signed requests in both forms, with keys whose secret is shown once', () => bySignature(world, page))
  await t.test('client certificates, as keys and as a list', () => byCertificate(world, page))
  await t.test('several at once: all of them, or one of several sets', () => bySeveral(world, page))
  await t.test('the same form for a classic definition', () => inClassic(world, page))
})

async function byName(world: ApisWorld, page: Page): Promise<void> {
  const id = await addApi(world, page, 'Login', 'Basic authentication')
  await becomes(() => method(page).inputValue(), 'Basic authentication')
  const form = part(page, 'Basic authentication')
  await field(form, /^Header name/).fill('X-Login')
  await field(form, /^Cache a correct password for/).fill('5')
  await flip(page, 'Strip credentials')
  await inspect(page, 'auth-basic')
  await put(page)
  assert.equal(await told(world, id, 'securitySchemes', 'basic', 'cacheTTL'), 5)
  await flip(form, 'Check the password on every request')
  await form.getByLabel(/^Cache a correct password for/).waitFor({ state: 'detached' })
  await put(page)
  assert.equal(await told(world, id, 'securitySchemes', 'basic', 'disableCaching'), true)
  await answers(world, 401, '/login/')

  await page.goto(`/keys/new?api=${id}`)
  await choose(page, named(page, /^Type/), 'Basic-auth user')
  await page.getByLabel(/^User name/).fill('ann')
  await passwordOf(page).fill('Paper-jam-42')
  await page.getByRole('button', { name: 'Create key' }).click()
  await heading(page, 'ann').waitFor()
  const login = (password: string) => ({ 'x-login': `Basic ${base64(`ann:${password}`)}` })
  await answers(world, 200, '/login/', login('Paper-jam-42'))
  assert.equal(world.origin.seen.at(-1)?.headers['x-login'], undefined, 'the service does not see it')
  assert.equal((await world.through('/login/', login('Paper-jam-43'))).status, 401)

  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  await page.getByLabel(/^New password/).fill('short')
  await save(page)
  await page
    .getByRole('alert')
    .filter({ hasText: /password/i })
    .waitFor()
  await page.getByLabel(/^New password/).fill('Paper-tray-43')
  await inspect(page, 'key-user')
  await put(page)
  await heading(page, 'ann').waitFor()
  await answers(world, 200, '/login/', login('Paper-tray-43'))
  assert.equal((await world.through('/login/', login('Paper-jam-42'))).status, 401)
  await page.goto(`/apis/${id}?tab=authentication`)
  const proof = login('Paper-tray-43')['x-login']
  await moveAbout(world, page, 'Basic authentication', { path: '/login/', header: 'X-Login', proof })
  await tryLogin(page, id)
}

/** A name and a password are tried as they are typed, and no command shows them. */
async function tryLogin(page: Page, id: string): Promise<void> {
  await page.goto(`/apis/${id}?tab=try`)
  await page.getByLabel('User name and password').fill('ann:Paper-tray-43')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByText('forwarded', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'curl command' }).click()
  const content = page.locator('#content').filter({ hasText: 'X-Login: ' })
  await content.waitFor()
  const text = await content.innerText()
  assert.ok(!text.includes(base64('ann:Paper-tray-43')), text)
}

async function byToken(world: ApisWorld, page: Page): Promise<void> {
  const id = await addApi(world, page, 'Tokens', 'No authentication')
  const policy = await makePolicy(world, 'Callers', id)
  await choose(page, method(page), 'JWT from another issuer')
  const form = part(page, 'JWT')
  await save(page)
  await form.getByText('Required', { exact: true }).waitFor()
  await field(form, /^JWKS URLs/).fill('keys.json')
  await page.keyboard.press('Enter')
  await save(page)
  await form
    .getByText('Enter full URLs that start with http:// or https://, each optionally followed by seconds')
    .waitFor()
  await choose(page, named(page, /^Verification key/), 'Shared secret')
  await form.getByLabel(/^Shared secret/).fill('secret')
  await save(page)
  await form.getByText('Enter at least 32 bytes in base64 (43 characters)').waitFor()
  await form.getByLabel(/^Shared secret/).fill('!'.repeat(50))
  await save(page)
  // Refusals of the dashboard are shown at their fields.
  await form.getByText('must be an http or https address, or a key in base64', { exact: true }).waitFor()
  await form.getByText('must name a policy, unless a claim or scopes of the token do', { exact: true }).waitFor()
  await inspect(page, 'auth-jwt-refused')
  await form.getByLabel(/^Shared secret/).fill(base64(SECRET))
  await choose(page, named(page, /^Default policies/), 'Callers')
  for (const [name, word] of [
    [/^Issuers/, 'us'],
    [/^Audiences/, 'tokens'],
    [/^Subjects/, 'ann'],
  ] as const) {
    await field(form, name).fill(word)
    await page.keyboard.press('Enter')
  }
  await inspect(page, 'auth-jwt')
  await put(page)
  await answers(world, 200, '/tokens/', bearer(hsToken(payload())))
  for (const wrong of [{ aud: 'others' }, { iss: 'them' }, { sub: 'bob' }])
    assert.notEqual((await world.through('/tokens/', bearer(hsToken(payload(wrong))))).status, 200)

  await keySet(world, page, id)
  await choose(page, named(page, /^Verification key/), 'Public key or certificate')
  await field(form, /^Public key or certificate/).fill(ISSUER.pem)
  await choose(page, named(page, /^Key type/), 'Elliptic curve (ECDSA)')
  await put(page)
  assert.equal(await told(world, id, 'securitySchemes', 'jwt', 'source'), ISSUER.pem.trim())
  assert.equal(await told(world, id, 'securitySchemes', 'jwt', 'jwksURIs'), undefined)
  await answers(world, 200, '/tokens/', bearer(signed()))
  await moveAbout(world, page, 'JWT', { path: '/tokens/', header: 'Authorization', proof: signed() })
  await claimsOf(world, page, id, policy)
}

async function keySet(world: ApisWorld, page: Page, id: string): Promise<void> {
  const form = part(page, 'JWT')
  await choose(page, named(page, /^Verification key/), 'Key sets (JWKS URLs)')
  await field(form, /^JWKS URLs/).fill(`${world.origin.url}/keys.json 600`)
  await page.keyboard.press('Enter')
  await put(page)
  assert.deepEqual(await told(world, id, 'securitySchemes', 'jwt', 'jwksURIs'), [
    { url: `${world.origin.url}/keys.json`, cacheTimeout: '600s' },
  ])
  await answers(world, 200, '/tokens/', bearer(signed()))
  assert.equal((await world.through('/tokens/', bearer(hsToken(payload())))).status, 401)
}

/** Which claims mean what. */
async function claimsOf(world: ApisWorld, page: Page, id: string, policy: string): Promise<void> {
  const form = part(page, 'JWT')
  for (const [name, text] of [
    [/^Identity claim/, 'email'],
    [/^Client claim/, 'azp'],
    [/^Policy claim/, 'pol'],
    [/^Scope claim/, 'scp'],
    [/^Scope to policy mapping/, 'read'],
    [/^Clock skew for “exp”/, '30'],
    [/^Clock skew for “nbf”/, '31'],
    [/^Clock skew for “iat”/, '32'],
  ] as const)
    await field(form, name).fill(text)
  await save(page)
  await form.getByText('Each line needs a scope and a policy ID').waitFor()
  await field(form, /^Scope to policy mapping/).fill(`read ${policy}`)
  await form.locator('.mantine-Pill-remove').last().click()
  await put(page)
  const scheme = await told(world, id, 'securitySchemes', 'jwt')
  assert.deepEqual(at(scheme, 'scopes'), {
    claimName: 'scp',
    scopeToPolicyMapping: [{ scope: 'read', policyId: policy }],
  })
  assert.deepEqual(
    ['identityBaseField', 'clientBaseField', 'policyFieldName', 'notBeforeValidationSkew'].map((name) =>
      at(scheme, name),
    ),
    ['email', 'azp', 'pol', 31],
  )
  await answers(world, 403, '/tokens/', bearer(signed({ email: 'a@example.test' })))
  for (const brings of [{ scp: 'read' }, { pol: policy }])
    await answers(world, 200, '/tokens/', bearer(signed({ email: 'a@example.test', ...brings })))
  const late = Math.floor(Date.now() / 1000) - 10
  assert.equal((await world.through('/tokens/', bearer(signed({ email: 'a', scp: 'read', exp: late })))).status, 200)

  const reader = await world.open(world.reader, `/apis/${id}?tab=authentication`)
  await method(reader).waitFor()
  await becomes(() => method(reader).isDisabled(), true)
  await becomes(() => named(reader, /^Default policies/).isDisabled(), true)
  await becomes(() => reader.getByRole('button', { name: 'Save' }).count(), 0)
  await checkThemes(reader)
}

async function bySignature(world: ApisWorld, page: Page): Promise<void> {
  const id = await addApi(world, page, 'Signed', 'Request signature (HMAC)')
  await page.goto(`/keys/new?api=${id}`)
  await page.getByLabel(/^Alias/).fill('Signer')
  await flip(page, 'Signs requests (HMAC)')
  await page.getByLabel(/^Signing secret/).fill('short')
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByText('At least 16 characters').waitFor()
  await page.getByLabel(/^Signing secret/).fill('')
  await inspect(page, 'key-signs')
  await page.getByRole('button', { name: 'Create key' }).click()
  const [key = '', secret = ''] = await shownOnce(page, 'Key created')
  assert.match(secret, /^[\w-]{43}$/)
  await heading(page, 'Signer').waitFor()
  await page.getByText('With its own secret').waitFor()
  assert.ok(!(await page.content()).includes(secret))
  await answers(world, 401, '/signed/x', bearer(key))
  await eventually('it is let in', async () => {
    return (await world.through('/signed/x', cavage('/signed/x', key, secret))).status === 200
  })
  assert.equal((await world.through('/signed/x', messageSigned('/signed/x', key, secret))).status, 200)
  assert.equal((await world.through('/signed/y', messageSigned('/signed/x', key, secret))).status, 401)

  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  await page.getByLabel(/^Signing secret/).fill('another secret of 20')
  await save(page)
  assert.deepEqual(await shownOnce(page, 'Signing secret'), ['another secret of 20'])
  await eventually('the new secret counts', async () => {
    const [before, after] = [cavage('/signed/x', key, secret), cavage('/signed/x', key, 'another secret of 20')]
    return (
      (await world.through('/signed/x', before)).status === 401 &&
      (await world.through('/signed/x', after)).status === 200
    )
  })
  await algorithms(world, page, id, key)
  await signsNoMore(world, page, id, key)
}

/** A key that signs is made one that does not. */
async function signsNoMore(world: ApisWorld, page: Page, id: string, key: string): Promise<void> {
  await page.goto(`/keys?api=${id}`)
  await page.getByRole('link', { name: 'Signer' }).click()
  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  await flip(page, 'Signs requests (HMAC)')
  await put(page)
  await heading(page, 'Signer').waitFor()
  await eventually('it is refused', async () => {
    const headers = cavage('/signed/x', key, 'another secret of 20', 'sha512')
    return (await world.through('/signed/x', headers)).status === 401
  })
}

async function algorithms(world: ApisWorld, page: Page, id: string, key: string): Promise<void> {
  await page.goto(`/apis/${id}?tab=authentication`)
  const form = part(page, 'Request signature')
  await choose(page, named(page, /^Algorithms/), 'hmac-sha512')
  await field(form, /^Clock skew/).fill('60000')
  await inspect(page, 'auth-hmac')
  await put(page)
  const { hmac } = (await told(world, id)) as { hmac: JsonObject }
  assert.deepEqual([hmac.allowedAlgorithms, hmac.allowedClockSkew], [['hmac-sha512'], 60_000])
  // A signature in the query would have to sign itself: only what is written is looked at.
  await moveAbout(world, page, 'Request signature', { path: '', header: 'Authorization', proof: '' })
  assert.deepEqual(await told(world, id, 'hmac', 'query'), { enabled: false, name: 'proof' })
  const ask = async (digest: string) =>
    (await world.through('/signed/x', cavage('/signed/x', key, 'another secret of 20', digest))).status
  await eventually('only SHA-512 is let in', async () => (await ask('sha256')) === 401 && (await ask('sha512')) === 200)
}

async function byCertificate(world: ApisWorld, page: Page): Promise<void> {
  const id = await addApi(world, page, 'Mutual', 'API key')
  const made = await world.api('POST', '/api/keys', { access_rights: rightsOn(id) })
  assert.equal(made.status, 200, made.text)
  const proof = String(at(made.json, 'key_id'))
  await moveAbout(world, page, 'API key', { path: '/mutual/', header: 'Authorization', proof })
  await flip(part(page, 'API key'), 'Accept a client certificate as the key')
  await put(page)
  await page.goto(`/keys/new?api=${id}`)
  await choose(page, named(page, /^Type/), 'Client certificate')
  await page.getByLabel(/^Client certificate/).fill('ann')
  await page.getByLabel(/^Alias/).fill('Ann at work')
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByText('An ID ends with 64 hexadecimal digits').waitFor()
  await page.getByLabel(/^Client certificate/).fill(ANN.fingerprint)
  await inspect(page, 'key-certificate')
  await page.getByRole('button', { name: 'Create key' }).click()
  await heading(page, 'Ann at work').waitFor()
  await page.getByText(ANN.fingerprint).waitFor()
  await becomes(() => page.getByRole('button', { name: 'Rotate' }).getAttribute('aria-disabled'), 'true')
  await eventually('Ann is known by her certificate', async () => (await overTls(world, '/mutual/', ANN)) === 200)
  assert.deepEqual([await overTls(world, '/mutual/', BOB), await overTls(world, '/mutual/')], [403, 401])

  await page.goto(`/apis/${id}?tab=authentication`)
  const form = part(page, 'All methods')
  await flip(form, 'Restrict client certificates')
  await field(form, /^Allowed certificates/).fill('bob')
  await page.keyboard.press('Enter')
  await save(page)
  await form.getByText('An ID ends with 64 hexadecimal digits').waitFor()
  await form.locator('.mantine-Pill-remove').click()
  await field(form, /^Allowed certificates/).fill(BOB.fingerprint)
  await page.keyboard.press('Enter')
  await inspect(page, 'auth-certificates')
  await put(page)
  await eventually('Ann is let in no longer', async () => (await overTls(world, '/mutual/', ANN)) === 403)
  await flip(form, 'Restrict client certificates')
  await put(page)
  await eventually('Ann is let in again', async () => (await overTls(world, '/mutual/', ANN)) === 200)
}

async function bySeveral(world: ApisWorld, page: Page): Promise<void> {
  const id = await addApi(world, page, 'Several', 'API key')
  await choose(page, method(page), 'Several methods')
  await save(page)
  await page.getByText('Choose at least two').waitFor()
  await choose(page, named(page, /^Methods/), 'Basic authentication')
  await field(part(page, 'API key'), /^Header name/).fill('X-Key')
  await choose(page, named(page, /^Access rights and limits from/), 'JWT')
  await save(page)
  await page.getByText('Choose one of the methods above').waitFor()
  await choose(page, named(page, /^Access rights and limits from/), 'Basic authentication')
  await inspect(page, 'auth-several')
  await put(page)
  assert.equal(await told(world, id, 'baseIdentityProvider'), 'basic_auth_user')
  const made = await world.api('POST', '/api/keys', { alias: 'both', access_rights: rightsOn(id) })
  assert.equal(made.status, 200, made.text)
  const user = { access_rights: rightsOn(id), basic_auth_data: { password: 'Paper-jam-42' } }
  assert.equal((await world.api('POST', '/api/apis/keys/basic/sue', user)).status, 200)
  const key = { 'x-key': String(at(made.json, 'key_id')) }
  const login = { authorization: `Basic ${base64('sue:Paper-jam-42')}` }
  await answers(world, 200, '/several/', { ...key, ...login })
  for (const one of [key, login]) assert.equal((await world.through('/several/', one)).status, 401)

  await choose(page, named(page, /^Required methods/), 'One of several sets')
  await field(page, /^Accepted sets/).fill('key + jwt')
  await page.keyboard.press('Enter')
  await save(page)
  await page.getByText('“jwt” is not one of the chosen methods: key, basic').waitFor()
  await page.locator('.mantine-Pill-root').filter({ hasText: 'key + jwt' }).locator('.mantine-Pill-remove').click()
  await field(page, /^Accepted sets/).fill('key')
  await page.keyboard.press('Enter')
  await save(page)
  await page.getByText('“basic” is chosen but is in none of the sets').waitFor()
  await field(page, /^Accepted sets/).fill('basic')
  await page.keyboard.press('Enter')
  // Closes the list of further choices.
  await page.keyboard.press('Escape')
  await inspect(page, 'auth-sets')
  await put(page)
  for (const one of [key, login]) await answers(world, 200, '/several/', one)
  await answers(world, 401, '/several/')
  assert.equal(await told(world, id, 'securityProcessingMode'), 'compliant')
  await page.reload()
  await becomes(() => named(page, /^Required methods/).inputValue(), 'One of several sets')
  await page.getByText('basic', { exact: true }).waitFor()
}

async function inClassic(world: ApisWorld, page: Page): Promise<void> {
  const definition = {
    ...{ name: 'Old', use_keyless: true, active: true, version_data: { not_versioned: true, versions: {} } },
    proxy: { listen_path: '/old/', target_url: world.origin.url, strip_listen_path: true },
  }
  const made = await world.api('POST', '/api/apis', { api_definition: definition })
  assert.equal(made.status, 200, made.text)
  const id = String(at(made.json, 'ID'))
  await makePolicy(world, 'Elders', id)
  await page.goto(`/apis/${id}?tab=authentication`)
  await choose(page, method(page), 'JWT from another issuer')
  await field(part(page, 'JWT'), /^JWKS URLs/).fill(`${world.origin.url}/keys.json`)
  await page.keyboard.press('Enter')
  await save(page)
  await part(page, 'JWT').getByText('must name a policy', { exact: false }).first().waitFor()
  await choose(page, named(page, /^Default policies/), 'Elders')
  await put(page)
  await answers(world, 200, '/old/', bearer(signed()))
  await choose(page, method(page), 'Basic authentication')
  await put(page)
  const { api_definition: stored } = (await world.api('GET', `/api/apis/${id}`)).json as { api_definition: JsonObject }
  assert.deepEqual(
    ['use_keyless', 'use_basic_auth', 'enable_jwt', 'jwt_default_policies'].map((name) => stored[name]),
    [false, true, false, ['elders']],
  )
  await answers(world, 401, '/old/', bearer(signed()))
  const user = { access_rights: rightsOn(id), basic_auth_data: { password: 'Paper-jam-42' } }
  assert.equal((await world.api('POST', '/api/apis/keys/basic/eva', user)).status, 200)
  await answers(world, 200, '/old/', { authorization: `Basic ${base64('eva:Paper-jam-42')}` })
}
