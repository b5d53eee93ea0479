import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import type { Answer } from '../base/client.ts'
import { startTestDashboard, type TestDashboard, type TestDashboardOptions, type TestUser } from './harness.ts'

/** A dashboard that closes with its test. */
export async function dashboardFor(t: TestContext, options: TestDashboardOptions = {}): Promise<TestDashboard> {
  const dashboard = await startTestDashboard(options)
  t.after(() => dashboard.close())
  return dashboard
}

/** The body of an answer, which must have this status. */
export function bodyOf(answer: Answer, status = 200): JsonObject {
  assert.equal(answer.status, status, answer.text)
  return answer.json as JsonObject
}

/** Asserts a refusal in the envelope. */
export function assertRefused(answer: Answer, status: number, message: string | RegExp): void {
  const { Status, Message, Meta } = bodyOf(answer, status)
  assert.deepEqual([Status, Meta], ['Error', null])
  if (typeof message === 'string') assert.equal(Message, message)
  else assert.match(String(Message), message)
}

/** Asserts a success in the envelope. */
export function assertDone(answer: Answer, message: string, meta: unknown = null): void {
  assert.deepEqual(bodyOf(answer), { Status: 'OK', Message: message, Meta: meta })
}

/** A user of the test dashboard by what the admin API answered for it. */
export function asUser(shown: JsonObject): TestUser {
  return {
    id: String(shown.id),
    orgId: String(shown.org_id),
    email: String(shown.email_address),
    key: String(shown.access_key),
  }
}

/** The view that one user has of another. */
export async function read(dashboard: TestDashboard, as: TestUser, id: string): Promise<JsonObject> {
  return bodyOf(await dashboard.call('GET', `/api/users/${id}`, { as }))
}
