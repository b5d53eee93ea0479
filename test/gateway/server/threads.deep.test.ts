import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startAll } from '../../../src/compose.ts'
import { loadConfig } from '../../../src/config/load.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'
import { temporaryFolder } from '../../contract/adapters.ts'
import { call } from '../../worlds/base/client.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { newKey, startThreads, type ThreadsWorld } from '../../worlds/gateway/threads-world.ts'

const skip = process.platform === 'linux' || process.platform === 'freebsd' ? false : 'no port can be shared'
const SECRET = 'the-gateway-secret-of-this-test'
const SCRAPER = 'a-secret-of-the-scraper'
const statuses = (world: ThreadsWorld, path: string, key: string) =>
  Promise.all([1, 2].map(async (thread) => (await world.on(thread, path, { 'x-key': key })).status))

test('a gateway of two threads is one gateway', { skip }, async (t) => {
  const world = await startThreads(t, 2, {
    SVC_GW_CONTROLPORT: '0',
    SVC_GW_SECRET: SECRET,
    SVC_GW_TRUSTEDPROXIES: '127.0.0.1',
  })

  await t.test('a key is good and dead on every thread when its answer is there', async () => {
    for (let i = 0; i < 20; i++) {
      const key = await newKey(world)
      assert.deepEqual(await statuses(world, '/orders/', key), [200, 200])
      await world.svc((i % 2) + 1, 'DELETE', `/svc/keys/${key}`)
      assert.deepEqual(await statuses(world, '/orders/', key), [403, 403])
    }
  })

  await t.test('an API is served by every thread when its answer is there, and gone when it is deleted', async () => {
    for (let i = 0; i < 5; i++) {
      const definition = {
        api_id: `more-${i}`,
        name: 'more',
        active: true,
        use_keyless: true,
        proxy: { listen_path: `/more-${i}/`, target_url: world.upstream, strip_listen_path: true },
        version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
      }
      assert.equal((await world.svc(1, 'POST', '/svc/apis', definition)).status, 200)
      assert.deepEqual(await statuses(world, `/more-${i}/`, ''), [200, 200])
      assert.equal((await world.svc(2, 'DELETE', `/svc/apis/more-${i}`)).status, 200)
      assert.deepEqual(await statuses(world, `/more-${i}/`, ''), [404, 404])
    }
  })

  await t.test('a thread says why it does not serve an API that was saved', async () => {
    const proxy = { listen_path: '/m/', target_url: world.upstream, strip_listen_path: true }
    const custom_middleware = { driver: 'typescript', pre: [{ name: 'act', path: 'm.ts' }] }
    const definition = { api_id: 'm', name: 'm', active: true, use_keyless: true, proxy, custom_middleware }
    const made = await world.svc(1, 'POST', '/svc/apis', { ...definition, version_data: { not_versioned: true } })
    assert.equal(made.status, 200, made.text)
    assert.match(made.text, /not served: it calls modules/)
    const id = String(((await world.svc(2, 'GET', '/svc/apis/m')).json as JsonObject).id)
    assert.match(JSON.stringify(await world.gateway.flawsOf(id)), /not served: it calls modules/)
    assert.equal((await world.svc(1, 'DELETE', '/svc/apis/m')).status, 200)
  })

  await t.test('rates and quotas are those of one, whatever thread a request comes to', async () => {
    for (const limits of [
      { rate: 40, per: 3600 },
      { quota_max: 40, quota_renewal_rate: 3600 },
    ]) {
      const key = await newKey(world, limits)
      const both = await Promise.all(Array.from({ length: 30 }, () => statuses(world, '/orders/', key)))
      assert.equal(both.flat().filter((status) => status === 200).length, 40)
      assert.equal(both.flat().filter((status) => status === 429).length, 20)
    }
  })

  await t.test('the quota of a key that is created again begins again, on every thread', async () => {
    const key = await newKey(world, { quota_max: 2, quota_renewal_rate: 3600 })
    assert.deepEqual(await statuses(world, '/orders/', key), [200, 200])
    assert.deepEqual(await statuses(world, '/orders/', key), [429, 429])
    await world.svc(2, 'DELETE', `/svc/keys/${key}`)
    const again = await world.svc(1, 'POST', `/svc/keys/${key}`, {
      ...{ quota_max: 2, quota_renewal_rate: 3600, rate: 0, per: 0 },
      access_rights: { orders: { api_id: 'orders', api_name: 'orders', versions: ['Default'] } },
    })
    assert.equal(again.status, 200, again.text)
    assert.deepEqual(await statuses(world, '/orders/', key), [200, 200])
  })

  await t.test('a key that one thread deletes while another creates it is there or gone on both', async () => {
    const body = {
      ...{ quota_max: 5, quota_renewal_rate: 3600, rate: 0, per: 0 },
      access_rights: { orders: { api_id: 'orders', api_name: 'orders', versions: ['Default'] } },
    }
    const seen = new Set<string>()
    for (let i = 0; i < 40; i++) {
      const key = await newKey(world, { quota_max: 5, quota_renewal_rate: 3600 })
      assert.deepEqual(await statuses(world, '/orders/', key), [200, 200])
      const acts = [
        () => world.svc((i % 2) + 1, 'DELETE', `/svc/keys/${key}`),
        () => world.svc(((i + 1) % 2) + 1, 'POST', `/svc/keys/${key}`, body),
      ]
      const answers = await Promise.all((i % 4 < 2 ? acts : acts.reverse()).map((act) => act()))
      assert.ok(
        answers.every(({ status }) => status === 200 || status === 409),
        answers.map(({ text }) => text).join(),
      )
      const [first, second] = await statuses(world, '/orders/', key)
      assert.equal(first, second)
      seen.add(String(first))
      if (first !== 200) continue
      // At most the whole quota is left, and one count is that of both threads.
      const left = async (thread: number) =>
        Number((await world.on(thread, '/orders/', { 'x-key': key })).headers['x-ratelimit-remaining'])
      const [one, two] = [await left(1), await left(2)]
      assert.ok(one <= 2 && two === Math.max(0, one - 1), `${one}, then ${two}`)
    }
    t.diagnostic(`ended as ${[...seen].join(' and ')}`)
  })

  await t.test('the page of metrics is that of all threads, whichever answers', async () => {
    const requests = async (thread: number) => {
      const { text } = await world.svc(thread, 'GET', '/metrics')
      return Number(/^svc_http_requests_total\{api="orders",status="200"\} (\d+)/m.exec(text)?.[1])
    }
    const key = await newKey(world)
    const before = await requests(1)
    for (let i = 0; i < 5; i++) await statuses(world, '/orders/', key)
    await eventually('all are counted', async () => (await requests(1)) === before + 10)
    assert.equal(await requests(2), before + 10)
    const { text } = await world.svc(1, 'GET', '/metrics')
    for (const thread of ['gateway-1', 'gateway-2', 'main', 'store-writer'])
      assert.match(text, new RegExp(`^svc_thread_utilization_ratio\\{thread="${thread}"\\}`, 'm'))
  })

  await t.test('wrong secrets are as many as one gateway allows, whatever threads they come to', async () => {
    const visitor = (address: string) => ({ 'x-forwarded-for': address })
    const wrong = async (i: number, address: string) => {
      const headers = { 'x-svc-authorization': 'a guess', ...visitor(address) }
      return (await world.on((i % 2) + 1, '/svc/apis', headers)).status
    }
    const first = await Promise.all(Array.from({ length: 130 }, (_, i) => wrong(i, '203.0.113.1')))
    assert.deepEqual([first.filter((status) => status === 403).length, first.at(-1)], [101, 429])
    assert.equal(await wrong(0, '203.0.113.2'), 403, 'another address')
    // The right one from there waits on every thread as well, and never where it was shown before.
    const right = (thread: number, address: string) =>
      world.on(thread, '/svc/apis', { 'x-svc-authorization': SECRET, ...visitor(address) })
    assert.deepEqual(await Promise.all([1, 2].map(async (at) => (await right(at, '203.0.113.1')).status)), [429, 429])
    assert.equal((await right(1, '203.0.113.3')).status, 200)
    await Promise.all(Array.from({ length: 130 }, (_, i) => wrong(i, '203.0.113.3')))
    assert.deepEqual(await Promise.all([1, 2].map(async (at) => (await right(at, '203.0.113.3')).status)), [200, 200])
  })

  await t.test('wrong passwords are as many as one gateway allows, whatever threads they come to', async () => {
    const definition = {
      ...{ api_id: 'basic', name: 'basic', active: true, use_keyless: false, use_basic_auth: true },
      proxy: { listen_path: '/basic/', target_url: world.upstream, strip_listen_path: true },
      version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
    }
    assert.equal((await world.svc(1, 'POST', '/svc/apis', definition)).status, 200)
    const user = {
      access_rights: { basic: { api_id: 'basic', api_name: 'basic', versions: ['Default'] } },
      basic_auth_data: { password: 'the right password of ann' },
    }
    const made = await world.svc(1, 'POST', '/svc/keys/ann', user)
    assert.equal(made.status, 200, made.text)
    const call = async (thread: number, password: string) => {
      const authorization = `Basic ${Buffer.from(`ann:${password}`).toString('base64')}`
      return (await world.on(thread, '/basic/', { authorization, 'x-forwarded-for': '203.0.113.9' })).status
    }
    const statuses: number[] = []
    for (let i = 0; i < 8; i++) statuses.push(await call((i % 2) + 1, 'a wrong one'))
    // Five are free, and the sixth makes the next wait.
    assert.deepEqual(statuses, [401, 401, 401, 401, 401, 401, 429, 429])
  })

  await t.test('a thread that ends takes nothing else along, is said to be away, and is started again', async () => {
    const key = await newKey(world, { quota_max: 10, quota_renewal_rate: 3600 })
    assert.deepEqual(await statuses(world, '/orders/', key), [200, 200])
    await world.gateway.end(2)
    const hello = await world.on(1, '/hello')
    assert.match(hello.text, /1 of 2 gateway threads serve/)
    assert.equal((await world.on(1, '/ready')).status, 200)
    assert.equal((await world.on(1, '/orders/', { 'x-key': key })).status, 200)
    await eventually('it is back', async () => !/1 of 2/.test((await world.on(1, '/hello')).text))
    await world.connect()
    const left = await world.on(2, '/orders/', { 'x-key': key })
    assert.equal(left.headers['x-ratelimit-remaining'], '6')
    const { text } = await world.svc(2, 'GET', '/metrics')
    assert.ok(Number(/^svc_http_requests_total\{api="orders",status="200"\} (\d+)/m.exec(text)?.[1]) > 4)
  })

  await t.test('it stops while a thread is started again, and what the others have counted is stored', async () => {
    const key = await newKey(world, { alias: 'counted' })
    for (let i = 0; i < 5; i++) assert.equal((await world.on(2, '/orders/', { 'x-key': key })).status, 200)
    await world.gateway.end(1)
    await world.stop()
    await assert.rejects(call(world.gateway.port, '/hello'), { code: 'ECONNREFUSED' })
    const store = await openStore({ path: world.folder })
    t.after(() => store.close())
    const rows = await store.hits.sum({ fromHour: 0, toHour: 1e9, where: { alias: 'counted' }, limit: 10 })
    assert.equal(
      rows.reduce((sum, { count }) => sum + count, 0),
      5,
    )
  })
})

test('two threads offer the metrics and the parts of health that one gateway offers', { skip }, async (t) => {
  const offered = async (threads: number) => {
    const folder = temporaryFolder(t)
    const settings = {
      SVC_GW_WORKERS: String(threads),
      SVC_GW_LISTENHOST: '127.0.0.1',
      SVC_GW_LISTENPORT: '0',
      SVC_GW_ACCESSLOG: 'false',
      SVC_DB_LISTENHOST: '127.0.0.1',
      SVC_DB_LISTENPORT: '0',
      SVC_STORAGE_PATH: folder,
      SVC_SAMPLE: 'false',
      SVC_LOG_LEVEL: 'silent',
      // A file where the folder should be: each backup fails.
      SVC_BACKUP_FOLDER: join(folder, 'backups'),
      SVC_METRICS_SECRET: SCRAPER,
      SVC_GW_SECRET: SECRET,
    }
    writeFileSync(join(folder, 'backups'), '')
    const running = await startAll(loadConfig({ env: settings, cwd: folder }))
    t.after(() => running.stop())
    const ask = (path: string, headers: Record<string, string>) => call(running.gateway.port, path, { headers })
    const metrics = async () => (await ask('/metrics', { authorization: `Bearer ${SCRAPER}` })).text
    const details = async () => {
      const hello = await ask('/hello', { 'x-svc-authorization': settings.SVC_GW_SECRET })
      return (hello.json as { details: Record<string, { status: string }> }).details
    }
    const failures = async () => /^svc_backup_failures_total (\d+)/m.exec(await metrics())?.[1]
    await eventually('a backup fails', async () => Number(await failures()) > 0)
    assert.equal(await failures(), '1', 'one for all threads')
    await eventually('the disk', async () => 'disk' in (await details()))
    const { backup, ...parts } = await details()
    assert.equal(backup?.status, 'fail')
    const page = await metrics()
    const names = [...page.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!)
    await running.stop()
    return {
      names: names.sort(),
      parts: Object.keys(parts)
        .filter((part) => part !== 'workers')
        .sort(),
    }
  }
  assert.deepEqual(await offered(2), await offered(1))
})
