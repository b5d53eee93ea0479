import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { startTestGateway, type TestGateway } from '../base/harness.ts'
import { type Origin, startOrigin } from '../servers/origin.ts'

/** A gateway and an upstream. */
export async function openGateway(t: TestContext): Promise<[TestGateway, Origin]> {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  return [gateway, origin]
}

/** Saves new APIs of either format. */
export async function publish(gateway: TestGateway, ...apis: JsonObject[]): Promise<void> {
  for (const api of apis) {
    const made = await gateway.svc('POST', 'openapi' in api ? '/svc/apis/oas' : '/svc/apis', api)
    assert.equal(made.status, 200, made.text)
  }
}

/** A key with rights on one API. */
export async function keyFor(gateway: TestGateway, apiId: string, allowed_urls: JsonObject[] = []): Promise<string> {
  const access_rights = { [apiId]: { api_id: apiId, api_name: apiId, versions: ['Default'], allowed_urls } }
  return ((await gateway.svc('POST', '/svc/keys', { access_rights })).json as { key: string }).key
}

/** Method and path of `METHOD /path`. */
export function named(name: string): [method: string, path: string] {
  const blank = name.indexOf(' ')
  return [name.slice(0, blank), name.slice(blank + 1)]
}

/** Operations of an OpenAPI document by `METHOD /path`: what the gateway does there, undefined = nothing. */
export function operationsOf(rules: Readonly<Record<string, JsonObject | undefined>>): {
  paths: JsonObject
  operations: JsonObject
} {
  const paths: Record<string, JsonObject> = {}
  const operations: JsonObject = {}
  for (const [name, rule] of Object.entries(rules)) {
    const [method, path] = named(name)
    paths[path] = {
      ...paths[path],
      [method.toLowerCase()]: { operationId: name, responses: { 200: { description: 'ok' } } },
    }
    if (rule !== undefined) operations[name] = rule
  }
  return { paths, operations }
}

export const ON = { enabled: true }
export const BLOCK: JsonObject = { block: ON }
export const OPEN: JsonObject = { ignoreAuthentication: ON }
