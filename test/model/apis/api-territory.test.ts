import assert from 'node:assert/strict'
import { isIP } from 'node:net'
import { test } from 'node:test'
import fc from 'fast-check'
import { TerritoryIndex } from '../../../src/gateway/routing/territory-index.ts'
import {
  domainFault,
  isShared,
  sharedHosts,
  territoriesOverlap,
  territoryOf,
} from '../../../src/model/apis/definition/territory.ts'

const HOSTS = sharedHosts(['https://gw.example.org:8443/', 'not a URL', ''])
const DOMAINS = ['', 'pay.example', 'shop.example', 'gw.example.org', 'localhost', '10.0.0.1']

interface Place {
  readonly orgId: string
  readonly domain: string
  readonly listenPath: string
  readonly ignoreCase: boolean
}

const words = fc.array(fc.constantFrom('a', 'A', 'b', '7', '{x}', '{x:[0-9]+}', '{x:[A-Z]}'), { maxLength: 3 })
const place: fc.Arbitrary<Place> = fc.record({
  orgId: fc.constantFrom('one', 'two', 'three'),
  domain: fc.constantFrom(...DOMAINS),
  listenPath: words.map((list) => `/${list.map((word, i) => word.replace('x', `x${i}`)).join('/')}`),
  ignoreCase: fc.boolean(),
})

const SEGMENTS = ['a', 'A', 'b', 'B', '7', 'z']
const PATHS: readonly (readonly string[])[] = [0, 1, 2, 3].flatMap((length) => paths(length))

function paths(length: number): string[][] {
  if (length === 0) return [[]]
  return paths(length - 1).flatMap((before) => SEGMENTS.map((segment) => [...before, segment]))
}

/** Written from the documentation of listen paths: a request is below a listen path when each of its segments fits. */
function takes({ domain, listenPath, ignoreCase }: Place, host: string, path: readonly string[]): boolean {
  if (domain !== '' && domain !== host) return false
  const wanted = listenPath.split('/').filter((segment) => segment !== '')
  if (wanted.length > path.length) return false
  return wanted.every((segment, i) => {
    const given = ignoreCase ? path[i]!.toLowerCase() : path[i]!
    if (!segment.startsWith('{')) return given === (ignoreCase ? segment.toLowerCase() : segment)
    const [, pattern = '.*'] = /:(.*)\}$/.exec(segment) ?? []
    return new RegExp(`^(?:${pattern})$`).test(given)
  })
}

test('property: territories overlap wherever one request could reach both', () => {
  fc.assert(
    fc.property(place, place, (one, other) => {
      const overlap = territoriesOverlap(territoryOf(one), territoryOf(other), HOSTS)
      assert.equal(overlap, territoriesOverlap(territoryOf(other), territoryOf(one), HOSTS))
      const owned = (domain: string) => domain.endsWith('.example')
      // A custom domain is owned as a whole, and nothing without one is served there to others.
      if (owned(one.domain) || owned(other.domain)) {
        assert.equal(overlap, one.domain === other.domain)
        return
      }
      const both = DOMAINS.some((host) => PATHS.some((path) => takes(one, host, path) && takes(other, host, path)))
      if (both) assert.ok(overlap, `${one.domain}${one.listenPath} ${other.domain}${other.listenPath}`)
      // Nothing is refused without need where neither patterns nor letter case leave a doubt.
      const doubtful = [one, other].some(({ listenPath, ignoreCase }) => listenPath.includes(':') || ignoreCase)
      if (!both && !doubtful) assert.ok(!overlap, `${one.domain}${one.listenPath} ${other.domain}${other.listenPath}`)
    }),
    { numRuns: 1500 },
  )
})

test('property: the index finds what comparing each with each finds, while holders come and go', () => {
  const step = fc.record({ holder: fc.nat(15), away: fc.boolean() })
  fc.assert(
    fc.property(
      fc.array(place, { minLength: 16, maxLength: 16 }),
      fc.array(step, { maxLength: 30 }),
      place,
      (places, steps, asked) => {
        const holders = places.map((each) => ({ orgId: each.orgId, territory: territoryOf(each) }))
        const index = new TerritoryIndex<(typeof holders)[number]>(HOSTS)
        const held = new Set<(typeof holders)[number]>()
        for (const { holder, away } of steps) {
          const each = holders[holder]!
          if (away) index.delete(each)
          else if (!index.has(each)) index.add(each)
          if (away) held.delete(each)
          else held.add(each)
        }
        const wanted = { orgId: asked.orgId, territory: territoryOf(asked) }
        const found = index.foreignTo(wanted)
        const expected = [...held].filter(
          ({ orgId, territory }) => orgId !== wanted.orgId && territoriesOverlap(territory, wanted.territory, HOSTS),
        )
        assert.equal(found.length, new Set(found).size)
        assert.deepEqual(new Set(found), new Set(expected))
      },
    ),
    { numRuns: 500 },
  )
})

test('names that nobody can own, and those that the gateway is reached by, are shared', () => {
  const at = (domain: string, listenPath = '/pay/') => territoryOf({ domain, listenPath, ignoreCase: false })
  for (const shared of ['gw.example.org', 'localhost', 'app.localhost', '127.0.0.1', 'gateway']) {
    assert.ok(territoriesOverlap(at(shared), at(''), HOSTS), shared)
    assert.ok(territoriesOverlap(at(shared, '/'), at(''), HOSTS), shared)
    assert.ok(!territoriesOverlap(at(shared, '/b/'), at(''), HOSTS), shared)
  }
  assert.ok(!territoriesOverlap(at('pay.example'), at(''), HOSTS))
  // Hosts that URLs read as an IPv4 address, or not at all.
  const part = fc
    .nat(255)
    .chain((number) =>
      fc.constantFrom(`${number}`, `0${number.toString(8)}`, `0x${number.toString(16)}`, `000${number}`, '0x'),
    )
  const label = fc.oneof(part, fc.constantFrom('a', 'example', '1a', '0xg', '0x1e'))
  fc.assert(
    fc.property(fc.array(label, { minLength: 1, maxLength: 5 }), (labels) => {
      const domain = labels.join('.')
      const host = URL.parse(`http://${domain}/`)?.hostname
      const isName = host !== undefined && isIP(host) === 0
      assert.equal(isShared(domain, new Set()), !isName || labels.length === 1, domain)
      assert.equal(domainFault(domain) === undefined, isName || isIP(domain) === 4, domain)
    }),
  )
  assert.ok(territoriesOverlap(at('pay.example', '/a/'), at('pay.example', '/b/'), HOSTS))
})
