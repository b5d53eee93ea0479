import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeLimit, quotaLimit, rateLimit } from '../../../src/model/limits/limit.ts'
import { newPatternWork } from '../../../src/model/patterns/pattern-work.ts'
import type { AccessDefinition, Session } from '../../../src/model/sessions/session.ts'
import {
  compileAccess,
  type SessionAccess,
  type SessionAccessOptions,
} from '../../../src/model/sessions/session-access.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { MemoryCounters } from '../../../src/store/memory/counters.ts'
import { merge } from '../../worlds/model/merging.ts'

/** The grant at `A` of a session with this right there (and at `B`, without a limit). */
function grant(right: Partial<AccessDefinition>, top: Session = {}, options: SessionAccessOptions = {}): SessionAccess {
  const merged = merge([], { ...top, access_rights: { A: { api_id: 'A', ...right }, B: { api_id: 'B' } } })
  return compileAccess(merged, 'A', 'key', options)!
}

test('limits are made of numbers that limit, with the count of their scope', () => {
  const granted = grant({ limit: { rate: 5, per: 2 } }, { quota_max: 10, quota_renewal_rate: 60 })
  assert.deepEqual([granted.rate?.id, granted.rate?.max, granted.rate?.windowMs], ['key|a.A', 5, 2000])
  assert.deepEqual([granted.quota?.id, granted.quota?.max, granted.quota?.windowMs], ['key|', 10, 60_000])
  assert.deepEqual(granted.limitsFor('GET', '/', newPatternWork()), [granted.rate, granted.quota])
})

test('unlimited and not enforced are no limit', () => {
  for (const limit of [
    {},
    { rate: -1, per: 1, quota_max: -1 },
    { rate: 5, per: -1 },
    { rate: 0, per: 1, quota_max: 0 },
  ]) {
    const granted = grant({ limit })
    assert.deepEqual(
      [granted.rate, granted.quota, granted.limitsFor('GET', '/', newPatternWork()).length],
      [undefined, undefined, 0],
    )
  }
  assert.equal(grant({ limit: { quota_max: 3 } }).quota?.windowMs, 0)
})

test('a limit with only a quota leaves the rate of the top level in force', () => {
  const granted = grant({ limit: { quota_max: 3 } }, { rate: 7, per: 1 })
  assert.deepEqual([granted.rate?.id, granted.rate?.max, granted.quota?.id], ['key|', 7, 'key|a.A'])
})

test('wire numbers become whole permits: a fraction is one call in a longer time', () => {
  assert.deepEqual([rateLimit('x', 0.5, 1)?.max, rateLimit('x', 0.5, 1)?.windowMs], [1, 2000])
  assert.deepEqual([rateLimit('x', 2.9, 0.0015)?.max, rateLimit('x', 2.9, 0.0015)?.windowMs], [2, 2])
  assert.equal(rateLimit('x', Number.NaN, 1), undefined)
  assert.deepEqual(
    [quotaLimit('x', 5, -1)?.windowMs, quotaLimit('x', 0, 5), quotaLimit('x', -1, 5)],
    [0, undefined, undefined],
  )
})

test('an endpoint limit replaces the key rate, counts separately, and matches by pattern', () => {
  const endpoints = [
    {
      path: '^/slow/{id}$',
      methods: [
        { name: 'GET', limit: { rate: 1, per: 10 } },
        { name: 'PUT', limit: { rate: 0, per: 0 } },
      ],
    },
    { path: '/slow', methods: [{ name: 'GET', limit: { rate: 2, per: 10 } }] },
    { path: '(broken', methods: [{ name: 'GET', limit: { rate: 3, per: 10 } }] },
  ]
  const granted = grant({ limit: { rate: 50, per: 1 }, endpoints }, { quota_max: 9 })
  assert.deepEqual(
    [granted.rateFor('GET', '/slow/7', newPatternWork())?.max, granted.rateFor('GET', '/slow/7', newPatternWork())?.id],
    [1, 'key|e.A|GET ^/slow/{id}$'],
  )
  assert.equal(granted.rateFor('PUT', '/slow/7', newPatternWork()), undefined)
  assert.deepEqual(granted.limitsFor('PUT', '/slow/7', newPatternWork()), [granted.quota])
  assert.equal(granted.rateFor('GET', '/slow', newPatternWork())?.max, 2)
  assert.equal(granted.rateFor('POST', '/slow/7', newPatternWork()), granted.rate)
  assert.equal(granted.rateFor('GET', '(broken', newPatternWork()), granted.rate)

  const counters = new MemoryCounters()
  const now = { wall: 0, mono: 0 }
  assert.equal(counters.take(granted.limitsFor('GET', '/slow/7', newPatternWork()), now), -1)
  assert.equal(counters.take(granted.limitsFor('GET', '/slow/8', newPatternWork()), now), 0)
  assert.equal(counters.take(granted.limitsFor('GET', '/fast', newPatternWork()), now), -1)
  assert.equal(granted.quota?.remaining, 7)
})

test('limits of the API come first, so that a call they refuse costs the key nothing', () => {
  const api = makeLimit('rate', 'api|A', 1, 1000)
  const granted = grant({ limit: { rate: 5, per: 1 } }, { quota_max: 9 }, { before: [api] })
  const counters = new MemoryCounters()
  const clock = new FakeClock()
  const now = { wall: clock.wall(), mono: clock.mono() }
  assert.equal(counters.take(granted.limitsFor('GET', '/', newPatternWork()), now), -1)
  assert.equal(counters.take(granted.limitsFor('GET', '/', newPatternWork()), now), 0)
  assert.deepEqual([granted.rate?.remaining, granted.quota?.remaining], [4, 8])
})

test('an API that skips rate or quota makes none', () => {
  const endpoints = [{ path: '/', methods: [{ name: 'GET', limit: { rate: 1, per: 1 } }] }]
  const top = { rate: 5, per: 1, quota_max: 5 }
  const noRate = grant({ limit: { rate: 5, per: 1 }, endpoints }, top, { skipRate: true })
  assert.deepEqual(noRate.limitsFor('GET', '/', newPatternWork()), [noRate.quota])
  const noQuota = grant({}, top, { skipQuota: true })
  assert.deepEqual(noQuota.limitsFor('GET', '/', newPatternWork()), [noQuota.rate])
})

test('paths: exact method and pattern over the whole path; no list allows all', () => {
  const granted = grant({
    allowed_urls: [
      { url: '/orders/{id}$', methods: ['GET'] },
      { url: '(broken', methods: ['DELETE'] },
      { url: '/none', methods: [] },
    ],
  })
  assert.ok(granted.allows('GET', '/listen/orders/7', newPatternWork()))
  for (const [method, path] of [
    ['get', '/orders/7'],
    ['POST', '/orders/7'],
    ['GET', '/orders/7/8'],
    ['DELETE', '(broken'],
    ['GET', '/none'],
  ] as const) {
    assert.ok(!granted.allows(method, path, newPatternWork()), `${method} ${path}`)
  }
  for (const allowed_urls of [[], null, undefined]) {
    assert.ok(grant({ ...(allowed_urls !== undefined && { allowed_urls }) }).allows('DELETE', '/x', newPatternWork()))
  }
  assert.ok(
    !grant({ allowed_urls: [{ url: '(', methods: ['GET'] }] }).allows('GET', '(', newPatternWork()),
    'a broken pattern opens nothing',
  )
})

test('no right at an API is no grant', () => {
  const merged = merge([], { access_rights: { A: { api_id: 'A', versions: ['v1'] } } })
  assert.equal(compileAccess(merged, 'B', 'key'), undefined)
  assert.equal(compileAccess(merged, '__proto__', 'key'), undefined)
  assert.deepEqual([...compileAccess(merged, 'A', 'key')!.versions], ['v1'])
})

test('no id of an API or policy can name a count of another', () => {
  const endpoints = [
    { path: '/x', methods: ['GET', 'GET /x|GET'].map((name) => ({ name, limit: { rate: 1, per: 1 } })) },
  ]
  const ids = ['A', 'A|', 'A%7C', 'A|GET /x', 'A%'].flatMap((id) => {
    const merged = merge([], { access_rights: { [id]: { api_id: id, limit: { quota_max: 5 }, endpoints } } })
    const granted = compileAccess(merged, id, 'key')!
    return [
      granted.quota?.id,
      granted.rateFor('GET', '/x', newPatternWork())?.id,
      granted.rateFor('GET /x|GET', '/x', newPatternWork())?.id,
    ]
  })
  assert.equal(new Set(ids).size, ids.length)
})
