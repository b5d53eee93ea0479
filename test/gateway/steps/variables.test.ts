import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

const VALUES =
  'method path path_parts remote_addr request_id headers_X_Own request_data_q cookies_c headers_Authorization'
    .split(' ')
    .map((name) => [`X-${name.replaceAll('_', '-')}`, `<$acme_context.${name}>`] as const)

async function open(t: import('node:test').TestContext, members: object) {
  const origin = await startOrigin()
  const gateway = await startTestGateway()
  t.after(() => Promise.all([origin.close(), gateway.close()]))
  const made = await gateway.svc('POST', '/svc/apis', {
    ...{ api_id: 'v', name: 'v', active: true, use_keyless: true, ...members },
    proxy: { listen_path: '/v/', target_url: origin.url, strip_listen_path: true },
    version_data: {
      not_versioned: true,
      versions: {
        Default: {
          name: 'Default',
          use_extended_paths: true,
          global_headers: Object.fromEntries(VALUES),
          extended_paths: {
            url_rewrites: [
              { path: '/q/{x}', method: 'GET', match_pattern: '/q', rewrite_to: '/n?p=$acme_context.path' },
              {
                path: '/r',
                method: 'GET',
                match_pattern: '/r',
                rewrite_to: '/n/$acme_context.headers_X_Own$acme_context.path',
              },
            ],
          },
        },
      },
    },
  })
  assert.equal(made.status, 200, made.text)
  const seen = async (path: string, headers: Record<string, string> = {}) => {
    await gateway.call(path, { headers })
    return origin.seen.at(-1)!
  }
  return { gateway, seen }
}

test('header edits and rewrites read the request, without credentials and without ends of fields', async (t) => {
  const { seen } = await open(t, { enable_context_vars: true })
  const { headers, target } = await seen('/v/a/b?q=x%0d%0aX-Evil:%201&q=2', {
    ...{ 'x-OWN': 'ü/..', cookie: 'b=1; c=two', authorization: 'Bearer secret' },
  })
  const told = Object.fromEntries(VALUES.map(([name]) => [name, String(headers[name.toLowerCase()])]))
  assert.match(told['X-request-id'] ?? '', /^<[a-z0-9]{8,}>$/)
  assert.deepEqual(
    { ...told, 'X-request-id': '' },
    {
      'X-method': '<GET>',
      'X-path': '</v/a/b>',
      'X-path-parts': '<v,a,b>',
      'X-remote-addr': '<127.0.0.1>',
      'X-request-id': '',
      'X-headers-X-Own': '<Ã¼/..>',
      'X-request-data-q': '<xX-Evil: 1>',
      'X-cookies-c': '<two>',
      'X-headers-Authorization': '<>',
    },
  )
  assert.equal(headers['x-evil'], undefined)
  assert.equal(target, '/a/b?q=x%0d%0aX-Evil:%201&q=2')
  assert.equal((await seen('/v/r', { 'x-own': 'a b' })).target, '/n/a%20bv/r')
  assert.equal((await seen('/v/q/a&b=1')).target, '/n?p=v/q/a%26b%3D1')
})

test('without context variables nothing of the request is told', async (t) => {
  const { seen } = await open(t, {})
  const { headers } = await seen('/v/a', { 'x-own': '1' })
  for (const [name] of VALUES) assert.equal(headers[name.toLowerCase()], '<>', name)
})
