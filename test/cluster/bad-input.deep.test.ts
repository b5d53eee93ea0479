import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startPostgres } from '../../scripts/servers.mjs'
import { defined, rights } from '../worlds/base/definitions.ts'
import { eventually } from '../worlds/base/eventually.ts'
import { BASIC, done, FORM, liveAt, storeOAuth } from '../worlds/cluster/acts.ts'
import { type Cluster, type Node, startCluster } from '../worlds/cluster/nodes.ts'
import { startOrigin } from '../worlds/servers/origin.ts'
import { runSql } from '../worlds/servers/postgres.ts'
import { startRedis } from '../worlds/servers/redis.ts'

// Wrong configuration and broken dependencies of a cluster, given to whole nodes. The adapters alone: test/store/postgres-open,
// postgres-tls and redis-counters.

const SECRET = 'not-to-be-told'

/** The same address with another user, password or database. */
function changed(url: string, parts: { username?: string; password?: string; pathname?: string }): string {
  return Object.assign(new URL(url), parts).href
}

test('a node whose stores refuse it ends with the name of the cause, no secret, and nothing done', async (t) => {
  const cluster = await startCluster(t)
  const server = await startPostgres({ password: SECRET })
  t.after(() => server.stop())
  const url = server.url()
  await runSql(url, `CREATE ROLE late LOGIN PASSWORD '${SECRET}' VALID UNTIL '2001-01-01'`)
  await runSql(url, `CREATE ROLE barred NOLOGIN PASSWORD '${SECRET}'`)
  await runSql(url, `CREATE ROLE reader LOGIN PASSWORD '${SECRET}'`)
  const redis = await startRedis(t, ['--requirepass', SECRET])
  const as = (username: string, password = SECRET) => ({
    SVC_STORAGE_POSTGRESURL: changed(url, { username, password }),
  })
  const at = (pathname: string) => ({ SVC_STORAGE_POSTGRESURL: changed(url, { pathname }) })
  const mistakes: readonly [string, Record<string, string>, RegExp][] = [
    ['a wrong password', as('gatehouse', `${SECRET}-either`), /user "gatehouse" .*password authentication failed/],
    ['credentials that have expired', as('late'), /user "late" .*password authentication failed/],
    ['credentials that were revoked', as('barred'), /user "barred" .*is not permitted to log in/],
    ['a user who may not make tables', as('reader'), /user "reader" .*permission denied/],
    ['a database that is not there', at('/not_there'), /database "not_there" does not exist/],
    ['a Redis that wants a password', { ...at('/postgres'), SVC_STORAGE_REDISURL: redis.url }, /Redis: NOAUTH/],
  ]
  for (const [i, [what, env, says]] of mistakes.entries()) {
    await assert.rejects(cluster.start(i % 2 === 0 ? 'gateway' : 'dashboard', env), (error: Error) => {
      assert.match(error.message, /the node ended with 1/, what)
      assert.match(error.message, says, what)
      assert.doesNotMatch(error.message, new RegExp(SECRET), what)
      return true
    })
  }
  const tables = `SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace`
  assert.deepEqual(await runSql(url, tables), [], 'no table was made')
})

test('a database of a newer version is refused at the start without disturbing a running node', async (t) => {
  const cluster = await startCluster(t)
  const old = await cluster.start('gateway')
  const api = (id: string) => defined({ id, url: 'http://127.0.0.1:9/' })
  await done(old.svc('POST', '/svc/apis/oas', api('a')))
  await liveAt([old], '/a/x', 502)
  await runSql(cluster.postgres.url(), 'UPDATE store_state SET needs = 99')
  await runSql(cluster.postgres.url(), 'INSERT INTO gatehouse_version(version, needs) VALUES (99, 99)')
  const put = await old.svc('POST', '/svc/apis/oas', api('b'))
  assert.equal(put.status, 503)
  assert.equal((await old.call('/a/x')).status, 502, 'it goes on with what it has')
  assert.equal((await old.call('/b/x')).status, 404, 'nothing half done')
  for (const role of ['gateway', 'dashboard'] as const)
    await assert.rejects(cluster.start(role), /needs a program of version 99 or later, this one knows \d/)
})

/** A gateway with an API for each fallback without counters, both with key authentication. */
async function startShops(t: TestContext, cluster: Cluster, env: Record<string, string> = {}) {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await cluster.start('gateway', env)
  for (const onStoreFailure of ['refuse', 'allow']) {
    const draft = { id: onStoreFailure, url: origin.url, keyIn: 'authorization', global: { onStoreFailure } }
    await done(gateway.svc('POST', '/svc/apis/oas', defined(draft)))
    await liveAt([gateway], `/${onStoreFailure}/x`, 401)
  }
  return gateway
}

async function newKey(gateway: Node, more: object = {}): Promise<string> {
  const made = gateway.svc('POST', '/svc/keys/create', { access_rights: rights('refuse', 'allow'), ...more })
  return String((await done(made)).key)
}

test('nodes serve from memory while their database credentials are revoked, and catch up', async (t) => {
  const cluster = await startCluster(t)
  const url = cluster.postgres.url()
  const writer = await startShops(t, cluster)
  await runSql(url, 'CREATE ROLE worker LOGIN')
  // A vacuum may write the catalogue at the same moment: PostgreSQL refuses one of the two.
  for (const what of ['TABLES', 'SEQUENCES'])
    await eventually(`rights on ${what}`, () =>
      runSql(url, `GRANT ALL ON ALL ${what} IN SCHEMA public TO worker`).then(
        () => true,
        () => false,
      ),
    )
  const own = { SVC_GW_NODENAME: 'barred', SVC_STORAGE_POSTGRESURL: changed(url, { username: 'worker' }) }
  const barred = await cluster.start('gateway', own)
  const [kept, revoked, strange] = [await newKey(writer), await newKey(writer), await newKey(writer)]
  const use = async (key: string) => (await barred.call('/refuse/x', { authorization: key })).status
  for (const key of [kept, revoked]) assert.equal(await use(key), 200)
  await runSql(url, 'ALTER ROLE worker NOLOGIN')
  await runSql(url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'worker'`)
  await done(writer.svc('DELETE', `/svc/keys/${revoked}`))
  for (let i = 0; i < 20; i++) assert.equal(await use(kept), 200)
  assert.equal(await use(strange), 503, 'it may exist')
  const put = await barred.svc('POST', '/svc/apis/oas', defined({ id: 'late', url: 'http://127.0.0.1:9/' }))
  assert.equal(put.status, 503)
  await runSql(url, 'ALTER ROLE worker LOGIN')
  await eventually('what was revoked meanwhile is refused', async () => (await use(revoked)) === 403)
  await eventually('what it did not know is known', async () => (await use(strange)) === 200)
  assert.equal((await barred.call('/late/x')).status, 404, 'what was refused was not done')
})

test('with a full or read-only Redis each API follows its policy, and counts stay as they were', async (t) => {
  const cluster = await startCluster(t)
  const { redis } = cluster
  const gateway = await startShops(t, cluster)
  const key = await newKey(gateway, { quota_max: 100, quota_renewal_rate: 3600 })
  const use = async (path: string) => {
    const { status, headers } = await gateway.call(path, { authorization: key })
    return [status, headers['x-svc-counters'], headers['x-ratelimit-remaining']]
  }
  assert.deepEqual(await use('/refuse/x'), [200, undefined, '99'])
  const troubles: readonly [string, string[], string[]][] = [
    ['full', ['CONFIG', 'SET', 'maxmemory', '1'], ['CONFIG', 'SET', 'maxmemory', '0']],
    ['a replica', ['REPLICAOF', '127.0.0.1', '1'], ['REPLICAOF', 'NO', 'ONE']],
  ]
  let used = 1
  for (const [what, begin, end] of troubles) {
    await redis.command(...begin)
    for (let i = 0; i < 3; i++) {
      assert.equal((await use('/refuse/x'))[0], 503, what)
      used++
      assert.deepEqual(await use('/allow/x'), [200, 'away', String(100 - used)], what)
    }
    await redis.command(...end)
    await eventually('all that was admitted is counted', async () => {
      const [status, , left] = await use('/refuse/x')
      if (status === 200) used++
      return status === 200 && left === String(100 - used)
    })
  }
})

const HOURS_MS = 2 * 3_600_000

test('nodes with clocks hours apart report it and agree on dates, limits, claims and revocations', async (t) => {
  const cluster = await startCluster(t)
  const origin = await startOrigin()
  t.after(() => origin.close())
  const preload = `--import=${join(import.meta.dirname, '../worlds/cluster/shifted-clock.ts')}`
  const start = (name: string, shiftMs: number) =>
    cluster.start('gateway', {
      ...{ SVC_GW_NODENAME: name, NODE_OPTIONS: preload, CLOCK_SHIFT_MS: String(shiftMs) },
    })
  const nodes = await Promise.all([start('slow', -HOURS_MS), start('right', 0), start('fast', HOURS_MS)])
  const [slow, right, fast] = nodes as [Node, Node, Node]
  assert.match(slow.output(), /the clock of this node is 7200 s behind that of PostgreSQL/)
  assert.match(fast.output(), /the clock of this node is 7200 s ahead of that of PostgreSQL/)
  assert.doesNotMatch(right.output(), /the clock of this node/)
  await storeOAuth(slow, origin.url)
  await done(fast.svc('POST', '/svc/apis/oas', defined({ id: 'refuse', url: origin.url, keyIn: 'authorization' })))
  await done(fast.svc('POST', '/svc/apis/oas', defined({ id: 'allow', url: origin.url, keyIn: 'authorization' })))
  await liveAt(nodes, '/tok/x', 401)
  await liveAt(nodes, '/allow/x', 401)
  for (const [node, status, offset] of [
    [slow, 503, '-7[12]\\d\\d'],
    [right, 200, '-?0'],
    [fast, 503, '7[12]\\d\\d'],
  ] as const) {
    const ready = await node.call('/ready')
    assert.equal(ready.status, status)
    if (status === 503) assert.match(ready.text, /clock of this node is more than 30 seconds off/)
    assert.match((await node.svc('GET', '/metrics')).text, new RegExp(`^svc_clock_offset_seconds ${offset}`, 'm'))
  }
  const authorization = await newKey(fast, { expires: Math.floor(Date.now() / 1000) + 3600 })
  await liveAt(nodes, '/allow/x', 200, { authorization })
  const expired = { access_rights: rights('allow'), expires: Math.floor(Date.now() / 1000) - 60 }
  for (const node of nodes) assert.match((await node.svc('POST', '/svc/keys/create', expired)).text, /lies in the past/)

  for (const limits of [
    { rate: 5, per: 300 },
    { quota_max: 5, quota_renewal_rate: 300 },
  ]) {
    const authorization = await newKey(right, limits)
    const statuses: number[] = []
    for (let i = 0; i < 9; i++) statuses.push((await nodes[i % 3]!.call('/refuse/x', { authorization })).status)
    assert.deepEqual(statuses.slice(0, 5), [200, 200, 200, 200, 200], JSON.stringify(limits))
    assert.ok(
      statuses.slice(5).every((status) => status !== 200),
      `${statuses}`,
    )
  }

  for (const issuer of nodes) {
    const post = async (node: Node, path: string, form: string) => {
      const { status, json } = await node.send('POST', path, { ...BASIC, ...FORM }, form)
      assert.equal(status, 200)
      return json as Record<string, string>
    }
    const { access_token: token } = await post(issuer, '/tok/oauth/token', 'grant_type=client_credentials')
    const headers = { authorization: `Bearer ${token}` }
    await liveAt(nodes, '/tok/x', 200, headers)
    await post(nodes[(nodes.indexOf(issuer) + 1) % 3]!, '/tok/oauth/revoke', `token=${token}`)
    await liveAt(nodes, '/tok/x', 401, headers)
  }
})
