import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { Type } from 'typebox'
import { bare, ok } from '../../../src/dashboard/routes/answer.ts'
import { pageOf, pagesOf } from '../../../src/dashboard/routes/page.ts'
import { fault } from '../../../src/errors/fault.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { auditOf } from '../../../src/publish/documents/parts.ts'
import { ANY, ECHO, route, started } from '../../worlds/access-matrix/made-up-routes.ts'

test('answers where it is asked whether it answers, with and without slashes', async (t) => {
  const { call } = await started(t, {})
  for (const path of ['/hello', '/hello/', '//hello', '/health']) {
    const answer = await call('GET', path)
    assert.equal(answer.status, 200, path)
    assert.equal((answer.json as JsonObject).status, 'ok')
  }
  const wrong = await call('POST', '/hello', { body: '{}' })
  assert.equal(wrong.status, 405)
  assert.equal(wrong.headers.allow, 'GET')
  assert.equal((await call('GET', '/nowhere')).status, 404)
})

test('a body is JSON whatever it is called, and no redirect loses it', async (t) => {
  const { call } = await started(t, { routes: () => ECHO })
  for (const type of [
    'application/x-www-form-urlencoded',
    'text/plain; charset=latin1',
    'nonsense',
    'multipart/form-data',
  ]) {
    for (const path of ['/api/things/a', '/api/things/a/', '/api//things//a']) {
      const answer = await call('POST', path, { body: '{"a":{"b":1}}', headers: { 'content-type': type } })
      assert.equal(answer.status, 200, `${type} ${path}`)
      assert.deepEqual((answer.json as JsonObject).body, { a: { b: 1 } })
    }
  }
  const unlabelled = await call('DELETE', '/api/things/a', { body: '{"x":[]}' })
  assert.deepEqual((unlabelled.json as JsonObject).body, { x: [] })
})

test('a path is percent-decoded', async (t) => {
  const { call } = await started(t, { routes: () => ECHO })
  const id = async (path: string) => ((await call('GET', path)).json as JsonObject).id
  assert.equal(await id('/api/things/a%40b.c'), 'a@b.c')
  assert.equal(await id('/api/things/a+b%2Bc'), 'a+b+c')
  assert.equal(await id('/api/things/..%2F..%2Fetc'), '../../etc')
  assert.equal(await id(`/api/things/${'k'.repeat(3000)}`), 'k'.repeat(3000))
  assert.equal((await call('GET', '/api/things/%zz')).status, 400)
  const { json } = await call('GET', '/api/things/a?q=1+2&q=%2B&unknown=x')
  assert.deepEqual((json as JsonObject).q, ['1 2', '+'])
})

test('what is no acceptable JSON is refused with 403', async (t) => {
  const { call } = await started(t, { routes: () => ECHO })
  const nested = `${'['.repeat(101)}${']'.repeat(101)}`
  const bodies = ['', '{', '[1]', 'null', '{"a":1}x', `{"a":${nested}}`, '{"__proto__":{"admin":true}}']
  bodies.push('{"a":[{"\\u005f_proto__":1}]}', '{"a":"\\ud800"}', '{"\\udfff":1}', `{"a":${'['.repeat(5_000_000)}`)
  for (const body of bodies) {
    const answer = await call('POST', '/api/things/a', { body })
    assert.equal(answer.status, 403, body.slice(0, 40))
    assert.equal(answer.text, '{"Status":"Error","Message":"Request body malformed","Meta":null}')
  }
  const kept = '{"constructor":{"prototype":1},"text":"\\"[[[{{{\\\\","toString":null}'
  assert.deepEqual(((await call('POST', '/api/things/a', { body: kept })).json as JsonObject).body, JSON.parse(kept))
  assert.equal(({} as JsonObject).admin, undefined)
})

test('a body beyond the bound is refused before it is read', async (t) => {
  const { call } = await started(t, { routes: () => ECHO, env: { SVC_DB_MAXBODYBYTES: '1024' } })
  const body = JSON.stringify({ a: 'x'.repeat(2000) })
  assert.equal((await call('POST', '/api/things/a', { body })).status, 413)
  const chunked = await call('POST', '/api/things/a', { body, headers: { 'transfer-encoding': 'chunked' } })
  assert.equal(chunked.status, 413)
})

test('what a route declares of query and body is checked', async (t) => {
  const body = Type.Object({ name: Type.String({ minLength: 1 }) })
  const routes = [
    route({ method: 'POST', path: '/api/a', body, run: () => ok('made', 'x', { ID: 'y' }) }),
    route({ method: 'POST', path: '/api/b', body, invalid: 'Thing validation failed.', run: () => ok('made') }),
    route({
      method: 'GET',
      path: '/api/c',
      query: { n: Type.Integer({ maximum: 3 }), sort: Type.Enum(['a', 'b']) },
      run: () => bare([]),
    }),
  ]
  const { call } = await started(t, { routes: () => routes })
  assert.equal(
    (await call('POST', '/api/a', { body: { name: 'n', more: 1 } })).text,
    '{"Status":"OK","Message":"made","Meta":"x","ID":"y"}',
  )
  const wrong = await call('POST', '/api/a', { body: { name: '' } })
  assert.equal(wrong.status, 400)
  assert.match(wrong.text, /name/)
  assert.equal(
    ((await call('POST', '/api/b', { body: {} })).json as JsonObject).Message,
    'Thing validation failed: must have required properties name',
  )
  assert.equal((await call('POST', '/api/b', { body: '{' })).status, 403)
  for (const query of ['', '?n=3', '?n=', '?sort=b', '?other=1'])
    assert.equal((await call('GET', `/api/c${query}`)).status, 200)
  for (const query of ['?n=4', '?n=x', '?sort=c', '?sort=a&sort=z'])
    assert.equal((await call('GET', `/api/c${query}`)).status, 400)
})

test('files and fields of an upload', async (t) => {
  const routes = [
    route({
      method: 'POST',
      path: '/api/files',
      bodyIs: 'upload',
      run: (call) => bare({ file: Buffer.from(call.bytes()).toString(), note: call.form().get('note') }),
    }),
  ]
  const { call } = await started(t, { routes: () => routes })
  const part = (head: string, text: string) => `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${text}\r\n`
  const form = `${part('name="note"', 'hi')}${part('name="data"; filename="x.pem"', 'PEM')}--b--\r\n`
  const type = { 'content-type': 'multipart/form-data; boundary=b' }
  assert.deepEqual((await call('POST', '/api/files', { body: form, headers: type })).json, { file: 'PEM', note: 'hi' })
  assert.deepEqual((await call('POST', '/api/files', { body: 'raw' })).json, { file: 'raw', note: null })
  assert.equal((await call('POST', '/api/files', { body: '--c', headers: type })).status, 403)
})

test('answers forbid what browsers should not do with them, and carry a request id', async (t) => {
  const { call } = await started(t, {})
  const ids = new Set<unknown>()
  for (const path of ['/hello', '/nowhere', '/%zz']) {
    const { headers } = await call('GET', path, { headers: { 'x-request-id': 'mine' } })
    ids.add(headers['x-request-id'])
    assert.equal(headers['x-content-type-options'], 'nosniff', path)
    assert.equal(headers['x-frame-options'], 'DENY')
    assert.equal(headers['cache-control'], 'no-store')
    assert.match(String(headers['content-security-policy']), /default-src 'none'/)
    assert.match(String(headers['content-type']), /^application\/json/)
  }
  assert.equal(ids.size, 3)
  assert.ok(!ids.has('mine'))
})

test('a fault of ours says nothing of its cause to the caller and all of it to the log', async (t) => {
  const run = () => {
    throw new Error('the password is hunter2')
  }
  const routes = [route({ method: 'GET', path: '/api/x', answers: { 200: ANY, 500: ANY }, run })]
  const { port, log } = await started(t, { routes: () => routes })
  const answer = await fetch(`http://127.0.0.1:${port}/api/x`)
  assert.equal(answer.status, 500)
  assert.equal(await answer.text(), '{"Status":"Error","Message":"Internal error","Meta":null}')
  assert.equal(log.at(-1)?.level, 'error')
  assert.equal(log.at(-1)?.fields.request_id, answer.headers.get('x-request-id'))
})

test('publications are recorded with the request, reads on demand, refusals always', async (t) => {
  const routes = (
    parts: Parameters<typeof auditOf>[0] & { documents: import('../../../src/store/ports/ports.ts').Documents },
  ) => [
    route({
      method: 'POST',
      path: '/api/keys/{id}',
      access: { permission: 'keys' },
      owned: { noun: 'key', by: 'id' },
      query: { x: Type.String() },
      summary: 'Change a key',
      run: async (call) => {
        const entry = auditOf(parts, call.actor!.email, 'key.update', call.actor!.orgId, {})
        await parts.documents.commit([], entry)
        return ok('done')
      },
    }),
    route({
      method: 'GET',
      path: '/api/keys',
      access: { permission: 'keys' },
      query: { p: Type.Integer() },
      summary: 'List keys',
      run: () => bare([]),
    }),
  ]
  const { call, user, store } = await started(t, { routes, env: { SVC_DB_AUDIT_READS: 'true' } })
  const [writer, reader] = [await user({ keys: 'write' }), await user({ keys: 'read' })]
  await call('POST', '/api/keys/my-raw-key?token=abc&x=1', { as: writer })
  await call('GET', '/api/keys?p=1', { as: reader })
  await call('POST', '/api/keys/my-raw-key', { as: reader })
  await call('POST', '/api/keys/my-raw-key')
  const { rows } = await store.audit.list({ limit: 10 })
  assert.deepEqual(
    rows
      .map(({ action, actor, request, detail }) => [action, actor, request?.url, request?.status, detail.refused])
      .reverse(),
    [
      ['key.update', writer.email, '/api/keys/***?token=***&x=1', 200, undefined],
      ['List keys', reader.email, '/api/keys?p=1', 200, undefined],
      ['Change a key', reader.email, '/api/keys/***', 403, 'permission_missing'],
    ],
  )
  assert.ok(rows.every(({ request }) => request?.ip === '127.0.0.1' && request.user !== '' && request.id !== ''))
})

test('a change is answered after the gateway has applied it, and nobody else waits for that', async (t) => {
  const asked: number[] = []
  let apply: (() => void) | undefined
  const settled = (revision: number) => {
    asked.push(revision)
    return new Promise<void>((resolve) => {
      apply = resolve
    })
  }
  const routes = [
    route({ method: 'GET', path: '/api/x', run: () => bare({}) }),
    route({ method: 'DELETE', path: '/api/x', run: () => ok('gone') }),
  ]
  const { call } = await started(t, { routes: () => routes, parts: { settled } })
  await call('GET', '/api/x')
  assert.deepEqual(asked, [])
  let answered = false
  const gone = call('DELETE', '/api/x').then((answer) => {
    answered = true
    return answer
  })
  while (asked.length === 0) await new Promise((resolve) => setImmediate(resolve))
  await call('GET', '/api/x')
  assert.equal(answered, false)
  apply!()
  assert.equal((await gone).status, 200)
})

test('a long answer is sent in pieces', async (t) => {
  const pieces = async function* () {
    yield '['
    for (let i = 0; i < 10_000; i++) yield i === 0 ? '0' : `,${i}`
    yield ']'
  }
  const routes = [route({ method: 'GET', path: '/api/x', run: () => ({ status: 200, body: pieces() }) })]
  const { call } = await started(t, { routes: () => routes })
  const { json, headers } = await call('GET', '/api/x')
  assert.equal((json as number[]).length, 10_000)
  assert.match(String(headers['content-type']), /^application\/json/)
})

test('pages count from 1, and 0 and less mean everything', () => {
  const page = (p: string) => pageOf({ query: () => p, pageSize: 10 })
  assert.deepEqual(page(''), { offset: 0, limit: 10 })
  assert.deepEqual(page('3'), { offset: 20, limit: 10 })
  for (const p of ['0', '-1', '-2']) assert.equal(page(p), 'all')
  for (const p of ['x', '1.5', '1e99', 'NaN']) assert.deepEqual(page(p), { offset: 0, limit: 10 })
  assert.deepEqual(
    [0, 1, 10, 11].map((total) => pagesOf(total, page('1'))),
    [1, 1, 1, 2],
  )
  assert.equal(pagesOf(11, 'all'), 0)
})

test('a refusal keeps its own status for its own cause', async (t) => {
  const routes = [
    route({ method: 'GET', path: '/api/x', run: () => Promise.reject(fault('already_exists', 'a thing')) }),
  ]
  const { call } = await started(t, { routes: () => routes })
  const { status, text } = await call('GET', '/api/x')
  assert.equal(status, 409)
  assert.equal(text, '{"Status":"Error","Message":"Already exists: a thing","Meta":null}')
})

test('bytes that are no request get a plain refusal, and the dashboard goes on', async (t) => {
  const { port, call } = await started(t, {})
  for (const bytes of [
    '\0\0\0\r\n\r\n',
    'GET / HTTP/1.1\r\n\r\n',
    'POST /hello HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n',
  ]) {
    const heard = await new Promise<string>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => socket.end(bytes))
      let text = ''
      socket.on('data', (chunk) => {
        text += chunk
      })
      socket.on('close', () => resolve(text))
      socket.on('error', reject)
    })
    assert.match(heard, /^HTTP\/1\.1 400 /)
  }
  assert.equal((await call('GET', '/hello')).status, 200)
})
