import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { isObject, type JsonObject } from '../../../src/model/json/json.ts'
import { keyWorld } from '../../worlds/dashboard/key-world.ts'

const GENERATED = join(import.meta.dirname, '../../../docs/generated')
const documentIn = (name: string) => JSON.parse(readFileSync(join(GENERATED, name), 'utf8')) as JsonObject

/** Forms of texts by what their members are called, or said to be. */
const FORMS: readonly (readonly [form: string, members: RegExp, descriptions: RegExp])[] = [
  [
    'date-time',
    /\.(?:date_created|created_at|updated_at|last_updated|last_used|last_hit|not_before|not_after|until|valid_until|\w+_at)$/,
    /RFC 3339/,
  ],
  ['email', /\.(?:email|email_address|EmailAddress)$/, /^Email address/],
  ['uri', /\.(?:redirect_uris|\w+_uri|\w+_url|\w+URL|target_path|redirect_to)$/, /^URL /],
  ['id', /\._id$/, /24 hexadecimal digits/],
]

/** Members of such a name without a form, with the reason. Definitions of APIs may have references and templates in any place. */
const FREE: readonly (readonly [members: RegExp, reason: string])[] = [
  [/^(?:Classic|Gateway)/, 'of a definition'],
  [/Input\.(?:id|_id)$|^Policy\._id$/, 'made here, or named by the path: what is sent counts nowhere'],
  [/^(?:Api|Asset)Input\.\w+_(?:at|updated)$|\.last_updated$/, 'each save writes it, be it of its form or not'],
  [/\.(?:valid_until|confirmed_at|last_used|expirationDate)$/, 'blank where there is none'],
  [/\.redirect_uri$/, 'several, joined as a setting says'],
  [/^(?:EntryConfiguration|Portal\w+|Catalogue(?:Input)?)\w*\./, 'blank unless the portal sets it'],
  [/^(?:Identity|Openid)\w+\./, 'of a sign-in profile: may be blank, or relative to the dashboard'],
  [/^(?:ApiUrl\.ApiURL|GetGatewayAddressResult\.url)$/, 'blank, or without a host, where nobody knows it'],
  [
    /^(?:SignIn|SignInDeveloper|Request\w+Reset|VerifyDeveloperCredentials)Body\./,
    'any text: what is unknown is answered',
  ],
  [/^(?:SignInDone|SignedInUser)\.|^UsageRowId\.developer_email$/, 'of a guest or a deleted developer: blank'],
  [/^NonceInput\.EmailAddress$/, 'blank, or as an identity provider spells it'],
  [/^AuditRecord\.user$/, 'or what has acted in place of a user'],
  [/^DcrRegistration\.client_uri$/, 'kept as a portal has sent it'],
]

function* textsOf(document: JsonObject): Generator<readonly [place: string, schema: JsonObject]> {
  const { schemas } = document.components as { schemas: JsonObject }
  for (const [name, schema] of Object.entries(schemas))
    for (const [member, value] of Object.entries((schema as JsonObject).properties ?? {})) {
      const described = value as JsonObject
      const inner = isObject(described.items) ? described.items : described
      if (inner.type === 'string' && inner.enum === undefined)
        yield [`${name}.${member}`, { description: described.description ?? '', ...inner }]
    }
}

test('texts that are moments, addresses and ids are described as such', () => {
  const free: string[] = []
  const texts = ['openapi.json', 'svc-openapi.json'].flatMap((name) => [...textsOf(documentIn(name))])
  for (const [place, { description, format, pattern }] of texts)
    for (const [form, members, descriptions] of FORMS) {
      if (!members.test(place) && !descriptions.test(String(description))) continue
      const isDescribed = form === 'id' ? pattern !== undefined : format === form
      if (!isDescribed) free.push(place)
    }
  assert.deepEqual(
    free.filter((place) => !FREE.some(([members]) => members.test(place))),
    [],
  )
  for (const [members, reason] of FREE)
    assert.ok(
      free.some((place) => members.test(place)),
      `${members}: ${reason}`,
    )
})

test('a path whose id is described as a storage id refuses every other text', async (t) => {
  const { call, root, store } = await keyWorld(t)
  const { paths } = documentIn('openapi.json') as unknown as { paths: Record<string, Record<string, JsonObject>> }
  const formed = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { parameters }]) => {
      const ids = (parameters as JsonObject[]).filter(
        ({ in: place, schema }) => place === 'path' && isObject(schema) && String(schema.pattern).includes('{24}'),
      )
      return ids.length === 0 ? [] : [[method.toUpperCase(), path] as const]
    }),
  )
  const taken: string[] = []
  const revision = await store.documents.revision()
  for (const [method, path] of formed)
    for (const id of ['gold', '5E9D9544A1DCD60001D0ED20', '5e9d9544a1dcd60001d0ed2']) {
      const as = path.startsWith('/admin/') ? 'installation' : root
      const asked = path.replace('{id}', id).replace(/\{\w+\}/g, 'none')
      const { status } = await call(method, asked, { as, ...(method !== 'GET' && { body: {} }) })
      if (status < 400 || status >= 500) taken.push(`${method} ${asked}: ${status}`)
    }
  assert.deepEqual(taken, [])
  assert.equal(await store.documents.revision(), revision)
  assert.ok(formed.length > 40, String(formed.length))
})
