import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { importCommand } from '../../src/cli/import/import-command.ts'
import { readDefinitions } from '../../src/cli/import/read-definitions.ts'
import type { TargetDashboard } from '../../src/cli/moves/kind.ts'
import { APIS } from '../../src/cli/moves/kind-apis.ts'
import type { MoveStep } from '../../src/cli/moves/plan.ts'
import { runSteps } from '../../src/cli/moves/run.ts'
import { fault } from '../../src/errors/fault.ts'
import type { JsonObject } from '../../src/model/json/json.ts'
import { readIncumbent } from '../../src/process/import-source.ts'
import { classic } from '../worlds/base/definitions.ts'
import { folderFor, runLine, startEnvironment } from '../worlds/flows/moves-world.ts'

const UP = 'http://upstream.test/'
/** It would be read as 9007199254740992. */
const LARGE = '9007199254740993'
const EMPTY = { openapi: '', info: null, paths: null, components: {} }

const wrapped = (id: string, more: JsonObject = {}): JsonObject => ({
  api_model: {},
  api_definition: { ...classic(id, `/${id}/`, UP, more), is_oas: false },
  ...{ hook_references: [], is_site: false, sort_by: 0, user_group_owners: [], user_owners: [], oas: EMPTY },
})
const documented = (id: string, more: JsonObject = {}): JsonObject => ({
  oas: {
    ...{ openapi: '3.0.3', info: { title: id, version: '1' }, paths: {} },
    'x-acme-api-gateway': {
      info: { id, name: id, dbId: '5ead7120575961000181867f', state: { active: true } },
      upstream: { url: UP },
      server: { listenPath: { value: `/${id}/`, strip: true } },
    },
    ...more,
  },
  categories: ['team'],
})
const plugins = (driver: string) => ({ custom_middleware: { driver, pre: [{ name: 'F', path: 'a' }] } })

/** A folder as the other product's tool writes it, and beside it what this gateway refuses. */
const FILES: Readonly<Record<string, JsonObject | string>> = {
  '.acme.json': {
    type: 'apidef',
    files: [{ file: 'api-books.json' }, { file: 'oas-orders.json' }],
    policies: [{ file: 'policy-gold.json', id: 'gold' }],
  },
  'api-books.json': wrapped('books', { session_provider: { name: '', storage_engine: 'redis' }, allowed_ipz: ['::1'] }),
  'oas-orders.json': documented('orders'),
  'policy-gold.json': {
    ...{ _id: '5ead7120575961000181867e', id: 'gold', name: 'Gold', active: true, rate: 10, per: 1 },
    access_rights: { books: { api_id: 'books', versions: ['Default'] } },
  },
  // Written out, as numbers here would be rounded as well.
  'large.json': JSON.stringify(wrapped('large', { config_data: { serial: 'N' } })).replace('"N"', LARGE),
  'large-oas.json': JSON.stringify(documented('large-oas')).replace('"active":true', `"active":true,"serial":${LARGE}`),
  'large-policy.json': `{"id":"large","name":"Large","access_rights":{},"meta_data":{"serial":[1,-${LARGE}]}}`,
  'asset-one.json': { kind: 'template', name: 'one', data: {} },
  'notes.json': 'not { JSON',
  'graphql.json': wrapped('graphql', { graphql: { enabled: true, schema: 'type Query { a: Int }' } }),
  'go.json': wrapped('go', plugins('goplugin')),
  'python.json': wrapped('python', plugins('python')),
  'lua.json': wrapped('lua', plugins('lua')),
  'javascript.json': wrapped('javascript', plugins('otto')),
  'secrets.json': wrapped('secrets', { domain: 'secrets://host' }),
  'streams.json': documented('streams', { 'x-acme-streaming': { streams: { a: {} } } }),
  // Such APIs have no upstream of their own.
  'graphql-bare.json': wrapped('graphql-bare', {
    graphql: { enabled: true, schema: 'type Query { a: Int }' },
    proxy: { listen_path: '/graphql-bare/', target_url: '', strip_listen_path: true },
  }),
  'streams-bare.json': {
    ...{ openapi: '3.0.3', info: { title: 'streams-bare', version: '1' }, paths: {} },
    'x-acme-api-gateway': {
      info: { id: 'streams-bare', name: 'streams-bare', state: { active: true } },
      ...{ upstream: { url: '' }, server: { listenPath: { value: '/streams-bare/' } } },
    },
    'x-acme-streaming': { streams: { a: {} } },
  },
}

const REFUSED: readonly (readonly [file: string, words: RegExp])[] = [
  ['asset-one.json', /is neither an API nor a policy/],
  ['notes.json', /is no JSON$/],
  ['large.json', /api_definition\.config_data\.serial: is a number beyond 2\^53 - 1/],
  ['large-oas.json', /x-acme-api-gateway\.info\.state\.serial: is a number beyond 2\^53 - 1/],
  ['large-policy.json', /meta_data\.serial\[1\]: is a number beyond 2\^53 - 1/],
  ['graphql.json', /GraphQL \(not served by this gateway: forward to the GraphQL server/],
  ['go.json', /plugins that are no TypeScript modules \(Go\) .*: write a TypeScript module/],
  ['python.json', /\(Python\) .*: write a TypeScript module/],
  ['lua.json', /\(Lua\) .*: write a TypeScript module/],
  ['javascript.json', /\(JavaScript\) .*: write a TypeScript module/],
  ['secrets.json', /values kept elsewhere \(secrets:\/\/\) .*: write the value itself/],
  ['streams.json', /: streams/],
  ['graphql-bare.json', /GraphQL \(not served by this gateway/],
  ['streams-bare.json', /-streaming: streams/],
]

test("a folder of the other product's tool is imported, with one line for each thing refused", async (t) => {
  const folder = join(folderFor(t), 'dump')
  mkdirSync(folder)
  for (const [name, body] of Object.entries(FILES))
    writeFileSync(join(folder, name), typeof body === 'string' ? body : JSON.stringify(body))
  const world = await startEnvironment(t)
  const where = ['-d', `http://127.0.0.1:${world.dashboard.port}/`, '-s', world.admin.key]
  const take = (...more: string[]) =>
    runLine(['import', ...where, '--definitions', folder, ...more], {}, [importCommand(readIncumbent)])
  const planned = await take()
  const lines = planned.out.split('\n')
  assert.deepEqual([planned.status, planned.err], [1, ''], planned.out)
  for (const [file, words] of REFUSED) {
    const named = lines.filter((line) => line.startsWith(`! ${file}: `))
    assert.equal(named.length, 1, `${file}\n${planned.out}`)
    assert.match(named[0]!, words)
  }
  for (const line of [
    '+ API books',
    '+ API orders',
    '+ policy gold',
    '    warning: api_definition.session_provider.storage_engine: has no effect: keys are in the store of this installation',
    '    warning: api_definition.allowed_ipz: is a member that nothing here knows: did you mean "allowed_ips"?',
    `3 to take, of them 1 with changes, ${REFUSED.length} refused, 0 there already.`,
  ])
    assert.ok(lines.includes(line), `${line}\n\n${planned.out}`)
  const done = await take('--yes')
  assert.equal(done.status, 1, done.err)
  assert.match(done.out, new RegExp(`Done, but for ${REFUSED.length} refused\\.$`))
  // Served: its upstream is not there.
  assert.equal((await world.gateway.call('/books/')).status, 502)
  assert.equal((await world.ask('GET', '/api/portal/policies/gold')).name, 'Gold')
  const { categories } = await world.ask('GET', '/api/apis/oas/orders/categories')
  assert.deepEqual(categories, ['team'])
})

test('an import writes down where rules hold at the gateway before', async (t) => {
  const folder = folderFor(t)
  const up = { url: 'http://upstream.test/' }
  const list = { use_extended_paths: true, extended_paths: { black_list: [{ path: '/a', method: 'GET' }] } }
  const versions = { Default: { name: 'Default', ...list } }
  const extension = (server: JsonObject) => ({
    ...{ openapi: '3.0.3', info: { title: 'o', version: '1' }, paths: {} },
    'x-acme-api-gateway': {
      ...{ info: { id: 'o', name: 'o', state: { active: true } }, upstream: up },
      server: { listenPath: { value: '/o/' }, ...server },
    },
  })
  const files: Readonly<Record<string, JsonObject>> = {
    'c.json': classic('c', '/c/', up.url, { version_data: { not_versioned: true, versions } }),
    'o.json': extension({}),
    'p.json': { api_definition: {}, oas: extension({}) },
    's.json': extension({ pathMatching: 'openapi' }),
  }
  for (const [name, body] of Object.entries(files)) writeFileSync(join(folder, name), JSON.stringify(body))
  for (const matching of ['contains', 'begins', 'ends', 'whole'] as const) {
    const { candidates } = readDefinitions(folder, { matching })
    const found = candidates.map(({ body: { api_definition: lists, oas } }) => {
      const { server } = ((oas as JsonObject | undefined)?.['x-svc-api-gateway'] ?? {}) as { server?: JsonObject }
      return (lists as JsonObject | undefined)?.path_matching ?? server?.pathMatching
    })
    assert.deepEqual(found, [matching, matching, matching, undefined])
  }
  const line = ['import', '-d', 'http://127.0.0.1:1/', '-s', 'x', '--definitions', folder, '--path-matching', 'most']
  const { status, err } = await runLine(line, {}, [importCommand(readIncumbent)])
  assert.equal(status, 1)
  assert.match(err, /--path-matching: must be one of contains, begins, ends, whole/)
})

test('an import takes body templates in files into definitions, from below one folder alone', async (t) => {
  const [folder, ran] = [join(folderFor(t), 'apis'), join(folderFor(t), 'ran')]
  for (const each of [folder, join(ran, 'middleware')]) mkdirSync(each, { recursive: true })
  const template = '{"hello": "{{ .name }}"}'
  writeFileSync(join(ran, 'middleware', 'hello.tmpl'), template)
  writeFileSync(join(ran, '..', 'outside.tmpl'), template)
  const up = 'http://upstream.test/'
  const list = (template_source: string) => [
    { path: '/a', method: 'POST', template_data: { template_mode: 'file', input_type: 'json', template_source } },
  ]
  const lists = (id: string, path: string) => {
    const extended_paths = { transform: list(path), transform_response: list(path) }
    const versions = { Default: { name: 'Default', use_extended_paths: true, extended_paths } }
    return classic(id, `/${id}/`, up, { version_data: { not_versioned: true, versions } })
  }
  const transform = { enabled: true, path: 'middleware/hello.tmpl', format: 'json' }
  const files: Readonly<Record<string, JsonObject>> = {
    'c.json': lists('c', 'middleware/hello.tmpl'),
    'absolute.json': lists('absolute', '/middleware/hello.tmpl'),
    'outside.json': lists('outside', '../outside.tmpl'),
    'none.json': lists('none', 'middleware/none.tmpl'),
    'o.json': {
      ...{ openapi: '3.0.3', info: { title: 'o', version: '1' } },
      paths: { '/a': { post: { operationId: 'a', responses: { 200: { description: 'ok' } } } } },
      'x-acme-api-gateway': {
        ...{ info: { id: 'o', name: 'o', state: { active: true } }, upstream: { url: up } },
        server: { listenPath: { value: '/o/' } },
        middleware: { operations: { a: { transformRequestBody: transform, transformResponseBody: transform } } },
      },
    },
  }
  for (const [name, body] of Object.entries(files)) writeFileSync(join(folder, name), JSON.stringify(body))
  const world = await startEnvironment(t)
  const where = ['-d', `http://127.0.0.1:${world.dashboard.port}/`, '-s', world.admin.key, '--definitions', folder]
  const take = (...more: string[]) => runLine(['import', ...where, ...more], {}, [importCommand(readIncumbent)])
  const without = await take()
  assert.equal(without.out.match(/^! .*templates/gm)?.length, 5, without.out)
  const planned = await take('--templates', ran)
  assert.match(planned.out, /^! outside\.json: the template \.\.\/outside\.tmpl is not in the folder of --templates/m)
  assert.match(planned.out, /^! none\.json: the template middleware\/none\.tmpl cannot be read \(ENOENT\)/m)
  assert.match(planned.out, /^ {4}the template middleware\/hello\.tmpl is now within it$/m)
  assert.equal((await take('--templates', ran, '--yes')).status, 1)
  const stored = async (path: string) => JSON.stringify(await world.ask('GET', path))
  const base64 = Buffer.from(template).toString('base64')
  for (const path of ['/api/apis/c', '/api/apis/absolute', '/api/apis/oas/o']) {
    const text = await stored(path)
    assert.equal(text.split(base64).length - 1, 2, text)
    assert.ok(!text.includes('hello.tmpl'))
  }
})

test('one step that the dashboard refuses stops no other step of an import', async () => {
  const [made, refused]: string[][] = [[], []]
  const create = async (_place: TargetDashboard, { api_id: id }: JsonObject) => {
    if (id === 'b') throw fault('dashboard_refused', 'the client is stale')
    made!.push(String(id))
  }
  const kind = { ...APIS, findsNew: false, create }
  const step = (id: string): MoveStep => {
    return { kind, identity: id, act: 'create', file: id, body: { api_id: id }, there: undefined, changes: [] }
  }
  const api = { ask: async () => ({ status: 200, json: {} }) }
  await runSteps({
    place: { api } as unknown as TargetDashboard,
    order: [[step('a'), step('b')], [step('c')]],
    done: () => {},
    refused: ({ identity }, why) => refused!.push(`${identity}: ${why}`),
    stop: AbortSignal.any([]),
  })
  assert.deepEqual([made, refused], [['a', 'c'], ['b: API b: the client is stale']])
})
