import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  redactBody,
  redactHead,
  redactJson,
  redactQuery,
  redactUrl,
} from '../../../src/model/secrets/redact-traffic.ts'

const DEEP = process.env.GATEHOUSE_DEEP === '1'
const RUNS = { numRuns: DEEP ? 20_000 : 500 }
const NONE: ReadonlySet<string> = new Set()
const OWN: ReadonlySet<string> = new Set(['x-shop', 'shop'])
const facts = (type: string, more: { encoding?: string; totalBytes?: number } = {}) => ({
  ...{ type, encoding: '', totalBytes: 0 },
  ...more,
})
const body = (text: string, type: string, names = NONE) => redactBody(Buffer.from(text), facts(type), names)

test('a query keeps what it says and loses what it hides, however names are written', () => {
  const cases = [
    ['a=1&b=2', 'a=1&b=2'],
    ['access_token=T&a=1', 'access_token=***&a=1'],
    ['a=1;client_secret=T', 'a=1;client_secret=***'],
    ['access%5Ftoken=T', 'access%5Ftoken=***'],
    ['Access_Token=T&ACCESS_TOKEN=T', 'Access_Token=***&ACCESS_TOKEN=***'],
    ['user[password]=T&user[name]=n', 'user[password]=***&user[name]=n'],
    ['shop=T&shopping=1', 'shop=***&shopping=1'],
    ['code=T&state=s&key=T', 'code=***&state=s&key=***'],
    ['%zz=1&%E0%A4token=T', '%zz=1&%E0%A4token=***'],
    ['flag&&=x&token', 'flag&&=x&token'],
    ['__proto__=1&constructor=2', '__proto__=1&constructor=2'],
  ]
  for (const [given, kept] of cases) assert.equal(redactQuery(given!, OWN), kept)
})

test('a URL loses secrets of its query, its fragment, its user part and segments that are tokens', () => {
  const cases = [
    ['/a/b?x=1', '/a/b?x=1'],
    ['/a?token=T#access_token=T&y=1', '/a?token=***#access_token=***&y=1'],
    ['/verify/eyJhbGciOi.eyJzdWIi.c2ln/x', '/verify/***/x'],
    ['https://user:T@host/a?sig=T', 'https://***@host/a?sig=***'],
    ['//user:T@host/', '//***@host/'],
    ['', ''],
  ]
  for (const [given, kept] of cases) assert.equal(redactUrl(given!, NONE), kept)
})

test('a head keeps its lines, without credentials, cookies and what the API reads as a key', () => {
  const head = [
    'GET /x?api_key=T&a=1 HTTP/1.1',
    'Host: h',
    'authorization: Bearer T',
    'Cookie: a=T',
    'X-Shop: T',
    'X-Api-Key:T',
    'Referer: https://h/?access_token=T&b=2',
    'X-Plain: value',
  ]
  assert.deepEqual(redactHead(head.join('\r\n'), OWN).split('\r\n'), [
    'GET /x?api_key=***&a=1 HTTP/1.1',
    'Host: h',
    'authorization: ***',
    'Cookie: ***',
    'X-Shop: ***',
    'X-Api-Key: ***',
    'Referer: https://h/?access_token=***&b=2',
    'X-Plain: value',
  ])
  assert.equal(redactHead('HTTP/1.1 200 OK\r\nSet-Cookie: T', NONE), 'HTTP/1.1 200 OK\r\nSet-Cookie: ***')
})

test('JSON loses the values of secret members at any depth, and nothing else', () => {
  const cases = [
    ['{"a":1,"password":"T","b":[{"refresh_token":"T"}]}', '{"a":1,"password":"***","b":[{"refresh_token":"***"}]}'],
    ['{"secret":{"deep":["T","}"]},"b":2}', '{"secret":"***","b":2}'],
    ['{"pass\\u0077ord" : 12345 , "b":2}', '{"pass\\u0077ord" : "***" , "b":2}'],
    ['{"password":"T\\"T', '{"password":"***"'],
    ['{"password":["T",{"a":"T"', '{"password":"***"'],
    ['{"passw', '{"passw'],
    ['{"x":"password","token":"T"}', '{"x":"password","token":"***"}'],
    ['["token","T2"]', '["token","T2"]'],
    ['{"token":"T"}\n{"token":"T"}\n', '{"token":"***"}\n{"token":"***"}\n'],
  ]
  for (const [given, kept] of cases) assert.equal(redactJson(given!, NONE), kept)
  const json = fc.json()
  fc.assert(
    fc.property(json, (text) => {
      const plain =
        /pass|pwd|secret|token|sealed|key|code|auth|bearer|sig|pin|cvv|cvc|jwt|sid|cookie|csrf|otp|session|saml|hmac|ticket|history|hash|credential|recovery|nonce|assertion|redirect|admin|dpop/i
      fc.pre(!plain.test(text))
      assert.equal(redactJson(text, NONE), text)
    }),
    RUNS,
  )
})

test('bodies of every form lose their secrets, cut anywhere', () => {
  const secret = 'S3CR3T-value-of-somebody'
  const forms = [
    [`{"user":"u","password":"${secret}","more":{"client_secret":"${secret}"}}`, 'application/json'],
    [`{"list":[{"access_token":"${secret}"},{"api_key":["${secret}"]}]}`, 'application/vnd.api+json; charset=utf-8'],
    [`grant_type=password&username=u&password=${secret}&x=1`, 'application/x-www-form-urlencoded'],
    [
      `--b\r\nContent-Disposition: form-data; name="password"\r\n\r\n${secret}\r\n--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n{"token":"${secret}"}\r\n--b--\r\n`,
      'multipart/form-data; boundary=b',
    ],
    [`<login><user>u</user><ns:password a="1">${secret}</ns:password><x token="${secret}"/></login>`, 'text/xml'],
    [`user: u\npassword: ${secret}\ntoken=${secret}\n`, 'text/plain'],
    [`grant_type=password&password=${secret}`, ''],
    [`{"password":"${secret}"}`, ''],
    [`data: {"access_token":"${secret}"}\n\n`, 'text/event-stream'],
  ] as const
  for (const [text, type] of forms) {
    const whole = body(text, type)
    assert.ok(!whole.includes(secret), `${type}: ${whole}`)
    assert.ok(whole.includes('***'), type)
    const from = text.indexOf(secret)
    for (let end = 0; end <= text.length; end++) {
      const kept = body(text.slice(0, end), type)
      // Of a value that the cut has halved nothing is left either.
      assert.ok(end <= from + 6 || !kept.includes(secret.slice(0, 6)), `${type} cut at ${end}: ${kept}`)
    }
  }
})

test('what is no text, and what is compressed, leaves a note', () => {
  assert.equal(redactBody(Buffer.of(0, 1, 2), facts('image/png', { totalBytes: 3 }), NONE), '[3 bytes of image/png]')
  assert.equal(redactBody(Buffer.of(0, 1, 2), facts('', { totalBytes: 9 }), NONE), '[9 bytes of no known type]')
  assert.equal(
    redactBody(Buffer.of(31, 139), facts('application/json', { encoding: 'gzip', totalBytes: 2 }), NONE),
    '[2 bytes, gzip]',
  )
  assert.equal(redactBody(Buffer.alloc(0), facts('image/png'), NONE), '')
  assert.equal(body('plain words', 'text/plain'), 'plain words')
  const umlaut = Buffer.from('{"a":"ä"}').subarray(0, 8)
  assert.equal(redactBody(umlaut, facts('application/json'), NONE), '{"a":"ä')
  assert.equal(redactBody(umlaut.subarray(0, 7), facts('application/json'), NONE), '{"a":"')
})

test('no body is slow, whatever stands in it', () => {
  const units = [
    'a',
    'a.',
    'a-',
    '"',
    '\\"',
    '{"a":',
    '[',
    '<a',
    '<a ',
    '="',
    '--',
    'token',
    'eyJ.',
    ' ',
    'a=',
    '&',
    '%4',
    '\n',
  ]
  for (const unit of units) {
    for (const type of [
      'application/json',
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      '',
    ]) {
      const text = unit.repeat(Math.ceil(65_536 / unit.length))
      const startedAt = process.cpuUsage().user
      body(text, type)
      redactUrl(text, NONE)
      redactHead(text, NONE)
      const usedMs = (process.cpuUsage().user - startedAt) / 1000
      assert.ok(usedMs < 1000, `${JSON.stringify(unit)} as ${type}: ${usedMs} ms`)
    }
  }
})
