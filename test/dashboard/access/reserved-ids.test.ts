import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type ChosenIdKind, RESERVED_IDS } from '../../../src/model/documents/ids.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { startTestDashboard } from '../../worlds/dashboard/harness.ts'
import { oasApi, rightsOn } from '../../worlds/gateway/admin-fixtures.ts'
import { oauthApi } from '../../worlds/gateway/oauth-fixtures.ts'

/** Kinds by the names that placeholders have for their ids, in paths that this matches. */
const NAMED: readonly (readonly [kind: ChosenIdKind, path: RegExp])[] = [
  ['policy', /\/policies\/\{id\}$/],
  ['oauth_client', /\{(?:clientId|cid|appId)\}$/],
  ['api', /\{(?:apiID|apiId|api_id|api|base)\}$|\/apis(?:\/oas)?\/\{id\}$/],
  ['key', /\{(?:keyId|key)\}$/],
]

/** Paths of labels from before they moved below `/api/apis`: every path has that form. */
const OLDER = '/api/{api_id}'

/** The words beside each placeholder of a chosen id. */
function wordsBeside(paths: readonly string[]): Map<ChosenIdKind, Set<string>> {
  const words = new Map<ChosenIdKind, Set<string>>()
  for (const path of paths) {
    const segments = path.split('/')
    for (const [at, segment] of segments.entries()) {
      const kind = NAMED.find(([, matches]) => matches.test(segments.slice(0, at + 1).join('/')))?.[0]
      if (!segment.startsWith('{') || kind === undefined || path.startsWith(`${OLDER}/`)) continue
      const before = shapeOf(segments.slice(0, at))
      for (const other of paths) {
        const beside = other.split('/')
        if (shapeOf(beside.slice(0, at)) !== before || beside[at] === undefined || beside[at].startsWith('{')) continue
        words.set(kind, (words.get(kind) ?? new Set()).add(beside[at]))
      }
    }
  }
  return words
}

const shapeOf = (segments: readonly string[]) => segments.map((one) => (one.startsWith('{') ? '{}' : one)).join('/')

async function bothTables(t: TestContext) {
  const gate = await startTestGateway()
  const dashboard = await startTestDashboard()
  t.after(() => Promise.all([gate.close(), dashboard.close()]))
  return {
    gate,
    dashboard,
    tables: [dashboard.dashboard.routes, gate.gateway.calls].map((table) => table.map(({ path }) => path)),
  }
}

test('words of paths beside an id are no ids of new objects', async (t) => {
  const { gate, tables } = await bothTables(t)
  const words = tables.map(wordsBeside)
  for (const [, kind] of Object.keys(RESERVED_IDS).entries()) {
    const found = new Set(words.flatMap((table) => [...(table.get(kind as ChosenIdKind) ?? [])]))
    assert.deepEqual([...found].sort(), [...RESERVED_IDS[kind as ChosenIdKind]].sort(), kind)
  }
  const svc = async (path: string, body: unknown) => {
    const { status, text } = await gate.svc('POST', `/svc/${path}`, body)
    assert.equal(status, 400, `${path} ${text}`)
    assert.match(text, /is a word of the paths/)
  }
  for (const id of RESERVED_IDS.api) await svc('apis/oas', oasApi(id, `/${id}/`, { id }))
  for (const id of RESERVED_IDS.policy) await svc('policies', { id, name: id, access_rights: rightsOn('a') })
  assert.equal((await gate.svc('POST', '/svc/apis/oas', oauthApi('http://127.0.0.1:9/', { id: 'a1' }))).status, 200)
  for (const client_id of RESERVED_IDS.oauth_client)
    await svc('oauth/clients/create', { client_id, api_id: 'a1', redirect_uri: 'https://a.test/' })
})
