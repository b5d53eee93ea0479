import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openInstallation, readInstallation } from '../../../src/publish/organisations/installation.ts'
import { setUpUnattended } from '../../../src/publish/organisations/set-up.ts'
import { openParts } from '../../worlds/publish/stored.ts'

const ADA = { organisation: 'Acme', email: 'a@example.test', password: 'correct horse', firstName: '', lastName: '' }

test('of nodes that start at one moment one makes the first user, and the others go on', async () => {
  const shared = openParts()
  // Each its own way to the one store, as processes have.
  const nodes = Array.from({ length: 4 }, () => ({ ...shared, documents: { ...shared.documents } }))
  await Promise.all(nodes.map(openInstallation))
  const made = await Promise.all(nodes.map((parts) => setUpUnattended(parts, ADA)))
  assert.deepEqual(made.sort(), [false, false, false, true])
  assert.equal((await readInstallation(shared))?.setup_hash, '')
  for (const kind of ['user', 'organisation'])
    assert.equal((await shared.documents.list(kind, { limit: 9 })).total, 1, kind)
})

test('what is wrong with the settings is said all the same', async () => {
  const parts = openParts()
  await openInstallation(parts)
  await assert.rejects(setUpUnattended(parts, { ...ADA, organisation: ' ' }), { code: 'setup_invalid' })
})
