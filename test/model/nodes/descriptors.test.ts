import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shareDescriptors } from '../../../src/model/nodes/descriptors.ts'

test('the shares of descriptors leave some for the process and for upstreams', () => {
  for (const limit of [64, 100, 256, 1024, 20_000, 1_048_576, 2 ** 40]) {
    for (const wanted of [0, 1, 50, 100_000, 10_000_000]) {
      const shares = shareDescriptors(limit, wanted)
      const { clients, upstreams, control, dashboard } = shares
      const all = clients + upstreams + control + dashboard
      for (const share of Object.values(shares)) assert.ok(Number.isInteger(share) && share > 0, `${limit} ${wanted}`)
      assert.ok(limit - all >= Math.min(limit / 4, 1000), `${limit} ${wanted}: ${all}`)
      if (wanted === 0) assert.ok(Math.abs(clients - upstreams) <= 1)
      else assert.ok(clients <= wanted)
    }
  }
})
