import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import type { Policy } from '../../../src/model/sessions/session.ts'
import { previewMerged } from '../../../src/model/sessions/session-preview.ts'
import { merge } from '../../worlds/model/merging.ts'

const SOME = 256
const TIMES = 8
/** Linear work costs 8 times as much, on a busy machine 16; quadratic work 64 times. */
const MOST_GROWTH = 30

const many = <Item>(count: number, item: (index: number) => Item) => Array.from({ length: count }, (_, i) => item(i))
const urls = (count: number, of: (index: number) => string) =>
  many(count, (i) => ({ url: of(i), methods: ['GET', `M${i}`] }))
const limited = (count: number, of: (index: number) => string) =>
  many(count, (i) => ({ path: of(i), methods: [{ name: 'GET', limit: { rate: i + 1, per: 1 } }] }))

/** The content of one right of a policy: lists as long as the documents of many policies make them together. */
const RIGHTS: Readonly<Record<string, (policy: number) => JsonObject>> = {
  'patterns of their own': (policy) => ({ allowed_urls: urls(4, (i) => `^/x${policy}-${i}$`) }),
  'the same patterns': () => ({ allowed_urls: urls(4, (i) => `^/x${i}$`) }),
  'one pattern, methods of their own': (policy) => ({ allowed_urls: [{ url: '/x', methods: [`M${policy}`] }] }),
  'endpoints of their own': (policy) => ({ endpoints: limited(4, (i) => `^/x${policy}-${i}$`) }),
  'the same endpoints': () => ({ endpoints: limited(4, (i) => `^/x${i}$`) }),
  versions: (policy) => ({ versions: many(4, (i) => `v${policy}-${i}`) }),
  types: (policy) => ({ allowed_types: many(4, (i) => ({ name: `t${policy}-${i}`, fields: ['a'] })) }),
  'members of unknown objects': (policy) => ({ other: Object.fromEntries(many(4, (i) => [`m${policy}-${i}`, i])) }),
}

for (const [name, right] of Object.entries(RIGHTS))
  test(`policies are merged in a time that grows with what they hold: ${name}`, () => {
    const cpuOf = (count: number): number => {
      const policies = many(count, (policy) => ({
        tags: [`t${policy}`],
        meta_data: { [`m${policy}`]: policy },
        access_rights: { A: { api_id: 'A', ...right(policy) }, [`B${policy}`]: { api_id: `B${policy}` } },
      })) as Policy[]
      const before = process.cpuUsage()
      const merged = merge(policies)
      previewMerged({ apply_policies: [...merged.policyIds] }, policies, merged)
      const { user, system } = process.cpuUsage(before)
      assert.equal(merged.rights.size, count + 1)
      return (user + system) / 1000
    }
    cpuOf(SOME)
    const growth: number[] = []
    while (growth.length < 4 && !growth.some((each) => each < MOST_GROWTH))
      growth.push(cpuOf(SOME * TIMES) / Math.max(cpuOf(SOME), 1))
    assert.ok(Math.min(...growth) < MOST_GROWTH, growth.map(Math.round).join(', '))
  })
