import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type { JsonObject } from '../../src/model/json/json.ts'
import { hashPassword } from '../../src/model/passwords/passwords.ts'
import { hashKey } from '../../src/model/secrets/secret.ts'
import { call } from '../worlds/base/client.ts'
import { rights } from '../worlds/base/definitions.ts'
import { CLIENT_SECRET, fill, WEBHOOK_SECRET } from '../worlds/flows/moves-filled.ts'
import {
  type Environment,
  editFile,
  filesIn,
  folderFor,
  keyPair,
  startEnvironment,
} from '../worlds/flows/moves-world.ts'
import { startOrigin } from '../worlds/servers/origin.ts'

const KEY = 'a-custom-key-of-somebody-0123456789'

async function token({ gateway }: Environment): Promise<string> {
  const basic = Buffer.from(`app-1:${CLIENT_SECRET}`).toString('base64')
  const answer = await call(gateway.port, '/ledger/oauth/token', {
    method: 'POST',
    headers: { authorization: `Basic ${basic}`, 'content-type': 'application/x-www-form-urlencoded' },
    body: 'grant_type=client_credentials&client_id=app-1',
  })
  return `${answer.status} ${answer.text}`
}

test('keys and secrets move sealed, and whoever uses a key, a user or a client notices nothing', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const [a, b] = [await startEnvironment(t), await startEnvironment(t)]
  const { recipient, identity } = keyPair(t)
  await fill(a, origin.url)
  const session = {
    apply_policies: ['gold'],
    alias: 'partner',
    expires: 4_000_000_000,
    meta_data: { api_token: 'of-the-key' },
  }
  const made = (await a.ask('POST', '/api/keys', session)) as { key_id: string; key_hash: string }
  await a.ask('POST', `/api/keys/${KEY}`, { access_rights: rights('orders'), quota_max: 5, quota_renewal_rate: 3600 })
  const password = await hashPassword('a-Good-password-1')
  await a.ask('POST', '/api/apis/keys/basic/bob', { apply_policies: ['gold'], basic_auth_data: { password } })

  // Without being asked for, neither keys nor secrets are in the files.
  const plain = folderFor(t)
  assert.equal((await a.run('dump', '-t', plain)).status, 0)
  assert.ok(!Object.keys(filesIn(plain)).some((name) => name.startsWith('keys/')))
  assert.equal((await a.run('dump', '-t', plain, '--secrets')).status, 1)

  const sorts = ['--apis', '--policies', '--clients', '--labels', '--hooks', '--keys']
  const dir = folderFor(t)
  const dumped = await a.run('dump', '-t', dir, ...sorts, '--secrets', '--recipient', recipient)
  assert.equal(dumped.status, 0, dumped.err)
  const files = filesIn(dir)
  const text = Object.values(files).join('')
  for (const secret of [
    KEY,
    made.key_id,
    CLIENT_SECRET,
    WEBHOOK_SECRET,
    'of-the-key',
    'for-upstream',
    password,
    '$argon2',
  ])
    assert.ok(!text.includes(secret), `${secret} is in the files`)
  assert.match(files[`keys/${made.key_hash}.json`]!, /"api_token": "\$sealed:v1:/)
  // The same again gives the same files.
  assert.match(
    (await a.run('dump', '-t', dir, ...sorts, '--secrets', '--recipient', recipient)).out,
    / 0 files written/,
  )
  assert.deepEqual(filesIn(dir), files)

  const blind = await b.run('sync', '-p', dir, '--yes')
  assert.equal(blind.status, 1)
  assert.match(blind.err, /clients\/app-1.json|ledger.json:\d+: .*\(secret_missing\)/)
  const done = await b.run('sync', '-p', dir, '--yes', '--identity', identity)
  assert.equal(done.status, 0, done.err)
  const again = await b.run('sync', '-p', dir, '--identity', identity)
  assert.deepEqual([again.status, again.err], [0, ''], again.out)
  // Without the key that opens them, secrets stay what they are.
  const unopened = await b.run('diff', '-p', dir)
  assert.deepEqual([unopened.status, unopened.err], [0, ''], unopened.out)

  for (const key of [made.key_id, KEY]) {
    const answer = await b.gateway.call('/orders/x', { headers: { authorization: key } })
    assert.equal(answer.status, 200, answer.text)
  }
  assert.match(await token(b), /^200 /)
  const user = await b.ask('GET', '/api/keys/bob?username=true')
  assert.deepEqual((user.data as JsonObject).apply_policies, ['gold'])
  const read = await b.ask('GET', `/api/keys/${made.key_hash}?hashed=1&facts=1`)
  const data = read.own as JsonObject
  assert.deepEqual([data.alias, data.expires, data.meta_data], ['partner', 4_000_000_000, { api_token: 'of-the-key' }])
  assert.equal(read.key_id, '')

  // Objects that were changed there by hand come back, counts of quotas stay.
  const custom = hashKey(KEY).toString('hex')
  await b.ask('PUT', `/api/keys/${custom}?hashed=1&suppress_reset=1`, { access_rights: rights('orders'), quota_max: 9 })
  const drift = await b.run('sync', '-p', dir, '--keys', '--yes', '--identity', identity)
  assert.match(drift.out, new RegExp(`~ key ${custom}\\n    session.quota_max: 9 -> 5`))
  const used = await b.gateway.call('/orders/x', { headers: { authorization: KEY } })
  assert.deepEqual([used.headers['x-ratelimit-limit'], used.headers['x-ratelimit-remaining']], ['5', '3'])

  // Another key opens nothing, and a value that was put elsewhere neither.
  const other = await b.run('diff', '-p', dir, '--identity', keyPair(t).identity)
  assert.equal(other.status, 1)
  assert.match(other.err, /clients\/app-1\.json:3: secret: it is sealed for another key .* \(sealed_unreadable\)/)
  editFile(dir, 'clients/app-1.json', (body) => {
    body.metadata = { team: body.secret! }
  })
  const moved = await b.run('diff', '-p', dir, '--identity', identity)
  assert.match(moved.err, /metadata\.team: it was changed, or belongs to another place \(sealed_unreadable\)/)
})

test('without secrets an existing client keeps its own, and a new one gets one', async (t) => {
  const [a, b] = [await startEnvironment(t), await startEnvironment(t)]
  await fill(a, 'http://127.0.0.1:1')
  const dir = folderFor(t)
  const { policy_id: books } = await a.ask('GET', '/api/apis/oauth/ledger/app-1')
  await a.run('dump', '-t', dir, '--apis', 'ledger', '--clients', '--policies', String(books))
  assert.deepEqual(Object.keys(filesIn(dir)).slice(0, 3), ['apis/ledger.json', 'clients/app-1.json', 'gatehouse.json'])
  assert.ok(!('secret' in JSON.parse(filesIn(dir)['clients/app-1.json']!)))
  editFile(dir, 'apis/ledger.json', (body) => JSON.parse(JSON.stringify(body).replace(/\$\{kept\}/g, 'x')))
  const done = await b.run('sync', '-p', dir, '--yes')
  assert.equal(done.status, 0, done.err)
  assert.match(done.out, /\+ OAuth client app-1 \(the target generates a secret, if it needs one\)/)
  const { secret } = await b.ask('GET', '/api/apis/oauth/ledger/app-1')
  assert.ok(typeof secret === 'string' && secret !== '' && secret !== CLIENT_SECRET)
  editFile(dir, 'clients/app-1.json', (body) => ({
    ...body,
    description: 'changed',
    redirect_uris: ['https://b.example/cb'],
  }))
  assert.equal((await b.run('sync', '-p', dir, '--yes')).status, 0)
  const after = await b.ask('GET', '/api/apis/oauth/ledger/app-1')
  assert.deepEqual([after.secret, after.description, after.redirect_uri], [secret, 'changed', 'https://b.example/cb'])
  editFile(dir, 'clients/app-1.json', (body) => ({ ...body, secret: 'chosen-in-a-file-0123456789' }))
  assert.equal((await b.run('sync', '-p', dir, '--yes', '--identity', join(keyPair(t).identity))).status, 0)
  assert.equal((await b.ask('GET', '/api/apis/oauth/ledger/app-1')).secret, 'chosen-in-a-file-0123456789')
})

test('a client at two APIs, one by a policy, and deletions', async (t) => {
  const [a, b] = [await startEnvironment(t), await startEnvironment(t)]
  await fill(a, 'http://127.0.0.1:1')
  const { oas } = JSON.parse(JSON.stringify(await a.ask('GET', '/api/apis/ledger')).replaceAll('ledger', 'second')) as {
    oas: JsonObject
  }
  await a.ask('POST', '/api/apis/oas', oas)
  const draft = { client_id: 'app-2', secret: CLIENT_SECRET, redirect_uri: 'https://app.example/cb' }
  await a.ask('POST', '/api/apis/oauth/ledger', draft)
  await a.ask('POST', '/api/apis/oauth/second', { ...draft, secret: `${CLIENT_SECRET}2` })
  const { recipient, identity } = keyPair(t)
  const dir = folderFor(t)
  assert.equal((await a.run('dump', '-t', dir, '--secrets', '--recipient', recipient)).status, 0)
  const [further, first] = Object.keys(filesIn(dir)).filter((name) => name.startsWith('clients/app-2'))
  assert.equal(first, 'clients/app-2.json', Object.keys(filesIn(dir)).join())
  assert.deepEqual(JSON.parse(filesIn(dir)[first]!).api_ids, ['ledger'])
  assert.deepEqual(JSON.parse(filesIn(dir)[further!]!).api_ids, ['second'])
  const done = await b.run('sync', '-p', dir, '--yes', '--identity', identity)
  assert.equal(done.status, 0, done.err)
  assert.equal((await b.ask('GET', '/api/apis/oauth/ledger/app-2')).secret, CLIENT_SECRET)
  assert.equal((await b.ask('GET', '/api/apis/oauth/second/app-2')).secret, `${CLIENT_SECRET}2`)
  assert.match((await b.run('sync', '-p', dir, '--yes', '--identity', identity)).out, /nothing|unchanged|0/i)
  await a.ask('DELETE', '/api/apis/oauth/second/app-2')
  assert.equal((await a.run('dump', '-t', dir, '--secrets', '--recipient', recipient)).status, 0)
  assert.equal((await b.run('sync', '-p', dir, '--yes', '--identity', identity)).status, 0)
  assert.equal((await b.call('GET', '/api/apis/oauth/second/app-2')).status, 404)
  await a.ask('DELETE', '/api/apis/oauth/ledger/app-2')
  assert.equal((await a.run('dump', '-t', dir, '--clients')).status, 0)
  const gone = await b.run('sync', '-p', dir, '--yes')
  assert.match(gone.out, /^deleted OAuth client app-2$/m)
  assert.equal((await b.call('GET', '/api/apis/oauth/ledger/app-2')).status, 404)
})
