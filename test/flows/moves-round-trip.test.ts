import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SECRET_PLACEHOLDER } from '../../src/cli/moves/placeholders.ts'
import type { JsonObject } from '../../src/model/json/json.ts'
import { fill, WEBHOOK_SECRET } from '../worlds/flows/moves-filled.ts'
import { editFile, filesIn, folderFor, startEnvironment } from '../worlds/flows/moves-world.ts'
import { startOrigin } from '../worlds/servers/origin.ts'

test('dump, sync into an empty installation and dump give equal files', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const onDisk = { onDisk: true }
  const [a, b] = [await startEnvironment(t, onDisk), await startEnvironment(t, onDisk)]
  await fill(a, origin.url)
  const [first, second] = [folderFor(t), folderFor(t)]
  const dumped = await a.run('dump', '-t', first)
  assert.deepEqual([dumped.status, dumped.err], [0, ''], dumped.err)
  const files = filesIn(first)
  assert.deepEqual(Object.keys(files), [
    'apis/catalog.json',
    'apis/ledger.json',
    'apis/orders.json',
    'clients/app-1.json',
    'gatehouse.json',
    'groups/api-team.8a724553.json',
    'hooks/tell-us.045b45e5.json',
    'labels/domain.json',
    'labels/tier.json',
    ...Object.keys(files).filter((name) => name.startsWith('policies/')),
    'portal/catalogue.json',
    'portal/configuration.json',
    'portal/css.json',
    'portal/documentation/orders.swagger.json',
    'portal/js.json',
    'portal/menus.json',
    ...Object.keys(files).filter((name) => name.startsWith('portal/pages/')),
  ])
  const all = Object.values(files).join('')
  for (const own of [a.dashboard.orgId, WEBHOOK_SECRET, 'for-upstream', 'dbId', '"_id"', 'org_id'])
    assert.ok(!all.includes(own), `${own} is in the files`)

  // The secret that signs the ledger's notifications is not in the files, and the target has none.
  const refused = await b.run('sync', '-p', first)
  assert.equal(refused.status, 1)
  assert.match(refused.err, /apis\/ledger\.json:\d+: .*sharedSecret: is kept out of the files, .* \(secret_missing\)/)
  editFile(first, 'apis/ledger.json', withSecret)
  for (const name of Object.keys(files).filter((file) => file.startsWith('policies/')))
    editFile(first, name, (body) => {
      if (body.meta_data !== undefined) (body.meta_data as JsonObject).api_token = 'for-upstream'
    })

  const plan = await b.run('sync', '-p', first)
  assert.equal(plan.status, 2, plan.err)
  assert.match(plan.out, /^\+ API orders$/m)
  assert.equal((await b.run('diff', '-p', first)).status, 2)
  assert.equal((await b.ask('GET', '/api/apis?p=-1')).pages, 0)
  const done = await b.run('sync', '-p', first, '--yes')
  assert.deepEqual([done.status, done.err], [0, ''], done.err)
  assert.deepEqual((await b.run('diff', '-p', first)).out.split('\n'), [
    `Nothing to do: ${Object.keys(files).length - 1} objects as in the files.`,
  ])
  assert.equal((await b.run('sync', '-p', first, '--yes')).status, 0)
  const again = await b.run('dump', '-t', second)
  assert.equal(again.status, 0, again.err)
  assert.deepEqual(filesIn(second), files)
})

function withSecret(body: JsonObject): void {
  const text = JSON.stringify(body).replace(
    `"sharedSecret":"${SECRET_PLACEHOLDER}"`,
    `"sharedSecret":"${WEBHOOK_SECRET}"`,
  )
  Object.assign(body, JSON.parse(text))
}
