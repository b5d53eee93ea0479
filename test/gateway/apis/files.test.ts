import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { stringify } from 'yaml'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { answering, classic, defined } from '../../worlds/base/definitions.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { type Origin, startOrigin } from '../../worlds/servers/origin.ts'

/** A folder of definitions and a gateway that follows it. */
interface Followed {
  readonly folder: string
  readonly gateway: TestGateway
  readonly origin: Origin
  write(name: string, content: string | object): void
  status(path: string): Promise<number>
  /** Asks until the answer has this status. */
  becomes(path: string, status: number): Promise<void>
  /** Asks until the answer has this value in the field `x-rev`. */
  shows(path: string, rev: string): Promise<void>
  logged(text: RegExp): Promise<string>
  node(apiId: string): Promise<JsonObject | undefined>
}

async function follow(t: TestContext, files: Record<string, string | object> = {}): Promise<Followed> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-files-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const origin = await startOrigin()
  t.after(() => origin.close())
  const write = (name: string, content: string | object) =>
    writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content, null, 2))
  for (const [name, content] of Object.entries(files)) write(name, content)
  const gateway = await startTestGateway({ env: { SVC_GW_APPPATH: folder } })
  t.after(() => gateway.close())
  const status = async (path: string) => (await gateway.call(path)).status
  return {
    folder,
    gateway,
    origin,
    write,
    status,
    becomes: (path, wanted) => eventually(`${path} answers ${wanted}`, async () => (await status(path)) === wanted),
    shows: (path, rev) =>
      eventually(`${path} shows ${rev}`, async () => (await gateway.call(path)).headers['x-rev'] === rev),
    async logged(text) {
      const line = () => gateway.log.find(({ message }) => text.test(message))
      await eventually(`the log says ${text}`, () => line() !== undefined)
      return `${line()!.message} ${JSON.stringify(line()!.fields)}`
    },
    async node(apiId) {
      const { json } = await gateway.svc('GET', '/svc/node')
      return (json as { apis: JsonObject[] }).apis.find(({ api_id }) => api_id === apiId)
    },
  }
}

const DEAD = 'http://127.0.0.1:9/'
const versioned = (id: string, rev: string, url: string) => defined({ id, url, global: answering('X-Rev', rev) })

test('JSON and YAML, OpenAPI and classic definitions are served from a folder', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const f = await follow(t, {
    'a.json': defined({ id: 'a', url: origin.url }),
    'b.yaml': stringify(defined({ id: 'b', url: origin.url })),
    'c.json': classic('c', '/c/', origin.url),
    'd.yml': stringify(classic('d', '/d/', origin.url)),
    'notes.txt': 'not a definition',
  })
  for (const id of ['a', 'b', 'c', 'd']) assert.equal(await f.status(`/${id}/x`), 200, id)
  assert.equal(origin.seen.length, 4)
  assert.equal((await f.node('b'))?.state, 'loaded')
})

test('a file that names no id is known by its own name', async (t) => {
  const { api_id: _id, ...nameless } = classic('x', '/n/', DEAD)
  const f = await follow(t, { 'nameless.json': nameless })
  assert.equal((await f.node('nameless'))?.state, 'loaded')
})

test('a new, a changed, a renamed and a removed file are taken over while requests go on', async (t) => {
  const f = await follow(t)
  assert.equal(await f.status('/a/x'), 404)
  f.write('a.json', versioned('a', '1', f.origin.url))
  await f.shows('/a/x', '1')
  f.write('a.json', versioned('a', '2', f.origin.url))
  await f.shows('/a/x', '2')
  // as editors do it: written beside, then put in its place
  f.write('a.tmp', versioned('a', '3', f.origin.url))
  renameSync(join(f.folder, 'a.tmp'), join(f.folder, 'a.json'))
  await f.shows('/a/x', '3')
  rmSync(join(f.folder, 'a.json'))
  await f.becomes('/a/x', 404)
  assert.equal(await f.node('a'), undefined)
})

test('a broken edit keeps the last good definition, and log and node name file and line', async (t) => {
  const f = await follow(t, { 'a.json': versioned('a', '1', DEAD), 'y.yaml': stringify(versioned('y', '1', DEAD)) })
  f.write('a.json', '{\n  "openapi": "3.0.3",\n  "info": }\n')
  const line = await f.logged(/a\.json/)
  assert.match(line, /line 3/)
  await eventually('the node says stale', async () => (await f.node('a'))?.state === 'stale')
  assert.match(String((await f.node('a'))?.reason), /a\.json.*line 3/)
  assert.equal((await f.gateway.call('/a/x')).headers['x-rev'], undefined) // the gateway's 502 is not edited
  assert.equal(await f.status('/a/x'), 502)

  f.write('y.yaml', 'openapi: 3.0.3\ninfo:\n  title: [unclosed\n')
  assert.match(await f.logged(/y\.yaml/), /line [34]/)
  f.write('y.yaml', 'openapi: 3.0.3\ninfo: {title: y, version: "1"}\ninfo: {title: z, version: "1"}\n')
  assert.match(await f.logged(/y\.yaml.*twice/), /line 3/)

  f.write('a.json', defined({ id: 'a', url: DEAD, server: { listenPath: { value: '/moved/', strip: true } } }))
  await f.becomes('/moved/x', 502)
  assert.equal((await f.node('a'))?.state, 'loaded')
})

test('an invalid definition leaves the last good one in service and names the path', async (t) => {
  const f = await follow(t, { 'a.json': versioned('a', '1', DEAD) })
  f.write('a.json', defined({ id: 'a', url: 'not a url' }))
  await eventually('the node says stale', async () => (await f.node('a'))?.state === 'stale')
  assert.match(String((await f.node('a'))?.reason), /upstream\.url/)
  assert.equal(await f.status('/a/x'), 502)
  assert.match(await f.logged(/not served as written/), /a\.json/)
})

test('a file that was broken from the start is served once it is mended', async (t) => {
  const f = await follow(t, { 'a.json': '{', 'ok.json': versioned('ok', '1', DEAD) })
  assert.equal(await f.status('/ok/x'), 502)
  assert.equal(await f.status('/a/x'), 404)
  f.write('a.json', versioned('a', '1', DEAD))
  await f.becomes('/a/x', 502)
})

test('half a file is refused, and the whole of it taken over when it has been written', async (t) => {
  const f = await follow(t, { 'a.json': versioned('a', '1', DEAD) })
  const whole = JSON.stringify(versioned('a', '2', f.origin.url))
  f.write('a.json', whole.slice(0, whole.length / 2))
  await f.logged(/a\.json/)
  assert.equal((await f.node('a'))?.state, 'stale')
  f.write('a.json', whole)
  await f.shows('/a/x', '2')
})

test('the first of two files for one listen path is served; the other waits and says so', async (t) => {
  const f = await follow(t, {
    'a.json': defined({ id: 'a', path: '/same/', url: DEAD, global: answering('X-Rev', 'a') }),
  })
  f.write('b.json', defined({ id: 'b', path: '/same/', url: f.origin.url, global: answering('X-Rev', 'b') }))
  await eventually('the node names both', async () => (await f.node('b'))?.state === 'taken')
  assert.match(String((await f.node('b'))?.reason), /held by API a/)
  assert.equal(await f.status('/same/x'), 502)
  rmSync(join(f.folder, 'a.json'))
  await f.shows('/same/x', 'b')
})

test('of two files with one id only one is served, whichever goes first', async (t) => {
  const f = await follow(t, { 'a.json': defined({ id: 'same', path: '/a/', url: DEAD }) })
  f.write('b.json', defined({ id: 'same', path: '/b/', url: DEAD }))
  await eventually('the log names the second file', () =>
    f.gateway.log.some(({ fields }) => fields.file === 'b.json' && fields.state === 'taken'),
  )
  assert.equal(await f.status('/a/x'), 502)
  assert.equal(await f.status('/b/x'), 404)
  rmSync(join(f.folder, 'a.json'))
  await f.becomes('/b/x', 502)
  assert.equal(await f.status('/a/x'), 404)
})

test('a file does not push out an API of the store', async (t) => {
  const f = await follow(t)
  const stored = defined({ id: 'a', path: '/same/', url: f.origin.url, global: answering('X-Rev', 'store') })
  assert.equal((await f.gateway.svc('POST', '/svc/apis/oas', stored)).status, 200)
  f.write('a.json', defined({ id: 'b', path: '/same/', url: f.origin.url, global: answering('X-Rev', 'file') }))
  await eventually('it waits', async () => (await f.node('b'))?.state === 'taken')
  await f.shows('/same/x', 'store')
  assert.equal((await f.gateway.svc('DELETE', '/svc/apis/oas/a')).status, 200)
  await f.shows('/same/x', 'file')
})

test('a huge file, loops of links, a folder and a pipe are named and stop nothing', async (t) => {
  const f = await follow(t, { 'ok.json': versioned('ok', '1', DEAD) })
  f.write('huge.json', `{"a":"${'x'.repeat(17 << 20)}"}`)
  assert.match(await f.logged(/larger than/), /huge\.json/)
  symlinkSync(join(f.folder, 'loop2.json'), join(f.folder, 'loop1.json'))
  symlinkSync(join(f.folder, 'loop1.json'), join(f.folder, 'loop2.json'))
  assert.match(await f.logged(/ELOOP/), /loop1\.json/)
  symlinkSync(f.folder, join(f.folder, 'self.json'))
  mkdirSync(join(f.folder, 'folder.json'))
  await eventually('the folder is named', () => f.gateway.log.some(({ fields }) => fields.file === 'folder.json'))
  execFileSync('mkfifo', [join(f.folder, 'pipe.json')])
  await eventually('the pipe is named', () => f.gateway.log.some(({ fields }) => fields.file === 'pipe.json'))
  assert.equal(await f.status('/ok/x'), 502)
  f.write('late.json', versioned('late', '1', DEAD))
  await f.becomes('/late/x', 502)
})

test('what is not an object, and an alias bomb, are refused within a moment', async (t) => {
  const f = await follow(t, { 'ok.json': versioned('ok', '1', DEAD) })
  f.write('list.json', '[]')
  assert.match(await f.logged(/not an object/), /list\.json/)
  const levels = ['a0: &a0 [x,x,x,x,x,x,x,x,x]']
  for (let i = 1; i < 12; i++) levels.push(`a${i}: &a${i} [${`*a${i - 1},`.repeat(9)}]`)
  f.write('bomb.yaml', levels.join('\n'))
  await eventually('the bomb is named', () => f.gateway.log.some(({ fields }) => fields.file === 'bomb.yaml'))
  assert.equal(await f.status('/ok/x'), 502)
})

test('a reload reads the folder again, and a link that points elsewhere now is followed', async (t) => {
  const f = await follow(t)
  const target = mkdtempSync(join(tmpdir(), 'gatehouse-target-'))
  t.after(() => rmSync(target, { recursive: true }))
  writeFileSync(join(target, 'a'), JSON.stringify(versioned('a', '1', f.origin.url)))
  symlinkSync(join(target, 'a'), join(f.folder, 'a.json'))
  await f.shows('/a/x', '1')
  // nothing in the watched folder changes now
  writeFileSync(join(target, 'a'), JSON.stringify(versioned('a', 'two', f.origin.url)))
  assert.equal((await f.gateway.svc('GET', '/svc/reload?block=true')).status, 200)
  assert.equal((await f.gateway.call('/a/x')).headers['x-rev'], 'two')
})

test('a folder that is not there stops the start and names the setting', async () => {
  await assert.rejects(startTestGateway({ env: { SVC_GW_APPPATH: '/nowhere/at/all' } }), /SVC_GW_APPPATH/)
})

test('APIs from files are listed and read with the stored ones, and are read-only', async (t) => {
  const { gateway, write } = await follow(t, { 'a.json': classic('filed', '/filed/', 'http://127.0.0.1:9/') })
  const stored = { name: 'Stored', api_id: 'stored', active: true, use_keyless: true }
  const proxy = { listen_path: '/stored/', target_url: 'http://127.0.0.1:9/' }
  const version_data = { not_versioned: true, versions: { Default: { name: 'Default' } } }
  assert.equal((await gateway.svc('POST', '/svc/apis', { ...stored, proxy, version_data })).status, 200)
  const ids = async (path: string) => ((await gateway.svc('GET', path)).json as JsonObject[]).map((api) => api.api_id)
  assert.deepEqual(await ids('/svc/apis'), ['stored', 'filed'])
  const page = await gateway.svc('GET', '/svc/apis?p=1')
  assert.equal(page.headers['x-pages'], '1')
  assert.deepEqual(await ids('/svc/apis?p=1'), ['stored', 'filed'])
  assert.deepEqual(await ids('/svc/apis?p=2'), [])
  assert.deepEqual(await ids('/svc/apis?org_id=none'), [])
  const read = await gateway.svc('GET', '/svc/apis/filed')
  assert.equal(((read.json as JsonObject).proxy as JsonObject).listen_path, '/filed/')
  assert.equal((await gateway.svc('DELETE', '/svc/apis/filed')).status, 404)
  assert.equal((await gateway.svc('GET', '/svc/apis/oas/filed')).status, 400, 'it is a classic one')
  write('a.json', 'not JSON')
  await gateway.svc('GET', '/svc/reload?block=true')
  assert.deepEqual(await ids('/svc/apis'), ['stored', 'filed'], 'what is served is listed')
})

test('a file is not served with CORS credentials for any origin', async (t) => {
  const CORS = { enable: true, allowed_origins: ['*'], allow_credentials: true }
  const { status, node, origin, write, becomes } = await follow(t)
  write('open.json', classic('open', '/open/', origin.url, { CORS }))
  write(
    'named.json',
    classic('named', '/named/', origin.url, { CORS: { ...CORS, allowed_origins: ['https://a.example'] } }),
  )
  await becomes('/named/x', 200)
  await eventually('the other is known', async () => (await node('open')) !== undefined)
  assert.equal(await status('/open/x'), 404)
  assert.match(String((await node('open'))?.reason), /CORS\.allow_credentials: needs origins by name/)
})
