import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from '../../src/config/load.ts'
import { newSecret } from '../../src/model/secrets/secret.ts'
import { examine } from '../../src/process/examine.ts'
import { SCHEMA_STEPS } from '../../src/store/postgres/migrations/migrate.ts'
import { temporaryFolder } from '../contract/adapters.ts'
import { startCluster } from '../worlds/cluster/nodes.ts'
import { runSql } from '../worlds/servers/postgres.ts'
import { startRedis } from '../worlds/servers/redis.ts'

test('the doctor of a cluster finds what is wrong with its servers and their data', async (t) => {
  const cluster = await startCluster(t)
  const node = await cluster.start('gateway')
  const env = {
    ...{ SVC_GW_LISTENHOST: '127.0.0.1', SVC_GW_LISTENPORT: '0', SVC_DB_LISTENPORT: '0', SVC_SAMPLE: 'false' },
    ...{ SVC_STORAGE_POSTGRESURL: cluster.postgres.url(), SVC_STORAGE_REDISURL: cluster.redis.url },
    SVC_STORAGE_SEALKEY: cluster.sealKey,
    SVC_STORAGE_PATH: temporaryFolder(t),
  }
  const found = async (more: Record<string, string> = {}) => {
    const findings = await examine(() => loadConfig({ env: { ...env, ...more }, cwd: env.SVC_STORAGE_PATH }), true)
    return findings.map(({ severity, check }) => `${severity} ${check}`)
  }
  assert.deepEqual(await found(), [])
  await node.stop()
  assert.deepEqual(await found({ SVC_STORAGE_SEALKEY: newSecret() }), ['error store'])

  const forgetful = await startRedis(t, ['--maxmemory-policy', 'allkeys-lru'])
  assert.deepEqual(await found({ SVC_STORAGE_REDISURL: forgetful.url }), ['error store'])
  assert.deepEqual(await found({ SVC_STORAGE_REDISURL: 'redis://127.0.0.1:1' }), ['error store'])
  assert.deepEqual(await found({ SVC_STORAGE_POSTGRESURL: 'postgres://a:b@127.0.0.1:1/c' }), ['error store'])

  const url = cluster.postgres.url()
  await runSql(
    url,
    "INSERT INTO session SELECT 999, decode(repeat('ab', 32), 'hex'), '', '', '[[],[]]', 0, '', '', '{no json'",
  )
  assert.deepEqual(await found(), ['error store'])
  const newest = SCHEMA_STEPS.length
  await runSql(url, `DELETE FROM gatehouse_version WHERE version = ${newest}`)
  assert.deepEqual(await found(), ['warning migrations'])
  await runSql(url, `INSERT INTO gatehouse_version(version, needs) VALUES (${newest + 1}, ${newest + 1})`)
  assert.deepEqual(await found(), ['error migrations'])
  const empty = cluster.postgres.url('nothing')
  await runSql(url, 'CREATE DATABASE nothing')
  assert.deepEqual(await found({ SVC_STORAGE_POSTGRESURL: empty }), ['info store'])
})
