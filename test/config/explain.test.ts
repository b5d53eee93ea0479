import assert from 'node:assert/strict'
import { test } from 'node:test'
import { explainSettings, formatSettings } from '../../src/config/explain.ts'
import { loadConfig } from '../../src/config/load.ts'
import { nearest } from '../../src/errors/suggest.ts'

test('every setting is listed with value, origin and environment name; secrets are masked', () => {
  const env = { SVC_GW_SECRET: 'hush-hush-hush-hush', SVC_GW_LISTENPORT: '0' }
  const explained = explainSettings(loadConfig({ env, cwd: import.meta.dirname }))
  const find = (path: string) => explained.find((setting) => setting.path === path)
  assert.equal(find('gateway.secret')?.shown, '"********"')
  assert.equal(find('dashboard.admin_secret')?.shown, '""')
  assert.equal(find('gateway.listen_port')?.shown, '0')
  assert.deepEqual(find('gateway.listen_port')?.origin, { from: 'env', name: 'SVC_GW_LISTENPORT' })
  const table = formatSettings(explained)
  assert.doesNotMatch(table, /hush/)
  assert.ok(
    table.split('\n').filter((row) => row.length > 200).length < 3,
    'a long value makes its own row longer alone',
  )
  assert.match(table, /^gateway\.listen_port +0 +env SVC_GW_LISTENPORT +SVC_GW_LISTENPORT$/m)
  assert.match(table, /^storage\.path +"\.\/data" +default +SVC_STORAGE_PATH$/m)
})

test('the nearest name is found, a far one is not', () => {
  assert.equal(nearest('listen_prot', ['listen_port', 'listen_host']), 'listen_port')
  assert.equal(nearest('zzzzzzzz', ['listen_port', 'listen_host']), undefined)
  assert.equal(nearest('', ['listen_port']), undefined)
})
