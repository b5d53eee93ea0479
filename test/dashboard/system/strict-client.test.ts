import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { type KeyWorld, keyedApi, keyWorld, rightsOn } from '../../worlds/dashboard/key-world.ts'
import { closed, resolvedDocument } from '../../worlds/dashboard/openapi-document.ts'
import { oauthApi } from '../../worlds/gateway/oauth-fixtures.ts'
import { makeCertificate } from '../../worlds/wire/certificates.ts'

type Content = Record<string, { readonly schema: JsonObject }>
interface Operation {
  readonly method: string
  readonly path: string
  readonly responses: Record<string, { readonly content?: Content }>
  readonly requestBody?: { readonly content: Content }
}

/**
 * A client that is as strict as any generated one: it calls by operation id, sends and takes only members that the document describes, and
 * only statuses that it names.
 */
async function strictClient({ call, root }: KeyWorld) {
  const { json } = await call('GET', '/api/openapi.json')
  const { paths } = resolvedDocument(json as JsonObject) as { paths: Record<string, Record<string, JsonObject>> }
  const operations = new Map<string, Operation>()
  for (const [path, methods] of Object.entries(paths))
    for (const [method, operation] of Object.entries(methods))
      operations.set(String(operation.operationId), {
        ...operation,
        method: method.toUpperCase(),
        path,
      } as unknown as Operation)
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
  const compiled = new Map<JsonObject, ValidateFunction>()
  const used = new Set<string>()
  const wrong = new Set<string>()
  const check = (schema: JsonObject, value: unknown, where: string) => {
    const validate = compiled.get(schema) ?? ajv.compile(closed(schema) as object)
    compiled.set(schema, validate)
    if (validate(value)) return
    for (const { instancePath, message, params } of validate.errors ?? [])
      wrong.add(`${where} ${instancePath} ${message} ${JSON.stringify(params)}`)
  }
  const ask = async (
    id: string,
    params: Record<string, string> = {},
    body?: unknown,
    status = 200,
  ): Promise<JsonObject> => {
    const operation = operations.get(id)
    assert.ok(operation, id)
    used.add(id)
    const asked = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
      assert.ok(params[name] !== undefined, `${id} needs ${name}`)
      return encodeURIComponent(params[name])
    })
    const query = new URLSearchParams(Object.entries(params).filter(([name]) => !operation.path.includes(`{${name}}`)))
    const sent = operation.requestBody?.content['application/json']?.schema
    if (body !== undefined && typeof body !== 'string') check(sent!, body, `${id} sends`)
    const path = query.size === 0 ? asked : `${asked}?${query}`
    const answer = await call(operation.method, path, { as: root, ...(body !== undefined && { body }) })
    assert.equal(answer.status, status, `${id}: ${answer.text}`)
    const said = operation.responses[answer.status]
    assert.ok(said, `${id} does not declare ${answer.status}`)
    check(said.content!['application/json']!.schema, answer.json, `${id} answers`)
    return answer.json as JsonObject
  }
  return { ask, used, wrong }
}

const PERSON = {
  ...{ first_name: 'Ada', last_name: 'L', email_address: 'ada@example.com', password: 'a-Long-enough-1' },
  ...{ active: true, user_permissions: { apis: 'read' } },
}
const RANGE = { fromDay: '1', fromMonth: '1', fromYear: '2024', toDay: '31', toMonth: '12', toYear: '2024' }

test('a strict client does the everyday tasks with what the document describes', async (t) => {
  const world = await keyWorld(t)
  const { ask, used, wrong } = await strictClient(world)

  const api = oauthApi('http://127.0.0.1:1/', { id: 'shop' })
  const made = await ask('createOpenapiApi', {}, api)
  await ask('createApi', {}, { api_definition: keyedApi('orders') })
  const document = await ask('getOpenapiApi', { id: String(made.ID) })
  await ask('updateOpenapiApi', { id: String(made.ID) }, document)
  const classic = await ask('getApi', { id: 'orders' })
  await ask('updateApi', { id: 'orders' }, { api_definition: classic.api_definition })
  await ask('listApis')
  await ask('getApi', { id: 'none' }, undefined, 400)

  await ask('createPolicy', {}, { id: 'gold', name: 'Gold', rate: 5, per: 60, access_rights: rightsOn('orders') })
  await ask('createPolicy', {}, { id: 'signed', name: 'Signed', access_rights: rightsOn('shop') })
  const policy = await ask('getPolicy', { id: 'gold' })
  await ask('updatePolicy', { id: 'gold' }, { ...policy, quota_max: 100, quota_renewal_rate: 60 })
  await ask('patchPolicy', { id: 'gold' }, { tags: ['a'] })
  await ask('listPolicies')

  const key = await ask('createKey', {}, { apply_policies: ['gold'], alias: 'first', meta_data: { team: 'a' } })
  const keyId = String(key.key_hash)
  const { data } = await ask('getKey', { keyId, hashed: '1' })
  await ask('updateKey', { keyId, hashed: '1' }, { ...(data as JsonObject), tags: ['changed'] })
  await ask('getKey', { keyId, hashed: '1', facts: '1' })
  await ask('listKeysWithSessions', { facts: '1' })
  await ask('previewKey', {}, { apply_policies: ['gold'] })
  await ask('createKey', {}, { apply_policies: ['none'] }, 400)

  const app = await ask(
    'createOauthClient',
    { apiId: 'shop' },
    { redirect_uri: 'https://app.example/', policy_id: 'signed' },
  )
  const client = { apiId: 'shop', clientId: String(app.client_id) }
  const read = await ask('getOauthClient', client)
  await ask('updateOauthClient', client, { ...read, description: 'An app' })
  await ask('listOauthClients', { apiId: 'shop' })
  await ask('listApiOauthClientTokens', client)
  await ask('rotateOauthClientSecret', client)
  await ask('revokeOauthClientToken', client, { token: 'no-token' })
  await ask('revokeApiOauthClientTokens', client)

  await ask('createCatalogue', {}, { apis: [{ name: 'Gold', policy_id: 'gold', show: true }] })
  await ask('getCatalogue')
  const developer = await ask('createDeveloper', {}, { email: 'dev@example.com', fields: { Name: 'A' } })
  const id = String(developer.Message)
  await ask('createDeveloperSubscription', { id }, { apply_policies: ['gold'] })
  const person = await ask('getDeveloper', { id })
  await ask('updateDeveloper', { id }, { email: person.email, fields: person.fields })
  await ask('listDevelopers')
  await ask('listDeveloperKeys', { id })

  await ask('updatePortalConfiguration', {}, { require_key_approval: true, enable_multi_selection: true })
  await ask('getPortalConfiguration')
  const other = await ask('createDeveloper', {}, { email: 'other@example.com' })
  const asked = await ask('createKeyRequest', {}, { by_user: String(other.Message), apply_policies: ['gold'] })
  await ask('listKeyRequests')
  await ask('getKeyRequest', { id: String(asked.Message) })
  await ask('approveKeyRequest', { id: String(asked.Message) })

  await ask('getUsage', RANGE)
  await ask('listUsageByApi', RANGE)
  await ask('listLogs', { start: '1' })

  const group = await ask('createUserGroup', {}, { name: 'Readers', user_permissions: { apis: 'read' } })
  const user = await ask('createUser', {}, PERSON)
  const found = await ask('getUser', { id: String(user.Meta) })
  await ask('updateUser', { id: String(user.Meta) }, { email_address: found.email_address, group_id: group.Meta })
  await ask('listUsers')
  await ask('listUserGroups')

  const label = await ask('createLabel', {}, { name: 'Team', values: ['a', 'b'] })
  await ask('updateLabel', { id: String(label.id) }, { name: 'Team', values: ['a', 'b', 'c'] })
  await ask('createApiLabels', { api_id: 'orders' }, [{ key: 'team', value: 'a' }])
  await ask('listLabelsInUse')
  await ask('listApiLabels', { api_id: 'orders' })

  await ask('listPlacement', { tags: 'edge' })
  await ask('listNodes')
  await ask('listApiNodes', { id: 'orders' })

  const certificate = await ask('createCertificate', {}, makeCertificate('shop.example').cert)
  await ask('listCertificateDetails')
  await ask('getCertificate', { id: String(certificate.id) })
  await ask('listCertificateApis', { id: String(certificate.id) })
  await ask('deleteCertificate', { id: String(certificate.id) })

  const hook = { name: 'Hook', method: 'POST', target_path: 'https://example.com/', header_map: {}, event_timeout: 5 }
  await ask('createWebhook', {}, hook)
  await ask('listWebhooks')
  await ask('listAuditLogs')
  await ask('getOrganisation')
  await ask('listSettings')
  assert.deepEqual([...wrong], [])
  assert.ok(used.size > 60, String(used.size))
})
