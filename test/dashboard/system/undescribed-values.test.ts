import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { isObject, type Json, type JsonObject } from '../../../src/model/json/json.ts'
import { ContractCheck } from '../../worlds/base/contract-check.ts'

const FILE = join(import.meta.dirname, '../../../docs/generated/openapi.json')
const NOTHING = new Set(['description', 'x-go-name'])

/** Members that are any value, or an object of which nothing is said, with the reason. */
const MEANT: readonly (readonly [members: RegExp, reason: string])[] = [
  [/\.(?:api_model|entitlements)$|^DeleteIdentityProfileResult\.Data$/, 'empty, whatever happens'],
  [/^ApiOwnersInput\.ownerless$|^SetUserPasswordBody\.user_permissions$/, 'nobody reads it'],
  [/(?:Oas|Classic)KeptValue\.(?:put|is|was)$/, 'a value of a definition of another format'],
  [/^GatewayExtension.*\.(?:customRetentionPeriod|value|logRetentionPeriod)$/, 'not served; kept as it is sent'],
  [/^(?:Own)?Organisation(?:Input)?\.apis$/, 'kept for programs that write it; nothing reads it'],
  [/^Refusal\.Meta$/, 'null, or what the refusal is about'],
]

const saysNothing = (schema: JsonObject) => {
  const said = Object.keys(schema).filter((name) => !NOTHING.has(name))
  return (
    said.length === 0 ||
    (schema.description !== 'Always null.' &&
      said.every((name) => /^(?:type|nullable)$/.test(name)) &&
      schema.type === 'object')
  )
}

test('members that the document describes as any value are those that are meant so', () => {
  const { components } = JSON.parse(readFileSync(FILE, 'utf8')) as { components: { schemas: JsonObject } }
  const found: string[] = []
  const look = (schema: Json | undefined, place: string): void => {
    if (!isObject(schema)) return
    if (saysNothing(schema)) found.push(place)
    look(schema.items, place)
  }
  for (const [name, schema] of Object.entries(components.schemas))
    for (const [member, value] of Object.entries((schema as JsonObject).properties ?? {}))
      look(value as Json, `${name}.${member}`)
  assert.deepEqual(
    found.filter((place) => !MEANT.some(([members]) => members.test(place))),
    [],
  )
  for (const [members, reason] of MEANT)
    assert.ok(
      found.some((place) => members.test(place)),
      `${members}: ${reason}`,
    )
})

test('the check against the document finds each member that it does not describe', () => {
  const contract = new ContractCheck('openapi.json')
  const done = { Status: 'OK', Message: 'Data updated', Meta: null }
  const flaws = (body: object, json: object, status = 200) =>
    contract.flawsOf(
      { method: 'PUT', path: '/api/portal/policies/gold', body: JSON.stringify(body) },
      { status, json, text: JSON.stringify(json), headers: { 'content-type': 'application/json' } },
    )
  assert.deepEqual(flaws({ name: 'Gold' }, done), [])
  assert.deepEqual(flaws({ name: 'Gold' }, { ...done, Extra: 1 }), ['/Extra is not described'])
  assert.deepEqual(flaws({ name: 'Gold' }, { ...done, Warnings: [{ path: 'a', message: 'b', more: 1 }] }), [
    '/Warnings/0/more is not described',
  ])
  assert.deepEqual(flaws({ name: 'Gold' }, done, 201), ['the status 201 is not named'])
  assert.match(flaws({ name: 7 }, done).join(), /^sent: \/name is 7, not of type string$/)
})
