import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { isObject, type Json, type JsonObject } from '../../src/model/json/json.ts'
import { classic, defined, rights } from '../worlds/base/definitions.ts'
import { editFile, filesIn, folderFor, runLine, startEnvironment } from '../worlds/flows/moves-world.ts'

const URL = 'http://127.0.0.1:1'

/** A folder with these files. */
function folderOf(t: TestContext, files: Readonly<Record<string, string | JsonObject>>): string {
  const dir = folderFor(t)
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(dir, path, '..'), { recursive: true })
    writeFileSync(join(dir, path), typeof content === 'string' ? content : `${JSON.stringify(content, null, 2)}\n`)
  }
  return dir
}

const GOLD = {
  id: 'gold',
  name: 'Gold',
  access_rights: { orders: { versions: ['Default'], limit: { rate: 1, per: 1 } } },
}

/** A mark for a value of the environment. */
const taken = (name: string) => `\${env:${name}}`

/** The number of the first line of a file that holds a text. */
function lineOf(dir: string, file: string, text: string): number {
  return (
    readFileSync(join(dir, file), 'utf8')
      .split('\n')
      .findIndex((line) => line.includes(text)) + 1
  )
}

test('validate names file, line and field of every mistake that people make', async (t) => {
  const orders = { oas: defined({ id: 'orders', url: URL }) }
  const text = JSON.stringify(orders, null, 2)
  const dir = folderOf(t, {
    'apis/bare.json': defined({ id: 'bare', path: 'no-slash', url: URL }),
    'apis/classic.json': { api_definition: classic('old', '/old/', URL, { active: 'yes' }), labels: { tier: 1 } },
    'apis/cut.json': text.slice(0, text.indexOf('"upstream"')),
    'apis/orders.json': text.replace('"value": "/orders/"', '"value": 7'),
    'apis/twin.json': text,
    'clients/app.json': {
      client_id: 'app',
      api_ids: ['orders'],
      redirect_uris: ['not an address'],
      grant_types: ['magic'],
    },
    'keys/short.json': { key_hash: 'abc', session: { rate: 'many' } },
    'labels/none.json': { name: '', values: ['a'] },
    'policies/gold.json': JSON.stringify(GOLD, null, 2)
      .replace('"rate": 1', '"rate": "fast"')
      .replace('"name": "Gold"', '"name": "Gold",\n  "name": "Silver"'),
    'policies/list.json': '[]\n',
    'policies/yaml.yaml': 'id: silver\nname: Silver\naccess_rights:\n  orders:\n    versions: Default\n',
    'policies/endless.yaml': 'id: endless\nname: Endless\nmeta_data:\n  level: .inf\n',
    'policies/broken.yml': 'id: x\n  name: y\n',
    'portal/menus.json': { part: 'menus', menus: { main: [{ title: 'Home', url: 'javascript:alert(1)' }] } },
    'portal/what.json': { part: 'what' },
  })
  const ran = await runLine(['validate', '-p', dir])
  assert.equal(ran.status, 1, ran.err)
  const lines = ran.out.split('\n')
  const expected = [
    `apis/bare.json:${lineOf(dir, 'apis/bare.json', 'no-slash')}: x-svc-api-gateway.server.listenPath.value: .*must begin with "/".* \\(field_invalid\\)`,
    `apis/classic.json:${lineOf(dir, 'apis/classic.json', '"active": "yes"')}: api_definition.active: .*\\(field_invalid\\)`,
    `apis/classic.json:${lineOf(dir, 'apis/classic.json', '"tier"')}: labels.tier: must be a text \\(field_invalid\\)`,
    `apis/cut.json:${text.slice(0, text.indexOf('"upstream"')).split('\n').length}: the document: is not JSON from here on \\(file_malformed\\)`,
    `apis/orders.json:${lineOf(dir, 'apis/orders.json', '"value": 7')}: oas.x-svc-api-gateway.server.listenPath.value: .*\\(field_invalid\\)`,
    `apis/twin.json:1: api_id: apis/orders.json has orders too \\(id_twice\\)`,
    `clients/app.json:${lineOf(dir, 'clients/app.json', 'not an address')}: redirect_uris\\[0\\]: holds " ".* \\(field_invalid\\)`,
    `clients/app.json:${lineOf(dir, 'clients/app.json', 'magic')}: grant_types\\[0\\]: must be one of .*\\(field_invalid\\)`,
    `keys/short.json:2: key_hash: must be the SHA-256 of a key, 64 hex digits \\(field_invalid\\)`,
    `keys/short.json:4: session.rate: must be a number \\(field_invalid\\)`,
    `labels/none.json:\\d+: key: is missing \\(id_missing\\)`,
    `policies/gold.json:4: name: is there twice \\(named_twice\\)`,
    `policies/gold.json:${lineOf(dir, 'policies/gold.json', 'fast')}: access_rights.orders.limit.rate: must be a number \\(field_invalid\\)`,
    `policies/list.json:1: the document: is no object \\(file_malformed\\)`,
    `policies/yaml.yaml:5: access_rights.orders.versions: must be a list \\(field_invalid\\)`,
    `policies/endless.yaml:\\d+: the document: meta_data.level: is a number beyond .*\\(file_malformed\\)`,
    `policies/broken.yml:\\d: the document: is not YAML from here on .*\\(file_malformed\\)`,
    `portal/menus.json:\\d+: menus.main.*: must be a path, .*\\(field_invalid\\)`,
    `portal/what.json:2: part: must be one of .*\\(field_invalid\\)`,
  ]
  for (const each of expected)
    assert.ok(
      lines.some((line) => new RegExp(`^${each}$`).test(line)),
      `${each}\nis not in\n${ran.out}`,
    )
  assert.equal(lines.at(-1), `${expected.length} mistakes`)
  const json = JSON.parse((await runLine(['validate', '-p', dir, '--json'])).out) as { flaws: JsonObject[] }
  assert.deepEqual(Object.keys(json.flaws[0]!), ['name', 'file', 'line', 'field', 'why'])
})

test('validate passes what is right, and files of a newer version are refused by name', async (t) => {
  const dir = folderOf(t, { 'apis/a.json': defined({ id: 'a', url: URL }), 'policies/gold.json': GOLD })
  assert.deepEqual(await runLine(['validate', '-p', dir]), { status: 0, out: '2 objects without a mistake.', err: '' })
  writeFileSync(join(dir, 'gatehouse.json'), '{ "format": 99, "kinds": { "apis": "all" } }')
  assert.match(
    (await runLine(['validate', '-p', dir])).err,
    /version_unknown: gatehouse\.json: format 99 is of another version/,
  )
  writeFileSync(join(dir, 'gatehouse.json'), '{ "format": 1, "kinds": { "spells": "all" } }')
  assert.match((await runLine(['validate', '-p', dir])).err, /gatehouse\.json: kinds\.spells is not known here/)
  assert.match((await runLine(['validate', '-p', join(dir, 'nowhere')])).err, /there is no folder/)
})

test('a link among the files leads nowhere', async (t) => {
  const outside = folderOf(t, { 'gold.json': GOLD })
  const dir = folderOf(t, { 'policies/silver.json': { ...GOLD, id: 'silver', name: 'Silver' } })
  symlinkSync(join(outside, 'gold.json'), join(dir, 'policies/gold.json'))
  const ran = await runLine(['validate', '-p', dir])
  assert.match(
    ran.out,
    /policies\/gold\.json:1: the document: is a link, and links are not followed \(file_unreadable\)/,
  )
})

test('values come from the environment, and a dump keeps the placeholders', async (t) => {
  const [a, b] = [await startEnvironment(t), await startEnvironment(t)]
  await a.ask('POST', '/api/apis/oas', defined({ id: 'orders', url: 'http://orders.a.example' }))
  await a.ask('POST', '/api/portal/policies', {
    id: 'gold',
    name: 'Gold',
    access_rights: rights('orders'),
    rate: 5,
    per: 1,
  })
  const dir = folderFor(t)
  await a.run('dump', '-t', dir, '--apis', '--policies')
  const upstream = (url: string) => (body: JsonObject) =>
    JSON.parse(JSON.stringify(body).replace('http://orders.a.example', url)) as JsonObject
  editFile(dir, 'apis/orders.json', upstream(`http://orders.${taken('STAGE')}.example`))
  editFile(dir, 'policies/gold.json', (body) => ({ ...body, rate: taken('RATE|number'), name: taken('NAME:-Gold') }))
  const files = filesIn(dir)
  const variables = folderOf(t, {
    'a.env': 'STAGE=a\nRATE=5\n',
    'b.env': 'STAGE=b\nRATE=50\n',
    'bad.env': 'STAGE=b\nRATE=fast\n',
    'large.env': 'STAGE=b\nRATE=9007199254740993\n',
  })
  const from = (name: string) => ['--env-file', join(variables, name)]

  const none = await b.run('sync', '-p', dir, '--yes')
  assert.match(none.err, /apis\/orders\.json:\d+: .*upstream\.url: the environment has no STAGE \(env_missing\)/)
  assert.match(
    (await b.run('sync', '-p', dir, ...from('bad.env'))).err,
    /gold\.json:\d+: rate: RATE in the environment is no number/,
  )
  assert.match(
    (await b.run('sync', '-p', dir, ...from('large.env'))).err,
    /gold\.json:\d+: rate: RATE in the environment: the whole: is a number beyond 2\^53 - 1/,
  )
  const done = await b.run('sync', '-p', dir, '--yes', ...from('b.env'))
  assert.equal(done.status, 0, done.err)
  const { rate, name } = await b.ask('GET', '/api/portal/policies/gold')
  assert.deepEqual([rate, name], [50, 'Gold'])
  assert.match(JSON.stringify(await b.ask('GET', '/api/apis/oas/orders')), /http:\/\/orders\.b\.example/)
  assert.equal((await b.run('diff', '-p', dir, ...from('b.env'))).status, 0)

  // A dump of either keeps the marks; of one that says something else it does not.
  for (const [environment, file] of [
    [a, 'a.env'],
    [b, 'b.env'],
  ] as const) {
    assert.match(
      (await environment.run('dump', '-t', dir, ...from(file), '--apis', '--policies')).out,
      / 0 files written/,
    )
    assert.deepEqual(filesIn(dir), files)
  }
  await b.ask('PATCH', '/api/portal/policies/gold', { rate: 51 })
  await b.run('dump', '-t', dir, ...from('b.env'), '--apis', '--policies')
  assert.equal((JSON.parse(filesIn(dir)['policies/gold.json']!) as JsonObject).rate, 51)
  assert.equal(filesIn(dir)['apis/orders.json'], files['apis/orders.json'])
  editFile(dir, 'policies/gold.json', (body) => ({
    ...body,
    name: `a ${taken('NAME|number')} b`,
    tags: [taken('').slice(0, -1)],
  }))
  const odd = await b.run('diff', '-p', dir, ...from('b.env'))
  assert.match(odd.err, /name: \$\{env:NAME\|number\} is not .* \(mark_malformed\)/)
  assert.match(odd.err, /tags\[0\]: .* \(mark_malformed\)/)
})

test('files by hand: answers of GET as they are, bare definitions, YAML; the second run is empty', async (t) => {
  const [a, b] = [await startEnvironment(t), await startEnvironment(t)]
  await a.ask('POST', '/api/apis/oas', defined({ id: 'orders', url: URL }))
  await a.ask('POST', '/api/apis', { api_definition: classic('old', '/old/', URL) })
  await a.ask('POST', '/api/portal/policies', { name: 'Gold', access_rights: rights('orders'), rate: 1, per: 1 })
  const [policy] = (await a.ask('GET', '/api/portal/policies')).Data as JsonObject[]
  const { id: _id, ...withoutId } = policy!
  const { 'x-svc-api-gateway': extension, ...unnamed } = defined({ id: 'named', url: URL }) as Record<
    string,
    JsonObject
  >
  const info = { name: 'Named', state: { active: true } }
  const dir = folderOf(t, {
    'apis/one.json': await a.ask('GET', '/api/apis/orders'),
    'apis/two.json': await a.ask('GET', '/api/apis/old'),
    'apis/three.json': classic('bare', '/bare/', URL),
    'apis/four.json': { api_id: 'named', oas: { ...unnamed, 'x-svc-api-gateway': { ...extension, info } } },
    'policies/gold.json': withoutId,
    'policies/silver.yaml':
      'id: silver\nname: Silver\naccess_rights_array:\n  - { api_id: old, api_name: old, versions: [Default] }\n',
  })
  const done = await b.run('sync', '-p', dir, '--yes')
  assert.equal(done.status, 0, done.err)
  assert.equal((await b.ask('GET', `/api/portal/policies/${policy!._id}`)).id, policy!._id)
  assert.deepEqual(Object.keys((await b.ask('GET', '/api/portal/policies/silver')).access_rights as JsonObject), [
    'old',
  ])
  const again = await b.run('sync', '-p', dir)
  assert.deepEqual([again.status, again.out], [0, 'Nothing to do: 6 objects as in the files.'])
  assert.equal((await b.call('GET', '/api/apis/named')).status, 200)
})

test('the way of the interface by hand: GET here, POST there, ids kept', async (t) => {
  const [a, b] = [await startEnvironment(t), await startEnvironment(t)]
  const keyed = { use_keyless: false, use_standard_auth: true, auth: { auth_header_name: 'Authorization' } }
  await a.ask('POST', '/api/apis', { api_definition: classic('old', '/old/', URL, keyed) })
  const made = await a.ask('POST', '/api/portal/policies', { name: 'Gold', access_rights: rights('old') })
  await b.ask('POST', '/api/apis', await a.ask('GET', '/api/apis/old'))
  const { _id, ...policy } = await a.ask('GET', `/api/portal/policies/${made.Message}`)
  await b.ask('POST', '/api/portal/policies', { ...policy, id: _id! })
  const moved = await b.ask('GET', `/api/portal/policies/${_id}`)
  assert.equal(moved.id, _id)
  assert.notEqual(moved._id, _id)
  const strip = ({ api_definition: { id: _own, org_id: _org, ...rest } }: { api_definition: JsonObject }) => rest
  const read = async (environment: typeof a) =>
    strip((await environment.ask('GET', '/api/apis/old')) as { api_definition: JsonObject })
  assert.deepEqual(await read(b), await read(a))
  const session: Json = { apply_policies: [String(_id)] }
  const key = 'the-same-key-everywhere-0123456789'
  for (const environment of [a, b]) assert.ok(isObject(await environment.ask('POST', `/api/keys/${key}`, session)))
})
