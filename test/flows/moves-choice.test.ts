import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { JsonObject } from '../../src/model/json/json.ts'
import { defined, rights } from '../worlds/base/definitions.ts'
import { fill } from '../worlds/flows/moves-filled.ts'
import {
  type Environment,
  editFile,
  filesIn,
  folderFor,
  runLine,
  startEnvironment,
} from '../worlds/flows/moves-world.ts'

const URL = 'http://127.0.0.1:1'
const MAIN = join(import.meta.dirname, '../../src/main.ts')

/** Three APIs, of which two carry a tag and one a label, each with a policy; and a key of one of them. */
async function some({ ask }: Environment): Promise<void> {
  await ask('POST', '/api/labels', { name: 'Tier', values: [] })
  for (const [id, tags] of [
    ['one', ['edge']],
    ['two', ['edge', 'eu']],
    ['three', []],
  ] as const) {
    const server = { gatewayTags: { enabled: true, tags: [...tags] } }
    await ask('POST', '/api/apis/oas', defined({ id, url: URL, keyIn: 'Authorization', server }))
    await ask('POST', '/api/portal/policies', { id: `p-${id}`, name: `P ${id}`, access_rights: rights(id) })
    await ask('POST', '/api/keys', { apply_policies: [`p-${id}`], alias: id })
  }
  await ask('POST', '/api/apis/two/labels', { labels: { tier: 'gold' } })
  await ask('POST', '/api/apis/three/labels', { labels: { tier: 'silver' } })
}

const apisOf = async ({ ask }: Environment) =>
  ((await ask('GET', '/api/moves/apis')).apis as JsonObject[]).map(({ api_id }) => String(api_id)).sort()

test('one object, by tag, by label: dumped, and of the target nothing else is touched', async (t) => {
  const [a, b] = [await startEnvironment(t), await startEnvironment(t)]
  await some(a)
  await some(b)
  const dump = async (...options: string[]) => {
    const dir = folderFor(t)
    const ran = await a.run('dump', '-t', dir, ...options)
    assert.equal(ran.status, 0, ran.err)
    return { dir, files: Object.keys(filesIn(dir)).filter((name) => !name.startsWith('gate')) }
  }
  assert.deepEqual((await dump('--apis', 'one')).files, ['apis/one.json'])
  assert.deepEqual((await dump('--apis=one,two', '--policies', 'p-one')).files, [
    'apis/one.json',
    'apis/two.json',
    'policies/p-one.json',
  ])
  assert.deepEqual((await dump('--tag', 'eu')).files, ['apis/two.json', 'policies/p-two.json'])
  assert.deepEqual((await dump('--label', 'tier:silver')).files, ['apis/three.json', 'policies/p-three.json'])
  assert.equal((await dump('--tag', 'eu', '--keys')).files.length, 1)
  const tagged = await dump('--tag', 'edge', '--label', 'tier')
  assert.deepEqual(tagged.files, ['apis/two.json', 'policies/p-two.json'])
  assert.match(
    (await a.run('dump', '-t', folderFor(t), '--apis', 'nope')).err,
    /--apis: the dashboard has no API nope \(not_there\)/,
  )

  // In the target one of the tag is more than in the files, and one without the tag has changed.
  const edge = await dump('--tag', 'edge')
  await b.ask(
    'POST',
    '/api/apis/oas',
    defined({ id: 'more', url: URL, server: { gatewayTags: { enabled: true, tags: ['edge'] } } }),
  )
  await b.ask('PATCH', '/api/portal/policies/p-three', { rate: 99 })
  editFile(edge.dir, 'apis/one.json', (body) => JSON.parse(JSON.stringify(body).replace(URL, 'http://127.0.0.1:2')))
  const plan = await b.run('diff', '-p', edge.dir)
  assert.deepEqual(
    plan.out.split('\n').filter((line) => !line.startsWith('  ')),
    ['~ API one', '- API more', '0 to create, 1 to update, 1 to delete, 3 unchanged.'],
  )
  assert.equal((await b.run('sync', '-p', edge.dir, '--yes', '--apis', 'one')).status, 0)
  assert.deepEqual(await apisOf(b), ['more', 'one', 'three', 'two'])
  assert.equal((await b.run('apply', '-p', edge.dir, '--yes')).status, 0)
  assert.deepEqual(await apisOf(b), ['more', 'one', 'three', 'two'])
  assert.equal((await b.run('sync', '-p', edge.dir, '--yes')).status, 0)
  assert.deepEqual(await apisOf(b), ['one', 'three', 'two'])
  assert.equal((await b.ask('GET', '/api/portal/policies/p-three')).rate, 99)
})

test('a folder of everything is refreshed in part, and never taken for one of some APIs', async (t) => {
  const a = await startEnvironment(t)
  await some(a)
  const dir = folderFor(t)
  await a.run('dump', '-t', dir, '--apis', '--policies')
  const before = filesIn(dir)
  for (const options of [['--tag', 'eu', '--apis', '--policies'], ['--apis', 'one'], ['--policies']]) {
    assert.equal((await a.run('dump', '-t', dir, ...options)).status, 0)
    assert.deepEqual(filesIn(dir), before)
  }
  assert.equal((await a.run('dump', '-t', dir, '--labels')).status, 0)
  const held = JSON.parse(filesIn(dir)['gatehouse.json']!) as JsonObject
  assert.deepEqual(held, { format: 1, kinds: { labels: 'all', apis: 'all', policies: 'all' } })
  const narrow = folderFor(t)
  await a.run('dump', '-t', narrow, '--tag', 'eu')
  for (const options of [['--apis'], ['--tag', 'edge'], ['--label', 'tier:gold']])
    assert.match((await a.run('dump', '-t', narrow, ...options)).err, /has a dump of other tags or labels/)
})

test('what was dumped is told to programs, and files of what is gone go', async (t) => {
  const [a, b] = [await startEnvironment(t), await startEnvironment(t)]
  await fill(a, URL)
  const dir = folderFor(t)
  await a.run('dump', '-t', dir)
  const before = Object.keys(filesIn(dir)).length
  await a.ask('DELETE', '/api/portal/policies/gold')
  const told = JSON.parse((await a.run('dump', '-t', dir, '--json')).out) as JsonObject
  assert.deepEqual(told.removed, ['policies/gold.json'])
  assert.equal(Object.keys(filesIn(dir)).length, before - 1)
  const plan = JSON.parse((await b.run('diff', '-p', dir, '--labels', '--json')).out) as JsonObject
  assert.deepEqual(plan, {
    done: false,
    unchanged: 0,
    steps: [
      { act: 'create', kind: 'labels', id: 'domain', file: 'labels/domain.json', changes: [] },
      { act: 'create', kind: 'labels', id: 'tier', file: 'labels/tier.json', changes: [] },
    ],
  })
})

test('changes of every sort come over, deletions too, and the portal follows', async (t) => {
  const [a, b] = [await startEnvironment(t), await startEnvironment(t)]
  await fill(a, URL)
  const dir = folderFor(t)
  const sorts = ['--labels', '--groups', '--hooks', '--portal', '--apis', 'orders,catalog', '--policies', 'gold']
  const dump = () => a.run('dump', '-t', dir, ...sorts)
  await dump()
  editFile(dir, 'policies/gold.json', withToken)
  assert.equal((await b.run('sync', '-p', dir, '--yes')).status, 0)

  await a.ask('PUT', '/api/apis/oas/orders/categories', { categories: ['other'] })
  await a.ask('DELETE', '/api/apis/orders/labels/domain')
  await a.ask('POST', '/api/apis/orders/labels', { labels: { tier: 'silver' } })
  const labels = (await a.ask('GET', '/api/labels?p=-1')).labels as JsonObject[]
  await a.ask('DELETE', `/api/labels/${labels.find(({ key }) => key === 'domain')!.id}`)
  const [group] = (await a.ask('GET', '/api/usergroups?p=-1')).groups as JsonObject[]
  await a.ask('PUT', `/api/usergroups/${group!.id}`, { active: false, user_permissions: { apis: 'read' } })
  const [page] = (await a.ask('GET', '/api/portal/pages?p=-1')).Data as JsonObject[]
  await a.ask('DELETE', `/api/portal/pages/${page!.id}`)
  await a.ask('POST', '/api/portal/pages', { slug: 'start', title: 'Start', is_homepage: true })
  const [old] = (await a.ask('GET', '/api/portal/documentation?p=-1')).Data as JsonObject[]
  const text = Buffer.from('openapi: 3.1.0\n').toString('base64')
  const { Message } = await a.ask('POST', '/api/portal/documentation', { api_id: 'orders', documentation: text })
  const catalogue = await a.ask('GET', '/api/portal/catalogue')
  const apis = (catalogue.apis as JsonObject[]).map((entry) => ({ ...entry, documentation: Message! }))
  await a.ask('PUT', '/api/portal/catalogue', { ...catalogue, apis })
  await a.ask('DELETE', `/api/portal/documentation/${old!.id}`)
  await a.ask('PUT', '/api/portal/configuration', { oauth_usage_limit: -1 })
  await b.ask('PUT', '/api/portal/configuration', { of_the_target: 'only', email: 'b@b.example' })
  await dump()
  editFile(dir, 'policies/gold.json', withToken)
  const done = await b.run('sync', '-p', dir, '--yes')
  assert.equal(done.status, 0, done.err)
  assert.deepEqual((await b.run('sync', '-p', dir)).status, 0)
  assert.deepEqual(await b.ask('GET', '/api/apis/orders/labels'), [{ key: 'tier', value: 'silver' }])
  const [moved] = (await b.ask('GET', '/api/portal/documentation?p=-1')).Data as JsonObject[]
  const [entry] = (await b.ask('GET', '/api/portal/catalogue')).apis as JsonObject[]
  assert.deepEqual([entry!.documentation, entry!.policy_id], [moved!.id, 'gold'])
  const { oauth_usage_limit, email, of_the_target } = await b.ask('GET', '/api/portal/configuration')
  assert.deepEqual([oauth_usage_limit, email, of_the_target ?? null], [-1, 'help@a.example', null])
  assert.equal(((await b.ask('GET', '/api/usergroups?p=-1')).groups as JsonObject[])[0]!.active, false)
})

test('names that are no ids must tell objects apart', async (t) => {
  const a = await startEnvironment(t)
  for (let n = 0; n < 2; n++)
    await a.ask('POST', '/api/usergroups', { name: 'Same', user_permissions: { apis: 'read' } })
  const ran = await a.run('dump', '-t', folderFor(t))
  assert.match(ran.err, /group name: the dashboard has several named Same: .*\(name_ambiguous\)/)
})

test('the process ends with the status of the command', async (t) => {
  const dir = folderFor(t)
  mkdirSync(join(dir, 'labels'))
  writeFileSync(join(dir, 'labels/tier.json'), '{ "key": "tier", "name": 7 }')
  const ran = spawnSync(process.execPath, [MAIN, 'validate', '-p', dir], { encoding: 'utf8' })
  assert.equal(ran.status, 1, ran.stderr)
  assert.match(ran.stdout, /^labels\/tier\.json:1: name: must be a text .*\(field_invalid\)\n1 mistake\n$/)
})

test('every command has a help of its own, and what it takes is said there', async () => {
  for (const name of ['dump', 'diff', 'sync', 'apply', 'publish', 'validate']) {
    const { status, out } = await runLine([name, '--help'])
    assert.equal(status, 0)
    for (const option of ['--apis', '--portal', '--tag', '--label', '--json'])
      assert.ok(out.includes(option), `${name} ${option}`)
  }
  assert.match((await runLine(['--help'])).out, /^ {2}publish {2,}create only new objects/m)
})

function withToken(body: JsonObject): void {
  ;(body.meta_data as JsonObject).api_token = 'for-upstream'
}

test('policies and keys are moved as they are to where paths of a vendor are rewritten', async (t) => {
  const env = { SVC_COMPAT_PATHMATCHING: 'whole', SVC_COMPAT_VENDORALIASES: 'inc' }
  const [a, b] = [await startEnvironment(t), await startEnvironment(t, { env, gatewayEnv: env })]
  await a.ask('POST', '/api/apis/oas', defined({ id: 'orders', url: URL, keyIn: 'Authorization' }))
  const chosen = ['--apis', '--policies', '--keys']
  const right = (url: string) => ({ api_id: 'orders', api_name: 'orders', allowed_urls: [{ url, methods: ['GET'] }] })
  const opened = (url: string) => ({ access_rights: { orders: right(url) } })
  await a.ask('POST', '/api/portal/policies', { id: 'gold', name: 'Gold', ...opened('/get') })
  await a.ask('POST', '/api/keys/key-of-many-letters', opened('/get'))
  const dir = folderFor(t)
  for (const url of ['/get', '/other']) {
    await a.ask('PATCH', '/api/portal/policies/gold', opened(url))
    await a.ask('PUT', '/api/keys/key-of-many-letters', opened(url))
    const dumped = await a.run('dump', '-t', dir, ...chosen)
    assert.equal(dumped.status, 0, dumped.err)
    const first = await b.run('sync', '-p', dir, '--yes', ...chosen)
    assert.equal(first.status, 0, first.err)
    const again = await b.run('sync', '-p', dir, ...chosen)
    assert.equal(again.status, 0, again.out)
    const read = JSON.stringify(await b.ask('GET', '/api/portal/policies/gold'))
    assert.ok(read.includes(`"url":"${url}"`), read)
  }
})
