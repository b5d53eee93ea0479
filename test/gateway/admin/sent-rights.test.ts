import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { classicApi, oasApi } from '../../worlds/gateway/admin-fixtures.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

const KEY = 'key-of-many-letters'
const SENT = [{ url: '/get', methods: ['GET'] }]
const withRights = (more: JsonObject = {}): JsonObject => ({
  ...{ rate: 100, per: 1, ...more },
  access_rights: { books: { api_id: 'books', api_name: 'books', versions: ['Default'], allowed_urls: SENT } },
})
const POLICY = withRights({ id: 'p', name: 'p', active: true })
const USER = withRights({ basic_auth_data: { password: 'a-long-password' } })

/** The calls that take rights, with the call that shows what is stored of them. */
const WRITES: readonly (readonly [method: string, path: string, body: JsonObject, shown: string])[] = [
  ['POST', 'policies', POLICY, 'policies/p'],
  ['PUT', 'policies/p', POLICY, 'policies/p'],
  ['POST', `keys/${KEY}`, withRights(), `keys/${KEY}`],
  ['PUT', `keys/${KEY}`, withRights(), `keys/${KEY}`],
  ['POST', 'keys', withRights(), ''],
  ['POST', 'keys/create', withRights(), ''],
  ['POST', 'keys/ann', USER, 'keys/ann?username=true'],
  ['PUT', 'keys/ann?username=true', USER, 'keys/ann?username=true'],
]

/** The requests that the gateway before finds by its settings, below and with the listen path. */
const FOUND = {
  contains: ['/get', '/get/x', '/x/get', '/getter'],
  begins: ['/get', '/get/x', '/getter'],
  ends: ['/get', '/x/get'],
  whole: ['/get'],
} as const

for (const matching of ['contains', 'begins', 'ends', 'whole'] as const) {
  test(`rights sent under an alias match as compat.path_matching says: ${matching}`, async (t) => {
    const origin = await startOrigin()
    t.after(() => origin.close())
    const gate = await startTestGateway({
      env: { SVC_COMPAT_VENDORALIASES: 'inc', SVC_COMPAT_PATHMATCHING: matching },
    })
    t.after(() => gate.close())
    const taken = async (method: string, path: string, body?: JsonObject) => {
      const answer = await gate.svc(method, path, body)
      assert.equal(answer.status, 200, `${method} ${path} ${answer.text}`)
      return answer.json as JsonObject
    }
    const listed = async (path: string) => {
      const { access_rights: rights } = (await taken('GET', path)) as { access_rights: Record<string, JsonObject> }
      return rights.books!.allowed_urls as JsonObject[]
    }
    const served = async () => {
      const paths = ['/get', '/get/x', '/x/get', '/getter', '/x']
      const answers = await Promise.all(
        paths.map((path) => gate.call(`/books${path}`, { headers: { authorization: KEY } })),
      )
      return paths.filter((_, at) => answers[at]!.status === 200)
    }
    await taken(
      'POST',
      '/svc/apis/oas',
      oasApi('books', '/books/', { id: 'books', guarded: true, upstream: origin.url }),
    )
    const stored: unknown[] = []
    for (const [method, path, body, shown] of WRITES) {
      const { key = '', warnings = [] } = (await taken(method, `/inc/${path}`, body)) as {
        key?: string
        warnings?: { path: string }[]
      }
      const places = warnings.map((warning) => warning.path)
      assert.deepEqual(places, matching === 'contains' ? [] : ['access_rights.books.allowed_urls'], `${method} ${path}`)
      stored.push(await listed(`/svc/${shown || `keys/${key}`}`))
    }
    assert.deepEqual(new Set(stored.map((each) => JSON.stringify(each))).size, 1, JSON.stringify(stored))
    assert.deepEqual(await served(), FOUND[matching])

    // A body that was read and is sent back stays as it is; so does one in our word.
    const read = await taken('GET', `/inc/keys/${KEY}`)
    assert.equal((await taken('PUT', `/inc/keys/${KEY}`, read)).warnings, undefined)
    assert.deepEqual(await served(), FOUND[matching])
    await taken('PUT', `/svc/keys/${KEY}`, withRights())
    assert.deepEqual(await served(), FOUND.contains)
    const ours = await taken('GET', `/inc/keys/${KEY}`)
    assert.equal((await taken('PUT', `/inc/keys/${KEY}`, ours)).warnings, undefined)
    assert.deepEqual(await served(), FOUND.contains)
    for (const named of [`keys/${KEY}`, 'keys/ann?username=true']) {
      await taken('PUT', `/svc/${named}`, withRights())
      const back = await taken('GET', `/inc/${named}`)
      assert.equal((await taken('POST', `/inc/${named}`, back)).warnings, undefined, named)
      assert.deepEqual(await listed(`/svc/${named}`), SENT, named)
    }
  })
}

test('rights on an API that is not there yet are written out once it is', async (t) => {
  const gate = await startTestGateway({ env: { SVC_COMPAT_VENDORALIASES: 'inc', SVC_COMPAT_PATHMATCHING: 'whole' } })
  t.after(() => gate.close())
  const send = async () => {
    const { json } = await gate.svc('POST', '/inc/policies', POLICY)
    const { access_rights: rights } = (await gate.svc('GET', '/svc/policies/p')).json as JsonObject
    const { allowed_urls } = (rights as Record<string, JsonObject>).books!
    return { text: JSON.stringify((json as JsonObject).warnings), url: (allowed_urls as JsonObject[])[0]!.url }
  }
  const early = await send()
  assert.match(early.text, /without the listen path of the API, which is not there/)
  assert.equal(early.url, '^/get$')
  await gate.svc('POST', '/svc/apis/oas', oasApi('books', '/books/', { id: 'books', guarded: true }))
  assert.equal((await send()).url, '^(?:/books)?/get$')
})

test('an API of another organisation than the body or the query names is as if it were not there', async (t) => {
  const gate = await startTestGateway({ env: { SVC_COMPAT_VENDORALIASES: 'inc', SVC_COMPAT_PATHMATCHING: 'whole' } })
  t.after(() => gate.close())
  for (const [id, org_id] of [
    ['books', 'theirs'],
    ['own', 'ours'],
  ] as const)
    await gate.svc('POST', '/svc/apis', classicApi(id, `/${id}/`, { api_id: id, org_id, use_keyless: false, auth: {} }))
  const rights = Object.fromEntries(['own', 'books'].map((id) => [id, { api_id: id, allowed_urls: SENT }]))
  const body = { ...withRights(), access_rights: rights }
  const of = { ...body, org_id: 'ours' }
  for (const [method, path, sent, shown] of [
    ['POST', 'policies', { ...of, id: 'p', name: 'p' }, 'policies/p?org_id=ours'],
    ['POST', 'policies?org_id=ours', { ...body, id: 'q', name: 'q' }, 'policies/q?org_id=ours'],
    ['PUT', 'policies/p', { ...body, id: 'p', name: 'p' }, 'policies/p?org_id=ours'],
    ['POST', `keys/${KEY}`, of, `keys/${KEY}`],
    ['PUT', `keys/${KEY}?org_id=ours`, body, `keys/${KEY}`],
    ['POST', 'keys/ann?org_id=ours', { ...body, ...USER, access_rights: rights }, 'keys/ann?username=true&org_id=ours'],
  ] as const) {
    const { status, text } = await gate.svc(method, `/inc/${path}`, sent)
    assert.equal(status, 200, `${method} ${path}: ${text}`)
    const { access_rights } = (await gate.svc('GET', `/svc/${shown}`)).json as {
      access_rights: Record<string, { allowed_urls: { url: string }[] }>
    }
    const urls = Object.entries(access_rights).map(([id, { allowed_urls }]) => [id, allowed_urls[0]!.url])
    assert.deepEqual(Object.fromEntries(urls), { own: '^(?:/own)?/get$', books: '^/get$' }, `${method} ${path}`)
  }
})
