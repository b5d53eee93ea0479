import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CLASSIC_SCHEMA } from '../../../src/model/apis/schema/schema-classic.ts'
import { EXTENSION_SCHEMA } from '../../../src/model/apis/schema/schema-oas.ts'
import { POLICY_MEMBERS } from '../../../src/model/documents/references.ts'
import { isObject, type Json } from '../../../src/model/json/json.ts'

/** Members that name claims of a token, and the list whose entries have `policyId`. */
const NO_IDS = new Set([
  ...['jwt_policy_field_name', 'policyFieldName', 'basePolicyClaims', 'jwt_base_policy_claims', 'base_policy_claims'],
  'scopeToPolicyMapping',
])

/** The names of all members in a schema that speak of policies. */
function policyNames(schema: Json | undefined, found = new Set<string>()): Set<string> {
  if (Array.isArray(schema)) for (const each of schema) policyNames(each, found)
  if (!isObject(schema ?? null)) return found
  const { properties, ...others } = schema as { [name: string]: Json }
  for (const [name, below] of Object.entries(isObject(properties ?? null) ? (properties as object) : {})) {
    if (/polic(?:y|ies)/i.test(name)) found.add(name)
    policyNames(below as Json, found)
  }
  policyNames(Object.values(others), found)
  return found
}

for (const [format, schema] of Object.entries({ classic: CLASSIC_SCHEMA, oas: EXTENSION_SCHEMA }))
  test(`${format}: every member of a definition that names policies is judged as a reference`, () => {
    const names = policyNames(schema)
    assert.ok(names.size > 2)
    const missed = [...names].filter((name) => !POLICY_MEMBERS.has(name) && !NO_IDS.has(name))
    assert.deepEqual(missed, [])
  })
