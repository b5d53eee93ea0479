import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { hashSync } from 'bcryptjs'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { classic, rights } from '../../worlds/base/definitions.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { policyOf } from '../../worlds/gateway/oauth-fixtures.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

const PASSWORD = 'Correct-horse-7'
const HASH = hashSync(PASSWORD, 4)

async function start(t: TestContext) {
  const origin = await startOrigin()
  const gate = await startTestGateway()
  t.after(async () => {
    await gate.close()
    await origin.close()
  })
  const made = async (method: string, path: string, body?: JsonObject) => {
    const answer = await gate.svc(method, path, body)
    assert.equal(answer.status, 200, `${method} ${path} ${answer.text}`)
    return answer.json as JsonObject
  }
  const oauth = {
    use_keyless: false,
    use_oauth2: true,
    oauth_meta: { allowed_access_types: ['password', 'refresh_token'] },
  }
  await made('POST', '/svc/apis', classic('a', '/a/', origin.url, oauth))
  for (const id of ['b', 'c'])
    await made('POST', '/svc/apis', classic(id, `/${id}/`, origin.url, { use_keyless: false, use_standard_auth: true }))
  await made('POST', '/svc/policies', policyOf('p', ['a', 'b']))
  const client = { secret: 'secret', redirect_uri: 'https://app.example/cb', api_id: 'a' }
  await made('POST', '/svc/oauth/clients/create', { ...client, client_id: 'under policies', policies: ['p'] })
  await made('POST', '/svc/oauth/clients/create', { ...client, client_id: 'without policies' })
  const token = async (clientId: string, form: Record<string, string>) => {
    const answer = await gate.call('/a/oauth/token', {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`${encodeURIComponent(clientId)}:secret`).toString('base64')}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams(form).toString(),
    })
    assert.equal(answer.status, 200, answer.text)
    return answer.json as { access_token: string; refresh_token: string }
  }
  return {
    made,
    /** Makes the user or, by PUT, gives it other rights: the password stays, so its tokens do. */
    user: (apis: readonly string[], more: JsonObject = {}, method = 'PUT') =>
      made(method, '/svc/keys/ann', {
        access_rights: rights(...apis),
        ...(method === 'POST' && { basic_auth_data: { password: HASH } }),
        ...more,
      }),
    grant: (clientId: string) => token(clientId, { grant_type: 'password', username: 'ann', password: PASSWORD }),
    refresh: (clientId: string, refresh_token: string) =>
      token(clientId, { grant_type: 'refresh_token', refresh_token }),
    /** Names of the APIs that a token opens. */
    async opens(access: string) {
      const open: string[] = []
      for (const id of ['a', 'b', 'c']) {
        const { status } = await gate.call(`/${id}/x`, { headers: { authorization: `Bearer ${access}` } })
        assert.ok([200, 403].includes(status), `${id}: ${status}`)
        if (status === 200) open.push(id)
      }
      return open.join('')
    },
    statusAt: async (access: string, id: string) =>
      (await gate.call(`/${id}/x`, { headers: { authorization: `Bearer ${access}` } })).status,
  }
}

/** The rights of tokens that were issued while a user had these rights, once the user has others: written from the rule. */
function expected(clientId: string, atIssue: string, now: string): string {
  const most = clientId === 'under policies' ? 'ab' : atIssue
  return [...'abc'].filter((id) => most.includes(id) && now.includes(id)).join('')
}

test('tokens of the password grant lose the access rights that their user loses, at once', async (t) => {
  const { user, grant, refresh, opens, made } = await start(t)
  await user(['a', 'b'], {}, 'POST')
  for (const clientId of ['under policies', 'without policies']) {
    let atIssue = 'ab'
    await user([...atIssue])
    let { access_token: token, refresh_token } = await grant(clientId)
    assert.equal(await opens(token), atIssue)
    for (const now of ['b', 'ab', 'bc', 'c', 'abc']) {
      await user([...now])
      assert.equal(await opens(token), expected(clientId, atIssue, now), `${clientId}: ${atIssue}, then ${now}`)
      assert.equal(await opens((await grant(clientId)).access_token), expected(clientId, now, now), `new, ${now}`)
      const shown = await made('GET', `/svc/keys/${token}`)
      const named = Object.keys((shown.access_rights ?? {}) as JsonObject)
        .sort()
        .join('')
      assert.equal(named, expected(clientId, atIssue, now), `${clientId} shows ${named}`)
      await made('PUT', `/svc/keys/${token}`, shown)
      assert.equal(await opens(token), expected(clientId, atIssue, now), 'what was shown is written back')
      if (now !== 'bc') continue
      ;({ access_token: token, refresh_token } = await refresh(clientId, refresh_token))
      atIssue = now
      assert.equal(await opens(token), expected(clientId, atIssue, now), 'refreshed')
    }
  }
})

test('a limit that a user is given holds for tokens that are out', async (t) => {
  const { user, grant, statusAt } = await start(t)
  await user(['a', 'b'], {}, 'POST')
  for (const clientId of ['under policies', 'without policies']) {
    await user(['a', 'b'])
    const { access_token: token } = await grant(clientId)
    for (let call = 0; call < 3; call++) assert.equal(await statusAt(token, 'a'), 200)
    await user(['a', 'b'], { rate: 2, per: 60 })
    const statuses = [await statusAt(token, 'a'), await statusAt(token, 'a'), await statusAt(token, 'a')]
    assert.deepEqual(statuses, [200, 200, 429], clientId)
    await user(['a', 'b'], { is_inactive: true })
    assert.notEqual(await statusAt(token, 'a'), 200, clientId)
  }
})
