import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import { keyWorld, POLICIES, policyOf } from '../../worlds/dashboard/key-world.ts'

const SENT = '/get'
const withUrl = (apiId: string, url: string) => ({
  access_rights: {
    [apiId]: { api_id: apiId, api_name: apiId, versions: ['Default'], allowed_urls: [{ url, methods: ['GET'] }] },
  },
})
const urlOf = (body: JsonObject, apiId: string) =>
  ((body.access_rights as Record<string, JsonObject>)[apiId]!.allowed_urls as JsonObject[])[0]!.url

for (const [word, written] of [
  ['inc', '^(?:/a)?/get$'],
  ['', SENT],
] as const) {
  test(`rights sent to a dashboard ${word === '' ? 'without' : 'with'} an alias match as its setting says`, async (t) => {
    const { call, asked, api, root } = await keyWorld(t, {
      env: { SVC_COMPAT_PATHMATCHING: 'whole', ...(word !== '' && { SVC_COMPAT_VENDORALIASES: word }) },
    })
    await api('a')
    const policy = { ...policyOf('p', ['a']), ...withUrl('a', SENT) }
    const save = async (method: string, path: string, body: JsonObject) => {
      const answer = await call(method, path, { as: root, body })
      assert.equal(answer.status, 200, answer.text)
      const {
        Warnings,
        warnings = Warnings ?? [],
        key_hash = '',
      } = answer.json as {
        Warnings?: { path: string }[]
        warnings?: { path: string }[]
        key_hash?: string
      }
      const places = warnings.map((each) => each.path)
      assert.deepEqual(places, word === '' ? [] : ['access_rights.a.allowed_urls'], `${method} ${path}`)
      return key_hash
    }
    const at = `${POLICIES}/p`
    const stored = async () => urlOf(await asked(200, 'GET', at, root), 'a')
    await save('POST', POLICIES, policy)
    assert.equal(await stored(), written)
    for (const method of ['PUT', 'PATCH']) {
      await save(method, at, policy)
      assert.equal(await stored(), written, method)
    }
    const key = withUrl('a', SENT)
    for (const path of ['/api/keys', '/api/keys/key-of-many-letters']) {
      const hash = await save('POST', path, key)
      const { data } = await asked(200, 'GET', `/api/apis/a/keys/${hash}?hashed=true`, root)
      assert.equal(urlOf(data as JsonObject, 'a'), written, path)
    }
    // A body that was read and is sent back stays as it is.
    const read = await asked(200, 'GET', at, root)
    const again = await call('PUT', at, { as: root, body: read })
    assert.equal((again.json as JsonObject).Warnings, undefined)
    assert.equal(await stored(), written)
  })
}

const RULES = { env: { SVC_COMPAT_PATHMATCHING: 'whole', SVC_COMPAT_VENDORALIASES: 'inc' } }

test('rights on an API of another organisation are written out as on one that nobody has', async (t) => {
  const { call, asked, api, policy, root } = await keyWorld(t, RULES)
  await api('theirs', {
    orgId: 'another',
    definition: { proxy: { listen_path: '/secret-path/', target_url: 'http://a/' } },
  })
  await api('a')
  await policy('p', ['a'])
  for (const [method, path, more, shown] of [
    ['PUT', `${POLICIES}/p`, policyOf('p', []), `${POLICIES}/p`],
    ['PATCH', `${POLICIES}/p`, {}, `${POLICIES}/p`],
    ['POST', POLICIES, undefined, `${POLICIES}/`],
    ['POST', '/api/keys/key-of-many-letters', {}, '/api/keys/key-of-many-letters'],
    ['PUT', '/api/keys/key-of-many-letters', {}, '/api/keys/key-of-many-letters'],
    ['POST', '/api/keys/ann', { basic_auth_data: { password: 'a-long-password' } }, '/api/keys/ann?username=true'],
  ] as const) {
    const answers = new Set<string>()
    for (const apiId of ['theirs', 'nobody']) {
      const rights = { ...withUrl('a', SENT).access_rights, ...withUrl(apiId, SENT).access_rights }
      const body = { ...(more ?? policyOf(`of-${apiId}`, [])), access_rights: rights }
      const answer = await call(method, path, { as: root, body })
      assert.equal(answer.status, 200, `${method} ${path} ${answer.text}`)
      const read = await asked(200, 'GET', more === undefined ? `${shown}of-${apiId}` : shown, root)
      assert.equal(urlOf((read.data as JsonObject | undefined) ?? read, apiId), '^/get$', `${method} ${path}`)
      const { Warnings, warnings = Warnings } = answer.json as Record<string, JsonObject[]>
      const own = warnings!.filter((each) => String(each.path).startsWith(`access_rights.${apiId}`))
      answers.add(JSON.stringify(own).replaceAll(apiId, 'API'))
    }
    assert.equal(answers.size, 1, [...answers].join('\n'))
  }
})

test('a key or user that is read and sent back with POST keeps its rights', async (t) => {
  const { call, asked, api, root } = await keyWorld(t, RULES)
  await api('a')
  for (const [path, at, more] of [
    ['/api/keys/key-of-many-letters', '/api/keys/key-of-many-letters', {}],
    ['/api/keys/ann', '/api/keys/ann?username=true', { basic_auth_data: { password: 'a-long-password' } }],
  ] as const) {
    await call('POST', path, { as: root, body: { ...withUrl('a', SENT), ...more } })
    const { data } = await asked(200, 'GET', at, root)
    const back = await call('POST', path, { as: root, body: { ...(data as JsonObject), ...more } })
    assert.equal(back.status, 200, back.text)
    assert.equal((back.json as JsonObject).warnings, undefined, back.text)
    assert.equal(urlOf((await asked(200, 'GET', at, root)).data as JsonObject, 'a'), urlOf(data as JsonObject, 'a'))
  }
})

test('calls that say that paths are as written store them so', async (t) => {
  const { call, asked, api, root } = await keyWorld(t, RULES)
  await api('a')
  const key = '/api/keys/key-of-many-letters'
  const user = { basic_auth_data: { password: 'a-long-password' } }
  const hash = hashKey('key-of-many-letters').toString('hex')
  for (const [method, path, more, shown] of [
    ['POST', POLICIES, policyOf('p', []), `${POLICIES}/p`],
    ['PUT', `${POLICIES}/p`, policyOf('p', []), `${POLICIES}/p`],
    ['PATCH', `${POLICIES}/p`, {}, `${POLICIES}/p`],
    ['POST', key, {}, key],
    ['PUT', key, {}, key],
    ['PUT', `/api/apis/a/keys/${hash}?hashed=1`, {}, key],
    ['POST', '/api/keys/ann', user, '/api/keys/ann?username=true'],
    ['POST', '/api/apis/keys/basic/ann', user, '/api/keys/ann?username=true'],
  ] as const)
    for (const [at, url] of ['/get/*/*/x', '/other'].entries()) {
      if (method === 'POST' && path === POLICIES && at > 0) continue
      const query = `${path.includes('?') ? '&' : '?'}paths=as_written`
      const body = { ...more, ...withUrl('a', url) }
      const { status, text, json } = await call(method, path + query, { as: root, body })
      assert.equal(status, 200, `${method} ${path} ${text}`)
      const { Warnings, warnings = Warnings } = json as JsonObject
      assert.equal(warnings, undefined, `${method} ${path} ${text}`)
      const read = await asked(200, 'GET', shown, root)
      assert.equal(urlOf((read.data as JsonObject | undefined) ?? read, 'a'), url, `${method} ${path}`)
    }
})
