import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { startRedis, type TestRedis } from '../servers/redis.ts'
import { folderFor } from './moves-world.ts'

export const ORG = '5e9d9544a1dcd60001d0ed20'

/** A key of the product that was there before: what callers send, and the name that its Redis has it under. */
export interface OldKey {
  readonly kind: string
  readonly sent: string
  readonly name: string
}

/** One of each kind, written out as in such a Redis; nothing here is computed. */
export const HASHED: readonly OldKey[] = [
  {
    kind: 'plain, which is murmur32',
    sent: '5e9d9544a1dcd60001d0ed200b1f4c7d9e2a4356b8c0d1e2f3a4b5c6',
    name: 'b34bc522',
  },
  {
    kind: 'JSON that names murmur32',
    sent: 'eyJvcmciOiI1ZTlkOTU0NGExZGNkNjAwMDFkMGVkMjAiLCJpZCI6IjNmMWUyZDNjNGI1YTY5Nzg4Nzk2YTViNGMzZDJlMWYwIiwiaCI6Im11cm11cjMyIn0=',
    name: 'e2c380c3',
  },
  {
    kind: 'JSON that names murmur64',
    sent: 'eyJvcmciOiI1ZTlkOTU0NGExZGNkNjAwMDFkMGVkMjAiLCJpZCI6IjZmMWUyZDNjNGI1YTY5Nzg4Nzk2YTViNGMzZDJlMWYwIiwiaCI6Im11cm11cjY0In0=',
    name: 'fb71eff5e05432fa',
  },
  {
    kind: 'JSON that names murmur128',
    sent: 'eyJvcmciOiI1ZTlkOTU0NGExZGNkNjAwMDFkMGVkMjAiLCJpZCI6IjhmMWUyZDNjNGI1YTY5Nzg4Nzk2YTViNGMzZDJlMWYwIiwiaCI6Im11cm11cjEyOCJ9',
    name: 'a609ab848235862f9e10d06cd4767bda',
  },
  {
    kind: 'JSON that names sha256',
    sent: 'eyJvcmciOiI1ZTlkOTU0NGExZGNkNjAwMDFkMGVkMjAiLCJpZCI6IjRmMWUyZDNjNGI1YTY5Nzg4Nzk2YTViNGMzZDJlMWYwIiwiaCI6InNoYTI1NiJ9',
    name: '16dcbdebdb1ee1e89a6f02da0bc6ed9bfaaca85624769330e0e6af8b55b77e8b',
  },
  { kind: 'chosen by a person, stored behind its organisation', sent: 'partner-one-key-2019', name: 'cbd1ac88' },
  { kind: 'chosen, stored as JSON, murmur64', sent: 'partner-two-key-2021', name: 'aac8b60dc981e64a' },
  {
    kind: 'chosen, stored as JSON, sha256',
    sent: 'partner-six-key-2023',
    name: '7b7e604338c909324b8f61eb2a00fb2873a7e8ae0c17635097602922ec0d1373',
  },
]

export const RAW: readonly OldKey[] = [
  {
    kind: 'not hashed',
    sent: '5e9d9544a1dcd60001d0ed20c0ffee00c0ffee00c0ffee00c0ffee00',
    name: '5e9d9544a1dcd60001d0ed20c0ffee00c0ffee00c0ffee00c0ffee00',
  },
  { kind: 'not hashed, chosen', sent: 'partner-raw-key-2018', name: '5e9d9544a1dcd60001d0ed20partner-raw-key-2018' },
  {
    kind: 'not hashed, JSON',
    sent: 'eyJvcmciOiI1ZTlkOTU0NGExZGNkNjAwMDFkMGVkMjAiLCJpZCI6ImFiMWUyZDNjNGI1YTY5Nzg4Nzk2YTViNGMzZDJlMWYwIiwiaCI6Im11cm11cjY0In0=',
    name: 'eyJvcmciOiI1ZTlkOTU0NGExZGNkNjAwMDFkMGVkMjAiLCJpZCI6ImFiMWUyZDNjNGI1YTY5Nzg4Nzk2YTViNGMzZDJlMWYwIiwiaCI6Im11cm11cjY0In0=',
  },
]

/** A session as that product writes it, with a quota of five of which two are left by its own mirror. */
const SESSION = `{"last_check":0,"allowance":1000,"rate":1000,"per":1,"throttle_interval":-1,"throttle_retry_limit":-1,"max_query_depth":-1,"date_created":"2019-05-02T10:00:00.5Z","expires":0,"quota_max":5,"quota_renews":1893456000,"quota_remaining":2,"quota_renewal_rate":86400,"access_rights":{"orders":{"api_name":"Orders","api_id":"orders","versions":["Default"],"allowed_urls":[],"restricted_types":[],"limit":{"rate":0,"per":0,"throttle_interval":0,"throttle_retry_limit":0,"max_query_depth":0,"quota_max":0,"quota_renews":0,"quota_remaining":0,"quota_renewal_rate":0},"allowance_scope":""},"gone":{"api_name":"Gone","api_id":"gone","versions":["Default"]}},"org_id":"${ORG}","oauth_client_id":"","oauth_keys":null,"basic_auth_data":{"password":"","hash_type":""},"jwt_data":{"secret":""},"hmac_enabled":false,"hmac_string":"","is_inactive":false,"apply_policy_id":"","apply_policies":null,"data_expires":0,"monitor":{"trigger_limits":null},"meta_data":{"team":"books"},"tags":["old"],"alias":"an old key","last_updated":"1556791200","id_extractor_deadline":0,"session_lifetime":0}`

/** The same under a policy, by its storage id. */
const BY_POLICY = `{"rate":1,"per":1,"quota_max":1,"quota_renewal_rate":1,"access_rights":{},"org_id":"${ORG}","apply_policies":["5ead7120575961000181867e"],"basic_auth_data":{"password":"","hash_type":""}}`

const CLIENT = `{"id":"old-app","secret":"MmE1YjFjNmQtM2U0Zi01YTZiLTdjOGQtOWUwZjFhMmIzYzRk","redirecturi":"https://app.example/cb","policyid":"5ead7120575961000181867e","meta_data":{"team":"books"},"description":"the old app"}`

/** Starts a Redis and writes into it what such a product has there. */
export async function startIncumbent(t: TestContext, keys: readonly OldKey[]): Promise<TestRedis> {
  const redis = await startRedis(t)
  for (const { name } of keys) {
    await redis.command('SET', `apikey-${name}`, SESSION)
    await redis.command('SET', `quota-${name}`, '3', 'EX', '600')
  }
  const odd: readonly (readonly [string, string])[] = [
    ['apikey-0000aaaa', BY_POLICY],
    ['apikey-1111aaaa', BY_POLICY.replace('5ead7120575961000181867e', 'nobody')],
    ['apikey-2222aaaa', '{"rate":1,"per":1,"access_rights":{}}'],
    ['apikey-3333aaaa', BY_POLICY.replace('{"rate"', '{"oauth_client_id":"old-app","rate"')],
    ['apikey-4444aaaa', 'no JSON'],
    ['apikey-5555aaaa', BY_POLICY.replace('{"rate"', '{"meta_data":{"serial":9007199254740993},"rate"')],
    ['oauth-data.books.oauth-clientid.large', CLIENT.replace('"team":"books"', '"team":90071992547409930')],
    ['apikey-d27112b5', SESSION.replace('"password":"","hash_type":""', '"password":"$2a$04$x","hash_type":"bcrypt"')],
    [
      `apikey-${ORG}bo`,
      SESSION.replace(
        '"password":"","hash_type":""',
        '"password":"$2b$04$m0rbUjCRpsLMzF61cE/hke11fKkUk8w3D7G.d/R6GloDEyBKlBAxa","hash_type":"bcrypt"',
      ),
    ],
    ['oauth-data.books.oauth-clientid.old-app', CLIENT],
    ['oauth-data.nowhere.oauth-clientid.old-app', CLIENT],
    ['oauth-data.books.oauth-clientid.lost', CLIENT.replace('5ead7120575961000181867e', 'nobody')],
    ['oauth-data.books.oauth-clientid.several', CLIENT.replace('/cb', '/cb,https://other.example/cb')],
    ['oauth-data.books.oauth-refresh.ZjAwZA==', '{}'],
    ['unrelated', 'x'],
  ]
  for (const [name, text] of odd) await redis.command('SET', name, text)
  await redis.command('ZADD', 'oauth-data.books.oauth-client-tokens.old-app', '1893456000', '3333aaaa')
  await redis.command('SADD', 'apikey-a-set', 'x')
  return redis
}

/** Definition files as its gateways read them: a classic one, an OpenAPI one with its half, and one that is broken. */
export function definitionFolder(
  t: TestContext,
  url: string,
): { readonly definitions: string; readonly policies: string } {
  const folder = folderFor(t)
  const definitions = join(folder, 'apps')
  mkdirSync(definitions)
  const write = (name: string, body: unknown) => writeFileSync(join(definitions, name), JSON.stringify(body))
  write('orders.json', { api_id: 'orders', name: 'Orders', is_oas: true, org_id: ORG })
  write('orders-oas.json', {
    openapi: '3.0.3',
    info: { title: 'Orders', version: '1' },
    paths: {},
    components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'Authorization' } } },
    security: [{ key: [] }],
    'x-acme-api-gateway': {
      info: { name: 'Orders', id: 'orders', orgId: ORG, dbId: '5ead7120575961000181867f', state: { active: true } },
      upstream: { url },
      server: {
        listenPath: { value: '/orders/', strip: true },
        authentication: { enabled: true, securitySchemes: { key: { enabled: true } } },
      },
    },
  })
  write('books.json', {
    ...{ id: '5ead7120575961000181867d', api_id: 'books', org_id: ORG, name: 'Books', slug: 'books', active: true },
    use_oauth2: true,
    oauth_meta: { allowed_access_types: ['client_credentials'], allowed_authorize_types: [], auth_login_redirect: '' },
    auth: { auth_header_name: 'Authorization' },
    definition: { location: 'header', key: 'x-api-version' },
    version_data: { not_versioned: true, versions: { Default: { name: 'Default', use_extended_paths: true } } },
    proxy: { listen_path: '/books/', target_url: url, strip_listen_path: true },
  })
  write('broken.json', { api_id: 'broken', name: 'Broken', active: true, proxy: { target_url: url } })
  const policies = join(folder, 'policies.json')
  const limits = { rate: 1000, per: 1, quota_max: 100, quota_renewal_rate: 3600, active: true, org_id: ORG }
  const rights = Object.fromEntries(['orders', 'books'].map((id) => [id, { api_id: id, versions: ['Default'] }]))
  writeFileSync(
    policies,
    JSON.stringify({
      gold: { _id: '5ead7120575961000181867e', id: 'gold', name: 'Gold', access_rights: rights, ...limits },
      lost: { id: 'lost', name: 'Lost', access_rights: { gone: { api_id: 'gone' } }, ...limits },
    }),
  )
  return { definitions, policies }
}
