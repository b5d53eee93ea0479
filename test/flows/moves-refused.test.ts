import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../src/model/json/json.ts'
import { classic, defined, rights } from '../worlds/base/definitions.ts'
import { type Environment, editFile, folderFor, runLine, startEnvironment } from '../worlds/flows/moves-world.ts'
import { makeCertificate } from '../worlds/wire/certificates.ts'

const URL = 'http://127.0.0.1:1'

/** All that is stored, as text: equal when nothing has changed. */
async function fingerprint({ dashboard }: Environment): Promise<string> {
  const all: unknown[] = []
  for (const kind of ['api', 'policy', 'label', 'hook', 'oauth_client', 'catalogue', 'portal_page'])
    for await (const batch of dashboard.store.documents.scan(kind)) all.push(...batch)
  const { rows } = await dashboard.store.tokens.listSessions({ limit: 1000 })
  return JSON.stringify([all, rows])
}

/** Tries a sync that must be refused, and change nothing. */
async function refused(b: Environment, dir: string, ...options: string[]): Promise<string> {
  const before = await fingerprint(b)
  const ran = await b.run('sync', '-p', dir, '--yes', ...options)
  assert.equal(ran.status, 1, ran.out)
  assert.equal(await fingerprint(b), before)
  assert.match(ran.err, /Nothing was changed\.$/)
  return ran.err
}

async function dumpOf(
  t: Parameters<typeof startEnvironment>[0],
  a: Environment,
  ...options: string[]
): Promise<string> {
  const dir = folderFor(t)
  const ran = await a.run('dump', '-t', dir, ...options)
  assert.equal(ran.status, 0, ran.err)
  return dir
}

test('a policy whose API is missing in the target is refused by name, and nothing is half done', async (t) => {
  const [a, b] = [await startEnvironment(t), await startEnvironment(t)]
  await a.ask('POST', '/api/apis/oas', defined({ id: 'orders', url: URL }))
  await a.ask('POST', '/api/apis/oas', defined({ id: 'billing', url: URL }))
  await a.ask('POST', '/api/portal/policies', { id: 'ok', name: 'Ok', access_rights: rights('billing') })
  await a.ask('POST', '/api/portal/policies', { id: 'gold', name: 'Gold', access_rights: rights('orders', 'nowhere') })
  const dir = await dumpOf(t, a, '--policies', '--apis', 'billing')
  const said = await refused(b, dir)
  assert.match(
    said,
    /policies\/gold\.json:\d+: access_rights\.orders: the target has no API orders, and none is moved with it \(api_missing\)/,
  )
  assert.match(said, /access_rights\.nowhere: .*\(api_missing\)/)
  assert.doesNotMatch(said, /ok\.json/)
  assert.equal((await b.run('sync', '-p', dir, '--yes', '--allow-missing')).status, 0)
})

test('clashes in the target are refused by name', async (t) => {
  const [a, b] = [await startEnvironment(t), await startEnvironment(t)]
  await a.ask('POST', '/api/apis/oas', defined({ id: 'orders', url: URL }))
  await a.ask('POST', '/api/apis', { api_definition: classic('old', '/old/', URL) })
  await a.ask('POST', '/api/portal/policies', { id: 'gold', name: 'Gold', access_rights: rights('orders') })
  const dir = await dumpOf(t, a, '--apis', '--policies')

  await b.ask('POST', '/api/apis/oas', defined({ id: 'here', path: '/orders', url: URL }))
  assert.match(
    await refused(b, dir, '--no-delete'),
    /apis\/orders\.json:\d+: oas\.x-svc-api-gateway\.server\.listenPath\.value: API here of the target has it \(listen_path_taken\)/,
  )
  await b.ask('DELETE', '/api/apis/here')

  await b.ask('POST', '/api/apis', { api_definition: classic('orders', '/else/', URL) })
  assert.match(await refused(b, dir), /is oas here and classic in the target: .* \(format_differs\)/)
  await b.ask('DELETE', '/api/apis/orders')

  await b.ask('POST', '/api/portal/policies', { id: 'other', name: 'Gold', access_rights: {} })
  assert.match(
    await refused(b, dir, '--no-delete'),
    /policies\/gold\.json:3: name: policy other of the target has it \(name_taken\)/,
  )

  // Conflicts that only the installation knows: another organisation has the id, or the path.
  const foreign = await b.dashboard.admin(await b.dashboard.organisation())
  await b.dashboard.call('POST', '/api/apis/oas', {
    as: foreign,
    body: defined({ id: 'third', path: '/free/', url: URL }),
  })
  await a.ask('POST', '/api/apis/oas', defined({ id: 'third', url: URL }))
  assert.match(
    await refused(b, await dumpOf(t, a, '--apis')),
    /apis\/third\.json:2: api_id: this ID cannot be used, choose another one \(api_id_taken\)/,
  )
  await b.dashboard.call('DELETE', '/api/apis/third', { as: foreign })
  await b.dashboard.call('POST', '/api/apis/oas', {
    as: foreign,
    body: defined({ id: 'theirs', path: '/orders/', url: URL }),
  })
  assert.match(await refused(b, dir), /\/orders\/ overlaps a listen path of another organisation \(listen_path_taken\)/)
  await b.dashboard.call('DELETE', '/api/apis/theirs', { as: foreign })

  // With all of this gone, the policy of the same name goes first, and the run goes through.
  const done = await b.run('sync', '-p', dir, '--yes')
  assert.equal(done.status, 0, done.err)
})

test('a target that gives policies ids of its own is refused before it does', async (t) => {
  const a = await startEnvironment(t)
  const b = await startEnvironment(t, { env: { SVC_DB_ALLOWEXPLICITPOLICYID: 'false' } })
  await a.ask('POST', '/api/portal/policies', { id: 'gold', name: 'Gold', access_rights: {} })
  const dir = await dumpOf(t, a, '--policies')
  assert.match(
    await refused(b, dir),
    /policies\/gold\.json:2: id: .*set dashboard\.allow_explicit_policy_id there \(policy_id_lost\)/,
  )
})

test('listen paths change hands in one run, but not in a circle', async (t) => {
  const [a, b] = [await startEnvironment(t), await startEnvironment(t)]
  const paths = async (environment: Environment, map: Record<string, string>) => {
    for (const [id, path] of Object.entries(map))
      await environment.ask('POST', '/api/apis/oas', defined({ id, path, url: URL }))
  }
  await paths(a, { one: '/b/', two: '/c/', new: '/a/', four: '/gone/' })
  await paths(b, { one: '/a/', two: '/b/', gone: '/gone/' })
  const dir = await dumpOf(t, a, '--apis')
  const done = await b.run('sync', '-p', dir, '--yes')
  assert.equal(done.status, 0, done.err)
  assert.equal((await b.run('diff', '-p', dir)).status, 0)
  const swapped = await startEnvironment(t)
  await paths(swapped, { one: '/c/', two: '/b/', new: '/a/', four: '/gone/' })
  assert.match(await refused(swapped, dir), /API two has it now and gives it away in this run: do it in two \(swap\)/)
  editFile(dir, 'apis/two.json', (body) => JSON.parse(JSON.stringify(body).replace('"/c/"', '"/b/"')))
  assert.match(await refused(swapped, dir), /apis\/one\.json:\d+: .*API two of the target has it \(listen_path_taken\)/)
})

test('a target that stores colliding APIs takes them, ids kept', async (t) => {
  const env = { SVC_DB_ENABLEDUPLICATESLUGS: 'true' }
  const [a, b] = [await startEnvironment(t, { env }), await startEnvironment(t, { env })]
  for (const id of ['one', 'two']) await a.ask('POST', '/api/apis/oas', defined({ id, path: '/same/', url: URL }))
  await b.ask('POST', '/api/apis/oas', defined({ id: 'here', path: '/same/', url: URL }))
  const dir = await dumpOf(t, a, '--apis')
  const applied = await b.run('apply', '-p', dir, '--yes')
  assert.equal(applied.status, 1)
  for (const id of ['one', 'two'])
    assert.match(applied.err + applied.out, new RegExp(`does not serve API ${id} as it is stored: taken`))
  const ids = ((await b.ask('GET', '/api/moves/apis')).apis as JsonObject[]).map(({ api_id }) => String(api_id))
  assert.deepEqual(ids.sort(), ['here', 'one', 'two'])
})

test('labels, webhooks, certificates and documentation that are not there are refused', async (t) => {
  const [a, b] = [await startEnvironment(t), await startEnvironment(t)]
  const { cert } = makeCertificate('orders.test')
  const { id } = (await a.ask('POST', '/api/certs', cert)) as { id: string }
  await a.ask('POST', '/api/labels', { name: 'Tier', values: ['gold'] })
  await a.ask('POST', '/api/hooks', { name: 'tell', method: 'POST', target_path: 'https://hooks.example/' })
  const hook = ((await a.ask('GET', '/api/hooks?p=-1')).hooks as JsonObject[])[0]!
  await a.ask('POST', '/api/apis', {
    api_definition: classic('old', '/old/', URL, {
      client_certificates: [id],
      use_mutual_tls_auth: true,
      use_keyless: false,
    }),
    hook_references: [{ event_name: 'api_event', hook: { id: hook.id! } }],
  })
  await a.ask('POST', '/api/apis/old/labels', { labels: { tier: 'gold' } })
  const dir = await dumpOf(t, a, '--apis')
  const said = await refused(b, dir)
  assert.match(said, /labels\.tier: the target has no label tier, .*\(label_missing\)/)
  assert.match(said, /hook_references\[0\]: the target has no webhook tell, .*\(hook_missing\)/)
  assert.match(said, /the target has no certificate [0-9a-f]{64}: add it there first \(certificate_missing\)/)
  await b.ask('POST', '/api/certs', cert)
  await b.ask('POST', '/api/labels', { name: 'Tier', values: ['silver'] })
  await b.ask('POST', '/api/hooks', { name: 'tell', method: 'POST', target_path: 'https://hooks.example/b' })
  assert.match(await refused(b, dir), /gold is none of the values of this label \(field_invalid\)/)
  const [label] = (await b.ask('GET', '/api/labels?p=-1')).labels as JsonObject[]
  await b.ask('PUT', `/api/labels/${label!.id}`, { values: [] })
  assert.equal((await b.run('sync', '-p', dir, '--yes')).status, 0)
  assert.equal((await b.run('diff', '-p', dir)).status, 0)
  const moved = ((await b.ask('GET', '/api/apis/old')).hook_references as JsonObject[])[0]!.hook as JsonObject
  assert.notEqual(moved.id, hook.id)
})

test('what the target would not delete is refused before anything is', async (t) => {
  const [a, b] = [await startEnvironment(t), await startEnvironment(t)]
  for (const environment of [a, b]) await environment.ask('POST', '/api/apis/oas', defined({ id: 'orders', url: URL }))
  await b.ask('POST', '/api/labels', { name: 'Tier', values: [] })
  await b.ask('POST', '/api/apis/orders/labels', { labels: { tier: 'one' } })
  await b.ask('POST', '/api/usergroups', { name: 'Team', user_permissions: { apis: 'read' } })
  const [group] = (await b.ask('GET', '/api/usergroups?p=-1')).groups as JsonObject[]
  await b.dashboard.user({}, { groupId: String(group!.id) })
  const dir = await dumpOf(t, a, '--labels', '--groups')
  const said = await refused(b, dir)
  assert.match(said, /label: tier cannot be deleted, 1 APIs carry it: .* \(in_use\)/)
  assert.match(said, /group: Team cannot be deleted, 1 users are in it: .* \(in_use\)/)
  // Together with the APIs that carry it, the label goes.
  await a.run('dump', '-t', dir, '--apis')
  assert.equal((await b.run('sync', '-p', dir, '--yes', '--apis', '--labels')).status, 0)
  assert.deepEqual((await b.ask('GET', '/api/labels?p=-1')).labels, [])
})

test('publish refuses different objects; a folder without a dump deletes nothing', async (t) => {
  const [a, b] = [await startEnvironment(t), await startEnvironment(t)]
  await a.ask('POST', '/api/apis/oas', defined({ id: 'orders', url: URL }))
  await a.ask('POST', '/api/apis/oas', defined({ id: 'more', url: URL }))
  await b.ask('POST', '/api/apis/oas', defined({ id: 'orders', path: '/other/', url: URL }))
  await b.ask('POST', '/api/portal/policies', { id: 'stays', name: 'Stays', access_rights: {} })
  const dir = await dumpOf(t, a, '--apis')
  const said = await b.run('publish', '-p', dir, '--yes')
  assert.match(said.err, /apis\/orders\.json:1: api_id: .*\(already_there\)/)
  assert.equal((await b.run('publish', '-p', dir, '--yes', '--apis', 'more')).status, 0)
  assert.equal((await b.run('publish', '-p', dir, '--yes', '--apis', 'more')).status, 0)
  const undumped = await b.run('sync', '-p', dir, '--policies', '--yes')
  assert.match(undumped.err, /holds no policies: dump them first/)
  assert.match((await runLine(['validate', '-p', folderFor(t)])).err, /holds no files of a dump/)
  const missing = await b.run('sync', '-p', dir, '--apis', 'nowhere')
  assert.match(missing.err, /--apis: nowhere is neither in the files nor in the target \(not_there\)/)
})
