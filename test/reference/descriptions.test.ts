import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { SETTINGS } from '../../src/config/settings.ts'
import { CLASSIC_SCHEMA } from '../../src/model/apis/schema/schema-classic.ts'
import { EXTENSION_SCHEMA } from '../../src/model/apis/schema/schema-oas.ts'
import { CLASSIC_TEXTS } from '../../src/model/apis/texts/classic-texts.ts'
import { type MemberTexts, membersIn, memberText, withMemberTexts } from '../../src/model/apis/texts/member-texts.ts'
import { OAS_TEXTS } from '../../src/model/apis/texts/oas-texts.ts'
import type { Scheme } from '../../src/model/authentication/scheme.ts'
import { SCHEMES } from '../../src/model/authentication/schemes.ts'
import { isObject, type JsonObject } from '../../src/model/json/json.ts'
import { METRICS, type MetricName, metricEntry } from '../../src/model/metrics/catalog.ts'
import { GRANTS } from '../../src/model/oauth-clients/grants.ts'
import { CLIENT_SCHEMA } from '../../src/model/oauth-clients/oauth-client.ts'
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

for (const scheme of SCHEMES)
  test(`every member of the scheme ${scheme.method} is described in its descriptor`, () => {
    const { classicSchema, oasSchema, classicTexts, oasTexts, pairs } = scheme
    const oas = without({ properties: oasSchema }, oasTexts)
    const classic = without({ properties: { ...classicSchema, ...switchOf(scheme) } }, classicTexts)
    const twins = pairs.map((pair) => pair.classic.join('.'))
    assert.deepEqual([oas, classic.filter((path) => !twins.includes(path))], [[], []])
  })

test('every switch of a grant is described in its row', () => {
  const flaws = GRANTS.filter(({ oas }) => oas !== undefined).flatMap(
    ({ type, description }) => flawOfText(type, description) ?? [],
  )
  assert.deepEqual(flaws, [])
})

/** Members of a schema without a text among these, which name them by the whole path or by its end. */
function without(schema: JsonObject, texts: MemberTexts): string[] {
  const paths = membersIn(schema).map(([path]) => path)
  return paths.filter((path) => memberText(path, texts) === undefined && memberText(`.${path}`, texts) === undefined)
}

/** The switch of a scheme; one with a dotted path is in a section of the scheme. */
function switchOf({ on }: Scheme): JsonObject {
  return on.includes('.') ? {} : { [on]: {} }
}

test('every setting and every metric has a description', () => {
  const settings = SETTINGS.flatMap(({ path, description }) => flawOfText(path, description) ?? [])
  const metrics = (Object.keys(METRICS) as MetricName[]).flatMap(
    (name) => flawOfText(name, `${metricEntry(name).help}.`) ?? [],
  )
  assert.deepEqual([...settings, ...metrics], [])
})

const NESTED = ['items', 'additionalProperties'] as const
const CHOICES = ['anyOf', 'oneOf', 'allOf', 'x-svc-any-of', 'x-svc-also'] as const

const objectsIn = (list: unknown): JsonObject[] => (Array.isArray(list) ? list.filter(isObject) : [])

/** Names of the components that a schema refers to, directly or as one that may be null. */
const referred = (schema: JsonObject): string[] =>
  [schema, ...objectsIn(schema.allOf)].flatMap(({ $ref }) =>
    typeof $ref === 'string' ? [$ref.split('/').at(-1)!] : [],
  )

/** Every member of every body and answer, however deep, with its description: its own, or that of the component that it refers to. */
function describedMembersOf(document: JsonObject): Map<string, unknown> {
  const { schemas, responses } = document.components as Record<string, Record<string, JsonObject>>
  const found = new Map<string, unknown>()
  const visited = new Set<string>()
  const visit = (schema: JsonObject, at: string): void => {
    for (const name of referred(schema).filter((each) => !visited.has(each))) {
      visited.add(name)
      visit(schemas![name]!, name)
    }
    for (const [name, member] of Object.entries((schema.properties ?? {}) as Record<string, JsonObject>)) {
      const ofComponent = referred(member).map((each) => schemas![each]!.description)
      found.set(`${at}.${name}`, member.description ?? ofComponent.find((text) => text !== undefined))
      visit(member, `${at}.${name}`)
    }
    for (const keyword of NESTED) if (isObject(schema[keyword] ?? null)) visit(schema[keyword] as JsonObject, `${at}[]`)
    for (const keyword of CHOICES) for (const choice of objectsIn(schema[keyword])) visit(choice, at)
  }
  const visitBody = (body: unknown, at: string) => {
    const { content = {} } = (body ?? {}) as { content?: Record<string, JsonObject> }
    for (const { schema } of Object.values(content)) if (isObject(schema ?? null)) visit(schema as JsonObject, at)
  }
  for (const item of Object.values(document.paths as Record<string, Record<string, JsonObject>>))
    for (const operation of Object.values(item)) {
      visitBody(operation.requestBody, `${operation.operationId} body`)
      for (const [status, answer] of Object.entries(operation.responses as JsonObject))
        visitBody(answer, `${operation.operationId} ${status}`)
    }
  for (const [name, response] of Object.entries(responses ?? {})) visitBody(response, name)
  return found
}

for (const file of ['openapi.json', 'svc-openapi.json'])
  test(`every member of every body and answer in ${file} has a description`, () => {
    const text = readFileSync(join(import.meta.dirname, '../../docs/generated', file), 'utf8')
    const members = describedMembersOf(JSON.parse(text) as JsonObject)
    assert.ok(members.size > 1000)
    assert.deepEqual(
      [...members].flatMap(([path, description]) => flawOfText(path, description) ?? []),
      [],
    )
  })

test('a member without a description is found behind references and in choices, too', () => {
  const leaf = { type: 'string' }
  const inside = { type: 'object', properties: { a: leaf } }
  const schemas = {
    Described: { ...inside, description: 'An object.' },
    Bare: { type: 'object', properties: { b: leaf } },
  }
  const schema = {
    type: 'object',
    properties: {
      described: { $ref: '#/components/schemas/Described' },
      bare: { type: 'object', nullable: true, allOf: [{ $ref: '#/components/schemas/Bare' }] },
      list: { type: 'array', description: 'List.', items: { 'x-svc-any-of': [{ properties: { c: leaf } }] } },
      map: { type: 'object', description: 'Map.', additionalProperties: { properties: { d: leaf } } },
    },
  }
  const content = { 'application/json': { schema } }
  const paths = { '/': { post: { operationId: 'act', requestBody: { content }, responses: { 200: { content } } } } }
  const members = describedMembersOf({ paths, components: { schemas } })
  assert.deepEqual(
    [...members].flatMap(([path, description]) => (description === undefined ? [path] : [])).sort(),
    ['Bare.b', 'Described.a', 'act 200.bare', 'act 200.list[].c', 'act 200.map[].d']
      .concat(['act body.bare', 'act body.list[].c', 'act body.map[].d'])
      .sort(),
  )
})
