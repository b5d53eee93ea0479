import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { EXTENSION } from '../../../src/model/apis/definition/members.ts'
import { putAt } from '../../../src/model/apis/definition/tree.ts'
import { defined } from '../../worlds/base/definitions.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

const SPELLINGS = ['/%C3%A9', '/a%20b', '/abc', '/r/1:x', '/%61bc', '/r/1%3Ax', '/a%22', '/r/$&', '/r/%24%26']

test('an accepted pattern matches every spelling; others are refused with the reason', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  const patterns: Record<string, string[] | RegExp> = {
    '^/é$': ['/%C3%A9'],
    '^/%c3%a9$': ['/%C3%A9'],
    '^/a b$': ['/a%20b'],
    '^/a%20b$': ['/a%20b'],
    '^/%61bc$': ['/abc', '/%61bc'],
    '^/[%61]bc$': ['/abc', '/%61bc'],
    '^/r/1%3Ax$': ['/r/1:x', '/r/1%3Ax'],
    '^/r/1[%3A;]x$': ['/r/1:x', '/r/1%3Ax'],
    '^/[^ é]+$': /cannot be left out/,
    '^/[^ ]{3}$': ['/abc', '/%61bc'],
    '^/[à-ü]+$': ['/%C3%A9'],
    '^/[éa](?:bc)?$': ['/%C3%A9', '/abc', '/%61bc'],
    '^/a[ ]b$': ['/a%20b'],
    '^/a[%20_]b$': ['/a%20b'],
    '^/a"$': ['/a%22'],
    '^/r/[^:]+$': ['/r/$&', '/r/%24%26'],
    '^/r/\\$&$': ['/r/$&', '/r/%24%26'],
    '^/r/[!-,]{2}$': ['/r/$&', '/r/%24%26'],
    '^/r/\\W{1,2}$': ['/r/$&', '/r/%24%26'],
    '^/r/(?:1|2)[\\w:]+$': ['/r/1:x', '/r/1%3Ax'],
  }
  for (const [index, [pattern, expected]] of Object.entries(patterns).entries()) {
    const id = `p${index}`
    const paths = { '/*': { get: { operationId: 'a', responses: { 200: { description: 'ok' } } } } }
    const operations = { a: { urlRewrite: { enabled: true, pattern, rewriteTo: '/hit' } } }
    const saved = await gateway.svc('POST', '/svc/apis/oas', defined({ id, url: origin.url, paths, operations }))
    if (expected instanceof RegExp) {
      assert.equal(saved.status, 400, pattern)
      assert.match(saved.text, expected, pattern)
      continue
    }
    assert.equal(saved.status, 200, saved.text)
    const met: string[] = []
    for (const path of SPELLINGS) {
      assert.equal((await gateway.call(`/${id}${path}`)).status, 200, `${pattern} ${path}`)
      if (origin.seen.at(-1)!.target === '/hit') met.push(path)
    }
    assert.deepEqual(met, expected, pattern)
  }
})

/** Whole values of a path, with all that has a meaning in a path or query. */
const values = fc
  .string({ unit: fc.constantFrom(...'ab1.-_~!$&\'()*+,;=:@%?# "<>[]{}|^`é€𝄞'), minLength: 1, maxLength: 12 })
  .filter((value) => !/^\.{1,2}(?:;|$)/.test(value))

test('a value of the path that a rewrite takes stays one value of the query', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  for (const [id, pathMatching, strip] of [
    ['o', 'openapi', true],
    ['c', 'contains', true],
    ['k', 'contains', false],
  ] as const) {
    const paths = { '/r/{v}': { get: { operationId: 'a', responses: { 200: { description: 'ok' } } } } }
    const operations = { a: { urlRewrite: { enabled: true, pattern: 'r/(.*)', rewriteTo: '/n?v=$1&last=1' } } }
    const document = defined({ id, url: origin.url, paths, operations })
    putAt(document, [EXTENSION, 'server', 'pathMatching'], pathMatching)
    putAt(document, [EXTENSION, 'server', 'listenPath', 'strip'], strip)
    const saved = await gateway.svc('POST', '/svc/apis/oas', document)
    assert.equal(saved.status, 200, saved.text)
  }
  const property = fc.asyncProperty(
    fc.constantFrom('o', 'c', 'k'),
    values,
    fc.boolean(),
    // Characters that a path may hold bare: `&` separates nothing there. A bare `+` stays, and readers of forms take it for a blank.
    fc.subarray([..."!$&'()*,;=:@"]),
    async (id, value, doubled, bare) => {
      const escaped = encodeURIComponent(value).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16)}`)
      const sent = escaped.replace(/%[0-9a-f]{2}/gi, (triplet) => {
        const character = String.fromCharCode(Number.parseInt(triplet.slice(1), 16))
        return bare.includes(character) ? character : triplet
      })
      const { status, text } = await gateway.call(`/${id}${doubled ? '//' : '/'}r/${sent}`)
      assert.equal(status, 200, text)
      const { searchParams } = new URL(origin.seen.at(-1)!.target, origin.url)
      assert.deepEqual(
        [...searchParams],
        [
          ['v', value],
          ['last', '1'],
        ],
      )
    },
  )
  await fc.assert(property, { numRuns: process.env.GATEHOUSE_DEEP === '1' ? 2_000 : 100 })
})

test('groups of the query, and those in the place of whole parameters, stay as sent', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  for (const [id, pattern, rewriteTo, sent, expected] of [
    ['value', 'r/(.*)', '/n?v=$1', '/r/1&admin=1', '/n?v=1%26admin=1'],
    ['plus', 'r/(\\w+)\\+(.*)', '/n?v=$1&w=$2', '/r/a+b;c+d', '/n?v=a&w=b%3Bc+d'],
    ['whole', 'r/(.*)', '/n?$1', '/r/a=1&b=2', '/n?a=1&b=2'],
    ['path', 'r/(.*)', '/n/$1', '/r/a&b', '/n/a&b'],
    ['query', '\\?q=(.*)', '/n?v=$1', '/r/a?q=b&c=d+e', '/n?v=b&c=d+e'],
    ['both', 'r/([^?]*)\\?q=(.*)', '/n?v=$1&w=$2', '/r/a&b?q=c&d', '/n?v=a%26b&w=c&d'],
  ] as const) {
    const paths = { '/r/{v}': { get: { operationId: 'a', responses: { 200: { description: 'ok' } } } } }
    const operations = { a: { urlRewrite: { enabled: true, pattern, rewriteTo } } }
    const saved = await gateway.svc('POST', '/svc/apis/oas', defined({ id, url: origin.url, paths, operations }))
    assert.equal(saved.status, 200, saved.text)
    assert.equal((await gateway.call(`/${id}${sent}`)).status, 200, id)
    assert.equal(origin.seen.at(-1)!.target, expected, id)
  }
})

test('a target that names a part of the request thousands of times makes no endless address', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  const paths = { '/*': { get: { operationId: 'a', responses: { 200: { description: 'ok' } } } } }
  for (const [id, front, piece] of [
    ['path', '/', '$1'],
    ['name', '/hit?', '$1'],
    ['value', '/hit?q=', '$1'],
  ] as const) {
    const operations = {
      a: { urlRewrite: { enabled: true, pattern: '^/(.*)$', rewriteTo: front + piece.repeat(2000) } },
    }
    const saved = await gateway.svc('POST', '/svc/apis/oas', defined({ id, url: origin.url, paths, operations }))
    assert.equal(saved.status, 200, saved.text)
    assert.equal((await gateway.call(`/${id}/bb`)).status, 200)
    assert.equal(origin.seen.at(-1)!.target, front + 'b'.repeat(4000))
    const refused = await gateway.call(`/${id}/${'b'.repeat(6000)}`)
    assert.deepEqual([refused.status, /too long/.test(refused.text)], [400, true], id)
  }
})
