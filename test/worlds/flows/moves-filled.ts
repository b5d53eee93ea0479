import type { JsonObject } from '../../../src/model/json/json.ts'
import { classic, defined, rights } from '../base/definitions.ts'
import type { Environment } from './moves-world.ts'

export const CLIENT_SECRET = 'the-secret-of-the-app-0123456789abcdef'
/** A text that looks like a mark of the files and is none. */
export const LITERAL = `costs \${env:PRICE}`
export const WEBHOOK_SECRET = 'shared-with-the-webhook-5e1f'

/** An OAuth API, whose notifications carry a secret. */
function oauthApi(id: string, url: string): JsonObject {
  const flows = {
    clientCredentials: { tokenUrl: 'oauth/token', scopes: {} },
    authorizationCode: { authorizationUrl: 'oauth/authorize', tokenUrl: 'oauth/token', scopes: {} },
  }
  const document = defined({
    id,
    url,
    server: {
      authentication: {
        enabled: true,
        securitySchemes: {
          app: {
            enabled: true,
            header: { enabled: true, name: 'Authorization' },
            allowedAuthorizeTypes: ['code'],
            authLoginRedirect: 'https://login.example/sign-in',
            refreshToken: true,
            notifications: { onKeyChangeUrl: 'https://hooks.example/keys', sharedSecret: WEBHOOK_SECRET },
          },
        },
      },
    },
  })
  return { ...document, components: { securitySchemes: { app: { type: 'oauth2', flows } } }, security: [{ app: [] }] }
}

/** Fills an installation with some of everything that is moved. `url`: where its APIs lead. */
export async function fill({ ask }: Pick<Environment, 'ask'>, url: string): Promise<void> {
  await ask('POST', '/api/labels', { name: 'Tier', values: ['gold', 'silver'] })
  await ask('POST', '/api/labels', { name: 'Domain', values: [] })
  await ask('POST', '/api/usergroups', { name: 'API team', user_permissions: { apis: 'write', policies: 'read' } })
  const hook = {
    name: 'tell us',
    method: 'POST',
    target_path: 'https://hooks.example/apis',
    header_map: { 'x-env': 'a' },
  }
  await ask('POST', '/api/hooks', hook)
  const { hooks } = await ask('GET', '/api/hooks?p=-1')
  const { id } = (hooks as JsonObject[])[0]!
  await ask('POST', '/api/apis', {
    api_definition: classic('catalog', '/catalog/', url, { tags: ['edge'], 'x-own': { kept: [1, null, ''] } }),
    hook_references: [{ event_name: 'api_event', event_timeout: 5, hook: { id: id!, name: 'tell us' } }],
  })
  await ask('POST', '/api/apis/oas', defined({ id: 'orders', url, keyIn: 'Authorization' }))
  await ask('PUT', '/api/apis/oas/orders/categories', { categories: ['sales'] })
  await ask('POST', '/api/apis/orders/labels', { labels: { tier: 'gold', domain: 'Sales & more' } })
  await ask('POST', '/api/apis/oas', oauthApi('ledger', url))
  const limits = { rate: 100, per: 60, quota_max: 1000, quota_renewal_rate: 3600 }
  const gold = { id: 'gold', name: 'Gold', access_rights: rights('orders'), tags: ['paying'], ...limits }
  await ask('POST', '/api/portal/policies', {
    ...gold,
    meta_data: { note: LITERAL, api_token: 'for-upstream' },
  })
  // Without an own id keys refer to it by its storage id.
  const books = await ask('POST', '/api/portal/policies', { name: 'Books', access_rights: rights('ledger'), ...limits })
  await ask('POST', '/api/apis/oauth/ledger', {
    ...{ client_id: 'app-1', secret: CLIENT_SECRET, redirect_uri: 'https://app.example/cb' },
    ...{ metadata: { team: 'books' }, policies: [books.Message!] },
  })
  await fillPortal({ ask })
}

async function fillPortal({ ask }: Pick<Environment, 'ask'>): Promise<void> {
  await ask('PUT', '/api/portal/configuration', {
    require_key_approval: true,
    oauth_usage_limit: 0,
    email: 'help@a.example',
  })
  const text = Buffer.from('openapi: 3.0.3\n').toString('base64')
  const { Message } = await ask('POST', '/api/portal/documentation', { api_id: 'orders', documentation: text })
  await ask('PUT', '/api/portal/catalogue', {
    apis: [{ name: 'Orders', policy_id: 'gold', documentation: Message!, show: true, version: 'v2' }],
  })
  await ask('POST', '/api/portal/pages', {
    slug: '/',
    title: 'Home',
    is_homepage: true,
    fields: { JumboCTATitle: 'Hi' },
  })
  await ask('PUT', '/api/portal/menus', { is_active: true, menus: { main: [{ title: 'Home', url: '/' }] } })
  await ask('PUT', '/api/portal/css', { page_css: 'body { color: #222 }' })
}
