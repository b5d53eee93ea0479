import assert from 'node:assert/strict'
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { eventually } from '../worlds/base/eventually.ts'
import { startCluster } from '../worlds/cluster/nodes.ts'

const PERMISSIONS = 0o777

test('what a node has read is kept by gateways alone, for the eyes of their user', async (t) => {
  const cluster = await startCluster(t)
  const gateway = await cluster.start('gateway')
  const copies = () => readdirSync(gateway.folder).filter((name) => name.startsWith('copy'))
  await eventually('it is written', async () => copies().length === 3)
  for (const name of copies()) assert.equal(statSync(join(gateway.folder, name)).mode & PERMISSIONS, 0o600, name)

  await t.test('a dashboard keeps none', async () => {
    const dashboard = await cluster.start('dashboard')
    const { json } = await dashboard.admin('GET', '/admin/organisations')
    assert.equal((json as { organisations: unknown[] }).organisations.length, 1, 'it reads')
    assert.deepEqual(
      readdirSync(dashboard.folder).filter((name) => name.startsWith('copy')),
      [],
    )
  })

  await t.test('a damaged one is made anew, and is as private', async () => {
    const file = join(gateway.folder, 'copy.db')
    assert.equal(await gateway.stop(), 0)
    writeFileSync(file, 'this is no database, and long enough to be looked at as one'.repeat(100))
    const again = await cluster.start('gateway', { SVC_STORAGE_PATH: gateway.folder })
    assert.match(again.output(), /damaged, rebuilding it/)
    assert.equal(statSync(file).mode & PERMISSIONS, 0o600)
    await eventually('it is written', async () => copies().length === 3)
  })
})
