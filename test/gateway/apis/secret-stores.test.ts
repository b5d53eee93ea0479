import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toOas } from '../../../src/model/apis/convert/convert.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'

const WORDS = ['secrets', 'env', 'vault', 'consul', 'kv', 'file']

const api = (more: JsonObject, proxy: JsonObject = {}, version: JsonObject = {}): JsonObject => ({
  ...{ api_id: 's', name: 's', active: true, use_keyless: true, ...more },
  proxy: { listen_path: '/s/', target_url: 'http://127.0.0.1:9/', ...proxy },
  version_data: {
    not_versioned: true,
    versions: { Default: { name: 'Default', use_extended_paths: true, ...version } },
  },
})
const jwt = { use_keyless: false, enable_jwt: true, jwt_default_policies: ['p'] }
const rewrite = { path: '/a', method: 'GET', match_pattern: '.*' }
const mock = { path: '/a', method: 'GET', code: 200 }

/** Definitions with an address in each place that is judged by what it should hold. */
const PLACES: Readonly<Record<string, (address: string) => JsonObject>> = {
  'listen path': (address) => api({}, { listen_path: address }),
  target: (address) => api({}, { target_url: address }),
  'one of several targets': (address) => api({}, { enable_load_balancing: true, target_list: [address] }),
  domain: (address) => api({ domain: address }),
  'secret of tokens': (address) => api({ ...jwt, jwt_signing_method: 'hmac', jwt_source: address }),
  'public key of tokens': (address) => api({ ...jwt, jwt_signing_method: 'rsa', jwt_source: address }),
  'client certificate': (address) => api({ upstream_certificates: { '*': address } }),
  header: (address) => api({}, {}, { global_headers: { 'X-A': address } }),
  rewrite: (address) => api({}, {}, { extended_paths: { url_rewrites: [{ ...rewrite, rewrite_to: address }] } }),
  mock: (address) => api({}, {}, { extended_paths: { mock_response: [{ ...mock, body: address }] } }),
}

test('an address of a secret store is refused by its name, wherever it is', async (t) => {
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  for (const [place, definition] of Object.entries(PLACES))
    for (const word of WORDS) {
      const classic = definition(`${word}://somewhere`)
      for (const [path, sent] of [
        ['/svc/apis', classic],
        ['/svc/apis/oas', toOas(classic).document],
      ] as const) {
        const { status, text } = await gateway.svc('POST', path, sent)
        assert.equal(status, 400, `${place} ${word} ${path}`)
        assert.ok(text.includes(`values kept elsewhere (${word}://)`), `${place} ${path}: ${text}`)
        assert.match(text, /write the value itself/)
      }
    }
})
