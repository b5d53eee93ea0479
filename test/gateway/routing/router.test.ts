import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type PathSegment, type RouteEntry, Router } from '../../../src/gateway/routing/router.ts'
import type { RouteMatch, ServedApi } from '../../../src/gateway/server/exchange.ts'

/** Only the identity of a served API matters to the router. */
const served = (name: string) => ({ name }) as unknown as ServedApi

const entry = (path: string, name = path, domain = '', ignoreCase = false): RouteEntry => ({
  domain,
  ignoreCase,
  segments: segmentsOf(path),
  served: served(name),
})

function segmentsOf(path: string): PathSegment[] {
  return path
    .split('/')
    .filter((word) => word !== '')
    .map((word) => {
      if (!word.startsWith('{')) return word
      const source = word.slice(1, -1).split(':')[1] ?? ''
      return { source, pattern: source === '' ? undefined : new RegExp(`^(?:${source})$`) }
    })
}

function find(router: Router, path: string, host = ''): { name: string | undefined; rest: string } {
  const match: RouteMatch = { served: undefined, restAt: 0 }
  router.find(host, path, match)
  const name = (match.served as unknown as { name: string } | undefined)?.name
  return { name, rest: match.served === undefined ? '' : path.slice(match.restAt) }
}

test('matches at segment borders, longest first', () => {
  const router = Router.of([entry('/app'), entry('/app/v2'), entry('/')])
  assert.deepEqual(find(router, '/app'), { name: '/app', rest: '' })
  assert.deepEqual(find(router, '/app/'), { name: '/app', rest: '/' })
  assert.deepEqual(find(router, '/app/x'), { name: '/app', rest: '/x' })
  assert.deepEqual(find(router, '/app/v2/x'), { name: '/app/v2', rest: '/x' })
  assert.deepEqual(find(router, '/apple'), { name: '/', rest: '/apple' })
  assert.deepEqual(find(router, '/'), { name: '/', rest: '/' })
})

test('a fixed word goes before a placeholder, a pattern before anything', () => {
  const router = Router.of([entry('/t/{any}'), entry('/t/{id:[0-9]+}'), entry('/t/me'), entry('/t/{any}/deep/{more}')])
  assert.equal(find(router, '/t/me').name, '/t/me')
  assert.equal(find(router, '/t/42').name, '/t/{id:[0-9]+}')
  assert.equal(find(router, '/t/42x').name, '/t/{any}')
  assert.deepEqual(find(router, '/t/me/deep/1/2'), { name: '/t/{any}/deep/{more}', rest: '/2' })
  assert.equal(find(router, '/t').name, undefined)
})

test("an API of the request's domain goes before one for every host, whatever the lengths", () => {
  const router = Router.of([entry('/a/b', 'everywhere'), entry('/a', 'there', 'there.example')])
  assert.equal(find(router, '/a/b', 'there.example').name, 'there')
  assert.equal(find(router, '/a/b', 'other.example').name, 'everywhere')
  assert.equal(find(router, '/a', 'other.example').name, undefined)
})

test('an API that ignores case answers in any, an exact one first', () => {
  const router = Router.of([entry('/Shop', 'folded', '', true), entry('/shop', 'exact')])
  assert.equal(find(router, '/SHOP/x').name, 'folded')
  assert.equal(find(router, '/shop/x').name, 'exact')
})

const word = fc.constantFrom('a', 'b', 'c', '{x}', '{n:[0-9]+}')
const path = fc.array(word, { maxLength: 4 }).map((words) => `/${words.join('/')}`)
const asked = fc.array(fc.constantFrom('a', 'b', 'c', '7', 'z'), { maxLength: 6 }).map((words) => `/${words.join('/')}`)

test('incremental changes give the same router as a full build, and keep the old one intact', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(path, { maxLength: 12 }),
      fc.array(asked, { minLength: 1, maxLength: 20 }),
      fc.nat(),
      (paths, questions, pick) => {
        const entries = paths.map((each) => entry(each))
        const built = Router.of(entries)
        let grown = new Router()
        for (const each of entries) grown = grown.with(each)
        for (const question of questions) assert.deepEqual(find(grown, question), find(built, question))
        if (entries.length === 0) return
        const gone = entries[pick % entries.length]!
        const before = questions.map((question) => find(built, question))
        const shrunk = built.without(gone.domain, gone.segments, false)
        const rebuilt = Router.of(entries.filter((each) => each !== gone))
        for (const question of questions) assert.deepEqual(find(shrunk, question), find(rebuilt, question))
        assert.deepEqual(
          questions.map((question) => find(built, question)),
          before,
        )
      },
    ),
    { numRuns: 300 },
  )
})

test('the longest of all listen paths that fit answers', () => {
  fc.assert(
    fc.property(fc.uniqueArray(path, { maxLength: 12 }), asked, (paths, question) => {
      const words = question.split('/').filter((each) => each !== '')
      const fits = (each: string) => {
        const segments = segmentsOf(each)
        if (segments.length > words.length) return false
        return segments.every((segment, i) =>
          typeof segment === 'string' ? segment === words[i] : (segment.pattern?.test(words[i]!) ?? true),
        )
      }
      const longest = Math.max(-1, ...paths.filter(fits).map((each) => segmentsOf(each).length))
      const found = find(Router.of(paths.map((each) => entry(each))), question)
      assert.equal(found.name === undefined ? -1 : segmentsOf(found.name).length, longest)
    }),
    { numRuns: 500 },
  )
})
