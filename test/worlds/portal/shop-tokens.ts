import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/model/json/json.ts'
import type { Answer } from '../base/client.ts'
import type { GatewayWorld } from '../dashboard/gateway-world.ts'

const REDIRECT = 'https://app.test/cb'
/** The client that the token endpoint of `shop` knows. */
export const SHOP_CLIENT = { client_id: 'c1', secret: 's1', redirect_uri: REDIRECT }

/** Asks the token endpoint of the API `shop` as `SHOP_CLIENT`. */
export function askForToken({ gateway }: Pick<GatewayWorld, 'gateway'>, form: Record<string, string>): Promise<Answer> {
  return gateway.call('/shop/oauth/token', {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from('c1:s1').toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams(form).toString(),
  })
}

/** The access token of a form that is granted. */
export async function tokenOf(world: GatewayWorld, form: Record<string, string>): Promise<string> {
  const answer = await askForToken(world, form)
  assert.equal(answer.status, 200, answer.text)
  return String((answer.json as JsonObject).access_token)
}

/** A token of a login that gave these `key_rules`. */
export async function tokenByLogin(world: GatewayWorld, rules: JsonObject): Promise<string> {
  const { client_id, redirect_uri } = SHOP_CLIENT
  const form = { response_type: 'code', client_id, redirect_uri, key_rules: JSON.stringify(rules) }
  const made = await world.call('POST', '/api/apis/shop/authorize-client', {
    as: world.root,
    body: new URLSearchParams(form).toString(),
  })
  assert.equal(made.status, 200, made.text)
  const { code } = made.json as { code: string }
  return tokenOf(world, { grant_type: 'authorization_code', redirect_uri, code })
}
