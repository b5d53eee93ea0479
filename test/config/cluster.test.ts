import assert from 'node:assert/strict'
import { test } from 'node:test'
import { explainSettings } from '../../src/config/explain.ts'
import { loadConfig } from '../../src/config/load.ts'

const POSTGRES = 'postgres://gate:hush-hush@db.example:5432/gatehouse?sslmode=verify-full'
const REDIS = 'rediss://:hush-hush@cache.example:6379/0'
const load = (env: Record<string, string>) => loadConfig({ env, cwd: import.meta.dirname })

test('a cluster needs PostgreSQL and Redis: one without the other is refused with the reason', () => {
  const { storage } = load({ SVC_STORAGE_POSTGRESURL: POSTGRES, SVC_STORAGE_REDISURL: REDIS }).config
  assert.deepEqual([storage.postgres_url, storage.redis_url], [POSTGRES, REDIS])
  const refused = (env: Record<string, string>, text: RegExp) =>
    assert.throws(
      () => load(env),
      (error: Error & { code: string }) => {
        assert.equal(error.code, 'setting_invalid')
        assert.match(error.message, text)
        assert.doesNotMatch(error.message, /hush-hush/)
        return true
      },
    )
  refused({ SVC_STORAGE_POSTGRESURL: POSTGRES }, /storage\.redis_url \(SVC_STORAGE_REDISURL\): must be given, because/)
  refused({ SVC_STORAGE_REDISURL: REDIS }, /storage\.postgres_url .*must be given, because storage\.redis_url is/)
  refused({ SVC_STORAGE_POSTGRESLISTENURL: POSTGRES }, /storage\.postgres_url .*must be given/)
  refused({ SVC_STORAGE_POSTGRESURL: 'mysql://hush-hush@x/y', SVC_STORAGE_REDISURL: REDIS }, /a postgres URL/)
  refused({ SVC_STORAGE_POSTGRESURL: POSTGRES, SVC_STORAGE_REDISURL: 'hush-hush' }, /a redis or rediss URL/)
})

test('addresses with passwords are masked where settings are shown', () => {
  const loaded = load({ SVC_STORAGE_POSTGRESURL: POSTGRES, SVC_STORAGE_REDISURL: REDIS })
  const shown = explainSettings(loaded).filter(({ path }) => path.startsWith('storage.'))
  assert.ok(shown.some(({ path }) => path === 'storage.postgres_url'))
  assert.doesNotMatch(JSON.stringify(shown), /hush-hush/)
})
