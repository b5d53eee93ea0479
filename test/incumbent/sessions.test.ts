import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { JsonObject } from '../../src/model/json/json.ts'
import { startTestGateway, type TestGateway } from '../worlds/base/harness.ts'
import { spread } from '../worlds/base/spread.ts'
import { DIFFERENCES } from '../worlds/incumbent/differences.ts'
import { ALIAS, scriptOfField } from '../worlds/incumbent/recordings.ts'
import { startUpstreams, type Upstreams } from '../worlds/incumbent/upstreams.ts'

const DEEP = process.env.GATEHOUSE_DEEP === '1'

/** A key or token, made of generated policies at the incumbent's gateway, and what it was answered there. */
interface RecordedSession {
  readonly name: string
  readonly policies: readonly JsonObject[]
  readonly session?: JsonObject
  /** In place of a session: the client that asks for the token. */
  readonly client?: JsonObject & { readonly client_id: string; readonly secret: string }
  /** Status of the call that made the key or client. */
  readonly made: number
  readonly requests?: readonly (readonly [method: string, path: string, version?: string])[]
  /** Statuses of the requests. */
  readonly there?: readonly number[]
  /** The row of the differences that says why it is not answered so here. */
  readonly differs?: string
}

const { apis, cases } = JSON.parse(
  readFileSync(join(import.meta.dirname, '..', 'worlds', 'incumbent', 'sessions.json'), 'utf8'),
) as { apis: readonly JsonObject[]; cases: readonly RecordedSession[] }

/** Statuses of the case here: of the call that makes the key, and of its requests. */
async function played(gate: TestGateway, { policies, session, client, requests = [] }: RecordedSession) {
  const make = (path: string, body: JsonObject) => gate.svc('POST', `/${ALIAS}/${path}`, body)
  for (const policy of policies) {
    const { status, text } = await make('policies', policy)
    assert.equal(status, 200, text)
  }
  const { status: made, json } = await make(client === undefined ? 'keys' : 'oauth/clients/create', client ?? session!)
  if (made !== 200) return { made, here: [] }
  const key = client === undefined ? String((json as JsonObject).key) : await tokenOf(gate, client)
  // A token that is not issued opens nothing.
  if (key === undefined) return { made, here: requests.map(() => 403) }
  const here: number[] = []
  for (const [method, path, version] of requests) {
    const headers = {
      authorization: path.startsWith('/t/') ? `Bearer ${key}` : key,
      ...(version !== undefined && { 'x-api-version': version }),
    }
    here.push((await gate.call(path, { method, headers })).status)
  }
  return { made, here }
}

async function tokenOf(gate: TestGateway, { client_id, secret }: NonNullable<RecordedSession['client']>) {
  const authorization = `Basic ${Buffer.from(`${client_id}:${secret}`).toString('base64')}`
  const { json } = await gate.call('/t/oauth/token/', {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/x-www-form-urlencoded' },
    body: 'grant_type=client_credentials',
  })
  return (json as { access_token?: string }).access_token
}

/** Refusals are alike, whatever their status. */
const outcome = (status: number) => (status >= 400 ? 'refused' : status)

async function startPeer(upstreams: Upstreams): Promise<TestGateway> {
  const gate = await startTestGateway({
    env: { SVC_COMPAT_VENDORALIASES: ALIAS, SVC_COMPAT_LEGACYSTATUSES: 'true' },
  })
  for (const api of apis) {
    const { status, text } = await gate.svc('POST', `/${ALIAS}/apis`, JSON.parse(upstreams.fill(JSON.stringify(api))))
    assert.equal(status, 200, text)
  }
  return gate
}

test('keys and tokens of generated policies are answered as there, or differ as listed', async (t) => {
  const upstreams = await startUpstreams(scriptOfField)
  t.after(() => upstreams.close())
  const gate = await startPeer(upstreams)
  t.after(() => gate.close())
  const unlisted: string[] = []
  for (const recorded of spread(cases, 0, 6)) {
    const { made, here } = await played(gate, recorded)
    const there = recorded.there ?? []
    const expected = [recorded.made, ...there].map(outcome)
    const found = [made, ...(recorded.made >= 400 ? [] : here)].map(outcome)
    const isAlike = JSON.stringify(found) === JSON.stringify(expected)
    const row = DIFFERENCES.find(({ name }) => name === recorded.differs)
    const isMore = found.some((status, at) => status !== 'refused' && expected[at] === 'refused')
    if (isAlike ? recorded.differs !== undefined : row === undefined || (isMore && row.serves !== true))
      unlisted.push(`${recorded.name} (${recorded.differs}): there ${expected}, here ${found}`)
  }
  t.diagnostic(`${DEEP ? cases.length : 'some'} keys and tokens`)
  assert.deepEqual(unlisted, [])
})
