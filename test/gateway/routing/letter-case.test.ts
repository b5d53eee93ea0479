import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { classic, defined } from '../../worlds/base/definitions.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { type Origin, startOrigin } from '../../worlds/servers/origin.ts'

async function open(t: TestContext): Promise<[TestGateway, Origin]> {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  return [gateway, origin]
}

async function publish(gateway: TestGateway, api: JsonObject, known?: string): Promise<void> {
  const path = 'openapi' in api ? '/svc/apis/oas' : '/svc/apis'
  const made =
    known === undefined ? await gateway.svc('POST', path, api) : await gateway.svc('PUT', `${path}/${known}`, api)
  assert.equal(made.status, 200, made.text)
}

const WORDS = ['Admin', 'CAFÉ', 'ΟΔΟΣ', 'οδος', 'straße', 'ẞ', 'İd', 'ıd', 'K', 'a', '\u{10400}']

function spelled(path: string, dice: readonly number[]): string {
  let turn = 0
  const next = () => dice[turn++ % dice.length]!
  return path.replace(/[^/]/gu, (letter) => {
    const cased = [letter, letter.toUpperCase(), letter.toLowerCase()][next() % 3]!
    if (/^[A-Za-z]+$/.test(cased) && next() % 2 === 0) return cased
    return [...Buffer.from(cased)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
  })
}

/** How a definition may spell a path. */
const written = (path: string, way: number) => (way === 0 ? path : way === 1 ? encodeURI(path) : spelled(path, [0, 1]))
const paths = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 3 }).map((words) => `/${words.join('/')}`)
const dice = fc.array(fc.nat(1000), { minLength: 3, maxLength: 9 })

test('a block that ignores case holds for every spelling of its path', async (t) => {
  const [gateway, origin] = await open(t)
  const matchings = ['exact', 'prefix', 'contains', 'openapi']
  for (const each of matchings) await publish(gateway, classic(each, `/${each}/`, origin.url))
  await fc.assert(
    fc.asyncProperty(paths, fc.nat(2), fc.array(dice, { minLength: 3, maxLength: 3 }), async (path, way, throws) => {
      const entry = { path: written(path, way), method: 'GET' }
      for (const path_matching of matchings) {
        const lists = { extended_paths: { black_list: [{ ...entry, ignore_case: true }] } }
        const versions = { Default: { name: 'Default', use_extended_paths: true, ...lists } }
        const more = { path_matching, version_data: { not_versioned: true, versions } }
        const api = classic(path_matching, `/${path_matching}/`, origin.url, more)
        await publish(gateway, api, path_matching)
        for (const sent of [path, ...throws.map((each) => spelled(path, each))]) {
          const target = `/${path_matching}${sent.replace(/[^\0-\x7f]/gu, encodeURIComponent)}`
          assert.equal((await gateway.call(target)).status, 403, `${entry.path}: ${target}`)
        }
        assert.equal((await gateway.call(`/${path_matching}/other`)).status, 200)
      }
    }),
    { numRuns: 15 },
  )
})

test('a listen path that ignores letter case is met in every case and spelling, and cut off', async (t) => {
  const [gateway, origin] = await open(t)
  const ignoring = { ignoreCase: { enabled: true } }
  for (const [index, word] of WORDS.entries()) {
    await publish(gateway, defined({ id: `l${index}`, path: `/p${index}/${word}/`, url: origin.url, global: ignoring }))
  }
  await fc.assert(
    fc.asyncProperty(fc.nat(WORDS.length - 1), dice, async (index, throws) => {
      const target = `${spelled(`/p/${WORDS[index]}`, throws).replace(/^\/(?:p|P|%\d\d)/, (first) => first + index)}/É%c3%a9/x`
      assert.equal((await gateway.call(target.replace(/[^\0-\x7f]/gu, encodeURIComponent))).status, 200, target)
      assert.equal(origin.seen.at(-1)!.target, '/%C3%89%c3%a9/x', target)
    }),
    { numRuns: 100 },
  )
})

test('the pattern of a placeholder says what it takes, without regard to letter case', async (t) => {
  const [gateway, origin] = await open(t)
  const ignoring = { ignoreCase: { enabled: true } }
  await publish(gateway, defined({ id: 'a', path: '/T/{ten:[A-Z]+}/{x:[À-Ö]+}/', url: origin.url, global: ignoring }))
  const status = async (path: string) => (await gateway.call(path)).status
  for (const path of ['/t/abc/%C3%89/y', '/T/ABC/%C3%A9/y', '/t/aBc/%c3%a9%c3%89/y'])
    assert.equal(await status(path), 200, path)
  for (const path of ['/t/1/%C3%89/y', '/t/a/e/y', '/t/a1/%C3%89']) assert.equal(await status(path), 404, path)
})

test('two organisations cannot have one listen path in two cases, or below a placeholder for it', async (t) => {
  const [gateway, origin] = await open(t)
  const ignoring = { ignoreCase: { enabled: true } }
  const api = (id: string, org: string, path: string, global: JsonObject) =>
    gateway.svc('POST', '/svc/apis/oas', defined({ id, path, url: origin.url, global, info: { orgId: org } }))
  assert.equal((await api('a', 'one', '/ΟΔΟΣ/', ignoring)).status, 200)
  assert.equal((await api('b', 'two', '/οδος/x/', {})).status, 409)
  assert.equal((await api('c', 'one', '/{word:é+}/', {})).status, 200)
  assert.equal((await api('d', 'two', '/éé/', {})).status, 409)
  assert.equal((await api('e', 'two', '/other/', {})).status, 200)
})

test('a rule that ignores letter case leaves the other rules of its path as they are', async (t) => {
  const [gateway, origin] = await open(t)
  const on = { enabled: true }
  const folding = { enabled: true, ignoreCase: true }
  const operations = {
    a: { ignoreAuthentication: on, allow: folding },
    b: { ignoreAuthentication: folding },
    c: { block: folding },
    d: { ignoreAuthentication: on },
  }
  const get = (operationId: string) => ({ operationId, responses: { 200: { description: 'ok' } } })
  const paths = { '/Pub': { get: get('a') }, '/Any/{x}': { get: get('b'), post: get('d') }, '/Shut': { get: get('c') } }
  for (const [id, server] of [
    ['openapi', {}],
    ['exact', { pathMatching: 'exact' }],
    ['prefix', { pathMatching: 'prefix' }],
    ['contains', { pathMatching: 'contains' }],
  ] as const) {
    const global = { ignoreCase: { enabled: false } }
    await publish(gateway, defined({ id, url: origin.url, keyIn: 'X-Key', server, global, paths, operations }))
    const status = async (path: string, method = 'GET') => (await gateway.call(`/${id}${path}`, { method })).status
    assert.deepEqual([await status('/Pub'), await status('/PUB'), await status('/pu%42')], [200, 401, 401], id)
    assert.notEqual(await status('/any/1'), 401, id)
    assert.deepEqual([await status('/any/1', 'POST'), await status('/shut')], [403, 403], id)
  }
})

test('the limit of an endpoint holds in every case where the API ignores it', async (t) => {
  const [gateway, origin] = await open(t)
  const ignoring = { ignoreCase: { enabled: true } }
  await publish(gateway, defined({ id: 'fold', url: origin.url, keyIn: 'X-Key', global: ignoring }))
  await publish(gateway, defined({ id: 'heed', url: origin.url, keyIn: 'X-Key' }))
  const rights = (api_id: string, more: JsonObject) => ({
    access_rights: { [api_id]: { api_id, api_name: api_id, versions: ['Default'], ...more } },
  })
  const limited = (path: string, name = 'GET') => ({
    endpoints: [{ path, methods: [{ name, limit: { rate: 1, per: 60 } }] }],
  })
  for (const [path, sent] of [
    ['^/slow$', ['/SLOW', '/slow', '/%73LOW']],
    ['^/CAF%C3%89$', ['/caf%C3%A9', '/CAF%C3%89']],
    ['^/[A-Z]{2}/ς$', ['/ab/%CF%83', '/AB/%CE%A3', '/aB/%CF%82']],
  ] as const) {
    const made = await gateway.svc('POST', '/svc/keys', rights('fold', limited(path)))
    const { key } = made.json as { key: string }
    const statuses: number[] = []
    for (const each of sent) statuses.push((await gateway.call(`/fold${each}`, { headers: { 'X-Key': key } })).status)
    assert.deepEqual(statuses, [200, ...sent.slice(1).map(() => 429)], path)
  }
  const { key } = (await gateway.svc('POST', '/svc/keys', rights('heed', limited('^/slow$')))).json as { key: string }
  for (const path of ['/slow', '/SLOW', '/SLOW'])
    assert.equal((await gateway.call(`/heed${path}`, { headers: { 'X-Key': key } })).status, 200, path)
  for (const name of ['get', 'Get', 'hEAD', 'propfind']) {
    const allowed_urls = [{ url: '/x', methods: [name] }]
    for (const more of [limited('^/slow$', name), { allowed_urls }]) {
      const refused = await gateway.svc('POST', '/svc/keys', rights('heed', more))
      assert.equal(refused.status, 400, name)
      assert.match(refused.text, new RegExp(`methods.*${name.toUpperCase()}`), name)
    }
  }
  assert.equal((await gateway.svc('POST', '/svc/keys', rights('heed', limited('^/slow$', 'mine')))).status, 200)
})
