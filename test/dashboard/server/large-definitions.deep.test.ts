import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'
import { turnsOf } from '../../worlds/base/turns.ts'
import { startTestDashboard } from '../../worlds/dashboard/harness.ts'
import { largeDefinitions } from '../../worlds/model/large-definitions.ts'

/** A turn may cost so many times what it costs to read a definition from its text and to write it twice; a whole save costs far more. */
const MOST_TIMES = 30

/** As much as a body may hold, in descriptions. */
function described(definition: JsonObject): JsonObject {
  const paths = Object.entries(definition.paths as JsonObject).map(([path, item]) => {
    const { post } = item as { post: JsonObject }
    return [path, { post: { ...post, description: 'word '.repeat(280) } }]
  })
  return { ...definition, paths: Object.fromEntries(paths) }
}

function costOfOne(text: string): number {
  const rounds = 10
  const before = process.threadCpuUsage()
  for (let round = 0; round < rounds; round++) {
    const value = JSON.parse(text)
    JSON.stringify(value)
    JSON.stringify(value)
  }
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000 / rounds
}

test('no call about one definition at its bounds stops the dashboard for long', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-large-'))
  const store = await openStore({ path: folder })
  const dashboard = await startTestDashboard({ store })
  t.after(async () => {
    await dashboard.close()
    await store.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const writer = await dashboard.admin()
  const reader = await dashboard.user({ IsAdmin: 'false', apis: 'read', audit_logs: 'read' })
  const { operations, 'header edits': edits } = largeDefinitions('http://127.0.0.1:1/')
  const wrong: string[] = []
  for (const [name, definition] of Object.entries({ edits: edits!, described: described(operations!) })) {
    const text = JSON.stringify(definition)
    const one = costOfOne(text)
    const { info } = definition['x-svc-api-gateway'] as { info: { id: string } }
    const path = `/api/apis/oas/${info.id}`
    let number = 0
    const changed = () => text.replace('"title":"', `"title":"${number++} `)
    const entry = async () => {
      const { json } = await dashboard.call('GET', '/api/audit-logs?p=1', { as: writer })
      return String((json as { audit_logs: JsonObject[] }).audit_logs[0]!._id)
    }
    const calls: [string, string, string | undefined][] = [
      ['POST', '/api/apis/oas', text],
      ['PUT', path, changed()],
      ['GET', path, undefined],
      ['GET', `/api/apis/${info.id}`, undefined],
      ['GET', `${path}/export`, undefined],
      ['GET', '/api/audit-logs?p=1', undefined],
      ['GET', '/api/audit-logs/', undefined],
      ['DELETE', path, undefined],
    ]
    for (const [method, at, body] of calls) {
      const url = at.endsWith('/') ? at + (await entry()) : at
      const as = method === 'GET' ? reader : writer
      const seen: number[] = []
      // A collection of garbage may fall into any turn, but not into the same one each time. What is stored or gone is so once.
      for (let round = 0; round < (method === 'GET' || method === 'PUT' ? 4 : 1); round++) {
        const sent = method === 'PUT' ? changed() : body
        const { longestMs } = await turnsOf(async () => {
          const { status, text: said } = await dashboard.call(method, url, { as, body: sent })
          assert.equal(status, 200, `${method} ${url}: ${said.slice(0, 300)}`)
        })
        seen.push(Math.round(longestMs / one))
        if (longestMs <= MOST_TIMES * one) break
      }
      t.diagnostic(`${name} ${method} ${at}: ${seen.join(', ')} times one (${one.toFixed(1)} ms)`)
      if (Math.min(...seen) > MOST_TIMES) wrong.push(`${name} ${method} ${at}: ${seen.join(', ')} times one`)
    }
  }
  assert.deepEqual(wrong, [])
})
