import assert from 'node:assert/strict'
import { test } from 'node:test'
import { started } from '../../worlds/access-matrix/made-up-routes.ts'

/** Served, refused, not found, a page, with a refused body. */
const WAYS = [
  ['GET', '/hello', 200],
  ['GET', '/ready', 200],
  ['POST', '/hello', 405],
  ['GET', '/nowhere', 404],
  ['GET', '/api/users', 401],
  ['GET', '/admin/organisations', 401],
] as const

for (const trusts of [false, true]) {
  test(`every answer has an id, ${trusts ? 'that of a trusted proxy' : 'ours'}`, async (t) => {
    const { call } = await started(t, { ...(trusts && { env: { SVC_DB_TRUSTEDPROXIES: '127.0.0.1' } }) })
    const ids = new Set<string>()
    for (const [i, [method, path, status]] of WAYS.entries()) {
      const sent = `caller-${i}`
      const answer = await call(method, path, { headers: { 'x-request-id': sent } })
      assert.equal(answer.status, status, path)
      const id = String(answer.headers['x-request-id'])
      if (trusts) assert.equal(id, sent, path)
      else assert.match(id, /^[\w-]{20}$/, path)
      ids.add(id)
      const none = await call(method, path, { headers: { 'x-request-id': 'no id' } })
      assert.match(String(none.headers['x-request-id']), /^[\w-]{20}$/, path)
    }
    assert.equal(ids.size, WAYS.length)
  })
}
