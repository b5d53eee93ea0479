import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { WireExchange } from '../../../src/wire/http1/exchange.ts'
import { FIELD } from '../../../src/wire/http1/fields.ts'
import { readHead } from '../../../src/wire/http1/head.ts'
import { readPath } from '../../../src/wire/http1/path.ts'
import type { HeadBounds } from '../../../src/wire/http1/scan.ts'
import { hostLength } from '../../../src/wire/http1/target.ts'

const RUNS = { numRuns: process.env.GATEHOUSE_DEEP === '1' ? 50_000 : 2000 }

const ALL_NAMES = { maxHeadBytes: 16_384, maxFields: 100, allowUnderscores: true }

function read(head: string, bounds?: HeadBounds): WireExchange {
  const x = new WireExchange()
  const fault = readHead(x, head, bounds)
  assert.equal(fault, undefined, `${JSON.stringify(head)}: ${fault?.message}`)
  return x
}

/** Normal form; undefined = refused. */
function pathOf(path: string): string | undefined {
  const forms = readPath(path)
  return forms instanceof Error ? undefined : forms.path
}

function refusal(head: string): string {
  return readHead(new WireExchange(), head)?.code ?? 'accepted'
}

test('a head is read into the exchange', () => {
  const x = read(
    'POST /a/../b%7e//c?x=%2f&y HTTP/1.1\r\nHost: Example.ORG:8080\r\nContent-Length: 007\r\nX-A:  b c \t\r\n\r\n',
  )
  assert.deepEqual(
    [x.method, x.path, x.query, x.hasQuery, x.host, x.authority, x.http11, x.bodyLength, x.hasLength, x.keepAlive],
    ['POST', '/b~/c', 'x=%2f&y', true, 'example.org', 'Example.ORG:8080', true, 7, true, true],
  )
  assert.equal(x.request.get('x-a'), 'b c')
  assert.equal(x.request.get('x-b'), undefined)
})

test('targets: origin, absolute and asterisk form', () => {
  for (const [line, path, query, host] of [
    ['GET /? HTTP/1.1\r\nHost: a', '/', '', 'a'],
    ['GET http://A.test HTTP/1.1\r\nHost: a.TEST', '/', '', 'a.test'],
    ['GET HTTPS://a:1/p/?q HTTP/1.1\r\nHost: a:1', '/p/', 'q', 'a'],
    ['GET http://a?q=/x HTTP/1.1\r\nHost: a', '/', 'q=/x', 'a'],
    ['GET http://[::1]:8/ HTTP/1.1\r\nHost: [::1]:8', '/', '', '[::1]'],
    ['GET http://a:80/ HTTP/1.1\r\nHost: A', '/', '', 'a'],
    ['GET http://a/ HTTP/1.1\r\nHost: a:', '/', '', 'a'],
    ['GET https://a:/ HTTP/1.1\r\nHost: a:443', '/', '', 'a'],
    ['GET /x HTTP/1.1\r\nHost: [::1]:', '/x', '', '[::1]'],
    ['GET /x?a=%00&%zz HTTP/1.1\r\nHost: a', '/x', 'a=%00&%25zz', 'a'],
    ['GET http://old/x HTTP/1.0', '/x', '', 'old'],
    ['GET /x HTTP/1.0', '/x', '', ''],
    ['OPTIONS * HTTP/1.1\r\nHost: a', '*', '', 'a'],
    ['OPTIONS http://a HTTP/1.1\r\nHost: a', '*', '', 'a'],
  ] as const) {
    const x = read(`${line}\r\n\r\n`)
    assert.deepEqual([x.path, x.query, x.host], [path, query, host], line)
  }
})

test('what is refused, and with which code', () => {
  const long = 'a'.repeat(9000)
  const many = 'X: y\r\n'.repeat(101)
  for (const [head, code] of [
    ['CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n', 'method_not_implemented'],
    [`${'M'.repeat(33)} / HTTP/1.1\r\nHost: a\r\n\r\n`, 'method_not_implemented'],
    ['GET / HTTP/2.0\r\nHost: a\r\n\r\n', 'version_not_supported'],
    ['GET / HTTP/1.2\r\nHost: a\r\n\r\n', 'version_not_supported'],
    ['GET http://a:81/ HTTP/1.1\r\nHost: a\r\n\r\n', 'request_malformed'],
    ['GET https://a:80/ HTTP/1.1\r\nHost: a\r\n\r\n', 'request_malformed'],
    ['GET http://a::/ HTTP/1.1\r\nHost: a:\r\n\r\n', 'request_malformed'],
    ['GET / HTTP/0.9\r\n\r\n', 'version_not_supported'],
    [`GET /${long} HTTP/1.1\r\nHost: a\r\n\r\n`, 'uri_too_long'],
    [`GET / HTTP/1.1\r\nHost: a\r\nX: ${long}${long}\r\n\r\n`, 'head_too_large'],
    [`GET / HTTP/1.1\r\nHost: a\r\n${many}\r\n`, 'head_too_large'],
    ['GET http://a/ HTTP/1.1\r\nHost: b\r\n\r\n', 'request_malformed'],
    ['GET /../a HTTP/1.1\r\nHost: a\r\n\r\n', 'request_malformed'],
    ['GET /%2e%2E/a HTTP/1.1\r\nHost: a\r\n\r\n', 'request_malformed'],
    ['GET /%00 HTTP/1.1\r\nHost: a\r\n\r\n', 'request_malformed'],
    ['GET / HTTP/1.1\r\n\r\n', 'request_malformed'],
    ['GET / HTTP/1.1\r\nHost: a\r\nConnection: \u00a0close\r\n\r\n', 'request_malformed'],
    ['GET / HTTP/1.1\r\nHost: a\r\nConnection: authorization\r\n\r\n', 'request_malformed'],
    ['GET / HTTP/1.1\r\nHost: a\r\n', 'request_malformed'],
    ['GET / HTTP/1.1\r\nHost: a\r\n\r\nGET', 'request_malformed'],
  ] as const) {
    assert.equal(refusal(head), code, JSON.stringify(head.slice(0, 80)))
  }
})

test('what Connection names and what is hop-by-hop is left out, the rest is kept byte for byte', () => {
  const x = read(
    'GET / HTTP/1.1\r\nA: 1\r\nHost: a\r\nB:2\r\nConnection: close, X-Hop ,te\r\nx-hop: 3\r\nTE: trailers\r\n' +
      'Keep-Alive: timeout=5\r\nC:   4 \r\nX-HOP: 5\r\nProxy-Connection: x\r\nProxy-Authorization: y\r\nD: \xe9\r\n\r\n',
  )
  assert.equal(x.request.kept(), 'A: 1\r\nB:2\r\nC:   4 \r\nD: \xe9\r\n')
  assert.equal(x.keepAlive, false)
  assert.equal(x.request.get('x-hop'), '3', 'dropped fields are found')
  assert.deepEqual(x.request.all('x-hop'), ['3', '5'])
})

test('fields are found, dropped and listed whatever their letter case', () => {
  const head = 'GET / HTTP/1.1\r\nHost: a\r\nAUTHORIZATION: b\r\nCookie: c\r\ncookie: d\r\n__proto__: e\r\n\r\n'
  const x = read(head, ALL_NAMES)
  const { request } = x
  assert.equal(request.known(FIELD.authorization), 'b')
  assert.equal(request.has(FIELD.cookie), true)
  assert.equal(request.has(FIELD.date), false)
  assert.deepEqual(request.all('cookie'), ['c', 'd'])
  assert.equal(request.get('__proto__'), 'e')
  request.dropKnown(FIELD.cookie)
  request.drop('authorization')
  assert.deepEqual(request.entries(), [['__proto__', 'e']])
  assert.equal(request.kept(), '__proto__: e\r\n')
  assert.equal(request.known(FIELD.cookie), 'c')
})

test('every FIELD number is given to its name', () => {
  for (const [key, number] of Object.entries(FIELD)) {
    if (number === FIELD.other || number === FIELD.host || number === FIELD.contentLength) continue
    if (number === FIELD.transferEncoding || number === FIELD.expect || number === FIELD.connection) continue
    const name = key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    const x = read(`GET / HTTP/1.1\r\nHost: a\r\n${name.toUpperCase()}: v\r\n\r\n`)
    assert.equal(x.request.known(number), 'v', name)
    const near = read(`GET / HTTP/1.1\r\nHost: a\r\n${name.slice(0, -1)}!: v\r\n\r\n`)
    assert.equal(near.request.has(number), number === FIELD.xForwardedOther, name)
  }
})

test('Upgrade counts only on a bodiless HTTP/1.1 request with Connection, never to HTTP/2 or TLS', () => {
  const upgradeOf = (fields: string, version = '1.1') =>
    read(`GET / HTTP/${version}\r\nHost: a\r\n${fields}\r\n`).upgrade
  assert.equal(upgradeOf('Connection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n'), 'WebSocket')
  assert.equal(upgradeOf('Upgrade: websocket\r\n'), '')
  assert.equal(upgradeOf('Connection: Upgrade\r\nUpgrade: websocket\r\n', '1.0'), '')
  assert.equal(upgradeOf('Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 1\r\n'), '')
  for (const protocol of ['h2c', 'H2C', 'foo, h2c', 'HTTP/2.0', 'TLS/1.0']) {
    assert.equal(upgradeOf(`Connection: Upgrade\r\nUpgrade: ${protocol}\r\n`), '', protocol)
  }
})

test('paths have one spelling', () => {
  for (const [path, normal] of [
    ['/', '/'],
    ['/a/./b/../c', '/a/c'],
    ['/a/b/..', '/a/'],
    ['/a/.', '/a/'],
    ['/a//b///', '/a/b/'],
    ['//..', undefined],
    ['/a/../..', undefined],
    ['/%41%2d%2f%3a%5c', '/A-%2F:%5C'],
    ['/%253a', '/%253a'],
    ['/caf%c3%a9%20%7b', '/caf%C3%A9%20%7B'],
    ['/a/%2E%2e/b', '/b'],
    ['/a;/../b', '/b'],
    ['/...', '/...'],
  ] as const) {
    assert.equal(pathOf(path), normal, path)
  }
})

test('the path goes on as it was sent, but for dot segments', () => {
  for (const [path, sent] of [
    ['/', '/'],
    ['/%41%2d%3a//b/', '/%41%2d%3a//b/'],
    ['//a//b//', '//a//b//'],
    ['/a/./b/../%63', '/a/%63'],
    ['/a//../b', '/b'],
    ['/a/%2e%2e//b', '//b'],
    ['/a/..', '/'],
  ] as const) {
    const forms = readPath(path)
    assert.ok(!(forms instanceof Error) && forms.sent === sent, path)
  }
})

test('segments that hide dots, and escapes that are not UTF-8, are refused', () => {
  const dots = ['..', '.', '%2e%2e', '%252e%252e', '.%252e', '%25252e.']
  const borders = ['%2f', '%5c', '%252F', '%255C', ';', '%3b', '%253b']
  for (const dot of dots) {
    for (const border of borders) {
      for (const path of [`/a/${dot}${border}b`, `/a/${dot}${border}`]) assert.equal(pathOf(path), undefined, path)
      if (!/;|3b/.test(border)) assert.equal(pathOf(`/a${border}${dot}/b`), undefined, border + dot)
    }
    if (dot.includes('25')) assert.equal(pathOf(`/a/${dot}/b`), undefined, dot)
  }
  for (const bytes of [
    '%c0%ae',
    '%c0%af',
    '%e0%80%af',
    '%e9',
    '%c3',
    '%a9',
    '%c3%28',
    '%ed%a0%80',
    '%f4%90%80%80',
    '%C3x%A9',
  ]) {
    assert.equal(pathOf(`/a${bytes}/b`), undefined, bytes)
  }
  for (const path of ['/a;x=1/..b/b..;/...', '/%25', '/a%20.', '/%F0%9F%98%80']) assert.ok(pathOf(path), path)
})

test('a registered method in another letter case is refused', () => {
  const refused = (method: string) => refusal(`${method} / HTTP/1.1\r\nHost: a\r\n\r\n`)
  for (const method of ['get', 'Get', 'gET', 'hEAD', 'post', 'Options', 'propfind', 'Version-Control']) {
    assert.equal(refused(method), 'request_malformed', method)
  }
  assert.equal(refused('connect'), 'method_not_implemented')
  for (const method of ['GET', 'HEAD', 'PROPFIND', 'purge', 'Cook']) assert.equal(refused(method), 'accepted', method)
})

test('a normalised path is its own normal form and has no dot segment', () => {
  const piece = fc.constantFrom('/', '//', '.', '..', 'a', '%2e', '%2F', '%61', ';', '~', '%c3%a9')
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const normal = pathOf(`/${pieces.join('')}`)
      if (normal === undefined) return
      assert.equal(pathOf(normal), normal)
      assert.ok(normal.startsWith('/') && !/\/\.{0,2}\//.test(normal) && !/\/\.{1,2}$/.test(normal), normal)
    }),
    RUNS,
  )
})

test('the usual WHATWG reading of a path agrees where both take it', () => {
  const piece = fc.constantFrom('/', '.', '..', 'a', 'b', '%2e', '%2F')
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const path = `/${pieces.join('')}`
      if (path.includes('//')) return
      const normal = pathOf(path)
      if (normal === undefined || normal.includes('%')) return
      const theirs = new URL(`http://a${path}`).pathname.replaceAll(/%2e/gi, '.')
      assert.equal(normal, theirs.replaceAll(/\/{2,}/g, '/'), path)
    }),
    RUNS,
  )
})

test('hosts', () => {
  for (const good of [
    'a',
    'a.b-c_d~',
    '1.2.3.4',
    'a:1',
    'a:65535',
    'a:',
    '[::1]:',
    '[::]',
    '[::1]:80',
    '[1:2:3:4:5:6:7:8]',
    '[::ffff:1.2.3.4]',
  ]) {
    assert.ok(hostLength(good) > 0, good)
  }
  const bad = [
    '',
    ':',
    ':80',
    'a::',
    'a:65536',
    'a:x',
    'a:1:2',
    'a b',
    'a@b',
    'a/b',
    'a?b',
    'a#b',
    'a,b',
    'a%41',
    '[',
    '[]',
    '[::1',
    '::1',
  ]
  for (const one of [
    ...bad,
    '[::1]x',
    '[:::]',
    '[1:2]',
    '[1::2::3]',
    '[::1%25eth0]',
    '[1:2:3:4:5:6:7:8:9]',
    '[::1.2.3]',
    '[g::]',
  ]) {
    assert.equal(hostLength(one), -1, one)
  }
})

test('no text makes the reader throw, and what it accepts is whole', () => {
  const line = fc.constantFrom(
    'GET / HTTP/1.1',
    'GET  /',
    'Host: a',
    'Host: b',
    'A : b',
    ' folded',
    'Content-Length: 1',
    'A: \u0100',
    '',
  )
  fc.assert(
    fc.property(fc.array(fc.oneof(line, fc.string()), { maxLength: 6 }), (lines) => {
      const head = `${lines.join('\r\n')}\r\n\r\n`
      const x = new WireExchange()
      if (readHead(x, head) === undefined) assert.match(head, /^(?:\r\n)?[!-~]+ [!-~]+ HTTP\/1\.[01]\r\n[\s\S]*\r\n$/)
    }),
    RUNS,
  )
})
