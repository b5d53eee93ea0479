import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Fault } from '../../../src/errors/fault.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { readClientFields } from '../../../src/model/oauth-clients/oauth-client-fields.ts'
import { isRedirectUri, isRegistrable } from '../../../src/model/oauth-clients/redirect-uri.ts'

const anyone = [
  'https://app.example/cb',
  'https://app.example:8443/cb?x=1&y=%20',
  'https://[2001:db8::1]/cb',
  'http://127.0.0.1/cb',
  'http://[::1]:8080/cb',
  'http://localhost:3000/callback',
  'com.example.app:/oauth',
  'com.example.app://oauth',
]
const administrators = ['http://client.example/redirect', 'http://10.0.0.1:8080/', 'myapp://callback', 'app+v2://done']
const nobody = [
  '',
  'cb',
  '/cb',
  '//app.example/cb',
  'https:',
  'https:///cb',
  'https:app.example',
  'https://app.example/cb#top',
  'https://user@app.example/cb',
  'https://user:pw@app.example/cb',
  'https://*.example/cb',
  'https://app.example\\@evil.example/',
  'https://app.example/a/../b',
  'https://app.example/%2e%2e/b',
  'https://app.example/%zz',
  'https://app.example/ü',
  'https://app.example/a b',
  'https://app.example/\u0000',
  'http://user@localhost/',
  'javascript:alert(1)',
  'javascript://app.example/%0aalert(1)',
  'JavaScript://app.example/%0aalert(1)',
  'data:text/html,x',
  'vbscript://x/y',
  'file:///etc/passwd',
  'file://host/etc/passwd',
  'blob:https://app.example/1',
  'ws://app.example/',
  'intent://scan/#Intent;end',
  'urn:ietf:wg:oauth:2.0:oob',
  `https://app.example/${'x'.repeat(2048)}`,
]

test('redirect URIs that anybody may register, that administrators may, and that nobody may', () => {
  for (const uri of anyone) assert.deepEqual([isRegistrable(uri), isRedirectUri(uri)], [true, true], uri)
  for (const uri of administrators) assert.deepEqual([isRegistrable(uri), isRedirectUri(uri)], [false, true], uri)
  for (const uri of nobody) assert.deepEqual([isRegistrable(uri), isRedirectUri(uri)], [false, false], uri)
})

test('whatever is taken is an absolute URL that comes back as it was, without fragment and user', () => {
  const piece = fc.constantFrom(
    'https',
    'http',
    'a.b',
    'app',
    'javascript',
    ':',
    '/',
    '//',
    'x.example',
    '@',
    '#',
    '?',
    '..',
    '%2e',
    '\\',
    '*',
    ';',
    ' ',
    '[::1]',
    ':80',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const uri = pieces.join('')
      if (!isRedirectUri(uri)) return
      const url = new URL(uri)
      assert.deepEqual([url.hash, url.username, url.password], ['', '', ''])
      assert.ok(!/^(?:javascript|data|file|vbscript|blob):/.test(url.protocol))
      assert.ok(!uri.includes('*') || !url.host.includes('*'))
    }),
    { numRuns: process.env.GATEHOUSE_DEEP === '1' ? 200_000 : 5000 },
  )
})

test('whatever a body says, it is read or refused in words', () => {
  const names = [
    'redirect_uri',
    'redirect_uris',
    'policy_id',
    'policies',
    'metadata',
    'meta_data',
    'jwks',
    'jwks_uri',
    'scope',
    'grant_types',
    'auth_method',
    'certificate',
    'token_lifetime',
    'date_created',
    'api_ids',
    'description',
    '__proto__',
    'constructor',
    'epoch',
  ]
  const body = fc.dictionary(fc.constantFrom(...names), fc.jsonValue({ maxDepth: 3 }), { noNullPrototype: true })
  fc.assert(
    fc.property(body, (sent) => {
      try {
        const { extra } = readClientFields(sent as JsonObject)
        assert.equal('epoch' in extra, false)
      } catch (error) {
        assert.ok(error instanceof Fault && error.code === 'oauth_client_invalid', String(error))
      }
    }),
    { numRuns: process.env.GATEHOUSE_DEEP === '1' ? 100_000 : 3000 },
  )
})
