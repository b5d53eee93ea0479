import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { TerritoryIndex, type TerritoryOwner } from '../../../src/gateway/routing/territory-index.ts'
import { isShared, territoriesOverlap } from '../../../src/model/apis/definition/territory.ts'

const HOSTS: ReadonlySet<string> = new Set(['shared.example'])

test('an index finds the holders of others that a look at all of them finds', () => {
  const segment = fc.constantFrom('a', 'B', 'b', { pattern: undefined, source: '' })
  const holder = fc.record({
    orgId: fc.constantFrom('one', 'two', 'three'),
    territory: fc.record({
      domain: fc.constantFrom('', 'shared.example', 'own.example', 'other.example'),
      segments: fc.array(segment, { maxLength: 3 }),
      ignoreCase: fc.boolean(),
    }),
  })
  const step = fc.oneof(holder, fc.nat(20))
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), holder, (steps, wanted) => {
      const index = new TerritoryIndex<TerritoryOwner>(HOSTS)
      const all: TerritoryOwner[] = []
      for (const each of steps) {
        if (typeof each !== 'number') {
          index.add(each)
          all.push(each)
        } else if (each < all.length) index.delete(all.splice(each, 1)[0]!)
        const foreign = all.filter(
          ({ orgId, territory }) => orgId !== wanted.orgId && territoriesOverlap(wanted.territory, territory, HOSTS),
        )
        assert.deepEqual(new Set(index.foreignTo(wanted)), new Set(foreign))
        for (const each of all) assert.ok(index.has(each))
        for (const domain of ['own.example', 'other.example']) {
          const orgs = all.filter(({ territory }) => territory.domain === domain).map(({ orgId }) => orgId)
          const owner = index.ownerOf(domain)
          assert.ok(owner === undefined ? orgs.length === 0 : orgs.includes(owner))
          assert.equal(index.owners().get(domain), owner)
        }
        assert.ok(isShared('shared.example', HOSTS) && index.ownerOf('shared.example') === undefined)
      }
    }),
  )
})
