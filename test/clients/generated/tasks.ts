// Everyday tasks through a client that openapi-typescript typed: each call compiles, and is answered with 200.
import { readFileSync } from 'node:fs'
import createClient from 'openapi-fetch'
import type { paths } from './openapi.d.ts'

const world = JSON.parse(readFileSync(process.env.CLIENTS_WORLD ?? '', 'utf8'))
const { dashboard, credential, certificate } = world as Record<string, string>
const client = createClient<paths>({ baseUrl: dashboard!, headers: { authorization: credential! } })

/** The answer of a call. @throws Error where it is refused */
function taken<Data>({ data, error, response }: { data?: Data; error?: unknown; response: Response }): Data {
  if (error !== undefined || data === undefined)
    throw new Error(`${response.url} answered ${response.status}: ${JSON.stringify(error)}`)
  return data
}

async function task(flow: string, run: () => Promise<unknown>): Promise<void> {
  const named = { client: 'openapi-typescript', flow }
  try {
    await run()
    console.log(JSON.stringify(named))
  } catch (error) {
    console.log(JSON.stringify({ ...named, failed: String(error) }))
  }
}

const at = (apiId: string) => ({ [apiId]: { api_id: apiId, versions: ['Default'] } })
const definition = (id: string, scheme: Record<string, unknown>, security: Record<string, unknown>) => ({
  openapi: '3.0.3',
  info: { title: id, version: '1' },
  paths: {},
  components: { securitySchemes: { own: scheme } },
  security: [{ own: [] }],
  'x-svc-api-gateway': {
    info: { id, name: id, state: { active: true } },
    upstream: { url: 'http://127.0.0.1:9/' },
    server: {
      listenPath: { value: `/${id}/`, strip: true },
      authentication: { enabled: true, securitySchemes: { own: { enabled: true, ...security } } },
    },
  },
})
const flows = { clientCredentials: { tokenUrl: 'oauth/token', scopes: {} } }
let appId = ''
let developer = ''

await task('an API: create, read, change', async () => {
  const key = { type: 'apiKey', in: 'header', name: 'Authorization' }
  const { ID: id } = taken(await client.POST('/api/apis/oas', { body: definition('tasks', key, {}) }))
  taken(await client.POST('/api/apis/oas', { body: definition('shop', { type: 'oauth2', flows }, {}) }))
  const path = { id: String(id) }
  const body = taken(await client.GET('/api/apis/oas/{id}', { params: { path } }))
  if (typeof body === 'string') throw new Error('the answer is no JSON')
  taken(await client.PUT('/api/apis/oas/{id}', { params: { path }, body }))
})
await task('a policy: create, read, change', async () => {
  const gold = { id: 'task-gold', name: 'Gold', active: true, rate: 5, per: 60, access_rights: at('tasks') }
  taken(await client.POST('/api/portal/policies', { body: gold }))
  taken(await client.POST('/api/portal/policies', { body: { id: 'task-app', name: 'App', access_rights: at('shop') } }))
  const path = { id: 'task-gold' }
  const body = taken(await client.GET('/api/portal/policies/{id}', { params: { path } }))
  taken(await client.PUT('/api/portal/policies/{id}', { params: { path }, body: { ...body, tags: ['changed'] } }))
})
await task('a key: create, read, change and keep its limits', async () => {
  const made = taken(await client.POST('/api/keys', { body: { rate: 5, per: 60, access_rights: at('tasks') } }))
  const path = { keyId: String(made.key_hash) }
  const query = { hashed: '1' } as const
  const { data } = taken(await client.GET('/api/keys/{keyId}', { params: { path, query } }))
  taken(await client.PUT('/api/keys/{keyId}', { params: { path, query }, body: { ...data, tags: ['changed'] } }))
  const after = taken(await client.GET('/api/keys/{keyId}', { params: { path, query } }))
  if (after.data.rate !== 5) throw new Error(`the rate is ${after.data.rate}`)
})
await task('an OAuth client: create, read', async () => {
  const body = { redirect_uri: 'https://app.example/', policy_id: 'task-app' }
  const made = taken(await client.POST('/api/apis/oauth/{apiId}', { params: { path: { apiId: 'shop' } }, body }))
  appId = made.client_id
  const path = { apiId: 'shop', clientId: appId }
  taken(await client.GET('/api/apis/oauth/{apiId}/{clientId}', { params: { path } }))
})
await task('revoke tokens', async () => {
  const path = { apiId: 'shop', clientId: appId }
  taken(await client.GET('/api/apis/oauth/{apiId}/{clientId}/tokens', { params: { path } }))
  taken(await client.DELETE('/api/apis/oauth/{apiId}/{clientId}/tokens', { params: { path } }))
})
await task('a developer with a subscription', async () => {
  const entry = { name: 'Gold', policy_id: 'task-gold', show: true }
  taken(await client.POST('/api/portal/catalogue', { body: { apis: [entry] } }))
  developer = taken(await client.POST('/api/portal/developers', { body: { email: 'dev@example.com' } })).Message
  const path = { id: developer }
  const body = { apply_policies: ['task-gold'] }
  taken(await client.POST('/api/portal/developers/{id}/subscriptions', { params: { path }, body }))
})
await task('approve a request', async () => {
  const configuration = { require_key_approval: true, enable_multi_selection: true }
  taken(await client.PUT('/api/portal/configuration', { body: configuration }))
  const other = taken(await client.POST('/api/portal/developers', { body: { email: 'other@example.com' } })).Message
  const body = { by_user: other, apply_policies: ['task-gold'] }
  const { Message: id } = taken(await client.POST('/api/portal/requests', { body }))
  taken(await client.PUT('/api/portal/requests/approve/{id}', { params: { path: { id } } }))
})
await task('analytics', async () => {
  const path = { fromDay: 1, fromMonth: 1, fromYear: 2024, toDay: 31, toMonth: 12, toYear: 2024 }
  const of = '/api/usage/apis/{fromDay}/{fromMonth}/{fromYear}/{toDay}/{toMonth}/{toYear}' as const
  taken(await client.GET(of, { params: { path } }))
})
await task('users and groups', async () => {
  const group = taken(
    await client.POST('/api/usergroups', { body: { name: 'Readers', user_permissions: { apis: 'read' } } }),
  )
  const person = { first_name: 'Ada', last_name: 'L', email_address: 'ada@example.com', password: 'a-Long-enough-1' }
  const body = { ...person, active: true, group_id: String(group.Meta), user_permissions: { apis: 'read' } }
  const made = taken(await client.POST('/api/users', { body }))
  taken(await client.GET('/api/users/{id}', { params: { path: { id: String(made.Meta) } } }))
  taken(await client.GET('/api/users'))
})
await task('labels', async () => {
  taken(await client.POST('/api/labels', { body: { name: 'Team', values: ['a', 'b'] } }))
  taken(await client.GET('/api/labels'))
})
await task('node tags', async () => {
  taken(await client.GET('/api/system/placement', { params: { query: { tags: 'edge' } } }))
  taken(await client.GET('/api/system/nodes'))
})
await task('certificates', async () => {
  const bodySerializer = () => {
    const form = new FormData()
    form.set('file', new Blob([certificate!]), 'server.pem')
    return form
  }
  const { id } = taken(await client.POST('/api/certs', { body: { file: certificate! }, bodySerializer }))
  taken(await client.GET('/api/certs/{id}', { params: { path: { id } } }))
  taken(await client.DELETE('/api/certs/{id}', { params: { path: { id } } }))
})
