import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'
import { defined, rights } from '../../worlds/base/definitions.ts'
import { startTestDashboard } from '../../worlds/dashboard/harness.ts'

test('of changes to one key at the same moment none is lost, and a rotation happens once', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-races-'))
  // Its writes take a turn at least, so that calls meet.
  const store = await openStore({ path: folder })
  const dashboard = await startTestDashboard({ store })
  t.after(async () => {
    await dashboard.close()
    await store.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const as = await dashboard.admin()
  const ask = (method: string, path: string, body?: JsonObject) => dashboard.call(method, path, { as, body })
  await ask('POST', '/api/apis/oas', defined({ id: 'mine', url: 'http://127.0.0.1:1', keyIn: 'Authorization' }))
  const session = { access_rights: rights('mine') }
  const keys = async () =>
    (await dashboard.store.tokens.listSessions({ only: 'keys', limit: 100 })).rows.map(({ body }) => body)
  const others: Readonly<Record<string, (path: string) => ReturnType<typeof ask>>> = {
    rotate: (path) => ask('POST', path.replace('?', '/rotate?'), {}),
    delete: (path) => ask('DELETE', path),
    replace: (path) => ask('PUT', path, { ...session, is_inactive: true }),
  }
  for (const [name, other] of Object.entries(others)) {
    const made = (await ask('POST', '/api/keys', session)).json as JsonObject
    const path = `/api/keys/${made.key_hash}?hashed=1`
    const answers = await Promise.all([others.rotate!(path), ...Array.from({ length: 5 }, () => other(path))])
    const [rotated, ...rest] = answers.map(({ status }) => status === 200)
    const left = await keys()
    if (name === 'rotate') assert.deepEqual([[rotated, ...rest].filter(Boolean).length, left.length], [1, 1], name)
    if (name === 'delete') assert.equal(left.length, rotated && !rest.includes(true) ? 1 : 0, name)
    if (name === 'replace')
      assert.ok(left.length === 1 && (!rest.includes(true) || left[0]!.is_inactive === true), name)
    for (const { hash } of (await dashboard.store.tokens.listSessions({ only: 'keys', limit: 100 })).rows)
      await dashboard.store.documents.commit([{ op: 'deleteSession', hash }], undefined)
  }
})
