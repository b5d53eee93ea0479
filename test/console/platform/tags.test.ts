import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { call, type Tag, underTag } from '../../../console/src/api/calls/call.ts'

/** Answers reads with a tag made of their path; the `If-Match` of each write, by method and path. */
function fakeDashboard(t: TestContext): Map<string, string | undefined> {
  const sent = new Map<string, string | undefined>()
  t.mock.method(globalThis, 'fetch', async (url: string, { method, headers }: RequestInit) => {
    const path = new URL(url, 'http://dashboard').pathname
    const seen = new Headers(headers).get('if-match') ?? undefined
    if (method !== 'GET') sent.set(`${method} ${path}`, seen)
    return new Response('{}', { headers: method === 'GET' ? { etag: `"${path}"` } : {} })
  })
  return sent
}

test('a write has the tag of what was read at its path, or above it', async (t) => {
  const sent = fakeDashboard(t)
  const tag: Tag = new Map()
  await underTag(tag, () => Promise.all(['/api/css', '/api/js', '/api/org'].map((path) => call('GET', path))))
  for (const path of ['/api/css', '/api/js', '/api/js/part', '/api/cname'])
    await underTag(tag, () => call('PUT', path, { body: {} }))
  assert.deepEqual(
    [...sent],
    [
      ['PUT /api/css', '"/api/css"'],
      ['PUT /api/js', '"/api/js"'],
      ['PUT /api/js/part', '"/api/js"'],
      ['PUT /api/cname', undefined],
    ],
  )
})

test('one that was read alone is what any write is about', async (t) => {
  const sent = fakeDashboard(t)
  const tag: Tag = new Map()
  await underTag(tag, () => call('GET', '/api/apis/a'))
  await underTag(tag, () => call('PUT', '/api/apis/oas/a', { body: {} }))
  await call('PUT', '/api/apis/b', { body: {} })
  assert.deepEqual(
    [...sent],
    [
      ['PUT /api/apis/oas/a', '"/api/apis/a"'],
      ['PUT /api/apis/b', undefined],
    ],
  )
})
