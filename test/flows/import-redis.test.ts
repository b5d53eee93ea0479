import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { importCommand } from '../../src/cli/import/import-command.ts'
import type { JsonObject } from '../../src/model/json/json.ts'
import { readIncumbent } from '../../src/process/import-source.ts'
import { definitionFolder, HASHED, type OldKey, ORG, RAW, startIncumbent } from '../worlds/flows/import-incumbent.ts'
import {
  type Environment,
  type EnvironmentOptions,
  type Ran,
  runLine,
  startEnvironment,
} from '../worlds/flows/moves-world.ts'
import { startOrigin } from '../worlds/servers/origin.ts'
import type { TestRedis } from '../worlds/servers/redis.ts'

const LOST = 'is a number beyond 2^53 - 1, which would not come back as it was sent: send a smaller one, or a string'
const FOUND_BY = {
  SVC_GW_HASHKEYFUNCTIONFALLBACK: 'murmur32,murmur64,murmur128,sha256',
  SVC_GW_LEGACYKEYORGS: ORG,
}

interface World extends Environment {
  readonly redis: TestRedis
  /** `gatehouse import` of everything. */
  take(...options: string[]): Promise<Ran>
}

async function startWorld(t: TestContext, keys: readonly OldKey[], options: EnvironmentOptions = {}): Promise<World> {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const redis = await startIncumbent(t, keys)
  const environment = await startEnvironment(t, { gatewayEnv: FOUND_BY, ...options })
  const { definitions, policies } = definitionFolder(t, origin.url)
  const where = ['-d', `http://127.0.0.1:${environment.dashboard.port}/`, '-s', environment.admin.key]
  const what = ['--from-redis', redis.url, '--definitions', definitions, '--policies', policies]
  const take = (...more: string[]) =>
    runLine(['import', ...where, ...what, ...more], {}, [importCommand(readIncumbent)])
  return { ...environment, redis, take }
}

const use = ({ gateway }: Environment, key: string) => gateway.call('/orders/x', { headers: { authorization: key } })

test('every kind of old key works after the import with its quota, and becomes ours', async (t) => {
  const world = await startWorld(t, [...HASHED, ...RAW], { onDisk: true })
  const done = await world.take('--yes')
  assert.equal(done.status, 1, done.err)
  for (const { kind, sent } of [...HASHED, ...RAW]) {
    const first = await use(world, sent)
    assert.equal(first.status, 200, `${kind}: ${first.text}`)
    assert.equal(first.headers['x-ratelimit-remaining'], '1', kind)
    assert.equal((await use(world, sent)).status, 200, kind)
    assert.equal((await use(world, sent)).status, 429, kind)
  }
  // It renews here when it would have renewed there.
  world.clock.advance(600_001)
  const renewed = await use(world, HASHED[0]!.sent)
  assert.deepEqual([renewed.status, renewed.headers['x-ratelimit-remaining']], [200, '4'])
  const { keys } = await world.ask('GET', '/api/moves/keys')
  const rows = keys as JsonObject[]
  const ours = [...HASHED, ...RAW].map(({ sent }) => sha256(sent))
  assert.ok(ours.every((hash) => rows.some((row) => row.key_hash === hash)))
  const again = await world.take()
  assert.equal(again.status, 1, again.out)
  // Two APIs, a policy and an OAuth client besides.
  assert.match(again.out, new RegExp(`^0 to take, .* ${rows.length + 4} there already\\.$`, 'm'))
  assert.doesNotMatch(again.out, /^\+/m)
})

test('the report says what is taken, changed and refused, shows no secret, and changes nothing', async (t) => {
  const world = await startWorld(t, [HASHED[2]!, ...RAW])
  const { status, out, err } = await world.take()
  assert.deepEqual([status, err], [1, ''])
  for (const line of [
    '+ API books',
    '+ API orders',
    '    x-acme-api-gateway is now x-svc-api-gateway',
    '+ policy gold',
    '+ OAuth client old-app',
    '+ key murmur64:fb71eff5e05432fa',
    '    the right on API gone is left out, which is not there',
    '+ key murmur32:0000aaaa',
    '    policy 5ead7120575961000181867e is named gold',
    '+ basic user bo',
    '! broken.json: api_definition.proxy.listen_path: is missing (field_invalid)',
    '! policy lost: has rights only on APIs that are not there',
    '! OAuth client old-app at API nowhere: is of an API that is not there',
    '! OAuth client lost: names policy nobody, which is not there',
    '! OAuth client several: has several redirect addresses in one field: name with --redirect-separator what parts them',
    '! key murmur32:1111aaaa: names policies that are not there: nobody',
    '! key murmur32:2222aaaa: is a master key, which opens everything: make one with rights or policies',
    '! key murmur32:3333aaaa: is an access token of OAuth client old-app, which asks for another',
    '! key murmur32:4444aaaa: is no JSON object',
    `! key murmur32:5555aaaa: meta_data.serial: ${LOST}`,
    `! OAuth client large at API books: meta_data.team: ${LOST}`,
    '! key murmur32:d27112b5: is a basic user, whose name its hash does not tell: create it again',
    '! 1 refresh token of OAuth clients: are not taken, people sign in again',
    '10 to take, of them 8 with changes, 12 refused, 0 there already.',
    `Keys of its organisation ${ORG} become keys of your organisation.`,
    'Nothing was changed: --yes does it.',
  ])
    assert.ok(out.split('\n').includes(line), `${line}\n\n${out}`)
  assert.match(out, /gateway\.hash_key_function_fallback = \["murmur32","murmur64","sha256"\]/)
  assert.match(out, new RegExp(`gateway\\.legacy_key_orgs = \\["${ORG}"\\]`))
  assert.match(out, /compat\.vendor_aliases = \["acme"\]/)
  for (const secret of [...RAW.map(({ name }) => name), 'MmE1YjFjNmQt', '$2b$04$'])
    assert.ok(!out.includes(secret), `${secret} is in the report`)
  assert.equal((await world.ask('GET', '/api/apis?p=-1')).pages, 0)
  assert.deepEqual((await world.ask('GET', '/api/moves/keys')).keys, [])
  const json = JSON.parse((await world.take('--json')).out)
  assert.equal(json.taken.length, 10)
  assert.deepEqual(json.settings['gateway.legacy_key_orgs'], [ORG])
})

test('an OAuth client goes on with its old secret, and a policy with its limits', async (t) => {
  const world = await startWorld(t, [])
  assert.equal((await world.take('--yes')).status, 1)
  const credential = Buffer.from('old-app:MmE1YjFjNmQtM2U0Zi01YTZiLTdjOGQtOWUwZjFhMmIzYzRk').toString('base64')
  const headers = { authorization: `Basic ${credential}`, 'content-type': 'application/x-www-form-urlencoded' }
  const path = '/books/oauth/token'
  const { gateway } = world
  const told = await gateway.call(path, { method: 'POST', headers, body: 'grant_type=client_credentials' })
  assert.equal(told.status, 200, told.text)
  const { access_token: token } = told.json as JsonObject
  const used = await gateway.call('/books/x', { headers: { authorization: `Bearer ${token}` } })
  assert.deepEqual([used.status, used.headers['x-ratelimit-limit']], [200, '100'])
  const wrong = Buffer.from('old-app:MmE1').toString('base64')
  const refused = await gateway.call(path, {
    ...{ method: 'POST', body: 'grant_type=client_credentials' },
    headers: { ...headers, authorization: `Basic ${wrong}` },
  })
  assert.equal(refused.status, 401)
  const policy = await world.ask('GET', '/api/portal/policies/gold')
  assert.deepEqual([policy.id, policy.quota_max, policy.active], ['gold', 100, true])
})

test('an old key that is edited stays one, deleted it is gone, and its hash opens nothing', async (t) => {
  const [key, other] = [HASHED[2]!, HASHED[5]!]
  const world = await startWorld(t, [key, other])
  assert.equal((await world.take('--yes')).status, 1)
  for (const sent of [key.name, `murmur64:${key.name}`, other.name, `${ORG}${key.name}`, key.sent.slice(0, -1)])
    assert.equal((await use(world, sent)).status, 403, sent)
  const rows = (await world.ask('GET', '/api/moves/keys')).keys as JsonObject[]
  const hashOf = (name: string) => String(rows.find((row) => String(row.legacy_key).endsWith(`:${name}`))!.key_hash)
  assert.equal((await use(world, hashOf(key.name))).status, 403)
  const { data } = await world.ask('GET', `/api/keys/${hashOf(key.name)}?hashed=1`)
  const edited = { ...(data as JsonObject), alias: 'edited', legacy_key: 'murmur64:0000000000000000' }
  await world.ask('PUT', `/api/keys/${hashOf(key.name)}?hashed=1&suppress_reset=1`, edited)
  assert.equal((await use(world, key.sent)).status, 200)
  await world.ask('DELETE', `/api/keys/${sha256(key.sent)}?hashed=1`)
  assert.equal((await use(world, key.sent)).status, 403)
  await world.ask('DELETE', `/api/keys/${hashOf(other.name)}?hashed=1`)
  assert.equal((await use(world, other.sent)).status, 403)
})

test('many first uses at once spend what is left and no more', async (t) => {
  const key = HASHED[3]!
  const world = await startWorld(t, [key])
  assert.equal((await world.take('--yes')).status, 1)
  const answers = await Promise.all(Array.from({ length: 20 }, () => use(world, key.sent)))
  assert.deepEqual(answers.map(({ status }) => status).sort(), [...Array(2).fill(200), ...Array(18).fill(429)])
})

test('a gateway that is told of no earlier product knows none of its keys', async (t) => {
  const world = await startWorld(t, [HASHED[0]!, HASHED[4]!], { gatewayEnv: {} })
  assert.equal((await world.take('--yes')).status, 1)
  assert.equal((await use(world, HASHED[0]!.sent)).status, 403)
  // SHA-256 of what is sent is how ours are found.
  assert.equal((await use(world, HASHED[4]!.sent)).status, 200)
})

test('a Redis that is not there, and one that is none, are told without the password', async (t) => {
  const world = await startEnvironment(t)
  const where = ['-d', `http://127.0.0.1:${world.dashboard.port}/`, '-s', world.admin.key]
  const rows = [importCommand(readIncumbent)]
  for (const url of ['redis://:hidden-word@127.0.0.1:1', 'http://:hidden-word@127.0.0.1', 'nonsense hidden-word']) {
    const ran = await runLine(['import', ...where, '--from-redis', url], {}, rows)
    assert.equal(ran.status, 1, url)
    assert.match(ran.err, /Redis|--from-redis/)
    assert.ok(!ran.err.includes('hidden-word'), ran.err)
  }
  const nothing = await runLine(['import', ...where], {}, rows)
  assert.deepEqual([nothing.status, /name what to import/.test(nothing.err)], [1, true])
})

const sha256 = (text: string) => hash('sha256', text, 'hex')
