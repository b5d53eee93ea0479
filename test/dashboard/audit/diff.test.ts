import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { diffOf } from '../../../src/dashboard/audit/diff.ts'
import { isObject, type Json, type JsonObject } from '../../../src/model/json/json.ts'
import { redactDocument } from '../../../src/model/secrets/secret-places.ts'
import { turnsOf } from '../../worlds/base/turns.ts'

const at = (value: Json | undefined, name: string) =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined

/** The difference by its definition: whole bodies without their secrets, compared as texts. */
function plainDiff(kind: string, id: string, before: JsonObject | null, after: JsonObject | null): string {
  const lines = [`@ ${kind} ${id}`]
  const compare = (path: string, [b, a]: (Json | undefined)[], shown: (Json | undefined)[]): void => {
    if (JSON.stringify(b) === JSON.stringify(a)) return
    if (isObject(b) && isObject(a)) {
      for (const name of new Set([...Object.keys(b), ...Object.keys(a)])) {
        const pointer = `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
        compare(
          pointer,
          [at(b, name), at(a, name)],
          shown.map((side) => at(side, name)),
        )
      }
      return
    }
    for (const [side, value] of [b, a].entries()) {
      if (value === undefined || value === null) continue
      const line = `${'-+'[side]} ${path || '/'}: ${JSON.stringify(shown[side])}`
      lines.push(line.length > 500 ? `${line.slice(0, 500)}...` : line)
    }
  }
  compare('', [before, after], [redactDocument(before), redactDocument(after)])
  return lines.length > 1000 ? [...lines.slice(0, 1000), '...'].join('\n') : lines.join('\n')
}

const NAMES = [
  ...['name', 'value', 'source', 'jwt_source', 'signingMethod', 'jwt_signing_method', 'signing_method', 'openapi'],
  ...['x-gatehouse-api-gateway', 'url', 'headers', 'add', 'transformRequestHeaders', 'global_headers', 'providers'],
  ...['jwt', 'secret', 'password', 'user_permissions', 'keys', 'a/b', '~c', '/paths', 'check_list', 'body', 'plain'],
]
const TEXTS = [
  'Authorization',
  'X-Plain',
  'https://u:p@host/?api_key=1',
  'hmac',
  'rsa',
  '3.0.3',
  'a secret',
  'true',
  '',
]
const { body } = fc.letrec<{ body: JsonObject; value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom<Json>(...TEXTS, null, true, 7, 'x'.repeat(300)),
    tie('body'),
    fc.array(tie('value'), { maxLength: 4 }),
  ),
  body: fc
    .array(fc.tuple(fc.constantFrom(...NAMES), tie('value')), { maxLength: 5 })
    .map((members) => Object.fromEntries(members) as JsonObject),
}))

/** A body with another value in place of some of its values. */
function edited(value: Json, picks: readonly number[], other: Json): Json {
  const [pick = 0, ...rest] = picks
  if (picks.length === 0 || typeof value !== 'object' || value === null) return other
  const names = Object.keys(value)
  const name = names[pick % Math.max(1, names.length)]
  if (name === undefined) return other
  if (Array.isArray(value))
    return value.map((item, index) => (String(index) === name ? edited(item, rest, other) : item))
  return { ...value, [name]: edited(value[name]!, rest, other) }
}
const edit = fc.tuple(fc.array(fc.nat(20), { minLength: 1, maxLength: 4 }), fc.constantFrom<Json>(...TEXTS, 7, {}, []))

test('a difference is that of whole bodies without secrets', async () => {
  const pairs = fc.tuple(body, fc.array(edit, { maxLength: 3 }), fc.constantFrom('change', 'create', 'delete'))
  await fc.assert(
    fc.asyncProperty(pairs, async ([before, edits, act]) => {
      const after = edits.reduce((so, [picks, other]) => edited(so, picks, other), before as Json) as JsonObject
      const change = {
        ...{ kind: 'api', id: '1' },
        before: act === 'create' ? null : before,
        after: act === 'delete' ? null : after,
      }
      const expected = plainDiff('api', '1', change.before, change.after)
      assert.equal(await diffOf([change]), expected)
    }),
    { numRuns: 500 },
  )
})

test('a value is masked although the name that makes it secret is far behind it', async () => {
  const many = Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`m${index}`, index]))
  const secret = 'secret-of-the-test'
  for (const holder of [
    { value: secret, ...many, name: 'Authorization' },
    { source: secret, ...many, signingMethod: 'hmac' },
    { add: [{ value: secret, ...many, name: 'Authorization' }] },
  ])
    for (const [before, after] of [
      [null, { holder }],
      [{ holder }, null],
      [{ holder: 1 }, { holder }],
      [{ holder: { ...holder, value: 'x', source: 'x', add: 0 } }, { holder }],
    ] as (JsonObject | null)[][]) {
      const shown = await diffOf([{ kind: 'api', id: '1', before: before!, after: after! }])
      assert.ok(!shown.includes(secret), shown.slice(0, 200))
    }
})

test('differences of many large bodies are made in many turns', async () => {
  const large = (text: string): JsonObject =>
    Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`p${index}`, { deep: { list: [index, text] } }]))
  const changes = Array.from({ length: 30 }, (_, index) => ({
    ...{ kind: 'api' as const, id: String(index) },
    ...{ before: large('one'), after: { ...large('one'), p7: 'changed' } },
  }))
  const { longestMs, totalMs } = await turnsOf(() => diffOf(changes))
  assert.ok(longestMs < totalMs / 3, `${longestMs} of ${totalMs} ms in one turn`)
})
