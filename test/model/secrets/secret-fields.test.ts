import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { EXTENSION } from '../../../src/model/apis/definition/members.ts'
import { CLASSIC_SCHEMA } from '../../../src/model/apis/schema/schema-classic.ts'
import { EXTENSION_SCHEMA } from '../../../src/model/apis/schema/schema-oas.ts'
import { isObject, type Json, type JsonObject } from '../../../src/model/json/json.ts'
import { secretsOf } from '../../../src/model/secrets/secret-places.ts'
import { resolvedDocument } from '../../worlds/dashboard/openapi-document.ts'

const SPEAKS = /pass|secret|token|key|credential|auth/i

/** Fields whose names speak of secrets and that hold none, or are held by another mechanism: each with its reason. */
const EXCEPT: Readonly<Record<string, string>> = {
  // Of definitions.
  auth_login_redirect: 'an address',
  authLoginRedirect: 'an address',
  auth_header_name: 'a name',
  cache_key_regex: 'an expression',
  onKeyChangeUrl: 'an address: its user information and query are looked at',
  oauth_on_keychange_url: 'an address: its user information and query are looked at',
  allowedAuthorizeTypes: 'words of the protocol',
  allowed_authorize_types: 'words of the protocol',
  key: 'a name of a header, an entry of a list or the hash of a key; new keys are shown to their maker alone',
  keys: 'hashes of keys',
  publicKeys: 'public',
  // Of calls.
  auth_types: 'words',
  oauth_clients: 'ids; secrets of apps are blank in lists',
  key_request_fields: 'names of fields',
  otpauth_uri: 'shown once, to the user whose second factor it is; sealed in the store',
  OauthID: 'the id of a client',
  Key: 'the id of a client at an OpenID provider',
  oauth_id: 'the id of a client',
  auth_type: 'a word',
  auth_method: 'a word',
  token_type_hint: 'a word',
  token_endpoint_auth_method: 'a word',
  oauth_client_id: 'the id of a client',
  key_hashes: 'hashes that open nothing',
  key_rules: 'the limits of a session, as JSON',
  key_hash: 'a hash that opens nothing',
  legacy_key: 'a hash that opens nothing',
  password_updated: 'a time',
}

interface Field {
  readonly name: string
  readonly path: string[]
  readonly where: string
}

/** Every text of a schema, with the names on the way to it. */
function textsOf(schema: Json | undefined, where: string, path: string[] = []): Field[] {
  if (schema === undefined || !isObject(schema)) return []
  const { properties, items, additionalProperties } = schema
  const types = [schema.type ?? (schema.anyOf === undefined ? 'string' : 'anyOf')].flat()
  const own = path.length > 0 && types.includes('string') && schema.enum === undefined
  const inner = isObject(properties ?? null) ? Object.entries(properties as JsonObject) : []
  return [
    ...(own ? [{ name: path.at(-1)!, path, where }] : []),
    ...inner.flatMap(([name, member]) => textsOf(member, where, [...path, name])),
    ...textsOf(items, where, path),
    ...(isObject(additionalProperties ?? null) ? textsOf(additionalProperties, where, [...path, 'any']) : []),
    ...['anyOf', 'oneOf', 'allOf'].flatMap((each) =>
      (Array.isArray(schema[each]) ? (schema[each] as Json[]) : []).flatMap((one) => textsOf(one, where, path)),
    ),
  ]
}

function isInTable({ path }: Field, under: readonly string[] = []): boolean {
  const document = [...under, ...path].reduceRight<Json>((held, name) => ({ [name]: held }), 'planted')
  return secretsOf(document).length === 1
}

interface Operation {
  readonly requestBody?: Contents
  readonly responses: Record<string, Contents>
}
interface Contents {
  readonly content?: Record<string, { readonly schema: Json }>
}

const openapi = resolvedDocument(JSON.parse(readFileSync('docs/generated/openapi.json', 'utf8'))) as unknown as {
  paths: Record<string, Record<string, Operation>>
}
const operations = Object.entries(openapi.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ where: `${method} ${path}`, operation })),
)
const schemasOf = (contents: Readonly<Record<string, Contents>>) =>
  Object.values(contents).flatMap(({ content = {} }) => Object.values(content).map(({ schema }) => schema))

const FIELDS: readonly Field[] = [
  ...textsOf(EXTENSION_SCHEMA, 'definitions').map((field) => ({ ...field, path: [EXTENSION, ...field.path] })),
  ...textsOf(CLASSIC_SCHEMA, 'classic definitions'),
  ...operations.flatMap(({ where, operation }) =>
    schemasOf({ ...(operation.requestBody && { body: operation.requestBody }), ...operation.responses }).flatMap(
      (schema) => textsOf(schema, where),
    ),
  ),
]

describe('texts whose names speak of secrets', () => {
  const speaking = FIELDS.filter(({ name }) => SPEAKS.test(name))

  test('are in the table of secret places, or are named here with a reason', () => {
    assert.ok(speaking.length > 50, `${speaking.length} fields`)
    const open = speaking.filter((field) => !(field.name in EXCEPT) && !isInTable(field))
    assert.deepEqual([...new Set(open.map(({ where, path }) => `${path.join('.')} of ${where}`))], [])
  })

  test('no exception is there for nothing', () => {
    const needed = new Set(speaking.filter((field) => !isInTable(field)).map(({ name }) => name))
    assert.deepEqual(
      Object.keys(EXCEPT).filter((name) => !needed.has(name)),
      [],
    )
  })

  test('addresses: of every text that is one, a credential in its query is in the table', () => {
    const addresses = FIELDS.filter(
      ({ name, where }) => /definitions/.test(where) && /url$|target|rewriteTo|rewrite_to/i.test(name),
    )
    assert.ok(addresses.length > 10)
    for (const { path, where } of addresses) {
      const document = path.reduceRight<Json>(
        (held, name) => ({ [name]: held }),
        'https://up.example/x?page=1&api_key=planted',
      )
      const [place] = secretsOf(document)
      assert.equal(place?.masked, 'https://up.example/x?page=1&api_key=***', `${path.join('.')} of ${where}`)
    }
  })
})
