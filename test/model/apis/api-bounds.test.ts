import assert from 'node:assert/strict'
import { test } from 'node:test'
import { API_BOUNDS, type Bound, boundFlaws, MOST_EXPRESSIONS } from '../../../src/model/apis/check/bounds.ts'
import { readApi, readNewApi } from '../../../src/model/apis/read/read.ts'
import type { Json, JsonObject } from '../../../src/model/json/json.ts'
import { classic, oas } from '../../worlds/model/api-samples.ts'

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']
const named = (count: number, item: Json, name = 'n'): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${name}${index}`, item]))
const listed = (count: number, item: Json): Json[] => Array.from({ length: count }, () => item)

/** So many of what a bound counts, in as many members as `together` needs. */
function heldBy({ counts, together, most }: Bound, count: number): Json[] {
  const whole = (many: number): Json => {
    if (counts === undefined) return named(many, 'x')
    if (counts === 'characters') return 'x'.repeat(many)
    if (counts === 'operations') return Object.fromEntries(METHODS.slice(0, many).map((method) => [method, {}]))
    const path = `/${Array.from({ length: many }, (_, index) => `{p${index}}`).join('/')}`
    return counts === 'placeholders' ? path : { [path]: {} }
  }
  if (together === undefined) return [whole(count)]
  const part = counts === 'operations' ? METHODS.length : Math.ceil(most / 4)
  const parts = listed(Math.floor(count / part), whole(part))
  return count % part === 0 ? parts : [...parts, whole(count % part)]
}

/** The values at a place: the last wildcard takes all of them, those before it one. */
function at(path: readonly string[], values: readonly Json[]): Json {
  const [step, ...rest] = path
  if (step === undefined) return values[0]!
  if (step !== '*') return { [step]: at(rest, values) }
  if (rest.includes('*')) return { one: at(rest, values) }
  return Object.fromEntries(values.map((value, index) => [`m${index}`, at(rest, [value])]))
}

for (const format of ['classic', 'oas'] as const)
  for (const bound of API_BOUNDS[format])
    test(`${format}: ${bound.at} holds at most ${bound.most}${bound.together ? ' together' : ''} ${bound.counts ?? ''}`, () => {
      const flawsOf = (count: number) => {
        const definition = at(bound.at.split('.'), heldBy(bound, count)) as JsonObject
        return boundFlaws(format, definition).filter(({ reason }) => reason.includes(`more than ${bound.most} `))
      }
      assert.deepEqual(flawsOf(bound.most), [])
      const [flaw] = flawsOf(bound.most + 1)
      assert.ok(flaw !== undefined)
      assert.ok(flaw.reason.includes(`(${bound.most + 1})`), flaw.reason)
      assert.equal(flaw.at[0], bound.at.split('.')[0])
    })

const api = (format: 'classic' | 'oas', definition: JsonObject) => ({
  ...{ api_id: 'i', org_id: 'o', name: 'n', format, definition },
})
const entries = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ path: `/r${index}`, method: 'GET', method_actions: {} }))
const lists = (count: number, more: JsonObject = {}) =>
  classic({
    version_data: {
      not_versioned: true,
      versions: { Default: { extended_paths: { white_list: entries(count) }, use_extended_paths: true } },
    },
    ...more,
  })

test('what is stored above a bound is served, and refused when it is saved', () => {
  for (const document of [
    api('classic', lists(10_001)),
    api('oas', oas({ document: { paths: named(10_001, {}, '/p') } })),
  ]) {
    assert.doesNotThrow(() => readApi(document))
    assert.throws(() => readNewApi(document), /more than 10000 entries \(10001\)/)
  }
})

test('expressions are bounded lower than paths that a trie finds', () => {
  assert.doesNotThrow(() => readNewApi(api('classic', lists(MOST_EXPRESSIONS + 1))))
  assert.doesNotThrow(() => readNewApi(api('classic', lists(MOST_EXPRESSIONS, { path_matching: 'contains' }))))
  assert.throws(
    () => readNewApi(api('classic', lists(MOST_EXPRESSIONS + 1, { path_matching: 'contains' }))),
    /more than 5000 entries \(5001\)/,
  )
})

test('what a definition carries of its other format is bounded too', () => {
  const carried = classic({ oas: { document: { paths: named(10_001, {}, '/p') } } })
  assert.throws(() => readNewApi(api('classic', carried)), /oas\.document\.paths: must not hold more than 10000/)
})
