import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { hashSync } from 'bcryptjs'
import { Fault } from '../../../src/errors/fault.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import {
  checkBasicUser,
  createBasicUser,
  findBasicUser,
  newBasicAuthThrottle,
  type PasswordCheckParts,
  updateBasicUser,
} from '../../../src/publish/keys/basic-auth-users.ts'
import { setKeyPolicies, updateKey } from '../../../src/publish/keys/keys.ts'
import { openParts, putPolicy, type Stored } from '../../worlds/publish/stored.ts'

/** `correct horse`, at the least cost that argon2 has: most tests here are not about time. */
const CHEAP = '$argon2id$v=19$m=64,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$MjZP1+1U9JUbDWvDvtLyEsZiNXOKEUxfi6O2oe46uxA'
const PASSWORD = 'correct horse'
const rights = { orders: { api_id: 'orders', versions: ['Default'] } }

type Checking = Stored & PasswordCheckParts

function opened(t: TestContext): Checking {
  const stored = openParts()
  const parts = { ...stored, basicAuthThrottle: newBasicAuthThrottle(stored.clock) }
  t.after(() => parts.store.close())
  return parts
}

const save = (parts: Stored, name: string, session: JsonObject = {}) =>
  createBasicUser(parts, {
    name,
    session: { access_rights: rights, basic_auth_data: { password: CHEAP }, ...session },
    keepQuota: true,
    actor: 'test',
  })

const tryAs = (parts: Checking, name: string, password: string, address = '192.0.2.1', orgId = '') =>
  checkBasicUser(parts, orgId, name, password, address)

test('a user is found with the password, and what comes back does not hold it', async (t) => {
  const parts = opened(t)
  const saved = await createBasicUser(parts, {
    name: 'zoë',
    session: { access_rights: rights, basic_auth_data: { password: PASSWORD, note: 'kept' }, alias: 'z' },
    keepQuota: true,
    actor: 'test',
  })
  assert.equal(saved.key, undefined)
  const row = (await findBasicUser(parts, '', 'zoe\u0308'))!
  assert.match(String((row.body.basic_auth_data as JsonObject).password), /^\$argon2id\$/)
  assert.ok(!JSON.stringify(row).includes(PASSWORD))
  const found = await tryAs(parts, 'zoë', PASSWORD)
  assert.ok(found !== undefined && !(found instanceof Fault))
  assert.equal(found.body.alias, 'z')
  assert.deepEqual(found.body.basic_auth_data, { note: 'kept', hash_type: 'argon2id' })
  assert.equal(await tryAs(parts, 'zoë', 'correct horsE'), undefined)
  assert.equal(await tryAs(parts, 'zoë', PASSWORD, '192.0.2.1', 'other'), undefined)
  assert.equal(await tryAs(parts, 'nobody', PASSWORD), undefined)
})

test('a weak password, or an unknown hash, is refused and not repeated', async (t) => {
  const parts = opened(t)
  const refusal = async (password: string, more: JsonObject = {}) => {
    const session = { access_rights: rights, basic_auth_data: { password, ...more } }
    const error: unknown = await createBasicUser(parts, { name: 'u', session, keepQuota: true, actor: 'test' }).catch(
      (e) => e,
    )
    assert.ok(error instanceof Fault)
    assert.ok(password === '' || !error.message.includes(password))
    return `${error.code} ${error.message}`
  }
  assert.match(await refusal('short'), /^password_invalid must NOT have fewer than 8/)
  assert.match(await refusal(''), /^key_invalid basic_auth_data.password/)
  assert.match(await refusal(`$2b$15$${'a'.repeat(53)}`, { hash_type: 'bcrypt' }), /^key_invalid .*only argon2id/)
  assert.match(
    await refusal('0123456789abcdef0123456789abcdef', { hash_type: 'sha256' }),
    /^key_invalid .*only argon2id/,
  )
  assert.equal((await parts.tokens.listSessions({ limit: 10 })).rows.length, 0)
})

test('a bcrypt hash of another product is taken over, and opens with its password alone', async (t) => {
  const parts = opened(t)
  const password = hashSync(PASSWORD, 4)
  const session = { access_rights: rights, basic_auth_data: { password } }
  await createBasicUser(parts, { name: 'moved', session, keepQuota: true, actor: 'test' })
  const row = await findBasicUser(parts, '', 'moved')
  assert.deepEqual(row?.body.basic_auth_data, { password, hash_type: 'bcrypt' })
  assert.ok((await tryAs(parts, 'moved', PASSWORD)) !== undefined)
  assert.equal(await tryAs(parts, 'moved', password), undefined)
})

test('a user keeps name, organisation and password unless another one is sent', async (t) => {
  const parts = opened(t)
  await save(parts, 'ann', { org_id: 'one' })
  const row = (await findBasicUser(parts, 'one', 'ann'))!
  const change = { row, keepQuota: true, actor: 'test' }
  await updateBasicUser(parts, {
    ...change,
    session: { access_rights: rights, user_name: 'bob', basic_auth_data: {}, tags: ['t'] },
  })
  const after = (await findBasicUser(parts, 'one', 'ann'))!
  assert.deepEqual([after.body.user_name, after.body.tags, after.body.org_id], ['ann', ['t'], 'one'])
  assert.deepEqual(after.body.basic_auth_data, row.body.basic_auth_data)
  await updateBasicUser(parts, {
    ...change,
    session: { access_rights: rights, basic_auth_data: { password: 'another password' } },
  })
  assert.equal(await tryAs(parts, 'ann', PASSWORD, '192.0.2.1', 'one'), undefined)
  assert.ok(await tryAs(parts, 'ann', 'another password', '192.0.2.1', 'one'))
  await assert.rejects(
    updateBasicUser(parts, { ...change, session: { access_rights: rights, org_id: 'two' } }),
    /cannot move/,
  )
  await putPolicy(parts.store, 'gold', ['orders'], 'one')
  await setKeyPolicies(parts, { row: (await findBasicUser(parts, 'one', 'ann'))!, policies: ['gold'], actor: 'test' })
  assert.ok(await tryAs(parts, 'ann', 'another password', '192.0.2.1', 'one'))
})

test('a token that is edited stays the token of its client and its grant', async (t) => {
  const parts = opened(t)
  const hash = Buffer.alloc(32, 1)
  const facts = { api_id: 'orders', epoch: 'e', scope: '', family: 'f', issued_at: 1, username: '' }
  const body = { access_rights: rights, oauth_client_id: 'app', oauth_token: facts, narrowed_by: { access_rights: {} } }
  const row = { hash, body, orgId: '', apiIds: ['orders'], policyIds: [], clientId: 'app', family: 'f', evictAt: 0 }
  await parts.documents.commit([{ op: 'putSession', hash, row }], undefined)
  const sent = { access_rights: rights, oauth_token: { epoch: 'forged' }, oauth_client_id: 'other', tags: ['t'] }
  await updateKey(parts, { row, session: sent, keepQuota: true, actor: 'test' })
  const after = await parts.tokens.getSession(hash)
  assert.deepEqual(after?.body.oauth_token, facts)
  assert.deepEqual(after?.body.narrowed_by, body.narrowed_by)
  assert.deepEqual([after?.clientId, after?.family, after?.body.tags], ['app', 'f', ['t']])
})

test('after five failures a user must wait, longer each time; a success ends it', async (t) => {
  const parts = opened(t)
  await save(parts, 'ann')
  const waits = async (name: string) => (await tryAs(parts, name, 'wrong')) instanceof Fault
  for (const name of ['ann', 'nobody']) {
    for (let i = 0; i < 6; i++) assert.equal(await waits(name), false, `${name} ${i}`)
    assert.equal(await waits(name), true, name)
  }
  const refused = await tryAs(parts, 'ann', PASSWORD)
  assert.ok(refused instanceof Fault && refused.code === 'oauth_too_many_tries', 'not even the right one is looked at')
  parts.clock.advance(1000)
  assert.equal(await waits('ann'), false)
  parts.clock.advance(1999)
  assert.equal(await waits('ann'), true)
  parts.clock.advance(1)
  assert.ok((await tryAs(parts, 'ann', PASSWORD)) !== undefined)
  for (let i = 0; i < 6; i++) assert.equal(await waits('ann'), false)
})

test('tries side by side do not slip through', async (t) => {
  const parts = opened(t)
  await save(parts, 'ann')
  const tries = await Promise.all(Array.from({ length: 40 }, () => tryAs(parts, 'ann', 'wrong')))
  assert.equal(tries.filter((outcome) => outcome === undefined).length, 6)
})

test('an address that fails for many users must wait, with its IPv6 network', async (t) => {
  const parts = opened(t)
  await save(parts, 'ann')
  await save(parts, 'bob')
  const known = await tryAs(parts, 'bob', PASSWORD, '2001:db8::4')
  assert.ok(known !== undefined && !(known instanceof Fault))
  for (let i = 0; i < 61; i++) {
    // An unknown user would cost the time of a real password.
    await save(parts, `user-${i}`)
    const done = await tryAs(parts, `user-${i}`, 'wrong', i % 2 === 0 ? '2001:db8::1' : '2001:0db8:0:0:ffff::2')
    assert.equal(done, undefined)
  }
  const outcome = async (address: string, name = 'ann') =>
    (await tryAs(parts, name, PASSWORD, address)) instanceof Fault
  assert.equal(await outcome('2001:db8::3'), true)
  assert.equal(await outcome('2001:db8::3', 'bob'), false, 'a user who signed in from there before')
  assert.equal(await outcome('2001:db8:0:1::3'), false)
  assert.equal(await outcome('192.0.2.9'), false)
})
