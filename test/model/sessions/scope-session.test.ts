import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Fault } from '../../../src/errors/fault.ts'
import { newPatternWork } from '../../../src/model/patterns/pattern-work.ts'
import { type Merged, mergePolicies, policyIdsOf } from '../../../src/model/policies/merge-policies.ts'
import {
  hasRights,
  intersectRights,
  mergeSession,
  NARROWED_BY,
  rightsAndLimitsOf,
} from '../../../src/model/sessions/scope-session.ts'
import type { Policy, Session } from '../../../src/model/sessions/session.ts'
import { compileAccess, type SessionAccess } from '../../../src/model/sessions/session-access.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { MemoryCounters } from '../../../src/store/memory/counters.ts'
import { rights } from '../../worlds/model/merging.ts'

const deep = process.env.GATEHOUSE_DEEP === '1'
const APIS = ['A', 'B', 'C'] as const
const METHODS = ['GET', 'POST'] as const
const PATHS = ['/a', '/b/7', '/c/1/2', '/d']

const someUrls = fc.array(
  fc.record({
    url: fc.constantFrom('/a', '/b/{id}', '/c/*', '^/d$'),
    methods: fc.subarray([...METHODS], { minLength: 1 }),
  }),
  { maxLength: 2 },
)
const someNumbers = fc.record(
  {
    rate: fc.constantFrom(-1, 0, 1, 2, 5),
    per: fc.constantFrom(0, 1, 2, 10),
    quota_max: fc.constantFrom(-1, 0, 1, 3, 8),
    quota_renewal_rate: fc.constantFrom(0, 3, 20),
  },
  { requiredKeys: [] },
)
const someEndpoints = fc.array(
  fc.record({
    path: fc.constantFrom('/a', '/b'),
    methods: fc.array(
      fc.record({
        name: fc.constantFrom(...METHODS),
        limit: fc.record({ rate: fc.constantFrom(1, 3), per: fc.constantFrom(1, 5) }),
      }),
      { minLength: 1, maxLength: 2 },
    ),
  }),
  { maxLength: 1 },
)
const someRight = (api_id: string) =>
  fc.record({
    api_id: fc.constant(api_id),
    versions: fc.subarray(['v1', 'v2', 'v3']),
    allowed_urls: someUrls,
    limit: fc.option(someNumbers, { nil: null }),
    endpoints: someEndpoints,
  })
const someRights = fc
  .subarray([...APIS], { minLength: 1 })
  .chain((ids) => fc.tuple(...ids.map(someRight)))
  .map((list) => Object.fromEntries(list.map((right) => [right.api_id, right])))
const somePolicy: fc.Arbitrary<Policy> = fc
  .tuple(someRights, someNumbers)
  .map(([access_rights, numbers]) => ({ ...numbers, access_rights }))

/** A session with its own access rights, or with two policies of four. */
const someSession: fc.Arbitrary<Session> = fc.oneof(
  fc.tuple(someRights, someNumbers).map(([access_rights, numbers]) => ({ ...numbers, access_rights })),
  fc
    .uniqueArray(fc.constantFrom('P0', 'P1', 'P2', 'P3'), { minLength: 1, maxLength: 2 })
    .map((apply_policies) => ({ apply_policies })),
)

interface Pair {
  readonly first: Merged
  readonly second: Merged
  readonly both: Merged
}

function merged(first: Session, second: Session, shelf: readonly Policy[]): Pair | undefined {
  const policiesOf = (session: Session) => policyIdsOf(session).map((id) => shelf[Number(id.slice(1))])
  const [a, b] = [first, second].map((session) => mergePolicies(session, policiesOf(session)))
  const together = mergeSession({ ...first, [NARROWED_BY]: second } as Session, policiesOf)
  if (a instanceof Fault || b instanceof Fault || together instanceof Fault) return undefined
  return { first: a!, second: b!, both: together }
}

const grantsOf = ({ first, second, both }: Pair, apiId: string) =>
  [first, second, both].map((each) => compileAccess(each, apiId, 'who'))

test('what is allowed is exactly what both allow: APIs, versions, methods and paths', () => {
  fc.assert(
    fc.property(someSession, someSession, fc.array(somePolicy, { minLength: 4, maxLength: 4 }), (a, b, shelf) => {
      const pair = merged(a, b, shelf)
      fc.pre(pair !== undefined)
      for (const apiId of APIS) {
        const [first, second, both] = grantsOf(pair, apiId)
        assert.equal(both !== undefined, first !== undefined && second !== undefined)
        if (first === undefined || second === undefined || both === undefined) continue
        for (const version of ['v1', 'v2', 'v3'])
          assert.equal(both.versions.has(version), first.versions.has(version) && second.versions.has(version))
        for (const path of PATHS)
          for (const method of METHODS)
            assert.equal(
              both.allows(method, path, newPatternWork()),
              first.allows(method, path, newPatternWork()) && second.allows(method, path, newPatternWork()),
              `${method} ${path}`,
            )
      }
    }),
    { numRuns: deep ? 5000 : 300 },
  )
})

const someCalls = fc.array(
  fc.record({
    apiId: fc.constantFrom(...APIS),
    method: fc.constantFrom(...METHODS),
    path: fc.constantFrom(...PATHS),
    waitMs: fc.constantFrom(0, 0, 300, 1000, 4000),
  }),
  { minLength: 1, maxLength: 40 },
)

test('an intersection allows a call exactly when both do, and counts with both', () => {
  const check = (a: Session, b: Session, shelf: readonly Policy[], calls: readonly Call[]) => {
    const pair = merged(a, b, shelf)
    fc.pre(pair !== undefined)
    const clock = new FakeClock()
    // The two separately, each with its own counters: a call that either refuses is taken from neither.
    const [one, other, together] = [new MemoryCounters(clock), new MemoryCounters(clock), new MemoryCounters(clock)]
    const grants = new Map(APIS.map((apiId) => [apiId, grantsOf(pair, apiId)]))
    for (const { apiId, method, path, waitMs } of calls) {
      clock.advance(waitMs)
      const [first, second, both] = grants.get(apiId)!
      if (first === undefined || second === undefined || both === undefined) continue
      const ask = (grant: SessionAccess, counters: MemoryCounters, way: 'take' | 'peek') =>
        counters[way](grant.limitsFor(method, path, newPatternWork()), { wall: clock.wallMs, mono: clock.monoMs }) ===
        -1
      const allowed = ask(first, one, 'peek') && ask(second, other, 'peek')
      if (allowed) {
        assert.ok(ask(first, one, 'take') && ask(second, other, 'take'))
      }
      assert.equal(ask(both, together, 'take'), allowed)
    }
  }
  const shelves = fc.array(somePolicy, { minLength: 4, maxLength: 4 })
  fc.assert(fc.property(someSession, someSession, shelves, someCalls, check), { numRuns: deep ? 5000 : 300 })
})

interface Call {
  readonly apiId: (typeof APIS)[number]
  readonly method: string
  readonly path: string
  readonly waitMs: number
}

test('narrowed twice is what all three allow', () => {
  fc.assert(
    fc.property(
      fc.tuple(someSession, someSession, someSession),
      fc.array(somePolicy, { minLength: 4, maxLength: 4 }),
      (sessions, shelf) => {
        const all = sessions.map((session) =>
          mergePolicies(
            session,
            policyIdsOf(session).map((id) => shelf[Number(id.slice(1))]),
          ),
        )
        const [a, b, c] = all
        fc.pre(a !== undefined && b !== undefined && c !== undefined)
        if (a instanceof Fault || b instanceof Fault || c instanceof Fault) return
        const left = intersectRights(intersectRights(a, b), c)
        const right = intersectRights(a, intersectRights(b, c))
        for (const apiId of APIS)
          for (const path of PATHS) {
            const expected: boolean = [a, b, c].every(
              (each) => compileAccess(each, apiId, 'who')?.allows('GET', path, newPatternWork()) === true,
            )
            for (const each of [left, right])
              assert.equal(compileAccess(each, apiId, 'who')?.allows('GET', path, newPatternWork()) === true, expected)
          }
      },
    ),
    { numRuns: deep ? 2000 : 150 },
  )
})

const apply = (session: object, policies: readonly Policy[] = []) => {
  const made = mergeSession(session as Session, (each) => policyIdsOf(each).map((id) => policies[Number(id.slice(1))]))
  assert.ok(!(made instanceof Fault), made instanceof Fault ? made.message : '')
  return made
}

test('a second session without rights narrows the limits alone, at every API', () => {
  const policy = {
    rate: 100,
    per: 1,
    access_rights: rights('A', { api_id: 'B', versions: ['v1'], allowed_urls: [{ url: '/b', methods: ['GET'] }] }),
  }
  const made = apply(
    { apply_policies: ['P0'], [NARROWED_BY]: { rate: 2, per: 1, quota_max: 5, quota_renewal_rate: 60 } },
    [policy],
  )
  assert.deepEqual([...made.rights.keys()], ['A', 'B'])
  assert.deepEqual(made.rights.get('B')?.versions, ['v1'])
  const grant = compileAccess(made, 'A', 'who')!
  assert.deepEqual(
    grant.limitsFor('GET', '/', newPatternWork()).map(({ kind, owner, max }) => [kind, owner, max]),
    [
      ['rate', 'key', 100],
      ['rate', 'client', 2],
      ['quota', 'client', 5],
    ],
  )
  assert.equal(new Set(grant.limitsFor('GET', '/', newPatternWork()).map(({ kind, id }) => kind + id)).size, 3)
  const [once, again] = [grant.limitsFor('GET', '/', newPatternWork()), grant.limitsFor('GET', '/', newPatternWork())]
  assert.ok(once === again, 'the list is made once')
  const other = compileAccess(made, 'B', 'who')!
  assert.ok(other.allows('GET', '/b', newPatternWork()) && !other.allows('POST', '/b', newPatternWork()))
})

test('an empty second session, or none, changes nothing', () => {
  const session = { access_rights: rights('A'), rate: 3, per: 1 }
  const alone = apply(session)
  assert.deepEqual(apply({ ...session, [NARROWED_BY]: {} }), alone)
  assert.deepEqual(apply({ ...session, [NARROWED_BY]: null }), alone)
})

test('an edited policy of either reaches the result; an unusable one of either ends it', () => {
  const session = { apply_policies: ['P0'], [NARROWED_BY]: { apply_policies: ['P1'] } }
  const both = apply(session, [{ access_rights: rights('A', 'B') }, { access_rights: rights('B', 'C') }])
  assert.deepEqual([...both.rights.keys()], ['B'])
  assert.deepEqual(both.policyIds, ['P0', 'P1'])
  const gone = mergeSession(session as Session, (each) =>
    policyIdsOf(each)[0] === 'P0' ? [{ access_rights: rights('A') }] : [undefined],
  )
  assert.ok(gone instanceof Fault)
  const off = apply(session, [{ access_rights: rights('A') }, { is_inactive: true, access_rights: rights('A') }])
  assert.equal(off.isInactive, true)
})

test('depth, throttle, tags and metadata: the lesser, the stricter, both, the first', () => {
  const first = {
    access_rights: rights('A'),
    max_query_depth: 5,
    throttle_interval: 1,
    throttle_retry_limit: 3,
    tags: ['x'],
    meta_data: { a: 1, b: 1 },
  }
  const second = {
    access_rights: rights('A'),
    max_query_depth: 3,
    throttle_interval: 2,
    throttle_retry_limit: 2,
    tags: ['y'],
    meta_data: { b: 2, c: 2 },
  }
  const made = apply({ ...first, [NARROWED_BY]: second })
  const right = made.rights.get('A')!
  assert.equal(right.maxQueryDepth, 3)
  assert.deepEqual(right.throttle, { intervalS: 2, retryLimit: 2 })
  assert.deepEqual(made.tags, ['x', 'y'])
  assert.deepEqual(made.metaData, { a: 1, b: 1, c: 2 })
  const open = apply({
    access_rights: rights('A'),
    max_query_depth: -1,
    [NARROWED_BY]: { access_rights: rights('A'), max_query_depth: 4 },
  })
  assert.equal(open.rights.get('A')?.maxQueryDepth, 4)
})

test('credentials, lifetime and what is ours never go over', () => {
  const session = JSON.parse(
    '{"__proto__":{"x":1},"rate":1,"expires":5,"counter_id":"a","oauth_token":{},"narrowed_by":{},"basic_auth_data":{"password":"p"},"oauth_client_id":"c"}',
  )
  const rules = rightsAndLimitsOf(session)
  assert.deepEqual(Object.keys(rules), ['__proto__', 'rate'])
  assert.equal(Object.getPrototypeOf(rules), Object.prototype)
})

test('rights are access rights or policies', () => {
  assert.ok(hasRights({ access_rights: rights('A') }) && hasRights({ apply_policies: ['p'] }))
  assert.ok(!hasRights({ access_rights: {}, apply_policies: [] }) && !hasRights({ rate: 1 }))
})
