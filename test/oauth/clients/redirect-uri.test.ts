import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isLoopback, isRegistrable } from '../../../src/model/oauth-clients/redirect-uri.ts'
import { redirectOf } from '../../../src/oauth/clients/redirect-uri.ts'
import { faultOf } from '../../worlds/oauth/front-fixtures.ts'

const RUNS = process.env.GATEHOUSE_DEEP === '1' ? 50_000 : 1_000
const of = (...uris: string[]) => ({ redirect_uris: uris })
const refuses = (registered: string, asked: string) => {
  assert.throws(
    () => redirectOf(of(registered), asked),
    faultOf('oauth_invalid_request'),
    `${registered} took ${asked}`,
  )
}

test('the only redirect URI stands for none; several need a choice; none is refused', () => {
  assert.equal(redirectOf(of('https://a.example/cb'), undefined), 'https://a.example/cb')
  assert.equal(redirectOf(of('https://a.example/cb'), ''), 'https://a.example/cb')
  assert.equal(
    redirectOf(of('https://a.example/1', 'https://a.example/2'), 'https://a.example/2'),
    'https://a.example/2',
  )
  const several = of('https://a.example/1', 'https://a.example/2')
  assert.throws(() => redirectOf(several, undefined), faultOf('oauth_invalid_request', 'several'))
  assert.throws(() => redirectOf(of(), undefined), faultOf('oauth_invalid_request', 'no redirect URI'))
  assert.throws(() => redirectOf(of(), 'https://a.example/cb'), faultOf('oauth_invalid_request'))
})

const REGISTERED = 'https://app.example/cb'
for (const asked of [
  'https://app.example/cb/',
  'https://app.example/cb/more',
  'https://app.example/cbx',
  'https://app.example/c',
  'https://app.example/',
  'https://app.example',
  'https://app.example/CB',
  'https://APP.example/cb',
  'HTTPS://app.example/cb',
  'http://app.example/cb',
  'https://app.example:443/cb',
  'https://app.example:8443/cb',
  'https://app.example./cb',
  'https://app.example.evil.example/cb',
  'https://app.example@evil.example/cb',
  'https://user@app.example/cb',
  'https://user:pass@app.example/cb',
  'https://evil.example/https://app.example/cb',
  'https://app.example/cb?x=1',
  'https://app.example/cb?',
  'https://app.example/cb#x',
  'https://app.example/cb#',
  'https://app.example/%63b',
  'https://app.example/cb%2F..',
  'https://app.example/x/../cb',
  'https://app.example/./cb',
  'https://app.example//cb',
  'https://app.example\\cb',
  'https:\\\\app.example/cb',
  'https:/app.example/cb',
  '//app.example/cb',
  '/cb',
  ' https://app.example/cb',
  'https://app.example/cb ',
  'https://app.example/cb\n',
  'https://app.example/cb\t',
  'https://app.example/cb\0',
  'https://\u{61}pp.ex\u0430mple/cb',
  'javascript:alert(1)//https://app.example/cb',
]) {
  test(`not the registered one: ${JSON.stringify(asked)}`, () => refuses(REGISTERED, asked))
}

test('the port of a loopback address may differ, and nothing else of it (RFC 8252 section 7.3)', () => {
  for (const host of ['127.0.0.1', '[::1]', 'localhost']) {
    const registered = `http://${host}/cb?x=1`
    assert.equal(redirectOf(of(registered), `http://${host}:51004/cb?x=1`), `http://${host}:51004/cb?x=1`)
    assert.equal(redirectOf(of(`http://${host}:3000/cb`), `http://${host}:4000/cb`), `http://${host}:4000/cb`)
    assert.equal(redirectOf(of(`http://${host}:3000`), `http://${host}`), `http://${host}`)
    for (const asked of [
      `https://${host}:51004/cb?x=1`,
      `http://${host}:51004/cb?x=2`,
      `http://${host}:51004/cb`,
      `http://${host}:51004/cb?x=1#`,
      `http://${host}:0/cb?x=1`,
      `http://${host}:08/cb?x=1`,
      `http://${host}:65536/cb?x=1`,
      `http://${host}:510045/cb?x=1`,
      `http://${host}:/cb?x=1`,
      `http://${host}:51004@evil.example/cb?x=1`,
      `http://${host}:51004\\@evil.example/cb?x=1`,
      `http://${host}.evil.example:51004/cb?x=1`,
      `http://evil.example:51004/cb?x=1`,
      `http://x@${host}:51004/cb?x=1`,
      `HTTP://${host}:51004/cb?x=1`,
      `http://${host}:51004/cb?x=1\n`,
    ])
      refuses(registered, asked)
  }
  refuses('http://127.0.0.1/cb', 'http://localhost:51004/cb')
  refuses('http://127.0.0.1/cb', 'http://[::1]:51004/cb')
  refuses('http://127.0.0.1/cb', 'http://127.1:51004/cb')
  refuses('http://127.0.0.1/cb', 'http://2130706433:51004/cb')
  refuses('http://app.example:80/cb', 'http://app.example:81/cb')
})

// Attackers' changes to an address: each keeps it looking alike.
const change = fc.constantFrom<(uri: string) => string>(
  (uri) => `${uri}/`,
  (uri) => `${uri}x`,
  (uri) => uri.slice(0, -1),
  (uri) => uri.toUpperCase(),
  (uri) => uri.replace('://', '://user@'),
  (uri) => uri.replace('://', '://evil.example/'),
  (uri) => uri.replace('://', '://evil.example\\'),
  (uri) => uri.replace('://', '://evil.example#'),
  (uri) => uri.replace(/:\/\/([^/]+)/, '://$1.'),
  (uri) => uri.replace(/:\/\/([^/]+)/, '://$1.evil.example'),
  (uri) => uri.replace(/:\/\/([^/]+)/, '://$1@evil.example'),
  (uri) => uri.replace(/:\/\/([^/]+)/, '://$1:444'),
  (uri) => `${uri}/../x`,
  (uri) => `${uri}/..;/x`,
  (uri) => `${uri}%2e%2e/x`,
  (uri) => `${uri}?x=1`,
  (uri) => `${uri}#x`,
  (uri) => `${uri}%00`,
  (uri) => uri.replace('c', '%63'),
  (uri) => uri.replace('https', 'http'),
  (uri) => ` ${uri}`,
  (uri) => `${uri}\r\nX: y`,
)
const host = fc.constantFrom('app.example', 'a.b.example', 'xn--80ak6aa92e.example', '192.0.2.1')
const path = fc.constantFrom('/cb', '/cb/deep', '/a.b/c-d', '/c%20b')

test('property: whatever is changed about a registered address, it is not that address any more', () => {
  fc.assert(
    fc.property(host, path, fc.array(change, { minLength: 1, maxLength: 3 }), (name, where, changes) => {
      const registered = `https://${name}${where}`
      const asked = changes.reduce((uri, apply) => apply(uri), registered)
      if (asked === registered) return
      refuses(registered, asked)
    }),
    { numRuns: RUNS },
  )
})

test('property: what is accepted for a loopback address reaches the same host, path and query', () => {
  const rest = fc.constantFrom('', '/', '/cb', '/cb?x=1', '/cb/..')
  const tail = fc.oneof(
    fc.nat({ max: 99_999 }).map((port) => `:${port}`),
    fc.constantFrom('', ':', '@evil.example', '.evil.example', ':80:80', ':1@x', '\\', '#', '?', '%3a80'),
  )
  fc.assert(
    fc.property(fc.constantFrom('127.0.0.1', '[::1]', 'localhost'), rest, rest, tail, (name, own, other, port) => {
      const asked = `http://${name}${port}${other}`
      let taken: string
      try {
        taken = redirectOf(of(`http://${name}${own}`), asked)
      } catch {
        return
      }
      assert.equal(taken, asked)
      const [is, was] = [new URL(asked), new URL(`http://${name}${own}`)]
      assert.equal(is.hostname, was.hostname)
      assert.equal(is.pathname + is.search, was.pathname + was.search)
      assert.equal(is.username + is.password + is.hash, '')
    }),
    { numRuns: RUNS },
  )
})

for (const uri of [
  'https://app.example/cb',
  'https://app.example',
  'https://app.example:8443/cb?tenant=1',
  'https://192.0.2.1/cb',
  'https://[2001:db8::1]:8443/cb',
  'http://127.0.0.1/cb',
  'http://127.0.0.1:3000/cb',
  'http://[::1]/cb',
  'http://localhost:8080',
  'com.example.app:/cb',
  'com.example.app://cb/more',
  'com.example.app:cb',
]) {
  test(`may be registered: ${uri}`, () => assert.ok(isRegistrable(uri)))
}

for (const uri of [
  '',
  'app.example/cb',
  '/cb',
  '//app.example/cb',
  'https://',
  'https:///cb',
  'https:/app.example/cb',
  'https:app.example/cb',
  'https:\\\\app.example',
  'https://app.example/cb#',
  'https://app.example/cb#x',
  'https://user@app.example/cb',
  'https://user:x@app.example/cb',
  'https://*.example/cb',
  'https://app.example:99999/cb',
  'https://app.example:/cb',
  'https://app.example/a/../cb',
  'https://app.example/a/%2E%2e/cb',
  'https://app.example/..',
  'https://app.example/%zz',
  'https://app.example/c b',
  'https://app.example/cb\n',
  'https://app.example/<x>',
  'https://пример.example/cb',
  `https://app.example/${'x'.repeat(2048)}`,
  'http://app.example/cb',
  'http://127.0.0.1.evil.example/cb',
  'http://127.0.0.1@evil.example/cb',
  'http://localhost:0/cb',
  'http://localhost:70000/cb',
  'http://0.0.0.0/cb',
  'http://127.0.0.2/cb',
  'javascript:alert(1)',
  'JavaScript:alert(1)',
  'java.script:',
  'data:text/html,x',
  'vbscript:x',
  'file:///etc/passwd',
  'blob:https://app.example/x',
  'about:blank',
  'myapp:/cb',
  'myapp://cb',
  'COM.EXAMPLE.APP:/cb',
  '.com:/cb',
  'com.:/cb',
  'urn:ietf:wg:oauth:2.0:oob',
]) {
  test(`may not be registered: ${JSON.stringify(uri.slice(0, 60))}`, () => assert.ok(!isRegistrable(uri)))
}

test('loopback addresses are told from names that look like them', () => {
  assert.ok(isLoopback('http://127.0.0.1:1/cb'))
  for (const uri of [
    'https://127.0.0.1/cb',
    'http://127.0.0.10/cb',
    'http://localhost.example/',
    'http://localhost@x/',
  ])
    assert.ok(!isLoopback(uri), uri)
})
