import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { toClassic, toOas } from '../../../src/model/apis/convert/convert.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { classic, defined, rights } from '../../worlds/base/definitions.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { calling, type Installation, install } from '../../worlds/gateway/module-fixtures.ts'

const stateOf = async ({ gateway }: Installation, id: string) => {
  const { apis } = (await gateway.svc('GET', '/svc/node')).json as {
    apis: { api_id: string; state: string; reason: string }[]
  }
  return apis.find(({ api_id }) => api_id === id)!
}

test('the example works: a header from the session, a refusal, an answer written anew', async (t) => {
  const at = await install(t)
  copyFileSync(join(import.meta.dirname, '../../../examples/modules/tenant.ts'), join(at.folder, 'tenant.ts'))
  const plugin = (functionName: string) => [{ enabled: true, functionName, path: 'tenant.ts' }]
  const made = await at.publish(
    defined({
      id: 'shop',
      url: at.origin.url,
      keyIn: 'X-Key',
      global: {
        pluginConfig: { driver: 'typescript' },
        postAuthenticationPlugins: plugin('addTenant'),
        responsePlugins: plugin('nameTenant'),
      },
    }),
  )
  assert.equal(made.status, 200, made.text)
  const keyOf = async (metaData: JsonObject) => {
    const key = await at.gateway.svc('POST', '/svc/keys/create', { access_rights: rights('shop'), meta_data: metaData })
    return { 'x-key': (key.json as { key: string }).key }
  }
  const [acme, nobody] = [await keyOf({ tenant: 'acme' }), await keyOf({})]
  const answer = await at.gateway.call('/shop/', { headers: { ...acme, 'x-tenant': 'mine' } })
  assert.deepEqual([answer.status, answer.json], [200, { ok: true, tenant: 'acme' }])
  assert.equal(at.origin.seen.at(-1)!.headers['x-tenant'], 'acme')
  const refused = await at.gateway.call('/shop/', { headers: nobody })
  assert.deepEqual([refused.status, refused.json], [403, { error: 'Your key belongs to no tenant' }])
  assert.equal(at.origin.seen.length, 1)
})

test('each phase sees and changes the request where it stands, and tells the next', async (t) => {
  const at = await install(t)
  at.write(
    'm.ts',
    `export function first(x: any) {
       x.path = '/allowed'
       x.query += '&added=1'
       x.headers.set('X-Key', x.headers.get('x-lent'))
       x.headers.delete('x-lent')
       x.context.seen = [x.method, x.query, x.session === undefined]
     }
     export async function second(x: any) {
       await new Promise((resolve) => setTimeout(resolve, 1))
       x.context.seen.push(x.session.metaData.plan, x.path)
     }
     export function third(x: any) {
       x.path = x.path + '/more'
       x.headers.append('X-Seen', JSON.stringify(x.context.seen))
       x.headers.set('X-Config', x.config.word)
     }
     export function fourth(answer: any, x: any) {
       answer.status = 202
       answer.headers.append('Set-Cookie', 'b=2')
       answer.headers.set('X-Path', x.path)
       answer.headers.set('X-Own', String(answer.body.buffer.byteLength === answer.body.length))
       answer.body = Buffer.from(answer.body).toString().toUpperCase()
     }`,
  )
  at.origin.script = (_request, response) => {
    response.writeHead(200, { 'set-cookie': ['a=1', 'c=3'], 'x-gone': '1' })
    response.end('body')
  }
  const phases = { pre: ['first'], post_key_auth: ['second'], post: ['third'], response: ['fourth'] }
  const made = await at.publish({
    ...calling(at.origin.url, phases),
    ...{ use_keyless: false, auth: { auth_header_name: 'X-Key' }, config_data: { word: 'w' } },
    version_data: {
      not_versioned: true,
      versions: { Default: { name: 'Default', extended_paths: { white_list: [{ path: '/allowed', method: 'GET' }] } } },
    },
  })
  assert.equal(made.status, 200, made.text)
  const key = await at.gateway.svc('POST', '/svc/keys/create', {
    access_rights: rights('m'),
    meta_data: { plan: 'gold' },
  })
  const lent = (key.json as { key: string }).key
  const answer = await at.gateway.call('/m/elsewhere?q=1', { headers: { 'x-lent': lent, 'x-key': 'not-the-key' } })
  assert.deepEqual([answer.status, answer.text], [202, 'BODY'])
  assert.deepEqual(answer.headers['set-cookie'], ['a=1', 'c=3', 'b=2'])
  assert.equal(answer.headers['x-path'], '/allowed/more')
  assert.equal(answer.headers['x-own'], 'true', 'no memory of others goes along')
  const seen = at.origin.seen.at(-1)!
  assert.equal(seen.target, '/allowed/more?q=1&added=1')
  assert.equal(seen.headers['x-lent'], undefined)
  assert.deepEqual(JSON.parse(String(seen.headers['x-seen'])), ['GET', 'q=1&added=1', true, 'gold', '/allowed'])
  assert.equal(seen.headers['x-config'], 'w')
})

test('a module may answer in the upstream place, whatever the phase', async (t) => {
  const at = await install(t)
  at.write(
    'm.ts',
    `export const reply = (x: any) => x.answer(299, { headers: { 'x-a': 'b' }, body: 'mine' })
     export const never = () => { throw new Error('called') }
     export const replace = (_answer: any, x: any) => x.reject(451, 'not for you')`,
  )
  await at.publish(calling(at.origin.url, { pre: ['reply', 'never'] }))
  const answer = await at.gateway.call('/m/')
  assert.deepEqual([answer.status, answer.headers['x-a'], answer.text], [299, 'b', 'mine'])
  assert.equal(at.origin.seen.length, 0)
  await at.gateway.svc('PUT', '/svc/apis/m', calling(at.origin.url, { response: ['replace'] }))
  const refused = await at.gateway.call('/m/')
  assert.deepEqual([refused.status, refused.json], [451, { error: 'not for you' }])
  assert.equal(at.origin.seen.length, 1)
})

test('what a module does wrong is answered by name, and nothing of it reaches the upstream', async (t) => {
  const at = await install(t)
  at.write(
    'm.ts',
    `const ACTS: Record<string, (x: any) => unknown> = {
       throws: () => { throw new Error('on purpose') },
       rejects: async () => { throw new Error('on purpose') },
       climbs: (x) => { x.path = '/../up' },
       blank: (x) => { x.path = '/a b' },
       query: (x) => { x.query = 'a b' },
       host: (x) => x.headers.set('Host', 'elsewhere'),
       length: (x) => x.headers.set('Content-Length', '1'),
       inject: (x) => x.headers.set('X-A', 'a\\r\\nX-B: c'),
       status: (x) => x.answer(99),
       body: (x) => x.answer(200, { body: 1 }),
       large: (x) => x.answer(200, { body: 'x'.repeat(2_000_000) }),
       context: (x) => { x.context.a = 'x'.repeat(20_000) },
       clone: (x) => { x.context.a = 1n },
       fields: (x) => { for (let i = 0; i < 501; i++) x.headers.set('x-f' + i, 'v') },
       values: (x) => { for (let i = 0; i < 501; i++) x.headers.append('set-cookie', 'c' + i + '=v') },
       answers: (x) => x.answer(200, { headers: Array.from({ length: 501 }, (_, i) => ['x-f' + i, 'v']) }),
     }
     export const act = (x: any) => ACTS[x.headers.get('x-act')]!(x)`,
  )
  await at.publish(calling(at.origin.url, { pre: ['act'] }))
  const acts =
    'throws rejects climbs blank query host length inject status body large context clone fields values answers'
  for (const act of acts.split(' ')) {
    const answer = await at.gateway.call('/m/', { headers: { 'x-act': act } })
    assert.deepEqual([answer.status, answer.json], [500, { error: 'A module of this API failed' }], act)
  }
  assert.equal(at.origin.seen.length, 0)
  assert.ok(at.gateway.log.some(({ fields, message }) => fields.code === 'module_failed' && message === 'on purpose'))
})

test('an endless loop, a wait without end and a thread that ends itself harm no other request', async (t) => {
  const at = await install(t, { SVC_GW_MODULES_TIMEOUTMS: '3000' })
  at.write(
    'm.ts',
    `export async function act(x: any) {
       const act = x.headers.get('x-act')
       if (act === 'loop') for (;;);
       if (act === 'wait') await new Promise(() => {})
       if (act === 'exit') process.exit()
       if (act === 'late') { await null; for (;;); }
       x.headers.set('x-done', 'yes')
     }`,
  )
  await at.publish(calling(at.origin.url, { pre: ['act'] }))
  const ask = async (act: string) => (await at.gateway.call('/m/', { headers: { 'x-act': act } })).status
  const bad: Record<string, number> = { loop: 504, wait: 504, exit: 500, late: 504 }
  for (const [act, status] of Object.entries(bad)) {
    const before = Array.from({ length: 3 }, () => ask('well'))
    const culprit = ask(act)
    const behind = Array.from({ length: 5 }, () => ask('well'))
    assert.equal(await culprit, status, act)
    assert.deepEqual(await Promise.all([...before, ...behind]), Array(8).fill(200), act)
  }
  assert.equal(at.origin.seen.length, 32)
})

test('a module that takes all memory is ended, and the others go on', async (t) => {
  const at = await install(t, { SVC_GW_MODULES_MEMORYMB: '16', SVC_GW_MODULES_TIMEOUTMS: '60000' })
  at.write(
    'm.ts',
    `const kept: unknown[] = []
     export function act(x: any) {
       if (x.headers.get('x-act') === 'hoard') for (;;) kept.push(new Array(10_000).fill({}))
     }`,
  )
  await at.publish(calling(at.origin.url, { pre: ['act'] }))
  const ask = async (act: string) => (await at.gateway.call('/m/', { headers: { 'x-act': act } })).status
  assert.equal(await ask('well'), 200)
  const culprit = ask('hoard')
  const behind = Array.from({ length: 3 }, () => ask('well'))
  assert.equal(await culprit, 500)
  assert.deepEqual(await Promise.all(behind), [200, 200, 200])
})

test('modules that cannot be loaded are told, and refuse requests until they can', async (t) => {
  const at = await install(t)
  at.write('m.ts', `throw new Error('at the top')`)
  await at.publish(calling(at.origin.url, { pre: ['act'] }))
  const told = (text: string) => eventually(text, () => at.gateway.log.some(({ message }) => message.includes(text)))
  await told('cannot load modules: at the top')
  assert.equal((await at.gateway.call('/m/')).status, 500)
  at.write('m.ts', 'export const other = 1')
  await at.gateway.svc('GET', '/svc/reload?block=true')
  await told('cannot load modules: m.ts exports no function act')
  assert.equal((await at.gateway.call('/m/')).status, 500)
  at.write('m.ts', `export const act = (x: any) => x.answer(200, { body: 'one' })`)
  await at.gateway.svc('GET', '/svc/reload?block=true')
  assert.equal((await at.gateway.call('/m/')).text, 'one')
  at.write('m.ts', `export const act = (x: any) => x.answer(200, { body: 'two' })`)
  await at.gateway.svc('PUT', '/svc/apis/m', calling(at.origin.url, { pre: ['act'] }, { name: 'changed' }))
  assert.equal((await at.gateway.call('/m/')).text, 'two')
  assert.equal(at.origin.seen.length, 0)
})

test('nothing outside of the folder is loaded, and nothing at all where no folder is allowed', async (t) => {
  const at = await install(t)
  const inside = join(at.folder, 'inside')
  mkdirSync(inside)
  writeFileSync(join(inside, 'm.ts'), `export const act = (x: any) => x.answer(200)`)
  symlinkSync(inside, join(at.folder, 'linked'))
  symlinkSync(join(inside, 'm.ts'), join(at.folder, 'link.ts'))
  mkdirSync(join(at.folder, 'folder.ts'))
  const naming = (path: string, name = 'act') =>
    classic('m', '/m/', at.origin.url, { custom_middleware: { driver: 'typescript', pre: [{ name, path }] } })
  for (const path of [
    '../m.ts',
    '/etc/m.ts',
    'a/../../m.ts',
    'inside/m',
    'C:\\m.ts',
    '.hidden/../m.ts',
    '',
    'm.ts\u0000',
  ]) {
    const answer = await at.publish(naming(path))
    assert.equal(answer.status, 400, path)
    assert.match(answer.text, /custom_middleware.pre\[0\].path: must be a file below the folder of modules/)
  }
  assert.match((await at.publish(naming('m.ts', 'a b'))).text, /name: must be the name of a function/)
  assert.equal((await at.publish(naming('inside/m.ts'))).status, 200)
  assert.equal((await at.gateway.call('/m/')).status, 200)
  const reasons = {
    'linked/m.ts': /symbolic link/,
    'link.ts': /symbolic link/,
    'folder.ts': /be a file/,
    'gone.ts': /ENOENT/,
  }
  for (const [path, reason] of Object.entries(reasons)) {
    await at.gateway.svc('PUT', '/svc/apis/m', naming(path))
    const { state, reason: told } = await stateOf(at, 'm')
    assert.equal(state, 'stale', path)
    assert.match(told, reason)
    // The last good version stays in service.
    assert.equal((await at.gateway.call('/m/')).status, 200)
  }
  const off = await install(t, { SVC_GW_MODULES_PATH: '' })
  await off.publish(calling(off.origin.url, { pre: ['act'] }))
  const { state, reason } = await stateOf(off, 'm')
  assert.equal(state, 'failed')
  assert.match(reason, /set gateway\.modules\.path \(SVC_GW_MODULES_PATH\)/)
  assert.equal((await off.gateway.call('/m/')).status, 404)
})

test('plugins of other drivers are refused by name; both formats say the same', async (t) => {
  const at = await install(t)
  const entry = { name: 'act', path: 'm.py' }
  for (const driver of ['python', undefined]) {
    const custom = { ...(driver !== undefined && { driver }), pre: [entry] }
    const answer = await at.publish(classic('p', '/p/', at.origin.url, { custom_middleware: custom }))
    assert.equal(answer.status, 400)
    assert.match(answer.text, /plugins that are no TypeScript modules/)
  }
  at.write('m.ts', `export const act = (x: any) => x.answer(200, { body: x.config.word })`)
  const calls = {
    pre: [
      { name: 'act', path: 'm.ts' },
      { name: 'off', path: 'gone.ts', disabled: true },
    ],
  }
  const more = { custom_middleware: { driver: 'typescript', ...calls }, config_data: { word: 'said' } }
  assert.equal((await at.publish(classic('m', '/m/', at.origin.url, more))).status, 200)
  assert.equal((await at.gateway.call('/m/')).text, 'said')
  const stored = (await at.gateway.svc('GET', '/svc/apis/m')).json as JsonObject
  const there = toOas(stored)
  assert.deepEqual(there.lost, [])
  await at.gateway.svc('DELETE', '/svc/apis/m')
  assert.equal((await at.publish(there.document)).status, 200)
  assert.equal((await at.gateway.call('/m/')).text, 'said')
  assert.deepEqual(toClassic(there.document).definition, stored)
})

test('explain shows the modules and calls none', async (t) => {
  const at = await install(t)
  at.write('m.ts', `export const act = (x: any) => x.answer(500)`)
  await at.publish(calling(at.origin.url, { pre: ['act'], post_key_auth: ['act'], post: ['act'], response: ['act'] }))
  const { json } = await at.gateway.svc('POST', '/svc/explain', { method: 'GET', url: '/m/', headers: {} })
  const { steps } = json as { steps: { step: string; outcome: string; detail?: string }[] }
  assert.deepEqual(
    steps.map(({ step }) => step),
    ['runPreModules', 'runPostAuthenticationModules', 'takePermits', 'runPostModules', 'holdAnswer', 'forward'],
  )
  assert.equal(steps[0]!.detail, 'modules are not called for an explanation')
})

test('no credential and no secret of a session reaches a module, wherever the key is sent', async (t) => {
  const at = await install(t)
  at.write(
    'm.ts',
    `export function tell(x: any) {
       const { method, path, query, headers, session, context, config, api, clientAddress } = x
       context.told = JSON.stringify({ method, path, query, headers: [...headers], session, config, api, clientAddress })
     }
     export const answerIt = (x: any) => x.answer(200, { body: JSON.stringify([x.context.told, x.query, [...x.headers], x.session]) })`,
  )
  const auth = {
    auth_header_name: 'X-Mine',
    ...{ use_param: true, param_name: 'mine', use_cookie: true, cookie_name: 'Mine' },
  }
  const calls = { pre: ['tell'], post_key_auth: ['tell'], post: ['answerIt'] }
  const api = { ...calling(at.origin.url, calls), use_keyless: false, auth }
  assert.equal((await at.publish(api)).status, 200)
  const places: ((key: string) => { path: string; headers: Record<string, string> })[] = [
    (key) => ({ path: '/m/', headers: { 'x-mine': key } }),
    (key) => ({ path: '/m/', headers: { 'X-MINE': `Bearer ${key}` } }),
    (key) => ({ path: `/m/?mine=${key}`, headers: {} }),
    (key) => ({ path: `/m/?a=1&m%69ne=${key}&b`, headers: {} }),
    (key) => ({ path: '/m/', headers: { cookie: `Mine=${key}; other=1` } }),
    (key) => ({ path: '/m/', headers: { cookie: `z=1;Mine="${key}"` } }),
    (key) => ({ path: '/m/', headers: { 'x-mine': key, authorization: key } }),
  ]
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...places),
      fc.stringMatching(/^[A-Za-z0-9_-]{20,40}$/),
      fc.stringMatching(/^[a-z0-9]{16,24}$/),
      async (place, key, hidden) => {
        const session = {
          ...{ access_rights: rights('m'), meta_data: { plan: 'gold' } },
          ...{ hmac_enabled: true, hmac_string: `h${hidden}`, jwt_data: { secret: `j${hidden}` } },
        }
        const made = await at.gateway.svc('POST', `/svc/keys/${key}`, session)
        assert.equal(made.status, 200, made.text)
        const { path, headers } = place(key)
        const answer = await at.gateway.call(path, { headers })
        assert.equal(answer.status, 200, answer.text)
        assert.match(answer.text, /gold/)
        for (const secret of [key, hidden]) assert.ok(!answer.text.includes(secret), answer.text)
      },
    ),
    { numRuns: process.env.GATEHOUSE_DEEP === '1' ? 2000 : 20 },
  )
})
