import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operationIndex } from '../../../src/gateway/routing/operation-index.ts'
import { matchOperation } from '../../../src/gateway/steps/operations/match-operation.ts'
import type { PathMatching } from '../../../src/model/apis/definition/api.ts'
import { readNewApi } from '../../../src/model/apis/read/read.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { newPatternWork } from '../../../src/model/patterns/pattern-work.ts'
import { mergeSecrets, redactDocument, withoutSecrets } from '../../../src/model/secrets/secret-places.ts'
import { definitionPlaces } from '../../../src/store/sealed/places.ts'
import { sealMembers, unsealMembers } from '../../../src/store/sealed/sealed-store.ts'
import { classic, defined } from '../../worlds/base/definitions.ts'

const COUNT = 2000
/** A step of quadratic time takes 16 times as long for four times as many; one that is linear 4 times, on a busy machine 8. */
const MOST_GROWTH = 10
const letters = [...'abcdefghijkl']

/** Paths so similar that a naive check would compare every two of them. */
const SHAPES: Readonly<Record<string, (index: number) => string>> = {
  mixed: (i) => `/{a}-{b}-{c}-${i}`,
  suffix: (i) => `/{a}-${i}`,
  prefix: (i) => `/${i}{a}`,
  'names of placeholders': (i) => `/{a${i}}`,
  'names within a segment': (i) => `/x{a${i}}`,
  'letter case': (i) => `/${letters.map((letter, bit) => ((i >> bit) & 1 ? letter.toUpperCase() : letter)).join('')}`,
  'one hash': (i) => `/${letters.map((_, bit) => ((i >> bit) & 1 ? 'Aa' : 'BB')).join('')}`,
}

const times = <T>(count: number, of: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => of(index))

function described(matching: PathMatching, rule: JsonObject, of: (index: number) => string, count: number) {
  const operation = (operationId: string) => ({ get: { operationId, responses: { 200: { description: '' } } } })
  const paths = Object.fromEntries(times(count, (i) => [of(i), operation(`o${i}`)]))
  const operations = Object.fromEntries(times(count, (i) => [`o${i}`, rule]))
  const definition = defined({
    id: 'a',
    url: 'http://127.0.0.1:1',
    paths,
    operations,
    server: { pathMatching: matching },
  })
  return { format: 'oas', definition } as unknown as Parameters<typeof readNewApi>[0]
}

function listed(list: string, entry: JsonObject, of: (index: number) => string, count: number) {
  const entries = times(count, (i) => ({ ...entry, path: of(i), method: 'GET' }))
  const versions = { Default: { name: 'Default', use_extended_paths: true, extended_paths: { [list]: entries } } }
  const definition = classic('a', '/a/', 'http://127.0.0.1:1', { version_data: { not_versioned: true, versions } })
  return { format: 'classic', definition } as unknown as Parameters<typeof readNewApi>[0]
}

const open = () => ({}) as never

function load(document: Parameters<typeof readNewApi>[0]): void {
  const api = readNewApi(document)
  const parts = {
    apiId: 'a',
    version: '',
    matching: api.pathMatching ?? 'exact',
    openTargets: open,
    openOrigin: open,
    openBreaker: open,
  }
  const step = matchOperation(api.rules.operations, parts)!
  // The rules that are ordered when they are first walked.
  for (const rest of ['/aaaa-b-c-77', '/x5']) step({ method: 'GET', rest, hops: 0, patternWork: 0 } as never)
}

function cpuOf(run: () => void): number {
  const before = process.cpuUsage()
  run()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

const LOADS: readonly [string, (of: (index: number) => string, count: number) => Parameters<typeof readNewApi>[0]][] = [
  ['openapi block', (of, count) => described('openapi', { block: { enabled: true } }, of, count)],
  [
    'openapi rate',
    (of, count) => described('openapi', { rateLimit: { enabled: true, rate: 5, per: '1s' } }, of, count),
  ],
  ['exact block', (of, count) => described('exact', { block: { enabled: true } }, of, count)],
  ['black_list', (of, count) => listed('black_list', {}, of, count)],
  ['hard_timeouts', (of, count) => listed('hard_timeouts', { timeout: 5, ignore_case: true }, of, count)],
]

for (const [shape, of] of Object.entries(SHAPES))
  test(`a definition is loaded in time that grows with its paths: ${shape}`, () => {
    for (const [name, make] of LOADS) {
      const [some, more] = [make(of, COUNT / 4), make(of, COUNT)]
      load(some)
      // Another file that runs beside this one may take the caches for a while.
      const growth: number[] = []
      while (growth.length < 3 && !growth.some((each) => each < MOST_GROWTH))
        growth.push(cpuOf(() => load(more)) / cpuOf(() => load(some)))
      assert.ok(Math.min(...growth) < MOST_GROWTH, `${name}: ${growth.join(', ')}`)
    }
  })

const field = (index: number) => ({ name: `X-${index}`, value: 'v' })
/** Rules that operations have, each with what it holds of lists. */
const RULES: Readonly<Record<string, JsonObject>> = {
  'header edits': { transformRequestHeaders: { enabled: true, add: times(4, field), remove: ['Y'] } },
  'header edits of answers': { transformResponseHeaders: { enabled: true, add: times(4, field), remove: ['Y'] } },
  mock: { mockResponse: { enabled: true, code: 200, body: 'x', headers: times(4, field) } },
  'mock from examples': { mockResponse: { enabled: true, fromOASExamples: { enabled: true } } },
  rewrite: { urlRewrite: { enabled: true, pattern: '^/a(b|c)*d', rewriteTo: '/x' } },
  'a target with a secret': {
    urlRewrite: { enabled: true, pattern: '/a', rewriteTo: 'http://127.0.0.1:1/?api_key=s' },
  },
  limit: { rateLimit: { enabled: true, rate: 5, per: '1s' } },
}

for (const [name, rule] of Object.entries(RULES))
  test(`checking, masking and sealing take time linear in the rules: ${name}`, () => {
    const [some, more] = [COUNT / 4, COUNT].map((count) => described('openapi', rule, (i) => `/a${i}`, count))
    const save = (document: typeof some) => {
      const definition = document!.definition as JsonObject
      readNewApi(document!)
      mergeSecrets(withoutSecrets(definition), definition)
      redactDocument(definition)
      const seal = { sealKey: Buffer.alloc(32), context: 'a' }
      unsealMembers(sealMembers(definition, definitionPlaces, seal), seal)
    }
    save(some)
    const growth: number[] = []
    while (growth.length < 3 && !growth.some((each) => each < MOST_GROWTH))
      growth.push(cpuOf(() => save(more)) / cpuOf(() => save(some)))
    assert.ok(Math.min(...growth) < MOST_GROWTH, growth.join(', '))
  })

test('segments of placeholders and words are charged to the budget of the request', () => {
  const rules = times(5000, (i) => ({
    rule: { method: '', path: `/{a}-${i}`, ignoreCase: false },
    operation: { checks: [] },
  }))
  for (const matching of ['openapi', 'exact'] as const) {
    const find = operationIndex(rules as unknown as Parameters<typeof operationIndex>[0], matching)
    const account = newPatternWork()
    assert.equal(find('GET', '/none', account), undefined)
    assert.ok(account.patternWork > 5000 * 5 && account.patternWork < 5000 * 50, String(account.patternWork))
    assert.throws(() => find('GET', '/none', { patternWork: 19_999_000 }), { code: 'patterns_over_budget' })
  }
})
