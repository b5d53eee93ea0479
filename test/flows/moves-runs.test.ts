import assert from 'node:assert/strict'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { JsonObject } from '../../src/model/json/json.ts'
import { call } from '../worlds/base/client.ts'
import { classic, defined, rights } from '../worlds/base/definitions.ts'
import { eventually } from '../worlds/base/eventually.ts'
import { startProxy } from '../worlds/flows/moves-proxy.ts'
import { editFile, filesIn, folderFor, runLine, startEnvironment } from '../worlds/flows/moves-world.ts'
import { freePort } from '../worlds/servers/free-port.ts'

const URL = 'http://127.0.0.1:1'
const YES = ['--yes']

test('of two runs at once one gets the lock; that of a killed run expires', async (t) => {
  const [a, b] = [await startEnvironment(t), await startEnvironment(t)]
  for (let n = 0; n < 5; n++) await a.ask('POST', '/api/apis/oas', defined({ id: `api-${n}`, url: URL }))
  const dir = folderFor(t)
  await a.run('dump', '-t', dir, '--apis')
  await b.ask('PUT', '/api/moves/lock', { run: 'a-run-that-was-killed', seconds: 60 })
  const held = await b.run('sync', '-p', dir, ...YES)
  assert.equal(held.status, 1)
  assert.match(
    held.err,
    /a run by user-\d+@example\.test since 20\S+ is changing this organisation; .* its lock expires at 20/,
  )
  assert.deepEqual((await b.ask('GET', '/api/moves/apis')).apis, [])
  // Looking is always allowed.
  assert.equal((await b.run('diff', '-p', dir)).status, 2)
  b.clock.advance(61_000)
  assert.equal((await b.run('sync', '-p', dir, ...YES)).status, 0)
  // The run released the lock, and a run that does not hold it releases nothing.
  await b.ask('PUT', '/api/moves/lock', { run: 'another-run', seconds: 60 })
  await b.ask('DELETE', '/api/moves/lock?run=not-that-run')
  assert.equal((await b.call('PUT', '/api/moves/lock', { run: 'a-third-run', seconds: 60 })).status, 409)
  // The deprecated spelling is the same lock.
  assert.equal((await b.call('PUT', '/api/moves/turn', { run: 'a-third-run', seconds: 60 })).status, 409)
  // At the very same time, one wins.
  await b.ask('DELETE', '/api/moves/lock?run=another-run')
  const runs = ['run-number-1', 'run-number-2', 'run-number-3', 'run-number-4']
  const answers = await Promise.all(runs.map((run) => b.call('PUT', '/api/moves/lock', { run, seconds: 60 })))
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409, 409])
})

test('a run that breaks off at any call leaves whole objects, and the next one goes on', async (t) => {
  const a = await startEnvironment(t)
  await a.ask('POST', '/api/labels', { name: 'Tier', values: [] })
  for (let n = 0; n < 4; n++) {
    await a.ask('POST', '/api/apis/oas', defined({ id: `api-${n}`, url: URL }))
    await a.ask('PUT', `/api/apis/oas/api-${n}/categories`, { categories: ['c'] })
    await a.ask('POST', `/api/apis/api-${n}/labels`, { labels: { tier: 'one' } })
    await a.ask('POST', '/api/portal/policies', { id: `p-${n}`, name: `P ${n}`, access_rights: rights(`api-${n}`) })
  }
  const dir = folderFor(t)
  await a.run('dump', '-t', dir, '--apis', '--policies', '--labels')
  const b = await startEnvironment(t)
  await b.ask('POST', '/api/apis', { api_definition: classic('gone', '/gone/', URL) })
  const proxy = await startProxy(t, b.dashboard.port)
  const sync = () => runLine(['sync', '-d', proxy.url, '-s', b.admin.key, '-p', dir, ...YES])
  let broken = 0
  // Each time the connection breaks one write later than before; earlier writes stay.
  for (let writes = 1; writes < 60; writes++) {
    proxy.breakAfter(writes)
    const ran = await sync()
    if (ran.status === 0) break
    broken++
    assert.match(ran.err, /no dashboard answers at /)
    for (const { definition } of (await b.ask('GET', '/api/moves/apis')).apis as JsonObject[]) assert.ok(definition)
    proxy.breakAfter(Number.POSITIVE_INFINITY)
    // The turn of a run that could not give it back lapses.
    b.clock.advance(61_000)
  }
  assert.ok(broken > 3, `${broken} runs broke off`)
  proxy.breakAfter(Number.POSITIVE_INFINITY)
  assert.match((await sync()).out, /^Nothing to do: 9 objects as in the files\.$/)
})

test('Ctrl-C ends a run between two steps, and the turn is given back', async (t) => {
  const [a, b] = [await startEnvironment(t), await startEnvironment(t)]
  for (let n = 0; n < 30; n++)
    await a.ask('POST', '/api/portal/policies', { id: `p-${n}`, name: `P ${n}`, access_rights: {} })
  const dir = folderFor(t)
  await a.run('dump', '-t', dir, '--policies')
  const proxy = await startProxy(t, b.dashboard.port)
  proxy.before('POST', '/api/portal/policies', async () => void process.emit('SIGINT'))
  const sync = () => runLine(['sync', '-d', proxy.url, '-s', b.admin.key, '-p', dir, ...YES])
  const stopped = await sync()
  assert.equal(stopped.status, 1)
  const [, done] = /(\d+) of 30 steps are done; run it again to continue/.exec(stopped.err)!
  assert.ok(Number(done) < 30, stopped.err)
  assert.equal((await sync()).status, 0)
  assert.equal((await b.run('diff', '-p', dir)).status, 0)
})

test('a dump that was broken off is never taken for a whole one, and the next one mends it', async (t) => {
  const a = await startEnvironment(t)
  for (const id of ['one', 'two']) await a.ask('POST', '/api/apis/oas', defined({ id, url: URL }))
  const dir = folderFor(t)
  assert.equal((await a.run('dump', '-t', dir)).status, 0)
  const whole = filesIn(dir)
  // A folder in place of a file stops it in the middle.
  rmSync(join(dir, 'apis/two.json'))
  mkdirSync(join(dir, 'apis/two.json'))
  assert.match((await a.run('dump', '-t', dir)).err, /apis\/two\.json cannot be written \(EISDIR\)$/)
  rmSync(join(dir, 'apis/two.json'), { recursive: true })
  assert.match((await a.run('diff', '-p', dir)).err, /was not finished: run it again/)
  assert.equal((await a.run('dump', '-t', dir)).status, 0)
  assert.deepEqual(filesIn(dir), whole)
})

test('what somebody changes while the plan is looked at, or during the run, stays as it is', async (t) => {
  const [a, b] = [await startEnvironment(t), await startEnvironment(t)]
  await a.ask('POST', '/api/apis/oas', defined({ id: 'orders', url: URL }))
  await a.ask('POST', '/api/portal/policies', {
    id: 'gold',
    name: 'Gold',
    access_rights: rights('orders'),
    rate: 1,
    per: 1,
  })
  const dir = folderFor(t)
  await a.run('dump', '-t', dir, '--apis', '--policies')
  assert.equal((await b.run('sync', '-p', dir, ...YES)).status, 0)
  editFile(dir, 'policies/gold.json', (body) => ({ ...body, rate: 7 }))
  const proxy = await startProxy(t, b.dashboard.port)
  // Another user saves at the moment at which the run takes its lock: after the plan was made.
  proxy.before('PUT', '/api/moves/lock', async () => {
    await b.ask('PATCH', '/api/portal/policies/gold', { rate: 9 })
  })
  const ran = await runLine(['sync', '-d', proxy.url, '-s', b.admin.key, '-p', dir, ...YES])
  assert.equal(ran.status, 1)
  assert.match(ran.err, /policy gold was changed by another user since the plan was made\n.*0 of 1 steps are done/)
  assert.equal((await b.ask('GET', '/api/portal/policies/gold')).rate, 9)
  // The next run shows what it is about to undo.
  assert.match((await b.run('diff', '-p', dir)).out, /~ policy gold\n {4}rate: 9 -> 7/)
  proxy.before('PUT', '/api/moves/lock', async () => {
    await b.ask('DELETE', '/api/portal/policies/gold')
  })
  assert.match(
    (await runLine(['sync', '-d', proxy.url, '-s', b.admin.key, '-p', dir, ...YES])).err,
    /policy gold was deleted by another user/,
  )
})

test('a dashboard that is away, a wrong credential, and a user of no organisation', async (t) => {
  const b = await startEnvironment(t)
  const dir = folderFor(t)
  const free = `http://127.0.0.1:${await freePort()}`
  const away = await runLine(['dump', '-d', free, '-s', 'x', '-t', dir])
  assert.deepEqual([away.status, /no dashboard answers at \S+ \(ECONNREFUSED\)/.test(away.err)], [1, true], away.err)
  const wrong = await runLine(['dump', '-d', `http://127.0.0.1:${b.dashboard.port}`, '-s', 'wrong', '-t', dir])
  assert.match(wrong.err, /answered with 401: Not authorised; is --secret the API credential/)
  assert.match(
    (await b.runAs(await b.dashboard.user({ apis: 'read' }), 'dump', '-t', dir)).err,
    /GET \/api\/\S+ was answered with 403/,
  )
  assert.match(
    (await b.runAs(await b.dashboard.user({}, { orgId: '' }), 'dump', '-t', dir)).err,
    /belongs to a user of no organisation/,
  )
  assert.match((await runLine(['dump', '-s', 'x', '-t', dir])).err, /--dashboard is missing/)
  const byEnv = { SVC_SYNC_DASHBOARD: `http://127.0.0.1:${b.dashboard.port}`, SVC_SYNC_SECRET: b.admin.key }
  assert.equal((await runLine(['dump', '-t', dir], byEnv)).status, 0)
  const strange = await runLine(['diff', '--nonsense'])
  assert.deepEqual([strange.status, /no such option: --nonsense$/m.test(strange.err)], [1, true], strange.err)
  await eventually('the dashboard is still there', async () => (await call(b.dashboard.port, '/hello')).status === 200)
})
