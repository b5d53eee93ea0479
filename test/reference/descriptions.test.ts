import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SETTINGS } from '../../src/config/settings.ts'
import { CLASSIC_SCHEMA } from '../../src/model/apis/schema/schema-classic.ts'
import { EXTENSION_SCHEMA } from '../../src/model/apis/schema/schema-oas.ts'
import { CLASSIC_TEXTS } from '../../src/model/apis/texts/classic-texts.ts'
import { type MemberTexts, membersIn, withMemberTexts } from '../../src/model/apis/texts/member-texts.ts'
import { OAS_TEXTS } from '../../src/model/apis/texts/oas-texts.ts'
import type { JsonObject } from '../../src/model/json/json.ts'
import { METRICS, type MetricName, metricEntry } from '../../src/model/metrics/catalog.ts'
import { CLIENT_SCHEMA } from '../../src/model/oauth-clients/oauth-client-schema.ts'
import { POLICY_SCHEMA } from '../../src/model/policies/policy.ts'
import { SESSION_SCHEMA } from '../../src/model/sessions/session.ts'

const SCHEMAS: Readonly<Record<string, JsonObject>> = {
  'API definition': EXTENSION_SCHEMA,
  'classic definition': CLASSIC_SCHEMA,
  policy: POLICY_SCHEMA,
  key: SESSION_SCHEMA,
  client: CLIENT_SCHEMA,
}

/** A sentence of its own: not empty, ends with a stop, and is no name of the member said again. */
function flawOfText(name: string, text: unknown): string | undefined {
  if (typeof text !== 'string' || text.trim() === '') return `${name} has no description`
  if (!/^[\p{Lu}\p{Ll}\p{N}`]/u.test(text) || !/[.)`]$/.test(text)) return `${name}: "${text}" is no sentence`
  return text.length > 400 ? `${name}: its description is too long` : undefined
}

for (const [name, schema] of Object.entries(SCHEMAS))
  test(`every member of a ${name} has a description`, () => {
    const members = membersIn(schema)
    assert.ok(members.length >= 15)
    const flaws = members.flatMap(([path, { description }]) => flawOfText(path, description) ?? [])
    assert.deepEqual(flaws, [])
  })

test('a member without a description would be found, also in lists, maps and choices', () => {
  const leaf = { type: 'string' }
  const within = { type: 'object', properties: { a: leaf } }
  const schema = withMemberTexts(
    {
      type: 'object',
      properties: {
        said: leaf,
        list: { type: 'array', items: within },
        map: { type: 'object', additionalProperties: within },
        choice: { anyOf: [within, { type: 'null' }] },
      },
    },
    { said: 'Text.', list: 'List.', map: 'Map.', choice: 'Choice.' },
  )
  const without = membersIn(schema).filter(([, { description }]) => description === undefined)
  assert.deepEqual(
    without.map(([path]) => path),
    ['list[].a', 'map.*.a', 'choice.a'],
  )
})

test('no description is of a member that is gone', () => {
  const unused = (texts: MemberTexts, schema: JsonObject) => {
    const paths = membersIn(schema).map(([path]) => path)
    return Object.keys(texts).filter(
      (key) => !paths.some((path) => (key.startsWith('.') ? path.endsWith(key) : path === key)),
    )
  }
  assert.deepEqual(unused(OAS_TEXTS, EXTENSION_SCHEMA), [])
  assert.deepEqual(unused(CLASSIC_TEXTS, CLASSIC_SCHEMA), [])
})

test('every setting and every metric has a description', () => {
  const settings = SETTINGS.flatMap(({ path, description }) => flawOfText(path, description) ?? [])
  const metrics = (Object.keys(METRICS) as MetricName[]).flatMap(
    (name) => flawOfText(name, `${metricEntry(name).help}.`) ?? [],
  )
  assert.deepEqual([...settings, ...metrics], [])
})
