import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { isObject, type Json, type JsonObject } from '../../../src/model/json/json.ts'

/** Objects below a value, with their places. */
function objectsBelow(value: Json, place: string): [place: string, object: JsonObject][] {
  if (Array.isArray(value)) return value.flatMap((each, at) => objectsBelow(each, `${place}/${at}`))
  if (!isObject(value)) return []
  return [[place, value], ...Object.entries(value).flatMap(([name, each]) => objectsBelow(each, `${place}/${name}`))]
}

const COMPONENT = '#/components/schemas/'

for (const file of ['openapi.json', 'svc-openapi.json'])
  test(`${file} holds nothing that generators turn into code which does not compile`, () => {
    const text = readFileSync(new URL(`../../../docs/generated/${file}`, import.meta.url), 'utf8')
    const document = JSON.parse(text) as { paths: JsonObject; components: { schemas: JsonObject } }
    const all = objectsBelow(document as unknown as Json, '')
    const where = (isWrong: (object: JsonObject) => boolean) =>
      all.filter(([, object]) => isWrong(object)).map(([place]) => place)
    // Java: constants of numbers.
    assert.deepEqual(
      where((object) => Array.isArray(object.enum) && object.enum.some((each) => typeof each === 'number')),
      [],
    )
    // Java and Go: a list as one of several forms.
    const isListAmong = ({ anyOf }: JsonObject) =>
      Array.isArray(anyOf) && anyOf.some((each) => isObject(each) && each.type === 'array')
    assert.deepEqual(where(isListAmong), [])
    // Go: files of tests, and the names of the classes of calls, which follow from tags.
    const names = Object.keys(document.components.schemas)
    const tags = objectsBelow(document.paths, '').flatMap(([, { tags }]) =>
      Array.isArray(tags) ? tags.map(String) : [],
    )
    const classes = new Set(tags.map((tag) => `${tag.replaceAll('-', '')}api`))
    assert.deepEqual(
      names.filter((name) => name.endsWith('Test') || classes.has(name.toLowerCase())),
      [],
    )
    // TypeScript: types of forms alone are referred to and not written.
    const uses = (form: boolean) =>
      new Set(
        all.flatMap(([place, { $ref }]) => {
          const isForm =
            /\/content\/(?:multipart|application~1x-www)|\/content\/(?:multipart\/|application\/x-www)/.test(place)
          return typeof $ref === 'string' && $ref.startsWith(COMPONENT) && isForm === form ? [$ref] : []
        }),
      )
    const [inForms, elsewhere] = [uses(true), uses(false)]
    const mixed = Object.values(document.paths as Record<string, Record<string, JsonObject>>)
      .flatMap((methods) => Object.values(methods))
      .filter(({ requestBody }) => isObject(requestBody) && Object.keys(requestBody.content as JsonObject).length > 1)
    const lost = mixed.flatMap(({ operationId, requestBody }) =>
      objectsBelow(requestBody as Json, String(operationId)).flatMap(([place, { $ref }]) =>
        typeof $ref === 'string' && inForms.has($ref) && !elsewhere.has($ref) ? [place] : [],
      ),
    )
    assert.deepEqual(lost, [])
  })
