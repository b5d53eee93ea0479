import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Secret, TOTP } from 'otpauth'
import type { JsonObject } from '../../../src/model/json/json.ts'
import type { Answer } from '../../worlds/base/client.ts'
import { Browser, cheapHash, meta, PASSWORD, person, signedIn } from '../../worlds/dashboard/sign-in-world.ts'
import { type DeveloperWorld, developerWorld } from '../../worlds/portal/developer-world.ts'
import { atPortal } from '../../worlds/portal/portal-people.ts'

const SEES = /pass|secret|code|token|nonce|otp|pin$|proof/i
/** Members that are no secrets: settings, and parts of other protocols. */
const NO_SECRET = /_days$|_lifetime$|_hint$|^code_challenge|^org_|history/i

/** Calls that take a secret and compare it with none that can be guessed. */
const UNGUESSED: Readonly<Record<string, string>> = {
  'POST /admin/users': 'sets it',
  'PUT /admin/users/{id}': 'sets it',
  'POST /api/users': 'sets it',
  'POST /api/portal/developers': 'sets it',
  'PUT /api/portal/developers/{id}': 'sets it',
  'PATCH /api/portal/developers/{id}': 'sets it',
  'POST /api/portal/developers/password/{id}': 'sets it',
  'POST /api/hooks': 'sets it',
  'PUT /api/hooks/{id}': 'sets it',
  'POST /api/moves/keys': 'sets it',
  'POST /api/moves/clients': 'sets it',
  'POST /api/portal/requests': 'sets it',
  'PUT /api/portal/requests/{id}': 'sets it',
  'POST /api/apis/oauth/{apiId}': 'sets it',
  'PUT /api/apis/oauth/{apiId}/{clientId}': 'takes the current one back: a known gap',
  'POST /portal/register': 'sets it',
  'POST /api/bootstrap': 'a token of 256 bits',
  'POST /api/password/reset': 'a token of 256 bits',
  'POST /portal/password/reset': 'a token of 256 bits',
  'POST /portal/requests/{id}/collect': 'a code of 256 bits',
  'POST /oauth-clients/{clientId}/revoke': 'a token of 256 bits',
  'POST /api/login/passkey': 'a signature',
  'POST /api/apis/oauth/{apiId}/authorize-client': 'user codes: test/oauth/endpoints/device.test.ts',
  'POST /api/apis/{apiId}/authorize-client': 'user codes: test/oauth/endpoints/device.test.ts',
}

type Guess = (number: number) => Promise<Answer>

/** The calls that compare something that can be guessed, each with a caller and a target of its own. */
const GUESSED: Readonly<Record<string, (world: DeveloperWorld) => Promise<Guess>>> = {
  'POST /api/login': async (world) => {
    const { email } = await person(world)
    return (number) => new Browser(world).login(email, `guess ${number}`)
  },
  'POST /api/login/continue': async (world) => {
    const ada = await enrolled(world)
    // A ticket ends after some wrong codes: who knows the password gets another one.
    return async () => {
      const { ticket } = meta(await new Browser(world).login(ada.email))
      return new Browser(world).send('POST', '/api/login/continue', { ticket, code: '000000' })
    }
  },
  'POST /api/users/{id}/actions/reset': async (world) => {
    const ada = await person(world)
    const browser = await signedIn(world, ada)
    const path = `/api/users/${ada.id}/actions/reset`
    return (n) => browser.send('POST', path, { current_password: `guess ${n}`, new_password: 'another good one' })
  },
  'POST /api/session/verify': async (world) => {
    const browser = await signedIn(world, await person(world))
    return (number) => browser.send('POST', '/api/session/verify', { password: `guess ${number}` })
  },
  'POST /api/second-factor/totp/confirm': async (world) => {
    const browser = await signedIn(world, await person(world))
    await browser.send('POST', '/api/second-factor/totp')
    return () => browser.send('POST', '/api/second-factor/totp/confirm', { code: '000000' })
  },
  'POST /api/second-factor/totp/disable': async (world) => {
    const { browser } = await enrolled(world)
    return () => browser.send('POST', '/api/second-factor/totp/disable', { password: PASSWORD, code: '000000' })
  },
  'POST /portal/login': async (world) => {
    const email = await developer(world)
    return (number) => world.call('POST', '/portal/login', { body: { email, password: `guess ${number}` } })
  },
  'POST /api/portal/developers/verify_credentials': async (world) => {
    const username = await developer(world)
    const path = '/api/portal/developers/verify_credentials'
    return (number) => world.call('POST', path, { as: world.root, body: { username, password: `guess ${number}` } })
  },
  'POST /api/apis/oauth/{clientId}/revoke': async (world) => {
    const { id } = await app(world)
    const path = `/api/apis/oauth/${id}/revoke`
    return (n) => world.call('POST', path, { as: world.root, body: { token: 'any', client_secret: `guess ${n}` } })
  },
  'POST /api/apis/oauth/{clientId}/revoke_all': async (world) => {
    const { id } = await app(world)
    const path = `/api/apis/oauth/${id}/revoke_all`
    return (n) => world.call('POST', path, { as: world.root, body: { client_secret: `guess ${n}` } })
  },
  'POST /oauth-clients/{clientId}/revoke_all': async (world) => {
    const { id, email } = await app(world)
    const browser = await atPortal(world, email)
    return (n) => browser.send('POST', `/oauth-clients/${id}/revoke_all`, { client_secret: `guess ${n}` })
  },
}

let number = 0

async function developer(world: DeveloperWorld): Promise<string> {
  const email = `dev-${++number}@example.test`
  await world.developer(email, { password: cheapHash(PASSWORD) })
  return email
}

async function app(world: DeveloperWorld): Promise<{ readonly id: string; readonly email: string }> {
  const email = `dev-${++number}@example.test`
  const owner = await world.developer(email, { password: cheapHash(PASSWORD) })
  const body = { apply_policies: ['oa'], oauth_info: { redirect_uri: 'https://app.test/cb' } }
  const made = await world.call('POST', `/api/portal/developers/${owner}/keys`, { as: world.root, body })
  assert.equal(made.status, 200, made.text)
  return { id: String((made.json as JsonObject).client_id), email }
}

async function enrolled(world: DeveloperWorld) {
  const ada = await person(world)
  const browser = await signedIn(world, ada)
  const secret = Secret.fromBase32(String(meta(await browser.send('POST', '/api/second-factor/totp')).secret))
  const code = TOTP.generate({ secret, timestamp: world.clock.wall() })
  assert.equal((await browser.send('POST', '/api/second-factor/totp/confirm', { code })).status, 200)
  return { email: ada.email, browser }
}

test('every call that takes a secret is known here, and those that compare one are tried', () => {
  const taken: string[] = []
  for (const [path, calls] of Object.entries(OPENAPI.paths))
    for (const [method, { requestBody }] of Object.entries(calls)) {
      const members = Object.values(requestBody?.content ?? {}).flatMap(({ schema }) => membersOf(schema))
      if (members.some((name) => SEES.test(name) && !NO_SECRET.test(name)))
        taken.push(`${method.toUpperCase()} ${path}`)
    }
  assert.deepEqual(
    taken.filter((name) => !(name in UNGUESSED) && !(name in GUESSED)),
    [],
    'prove in GUESSED that guesses are slowed down, or say in UNGUESSED why they need not be',
  )
})

test('guesses are slowed down at every call that compares what can be guessed', async (t) => {
  // Those through a portal without the address of its visitor are counted by name alone: ten times as many.
  const world = await developerWorld(t, {
    SVC_DB_SECURITY_LOGINFAILUREUSERNAMELIMIT: '2',
    SVC_DB_SECURITY_LOGINFAILUREIPLIMIT: '0',
  })
  await world.oauth({ id: 'shop' })
  await world.policy('oa', ['shop'])
  for (const [name, prepare] of Object.entries(GUESSED)) {
    const guess = await prepare(world)
    const first = await guess(0)
    assert.ok(first.status >= 400 && first.status < 404, `${name}: ${first.text}`)
    assert.equal(first.headers['retry-after'], undefined, name)
    await Promise.all(Array.from({ length: 20 }, (_, i) => guess(i + 1)))
    const last = await guess(21)
    assert.ok(Number(last.headers['retry-after']) > 0, `${name}: ${last.status} ${last.text}`)
  }
})

type Schema = JsonObject & {
  readonly $ref?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
}

interface OpenApi {
  readonly paths: Record<
    string,
    Record<string, { readonly requestBody?: { readonly content: Record<string, { readonly schema: Schema }> } }>
  >
  readonly components: { readonly schemas: Record<string, Schema> }
}

const OPENAPI = JSON.parse(
  readFileSync(new URL('../../../docs/generated/openapi.json', import.meta.url), 'utf8'),
) as OpenApi

function membersOf(schema: Schema): string[] {
  if (schema.$ref !== undefined) return membersOf(OPENAPI.components.schemas[schema.$ref.split('/').pop()!]!)
  const { properties = {}, anyOf = [], oneOf = [], allOf = [] } = schema
  return [...Object.keys(properties), ...[...anyOf, ...oneOf, ...allOf].flatMap(membersOf)]
}
