import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { eventually } from '../base/eventually.ts'
import { oauthApi, policyOf } from '../gateway/oauth-fixtures.ts'
import { ADMIN, type Node } from './nodes.ts'

/** Of the client that `storeOAuth` registers. */
const CLIENT = { id: 'app', secret: 'secret-of-app' }
export const REDIRECT = 'https://app.example.org/cb'
export const BASIC = { authorization: `Basic ${btoa(`${CLIENT.id}:${CLIENT.secret}`)}` }
export const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

/** The answer of a call of the administration API. @throws AssertionError unless it is 200 */
export async function done(answer: Promise<{ status: number; text: string; json: unknown }>): Promise<JsonObject> {
  const { status, text, json } = await answer
  assert.equal(status, 200, text)
  return json as JsonObject
}

/** Waits until every node answers a path with a status. */
export async function liveAt(
  nodes: readonly Node[],
  path: string,
  status: number,
  headers: Record<string, string> = {},
): Promise<void> {
  for (const node of nodes)
    await eventually(
      `${path} answers ${status} at ${node.port}`,
      async () => (await node.call(path, headers)).status === status,
    )
}

/** The API credential of an administrator. */
export async function credentialOf(dashboard: Node): Promise<string> {
  const { organisations } = await done(dashboard.admin('GET', '/admin/organisations'))
  const [{ id }] = organisations as [{ id: string }]
  const user = { org_id: id, email_address: 'grace@example.com', password: ADMIN.password, active: true }
  return (await done(dashboard.admin('POST', '/admin/users', user))).Message as string
}

/** Stores an API `tok` with an authorization server, and a client of it. */
export async function storeOAuth(node: Pick<Node, 'svc'>, url: string, server: JsonObject = {}): Promise<void> {
  await done(node.svc('POST', '/svc/apis/oas', oauthApi(url, { id: 'tok', server })))
  await done(node.svc('POST', '/svc/policies', policyOf('p', ['tok'])))
  const client = { client_id: CLIENT.id, secret: CLIENT.secret, redirect_uri: REDIRECT, api_id: 'tok', policies: ['p'] }
  await done(node.svc('POST', '/svc/oauth/clients/create', client))
}

/** Sorted times as a line: how many, the middle, p90, p99 and the longest, in whole milliseconds. */
export function distribution(times: readonly number[]): string {
  const sorted = [...times].sort((a, b) => a - b)
  const at = (part: number) => Math.ceil(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]!)
  return `${sorted.length} times: p50 ${at(0.5)}, p90 ${at(0.9)}, p99 ${at(0.99)}, p100 ${at(1)} ms`
}
