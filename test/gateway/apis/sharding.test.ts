import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import { defined } from '../../worlds/base/definitions.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

const DEAD = 'http://127.0.0.1:9/'

/** The API's tags: undefined = the section is absent, false = switched off. */
type ApiTags = readonly string[] | undefined | false

function tagged(tags: ApiTags) {
  if (tags === undefined) return defined({ id: 'a', url: DEAD })
  const gatewayTags = tags === false ? { enabled: false, tags: ['eu', 'us'] } : { enabled: true, tags: [...tags] }
  return defined({ id: 'a', url: DEAD, server: { listenPath: { value: '/a/', strip: true }, gatewayTags } })
}

const TABLE: readonly { segmented: boolean; node: string; api: ApiTags; loaded: boolean }[] = [
  { segmented: false, node: '', api: undefined, loaded: true },
  { segmented: false, node: '', api: ['eu'], loaded: true },
  { segmented: false, node: 'eu', api: undefined, loaded: true },
  { segmented: false, node: 'eu', api: ['us'], loaded: true },
  { segmented: false, node: 'eu', api: false, loaded: true },
  { segmented: true, node: '', api: undefined, loaded: false },
  { segmented: true, node: '', api: ['eu'], loaded: false },
  { segmented: true, node: 'eu', api: undefined, loaded: false },
  { segmented: true, node: 'eu', api: [], loaded: false },
  { segmented: true, node: 'eu,us', api: false, loaded: false },
  { segmented: true, node: 'eu', api: ['eu'], loaded: true },
  { segmented: true, node: 'eu,us', api: ['asia', 'us'], loaded: true },
  { segmented: true, node: 'eu', api: ['us'], loaded: false },
  { segmented: true, node: 'eu', api: ['EU'], loaded: false },
  { segmented: true, node: 'eu', api: ['eu-west'], loaded: false },
  { segmented: true, node: 'eu', api: [' eu'], loaded: false },
]

for (const { segmented, node, api, loaded } of TABLE) {
  const words = `segmented ${segmented}, node [${node}], API ${api === undefined ? 'without tags' : JSON.stringify(api)}`
  test(`${words}: ${loaded ? 'loaded' : 'not loaded'}`, async (t) => {
    const gateway = await startTestGateway({
      env: {
        SVC_GW_DBAPPCONFOPTIONS_NODEISSEGMENTED: String(segmented),
        SVC_GW_DBAPPCONFOPTIONS_TAGS: node,
      },
    })
    t.after(() => gateway.close())
    assert.equal((await gateway.svc('POST', '/svc/apis/oas', tagged(api))).status, 200)
    assert.equal((await gateway.call('/a/x')).status, loaded ? 502 : 404)
    const { apis } = (await gateway.svc('GET', '/svc/node')).json as { apis: { state: string }[] }
    assert.equal(apis[0]?.state, loaded ? 'loaded' : 'elsewhere')
  })
}

test('an edit of the tags adds an API to a node and takes it away again', async (t) => {
  const gateway = await startTestGateway({
    env: { SVC_GW_DBAPPCONFOPTIONS_NODEISSEGMENTED: 'true', SVC_GW_DBAPPCONFOPTIONS_TAGS: 'eu' },
  })
  t.after(() => gateway.close())
  await gateway.svc('POST', '/svc/apis/oas', tagged(['us']))
  assert.equal((await gateway.call('/a/x')).status, 404)
  await gateway.svc('PUT', '/svc/apis/oas/a', tagged(['us', 'eu']))
  assert.equal((await gateway.call('/a/x')).status, 502)
  await gateway.svc('PUT', '/svc/apis/oas/a', tagged(['us']))
  assert.equal((await gateway.call('/a/x')).status, 404)
})

test('an API of another node does not hold its listen path here', async (t) => {
  const gateway = await startTestGateway({
    env: { SVC_GW_DBAPPCONFOPTIONS_NODEISSEGMENTED: 'true', SVC_GW_DBAPPCONFOPTIONS_TAGS: 'eu' },
  })
  t.after(() => gateway.close())
  const at = (id: string, tag: string) =>
    defined({
      id,
      url: DEAD,
      server: { listenPath: { value: '/same/', strip: true }, gatewayTags: { enabled: true, tags: [tag] } },
    })
  assert.equal((await gateway.svc('POST', '/svc/apis/oas', at('us', 'us'))).status, 200)
  assert.equal((await gateway.svc('POST', '/svc/apis/oas', at('eu', 'eu'))).status, 200)
  assert.equal((await gateway.call('/same/x')).status, 502)
  assert.equal((await gateway.svc('POST', '/svc/apis/oas', at('both', 'eu'))).status, 409)
})

test('a management node that is segmented is refused at the start, with the reason', async () => {
  const env = { SVC_GW_MANAGEMENTNODE: 'true', SVC_GW_DBAPPCONFOPTIONS_NODEISSEGMENTED: 'true' }
  await assert.rejects(startTestGateway({ env }), (error: Error) => {
    assert.match(error.message, /management_node/)
    assert.match(error.message, /node_is_segmented/)
    return true
  })
})

test('a management node loads every API and counts nothing', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const store = openMemoryStore()
  t.after(() => store.close())
  const gateway = await startTestGateway({ store, env: { SVC_GW_MANAGEMENTNODE: 'true' } })
  for (const id of ['a', 'b']) {
    const server = { listenPath: { value: `/${id}/`, strip: true }, gatewayTags: { enabled: true, tags: [id] } }
    assert.equal((await gateway.svc('POST', '/svc/apis/oas', defined({ id, url: origin.url, server }))).status, 200)
    assert.equal((await gateway.call(`/${id}/x`)).status, 200)
  }
  await gateway.close()
  assert.deepEqual(await store.hits.sum({ fromHour: 0, toHour: 1e6, limit: 10 }), [])
})

test('the tags of a segmented node stand in its hits, those of any other do not', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  for (const segmented of [true, false]) {
    const store = openMemoryStore()
    const gateway = await startTestGateway({
      store,
      env: {
        SVC_GW_DBAPPCONFOPTIONS_NODEISSEGMENTED: String(segmented),
        SVC_GW_DBAPPCONFOPTIONS_TAGS: 'eu,rack-7',
      },
    })
    const server = { listenPath: { value: '/a/', strip: true }, gatewayTags: { enabled: true, tags: ['eu'] } }
    await gateway.svc('POST', '/svc/apis/oas', defined({ id: 'a', url: origin.url, server }))
    assert.equal((await gateway.call('/a/x')).status, 200)
    await gateway.close()
    const [hit] = await store.hits.sum({ fromHour: 0, toHour: 1e6, limit: 10 })
    assert.equal(hit?.tags, segmented ? 'eu,rack-7' : 'eu')
    await store.close()
  }
})

test('keys and policies are the same on every shard', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const store = openMemoryStore()
  t.after(() => store.close())
  const env = (tag: string) => ({
    SVC_GW_DBAPPCONFOPTIONS_NODEISSEGMENTED: 'true',
    SVC_GW_DBAPPCONFOPTIONS_TAGS: tag,
  })
  const eu = await startTestGateway({ store, env: env('eu') })
  t.after(() => eu.close())
  const us = await startTestGateway({ store, env: env('us') })
  t.after(() => us.close())
  const both = { listenPath: { value: '/a/', strip: true }, gatewayTags: { enabled: true, tags: ['eu', 'us'] } }
  const draft = { id: 'a', url: origin.url, keyIn: 'Authorization' }
  const authentication = { enabled: true, securitySchemes: { key: { enabled: true } } }
  await eu.svc('POST', '/svc/apis/oas', defined({ ...draft, server: { ...both, authentication } }))
  const session = { access_rights: { a: { api_id: 'a' } }, quota_max: 2, quota_renewal_rate: 60 }
  const { key } = (await eu.svc('POST', '/svc/keys', session)).json as { key: string }
  const headers = { authorization: key }
  assert.equal((await eu.call('/a/x', { headers })).status, 200)
  assert.equal((await us.call('/a/x', { headers })).status, 200)
  assert.equal((await eu.call('/a/x', { headers })).status, 429)
  await us.svc('DELETE', `/svc/keys/${key}`)
  assert.equal((await eu.call('/a/x', { headers })).status, 403)
})
