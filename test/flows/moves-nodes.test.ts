import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { unservedLines } from '../../src/cli/moves/await-nodes.ts'
import { DashboardApi } from '../../src/cli/moves/dashboard.ts'
import { APIS } from '../../src/cli/moves/kind-apis.ts'
import type { MoveStep } from '../../src/cli/moves/plan.ts'
import { newDocumentId } from '../../src/model/documents/ids.ts'
import type { JsonObject } from '../../src/model/json/json.ts'
import { classic } from '../worlds/base/definitions.ts'
import { folderFor, startEnvironment } from '../worlds/flows/moves-world.ts'

test('sync ends once every node serves what it wrote, or names the node that does not and why', async (t) => {
  const world = await startEnvironment(t)
  const dir = folderFor(t)
  mkdirSync(join(dir, 'apis'))
  const write = (name: string) =>
    writeFileSync(join(dir, 'apis', 'a.json'), JSON.stringify(classic('a', '/a/', 'http://up.test/', { name })))
  const sync = () => world.run('sync', '-p', dir, '--apis', '--yes')
  const node = (name: string, revision: number, troubles: JsonObject[]) => {
    const now = new Date(world.clock.wall()).toISOString()
    const body = {
      ...{ name, hostname: name, version: '1', management: false, segmented: false, tags: [], up: true, behind: false },
      ...{ revision, loaded: 0, troubled: troubles.length, troubles, started_at: now, seen_at: now },
    }
    const id = newDocumentId(revision % 2 ** 31)
    return world.gateway.store.documents.commit([{ op: 'put', kind: 'node', id, body }], undefined)
  }
  write('one')
  const done = await sync()
  assert.deepEqual([done.status, done.out.split('\n').at(-1)], [0, 'Done.'], done.out + done.err)

  const reason = 'its certificate cannot be read'
  await node('broken', Number.MAX_SAFE_INTEGER, [{ api_id: 'a', state: 'failed', reason, revision: 0 }])
  write('two')
  const told = await sync()
  assert.equal(told.status, 1)
  assert.ok(
    told.out.split('\n').includes(`! node broken does not serve API a as it is stored: failed, ${reason}`),
    told.out,
  )
  const again = await sync()
  assert.equal(again.status, 0, 'nothing is left to do')

  await node('slow', 0, [])
  const api = new DashboardApi({ url: `http://127.0.0.1:${world.dashboard.port}/`, secret: world.admin.key })
  const step: MoveStep = { kind: APIS, identity: 'a', act: 'update', file: '', body: {}, there: undefined, changes: [] }
  const place = { api, orgId: '', withSecrets: false, hooks: {} }
  const lines = await unservedLines(place, [step], 1)
  assert.ok(lines.includes('node slow does not serve API a as it is stored: pending, the change is on its way'))
  const many = Array.from({ length: 30 }, (_, index) => ({ ...step, identity: index === 0 ? 'a' : `b${index}` }))
  assert.deepEqual(await unservedLines(place, many, 1), lines, 'many are read as a list')
})
