import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nearest } from '../../../src/errors/suggest.ts'
import { memberWarnings } from '../../../src/model/apis/check/member-warnings.ts'
import { putAt, toWords } from '../../../src/model/apis/definition/tree.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { classic, oas } from '../../worlds/model/api-samples.ts'

const PLACES = {
  classic: ['', 'proxy', 'version_data.versions.Default.extended_paths', 'custom_middleware'],
  oas: ['x-svc-api-gateway', 'x-svc-api-gateway.server', 'x-svc-api-gateway.upstream'],
}
const sample = { classic, oas }

for (const format of ['classic', 'oas'] as const)
  for (const place of PLACES[format])
    test(`${format}: a hundred of many unknown members in "${place}" are listed, the others counted`, () => {
      const many = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`use_keyles${index}`, true]))
      const definition = structuredClone(sample[format]({}))
      if (place === '') Object.assign(definition, many)
      else putAt(definition as JsonObject, place.split('.'), many)
      const listed = memberWarnings({ format, definition }).filter(({ at }) => toWords(at).includes('use_keyles'))
      assert.equal(listed.length, 101)
      assert.match(listed.at(-1)!.reason, /as 4899 more members$/)
    })

/** Levenshtein's distance by its definition. */
function distance(a: string, b: string): number {
  if (a === '' || b === '') return a.length + b.length
  const change = distance(a.slice(1), b.slice(1)) + (a[0] === b[0] ? 0 : 1)
  return Math.min(change, distance(a.slice(1), b) + 1, distance(a, b.slice(1)) + 1)
}

test('the nearest name is the first with the smallest distance, whatever the lengths', () => {
  const names = ['a', 'ab', 'abc', 'bca', 'Abcd', 'xyz', 'xabc', 'cba', '', 'aabb']
  for (const name of names)
    for (let from = 0; from < names.length; from++) {
      const known = [...names.slice(from), ...names.slice(0, from)].filter((each) => each !== name)
      const far = (each: string) => distance(name.toLowerCase(), each.toLowerCase())
      const best = Math.min(...known.map(far))
      const right =
        best <= Math.max(2, Math.floor(name.length / 3)) ? known.find((each) => far(each) === best) : undefined
      assert.equal(nearest(name, known), right, `${name} of ${known}`)
    }
})
