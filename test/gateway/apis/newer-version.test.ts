import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { oasApi } from '../../worlds/dashboard/api-samples.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

test('an API of another organisation is no version, whatever names it', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  const versioning = (id: string) => ({
    enabled: true,
    name: 'v1',
    default: 'self',
    location: 'header',
    key: 'x-version',
    versions: [{ name: 'v2', id }],
  })
  const at = (document: ReturnType<typeof oasApi>) => {
    const extension = document['x-svc-api-gateway'] as object
    const upstream = { url: `http://127.0.0.1:${origin.port}/` }
    return { ...document, 'x-svc-api-gateway': { ...extension, upstream } }
  }
  const post = async (document: ReturnType<typeof oasApi>) =>
    assert.equal((await gateway.svc('POST', '/svc/apis/oas', at(document))).status, 200)
  await post(oasApi('inside', '/inside/', { orgId: 'two', state: { active: true, internal: true } }))
  await post(oasApi('own', '/own/', { orgId: 'one', state: { active: true, internal: true } }))
  await post(oasApi('foreign-base', '/a/', { orgId: 'one', versioning: versioning('inside') }))
  await post(oasApi('own-base', '/b/', { orgId: 'one', versioning: versioning('own') }))
  const headers = { 'x-version': 'v2' }
  assert.equal((await gateway.call('/a/x', { headers })).status, 404)
  assert.equal((await gateway.call('/b/x', { headers })).status, 200)
})
