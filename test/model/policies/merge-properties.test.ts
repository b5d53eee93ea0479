import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Fault } from '../../../src/errors/fault.ts'
import { newPatternWork } from '../../../src/model/patterns/pattern-work.ts'
import { type EffectiveRight, mergePolicies } from '../../../src/model/policies/merge-policies.ts'
import { allowsPath, compilePaths } from '../../../src/model/sessions/rights.ts'
import type { Policy } from '../../../src/model/sessions/session.ts'
import { keyOf, merge } from '../../worlds/model/merging.ts'

const runs = process.env.GATEHOUSE_DEEP === '1' ? 5000 : 300

const somePolicy: fc.Arbitrary<Policy> = fc.record({
  access_rights: fc
    .uniqueArray(fc.constantFrom('A', 'B', 'C'), { minLength: 1 })
    .chain((ids) =>
      fc.tuple(
        ...ids.map((api_id) =>
          fc.record({
            api_id: fc.constant(api_id),
            versions: fc.subarray(['v1', 'v2']),
            allowed_urls: fc.array(
              fc.record({
                url: fc.constantFrom('/a', '/b/{id}', '/c/*'),
                methods: fc.subarray(['GET', 'POST'], { minLength: 1 }),
              }),
              { maxLength: 2 },
            ),
          }),
        ),
      ),
    )
    .map((list) => Object.fromEntries(list.map((right) => [right.api_id, right]))),
  rate: fc.constantFrom(-1, 0, 1, 3, 10, 60),
  per: fc.constantFrom(0, 1, 7, 60),
  quota_max: fc.constantFrom(-1, 0, 5, 100, 2400),
  quota_renewal_rate: fc.constantFrom(0, 60, 3600, 86_400),
  partitions: fc.record({ acl: fc.boolean(), quota: fc.boolean(), rate_limit: fc.boolean() }),
})
const PROBES = ['/api/a', '/api/b/7', '/api/c/1/2', '/api/d'].flatMap((path) =>
  ['GET', 'POST'].map((method) => [method, path] as const),
)

test('adding a policy never narrows paths or versions', () => {
  fc.assert(
    fc.property(fc.array(somePolicy, { minLength: 1, maxLength: 4 }), somePolicy, (policies, more) => {
      const before = mergePolicies(keyOf(policies), policies)
      if (before instanceof Fault) return
      const after = merge([...policies, more])
      for (const [id, right] of before.rights) {
        const wider = after.rights.get(id)
        assert.ok(wider !== undefined)
        for (const version of right.versions) assert.ok(wider.versions.includes(version))
        for (const [method, path] of PROBES) {
          if (!allowsPath(compilePaths(right.allowedUrls), method, path, newPatternWork())) continue
          assert.ok(
            allowsPath(compilePaths(wider.allowedUrls), method, path, newPatternWork()),
            `${method} ${path} is lost`,
          )
        }
      }
    }),
    { numRuns: runs },
  )
})

test('rate and quota are always the pair of one policy, and one count never meets two maximums', () => {
  fc.assert(
    fc.property(fc.array(somePolicy, { minLength: 1, maxLength: 5 }), (policies) => {
      const merged = mergePolicies(keyOf(policies), policies)
      if (merged instanceof Fault) return
      const quotas = new Map<string, string>()
      const rates = new Map<string, string>()
      for (const { rate, quota } of merged.rights.values()) {
        if (quota !== undefined) {
          const pair = `${quota.max}/${quota.renewalS}`
          assert.ok(policies.some((policy) => `${policy.quota_max}/${policy.quota_renewal_rate}` === pair))
          assert.equal(quotas.get(quota.scope) ?? pair, pair)
          quotas.set(quota.scope, pair)
        }
        if (rate === undefined) continue
        const pair = `${rate.rate}/${rate.per}`
        assert.ok(policies.some((policy) => `${policy.rate}/${policy.per}` === pair))
        assert.equal(rates.get(rate.scope) ?? pair, pair)
        rates.set(rate.scope, pair)
      }
    }),
    { numRuns: runs },
  )
})

/** The quota as text; unlimited is unlimited, with any renewal. */
function allowance({ quota }: EffectiveRight): string {
  if (quota === undefined) return 'none'
  return quota.max < 0 ? 'unlimited' : `${quota.max}/${quota.renewalS}`
}

test('rights, versions, paths and quota do not depend on the order of policies', () => {
  fc.assert(
    fc.property(fc.array(somePolicy, { minLength: 1, maxLength: 4 }), (policies) => {
      const forth = mergePolicies(keyOf(policies), policies)
      const back = mergePolicies(keyOf(policies), policies.toReversed())
      assert.equal(forth instanceof Fault, back instanceof Fault)
      if (forth instanceof Fault || back instanceof Fault) return
      assert.deepEqual([...forth.rights.keys()].sort(), [...back.rights.keys()].sort())
      for (const [id, right] of forth.rights) {
        const other: EffectiveRight = back.rights.get(id)!
        assert.deepEqual([...right.versions].sort(), [...other.versions].sort())
        assert.equal(allowance(right), allowance(other))
        const mine = compilePaths(right.allowedUrls)
        const theirs = compilePaths(other.allowedUrls)
        for (const [method, path] of PROBES)
          assert.equal(
            allowsPath(mine, method, path, newPatternWork()),
            allowsPath(theirs, method, path, newPatternWork()),
          )
      }
    }),
    { numRuns: runs },
  )
})
