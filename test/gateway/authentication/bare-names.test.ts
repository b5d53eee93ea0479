import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { send, startUpstreams } from '../../worlds/incumbent/upstreams.ts'

const SCRIPT = { status: 200, delayMs: 0, fields: [], body: '{}', reset: false }

test('a credential whose parameter is named in bytes of UTF-8 does not reach the upstream', async (t) => {
  const upstreams = await startUpstreams(() => SCRIPT)
  const gateway = await startTestGateway()
  t.after(() => Promise.all([upstreams.close(), gateway.close()]))
  const made = await gateway.svc('POST', '/svc/apis', {
    ...{ api_id: 'b', name: 'b', active: true, use_standard_auth: true, strip_auth_data: true },
    auth: { use_param: true, param_name: 'schlüssel', auth_header_name: 'X-Key' },
    proxy: { listen_path: '/b/', target_url: upstreams.fill('http://127.0.0.1:{{up0}}/'), strip_listen_path: true },
    version_data: { not_versioned: true, versions: {} },
  })
  assert.equal(made.status, 200, made.text)
  const right = { access_rights: { b: { api_id: 'b', versions: ['Default'] } } }
  const { key } = (await gateway.svc('POST', '/svc/keys/create', right)).json as { key: string }
  const bare = Buffer.from('schlüssel').toString('latin1')
  for (const name of ['schl%C3%BCssel', bare, bare.replace('schl', '%73chl')]) {
    const answer = await send(gateway.port, `GET /b/x?a=1&${name}=${key}&b=2 HTTP/1.1\r\nHost: h\r\n\r\n`)
    assert.equal(answer.status, 200, name)
    assert.deepEqual(
      upstreams.take().map(({ url }) => url),
      ['/x?a=1&b=2'],
      name,
    )
  }
})
