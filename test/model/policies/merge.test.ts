import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fault } from '../../../src/errors/fault.ts'
import { type Merged, mergePolicies, policyIdsOf } from '../../../src/model/policies/merge-policies.ts'
import type { AccessDefinition, Policy, Session } from '../../../src/model/sessions/session.ts'
import { MOST } from '../../../src/model/sessions/session-fields.ts'
import { previewSession } from '../../../src/model/sessions/session-preview.ts'
import { keyOf, merge, rights } from '../../worlds/model/merging.ts'

function refusal(policies: readonly (Policy | undefined)[], more: Session = {}): string {
  const merged = mergePolicies(keyOf(policies, more), policies)
  assert.ok(merged instanceof Fault, 'should have been refused')
  assert.equal(merged.code, 'policies_unusable')
  return merged.message
}

/** `rate/per scope`, `max/renewal scope` of an API; '-' where none is in force. */
function numbers(merged: Merged, apiId: string): [string, string] {
  const right = merged.rights.get(apiId)
  assert.ok(right !== undefined, `no right at ${apiId}`)
  const { rate, quota } = right
  return [
    rate === undefined ? '-' : `${rate.rate}/${rate.per} ${rate.scope}`.trim(),
    quota === undefined ? '-' : `${quota.max}/${quota.renewalS} ${quota.scope}`.trim(),
  ]
}

const ACL = { acl: true }
const QUOTA = { quota: true }
const RATE = { rate_limit: true }

test('example 1: the rate with the shorter interval wins, the quota with the larger allowance', () => {
  const first = { access_rights: rights('A'), rate: 10, per: 1, quota_max: 100, quota_renewal_rate: 3600 }
  const second = { access_rights: rights('A'), rate: 60, per: 60, quota_max: 50, quota_renewal_rate: 86_400 }
  assert.deepEqual(numbers(merge([first, second]), 'A'), ['10/1', '100/3600'])
  assert.deepEqual(numbers(merge([second, first]), 'A'), ['10/1', '100/3600'])
})

test('example 2: an API that only rights name takes what the top level was raised to', () => {
  const merged = merge([
    { partitions: ACL, access_rights: rights('A', 'B') },
    { partitions: QUOTA, access_rights: rights('A'), quota_max: 1000 },
    { partitions: RATE, access_rights: rights('A'), rate: 5, per: 1 },
  ])
  assert.deepEqual(numbers(merged, 'A'), ['5/1', '1000/0'])
  assert.deepEqual(numbers(merged, 'B'), ['5/1', '1000/0'])
})

test('example 3: an API that no policy with rights names is not there', () => {
  const merged = merge([
    { partitions: QUOTA, access_rights: rights('A', 'B'), quota_max: 10 },
    { partitions: ACL, access_rights: rights('A') },
  ])
  assert.deepEqual([...merged.rights.keys()], ['A'])
})

test('example 4: per_api counts each API by itself, or by the policy where the API has no limit', () => {
  const policy = {
    partitions: { per_api: true },
    access_rights: rights({ limit: { rate: 1, per: 1 } }, 'B', 'C'),
    rate: 10,
    per: 10,
  }
  const merged = merge([policy])
  assert.deepEqual(numbers(merged, 'A')[0], '1/1 a.A')
  assert.deepEqual(numbers(merged, 'B')[0], '10/10 p.P1')
  assert.deepEqual(numbers(merged, 'C')[0], '10/10 p.P1')
})

test('example 5: per_api goes with whole policies, never with partitioned ones', () => {
  const perApi = { partitions: { per_api: true }, access_rights: rights('A') }
  const whole = { access_rights: rights('B') }
  const quota = { partitions: QUOTA, access_rights: rights('A'), quota_max: 5 }
  assert.deepEqual([...merge([whole, perApi]).rights.keys()], ['B', 'A'])
  for (const order of [
    [quota, perApi],
    [perApi, quota],
    [quota, whole, perApi],
    [perApi, whole, quota],
  ]) {
    assert.match(refusal(order), /cannot be mixed/)
  }
  assert.match(
    refusal([{ partitions: { per_api: true, acl: true }, access_rights: rights('A') }]),
    /per_api and partitioned/,
  )
})

test('quota: the pair wins together; unlimited is largest; renewing beats fixed', () => {
  const of = (quota_max: number, quota_renewal_rate: number): Policy => ({
    access_rights: rights('A'),
    quota_max,
    quota_renewal_rate,
  })
  const table: [Policy, Policy, string][] = [
    [of(100, 3600), of(1000, 86_400), '100/3600'],
    [of(-1, 0), of(1000, 1), '-1/0'],
    [of(1_000_000, 0), of(1, 86_400), '1/86400'],
    [of(10, 0), of(20, 0), '20/0'],
    [of(100, 3600), of(2400, 86_400), '2400/86400'],
    [of(0, 3600), of(5, 60), '5/60'],
  ]
  for (const [first, second, expected] of table) {
    assert.equal(numbers(merge([first, second]), 'A')[1], expected)
    assert.equal(numbers(merge([second, first]), 'A')[1], expected)
  }
})

test('rate: the shorter interval wins as a pair, unlimited over all; equal ones keep the earlier', () => {
  const of = (rate: number, per: number): Policy => ({ access_rights: rights('A'), rate, per })
  const table: [Policy, Policy, string][] = [
    [of(10, 1), of(100, 60), '10/1'],
    [of(100, 60), of(10, 1), '10/1'],
    [of(-1, 1), of(1000, 1), '-1/1'],
    [of(0, 0), of(1, 60), '1/60'],
    [of(10, 1), of(600, 60), '10/1'],
    [of(600, 60), of(10, 1), '600/60'],
  ]
  for (const [first, second, expected] of table) assert.equal(numbers(merge([first, second]), 'A')[0], expected)
})

test('numbers of several policies are counted a policy each, those of one together', () => {
  const first = { access_rights: rights('A', 'B'), rate: 10, per: 1, quota_max: 5, quota_renewal_rate: 60 }
  const second = { access_rights: rights('C'), rate: 20, per: 1, quota_max: 5, quota_renewal_rate: 60 }
  const alone = merge([first])
  assert.deepEqual(
    [numbers(alone, 'A'), numbers(alone, 'B')],
    [
      ['10/1', '5/60'],
      ['10/1', '5/60'],
    ],
  )
  const both = merge([first, second])
  assert.deepEqual(numbers(both, 'A'), ['10/1 p.P1', '5/60 p.P1'])
  assert.deepEqual(numbers(both, 'C'), ['20/1 p.P2', '5/60 p.P2'])
})

test('a session without policies: API limits first, the rest from the top level', () => {
  const merged = mergePolicies(
    {
      rate: 7,
      per: 1,
      quota_max: 70,
      quota_renewal_rate: 60,
      access_rights: rights(
        'A',
        { api_id: 'B', limit: { quota_max: 3, quota_renewal_rate: 5 } },
        { api_id: 'C', limit: { rate: 1, per: 2 } },
        {
          api_id: 'D',
          limit: { rate: 0, per: 0, quota_max: 0 },
        },
      ),
    },
    [],
  )
  assert.ok(!(merged instanceof Fault))
  assert.deepEqual(numbers(merged, 'A'), ['7/1', '70/60'])
  assert.deepEqual(numbers(merged, 'B'), ['7/1', '3/5 a.B'])
  assert.deepEqual(numbers(merged, 'C'), ['1/2 a.C', '70/60'])
  assert.deepEqual(numbers(merged, 'D'), ['7/1', '70/60'])
})

test('own numbers of a session do not count in parts that a policy controls', () => {
  const own = { rate: 1000, per: 1, quota_max: -1 }
  assert.deepEqual(numbers(merge([{ access_rights: rights('A'), rate: 1, per: 1 }], own), 'A'), ['1/1', '-'])
  const partitioned = merge(
    [{ partitions: { acl: true, rate_limit: true }, access_rights: rights('A'), rate: 1, per: 1 }],
    own,
  )
  assert.deepEqual(numbers(partitioned, 'A'), ['1/1', '-1/0'])
  const quota = { partitions: QUOTA, access_rights: rights('A'), quota_max: 10 }
  const inherited = merge([{ partitions: ACL, access_rights: rights('A', 'B') }, quota], {
    ...own,
    quota_max: 1_000_000,
    quota_renewal_rate: 1,
  })
  assert.deepEqual(numbers(inherited, 'B'), ['1000/1', '10/0'])
})

test('policies without rights give numbers to rights of the key', () => {
  const own: Session = { access_rights: rights('A', { api_id: 'B', limit: { rate: 2, per: 1 } }), rate: 99, per: 1 }
  const merged = merge([{ partitions: RATE, rate: 5, per: 1 }], own)
  assert.deepEqual([numbers(merged, 'A')[0], numbers(merged, 'B')[0]], ['5/1', '2/1 a.B'])
  const named = merge([{ partitions: RATE, access_rights: rights('B'), rate: 5, per: 1 }], own)
  assert.equal(numbers(named, 'B')[0], '5/1')
})

test('unknown policies: alone a fault, among others ignored, and own access rights never apply', () => {
  const own: Session = { access_rights: rights('A') }
  assert.match(refusal([undefined], own), /none of the policies/)
  assert.match(refusal([undefined, undefined], own), /none of the policies/)
  assert.match(refusal([undefined, { partitions: RATE, rate: 1, per: 1 }], own), /brings rights/)
  assert.match(refusal([{ partitions: RATE, rate: 1, per: 1 }]), /brings rights/)
  const merged = merge([undefined, { access_rights: rights('B') }], own)
  assert.deepEqual([[...merged.rights.keys()], merged.policyIds], [['B'], ['P2']])
})

test('a policy of another organisation than the API is refused; unloaded APIs are not checked', () => {
  const policy = { org_id: 'one', access_rights: rights('A', 'B') }
  const orgs = new Map([['A', 'one']])
  assert.ok(!(mergePolicies(keyOf([policy]), [policy], (id) => orgs.get(id)) instanceof Fault))
  orgs.set('B', 'two')
  assert.ok(mergePolicies(keyOf([policy]), [policy], (id) => orgs.get(id)) instanceof Fault)
})

test('paths are united, and no list at all beats any list', () => {
  const of = (...allowed_urls: { url: string; methods: string[] }[]): Policy => ({
    access_rights: rights({ allowed_urls }),
  })
  const restricted = of({ url: '/a', methods: ['GET'] })
  const united = merge([restricted, of({ url: '/b', methods: ['GET'] }, { url: '/a', methods: ['GET', 'PUT'] })])
  assert.deepEqual(united.rights.get('A')?.allowedUrls, [
    { url: '/a', methods: ['GET', 'PUT'] },
    { url: '/b', methods: ['GET'] },
  ])
  assert.deepEqual(merge([restricted, of()]).rights.get('A')?.allowedUrls, [])
  assert.deepEqual(merge([of(), restricted]).rights.get('A')?.allowedUrls, [])
  assert.deepEqual(merge([restricted, of(), restricted]).rights.get('A')?.allowedUrls, [])
})

test('limits of endpoints: the looser wins, and they go with the rate', () => {
  const of = (rate: number, per: number, more: Policy = {}): Policy => ({
    access_rights: rights({ endpoints: [{ path: '/x', methods: [{ name: 'GET', limit: { rate, per } }] }] }),
    ...more,
  })
  const limitOf = (merged: Merged) => merged.rights.get('A')?.endpoints[0]?.methods?.[0]?.limit
  assert.deepEqual(limitOf(merge([of(1, 1), of(30, 10)])), { rate: 30, per: 10 })
  assert.deepEqual(limitOf(merge([of(2, 1), of(20, 10)])), { rate: 20, per: 10 })
  assert.deepEqual(limitOf(merge([of(2, 1), of(0, 0)])), { rate: 0, per: 0 })
  assert.deepEqual(limitOf(merge([of(0, 0), of(2, 1)])), { rate: 0, per: 0 })
  assert.equal(limitOf(merge([of(1, 1, { partitions: ACL })])), undefined)
  assert.deepEqual(limitOf(merge([of(1, 1, { partitions: ACL }), { partitions: RATE, access_rights: rights('A') }])), {
    rate: 1,
    per: 1,
  })
})

test('inactive is the flag of the key or of any policy', () => {
  const policy = { access_rights: rights('A') }
  assert.equal(merge([policy]).isInactive, false)
  assert.equal(merge([policy], { is_inactive: true }).isInactive, true)
  assert.equal(merge([policy, { ...policy, is_inactive: true }]).isInactive, true)
  assert.equal(merge([{ ...policy, active: false }]).isInactive, false)
})

test('policy tags replace those of the key, metadata is overwritten, the latest wins', () => {
  const first = { access_rights: rights('A'), tags: ['p', 'q'], meta_data: { plan: 'one', a: 1 }, last_updated: '200' }
  const second = { access_rights: rights('A'), tags: ['q', 'r'], meta_data: { plan: 'two' }, last_updated: '90' }
  const own: Session = { tags: ['key'], meta_data: { plan: 'own', mine: true }, last_updated: '100' }
  const merged = merge([first, second], own)
  assert.deepEqual(merged.tags, ['p', 'q', 'r'])
  assert.deepEqual(merged.metaData, { plan: 'two', mine: true, a: 1 })
  assert.equal(merged.lastUpdated, '200')
  assert.deepEqual(merge([{ access_rights: rights('A') }], own).tags, ['key'])
  assert.deepEqual(own.meta_data, { plan: 'own', mine: true }, 'the session is not touched')
})

test('names that mean something to JavaScript are names like any other', () => {
  const policy = JSON.parse(
    '{"access_rights":{"__proto__":{"api_id":"__proto__"}},"meta_data":{"__proto__":{"polluted":1}}}',
  ) as Policy
  const merged = merge([policy])
  assert.deepEqual([...merged.rights.keys()], ['__proto__'])
  assert.equal(Object.getPrototypeOf(merged.metaData), Object.prototype)
  assert.ok(Object.hasOwn(previewSession(keyOf([policy]), [policy]).access_rights ?? {}, '__proto__'))
})

test('apply_policy_id counts only while apply_policies is empty', () => {
  assert.deepEqual(policyIdsOf({ apply_policy_id: 'x' }), ['x'])
  assert.deepEqual(policyIdsOf({ apply_policy_id: 'x', apply_policies: ['a', 'b', 'a'] }), ['a', 'b'])
  assert.deepEqual(policyIdsOf({ apply_policies: [] }), [])
})

test('a preview shows what is in force, leaves zeros out and keeps what is not ours', () => {
  const session = {
    ...keyOf([1]),
    org_id: 'o',
    rate: 99,
    quota_remaining: 4,
    tags: ['key'],
    alias: 'me',
    expires: 5,
    certificate: 'kept',
  } as Session
  const policy = {
    access_rights: rights({
      api_name: 'Orders',
      versions: ['Default'],
      restricted_types: [{ name: 'Query', fields: ['a'] }],
    } as Partial<AccessDefinition>),
    rate: 10,
    per: 1,
    quota_max: 100,
    quota_renewal_rate: 60,
    tags: ['gold'],
    last_updated: '7',
    hmac_enabled: true,
  }
  const shown = { rate: 10, per: 1, quota_max: 100, quota_remaining: 100, quota_renewal_rate: 60 }
  assert.deepEqual(previewSession(session, [policy]), {
    apply_policies: ['P1'],
    org_id: 'o',
    alias: 'me',
    expires: 5,
    certificate: 'kept',
    ...shown,
    access_rights: {
      A: {
        api_id: 'A',
        api_name: 'Orders',
        versions: ['Default'],
        limit: shown,
        restricted_types: [{ name: 'Query', fields: ['a'] }],
      },
    },
    tags: ['gold'],
    last_updated: '7',
    hmac_enabled: true,
  })
  assert.throws(() => previewSession(session, [undefined]), { code: 'policies_unusable' })
})

test('with a single API its numbers stand at the top level of a preview too', () => {
  const policy = { partitions: { per_api: true }, access_rights: rights({ limit: { rate: 1, per: 2 } }) }
  const { rate, per, access_rights } = previewSession(keyOf([policy]), [policy])
  assert.deepEqual([rate, per, access_rights?.A?.allowance_scope], [1, 2, 'A'])
})

test('policies with more patterns than the bound are refused, with the bound', () => {
  const patterns = (count: number, long = 1) => Array.from({ length: count }, (_, i) => `/${i}`.padEnd(long, 'x'))
  const urls = (list: string[]): Partial<AccessDefinition> => ({
    allowed_urls: list.map((url) => ({ url, methods: ['GET'] })),
  })
  const endpoints = (list: string[]): Partial<AccessDefinition> => ({
    endpoints: list.map((path) => ({ path, methods: [{ name: 'GET', limit: { rate: 1, per: 1 } }] })),
  })
  const both = (first: Partial<AccessDefinition>, second: Partial<AccessDefinition>) => [
    { access_rights: rights(first), rate: 1, per: 1 },
    { access_rights: rights({ ...second, api_id: 'B' }), rate: 1, per: 1 },
  ]
  const most = MOST.patterns
  const half = most / 2
  assert.equal(merge(both(urls(patterns(half)), endpoints(patterns(half)))).rights.size, 2)
  assert.match(
    refusal(both(urls(patterns(half)), endpoints(patterns(half + 1)))),
    /have 10001 patterns .* at most 10000 /,
  )
  const long = MOST.pattern_characters / 2000
  assert.equal(merge(both(urls(patterns(1000, long)), endpoints(patterns(1000, long)))).rights.size, 2)
  const over = both(urls(patterns(1001, long)), endpoints(patterns(1000, long)))
  assert.match(refusal(over), /have 1000500 characters, at most 1000000 /)
  // Patterns that both name count once.
  const same = { access_rights: rights(urls(patterns(most))), rate: 1, per: 1 }
  assert.equal(merge([same, same]).rights.get('A')?.allowedUrls.length, most)
})
