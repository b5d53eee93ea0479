import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { EXPLAIN_COMMAND } from '../../../src/cli/commands/explain.ts'
import { defined, rights } from '../../worlds/base/definitions.ts'
import { startTestGateway, TEST_SECRET } from '../../worlds/base/harness.ts'
import { runLine } from '../../worlds/flows/moves-world.ts'

test('the command shows each step, the rule that refuses, the limits and the result', async (t) => {
  const gateway = await startTestGateway({ env: { SVC_GW_CONTROLPORT: '0' } })
  t.after(() => gateway.close())
  const scheme = { authentication: { enabled: true, securitySchemes: { key: { enabled: true } } } }
  const api = defined({
    id: 'k',
    url: 'http://127.0.0.1:9/',
    server: { listenPath: { value: '/k/', strip: true }, ...scheme },
  })
  const securitySchemes = { key: { type: 'apiKey', in: 'header', name: 'X-Key' } }
  const made = await gateway.svc('POST', '/svc/apis/oas', {
    ...api,
    components: { securitySchemes },
    security: [{ key: [] }],
  })
  assert.equal(made.status, 200, made.text)
  const limits = { rate: 3, per: 60, quota_max: 4, quota_renewal_rate: 3600 }
  const { json } = await gateway.svc('POST', '/svc/keys', { access_rights: rights('k'), alias: 'ada', ...limits })
  const { key } = json as { key: string }
  const env = { SVC_GW_SECRET: TEST_SECRET }
  const base = ['explain', '-g', `http://127.0.0.1:${gateway.port}`]
  const explain = (...words: string[]) => runLine([...base, ...words], env, [EXPLAIN_COMMAND])

  const passed = await explain('/k/a?b=c', '-X', 'POST', '-H', `X-Key: ${key}`)
  assert.deepEqual([passed.status, passed.err], [0, ''])
  assert.match(passed.out, /^API {6}k \(k\), listen path \/k\/\nkey {6}\w+ \(ada\)\n\n/)
  assert.match(passed.out, /^ {2}authenticate\w* +passed: key \w+$/m)
  assert.match(passed.out, /^ {2}rate: 3 of 3 requests in 60 s left, renews in \d/m)
  assert.match(passed.out, /^ {2}quota: 4 of 4 requests in 3600 s left/m)
  assert.match(passed.out, /\n\nforwarded: POST \/a to 127\.0\.0\.1:9$/)
  assert.ok(!passed.out.includes(key))

  const refused = await explain('/k/a', '-H', 'X-Key:no-such-key')
  assert.equal(refused.status, 2)
  assert.match(refused.out, /^ {2}authenticate\w* +refused: .+ \(key_unknown\)$/m)
  assert.match(refused.out, /\n\nrefused with status 403: \{"error":/)
  const nowhere = await explain('/nowhere')
  assert.match(nowhere.out, /^API {6}none\n\n {2}route {2}refused: no API answers at .*\(api_not_found\)\n/)
  const own = await explain('/hello')
  assert.deepEqual([own.status, own.out.split('\n').at(-1)], [0, 'answered by the gateway'])
  const asked = { url: '/k/a', headers: { 'X-Key': 'no-such-key' } }
  assert.deepEqual(
    JSON.parse((await explain('/k/a', '-H', 'X-Key:no-such-key', '--json')).out),
    (await gateway.svc('POST', '/svc/explain', asked)).json,
  )
})

test('a wrong question, secret or gateway is one line that says what to do', async (t) => {
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  const cwd = mkdtempSync(join(tmpdir(), 'gatehouse-explain-'))
  t.after(() => rmSync(cwd, { recursive: true }))
  const at = ['-g', `http://127.0.0.1:${gateway.port}/`]
  const explain = async (words: readonly string[], secret = TEST_SECRET) => {
    const env = { SVC_STORAGE_PATH: cwd, ...(secret !== '' && { SVC_GW_SECRET: secret }) }
    const { status, out, err } = await runLine(['explain', ...words], env, [EXPLAIN_COMMAND])
    assert.deepEqual([status, out], [1, ''], words.join(' '))
    return err
  }
  assert.match(await explain([]), /^gatehouse: give one URL or path: bin\/gatehouse explain \/sample\/hello$/)
  assert.match(await explain(['/a', '/b']), /give one URL/)
  assert.match(await explain([...at, 'a']), /answered 400: .*url: must be an absolute/)
  const flawed = await explain([...at, '/a', '-H', 'secret-value'])
  assert.match(flawed, /--header: must be a name, a colon and a value/)
  assert.ok(!flawed.includes('secret-value'))
  for (const again of ['X-Key', 'x-key', ' X-KEY ']) {
    const twice = await explain([...at, '/a', '-H', 'X-Key: secret-value', '-H', `${again}: another-value`])
    assert.match(twice, /--header: x-key is given twice/i)
    assert.ok(!/(?:secret|another)-value/.test(twice))
  }
  assert.match(await explain([...at, '/a', '--address', 'x']), /answered 400: .*address/)
  assert.match(await explain([...at, '/a'], 'another-secret-of-another'), /answered 403: .*gateway\.secret must be/)
  assert.match(await explain([...at, '/a'], ''), /there is no secrets\.json in .*SVC_GW_SECRET/)
  assert.match(await explain(['/a', '-g', 'ftp://x']), /--gateway: must be an http or https URL/)
  assert.match(
    await explain(['/a', '-g', 'http://127.0.0.1:1']),
    /no gateway answers at http:\/\/127\.0\.0\.1:1: start/,
  )
})
