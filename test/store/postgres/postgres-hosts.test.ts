import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startPostgres, type ThrowAwayPostgres } from '../../../scripts/servers.mjs'
import { loadConfig } from '../../../src/config/load.ts'
import { newDocumentId } from '../../../src/model/documents/ids.ts'
import { silentLog } from '../../../src/model/logs/log.ts'
import { openStoreOf } from '../../../src/process/open-store.ts'
import { openPostgresStore } from '../../../src/store/postgres/connection/open.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { freshDatabase, runSql, setReadOnly, urlOfHosts } from '../../worlds/servers/postgres.ts'
import { commonRedis } from '../../worlds/servers/redis.ts'

test('of several hosts the one that takes writes is used, and the next when it stops to', async (t) => {
  const [first, second] = await Promise.all([startPostgres(), startPostgres()])
  t.after(() => Promise.all([first.stop(), second.stop()]))
  await (await openPostgresStore({ url: second.url() })).close()
  await setReadOnly(first, 'on')
  const store = await openPostgresStore({ url: urlOfHosts([{ folder: '/not/there' }, first, second]) })
  t.after(() => store.close())
  const commit = (name: string) =>
    store.documents.commit([{ op: 'put', kind: 'api', id: newDocumentId(), body: { api_id: name } }], undefined)
  const holds = async (server: ThrowAwayPostgres, name: string) =>
    (await runSql(server.url(), 'SELECT 1 FROM document WHERE body LIKE $1', [`%"${name}"%`])).length === 1
  await commit('one')
  assert.ok(await holds(second, 'one'))
  assert.ok(store.listening)

  await setReadOnly(first, 'off')
  await (await openPostgresStore({ url: first.url() })).close()
  await setReadOnly(second, 'on')
  // The connection that wrote learns of the change some time later.
  await eventually('writes go to the first', async () => {
    await commit(newDocumentId())
    return (await runSql(first.url(), 'SELECT 1 FROM document')).length > 0
  })
  await commit('two')
  assert.ok(await holds(first, 'two'))
  assert.ok(!(await holds(second, 'two')))
})

test('a store has as many connections as the setting says, and three more', async (t) => {
  const url = await freshDatabase()
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-pool-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const env = {
    SVC_STORAGE_POSTGRESURL: url,
    SVC_STORAGE_REDISURL: (await commonRedis()).url,
    SVC_STORAGE_POSTGRESPOOLSIZE: '3',
  }
  const { config } = loadConfig({ env, cwd: folder })
  const { store } = await openStoreOf({ config, path: folder, log: silentLog, copyName: undefined })
  t.after(() => store.close())
  await store.documents.commit([{ op: 'put', kind: 'api', id: newDocumentId(), body: { api_id: 'a' } }], undefined)
  await Promise.all(Array.from({ length: 40 }, () => store.documents.find('api', 'api_id', 'a')))
  const open = await runSql(
    url,
    "SELECT 1 FROM pg_stat_activity WHERE application_name LIKE 'gatehouse%' AND datname = current_database()",
  )
  assert.equal(open.length, 6)
})

test('where no host takes writes it is said', async (t) => {
  const server = await startPostgres()
  t.after(() => server.stop())
  await setReadOnly(server, 'on')
  const url = `${urlOfHosts([server])}&target_session_attrs=read-write`
  await assert.rejects(openPostgresStore({ url, patienceMs: 0 }), { code: 'store_away', message: /takes no writes/ })
})
