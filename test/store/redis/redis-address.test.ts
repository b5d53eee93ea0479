import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeLimit } from '../../../src/model/limits/limit.ts'
import { systemClock } from '../../../src/model/time/clock.ts'
import { RedisCounters } from '../../../src/store/redis/counters.ts'
import { readRedisAddress } from '../../../src/store/redis/locate.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { freePort } from '../../worlds/servers/free-port.ts'
import { startRedis } from '../../worlds/servers/redis.ts'
import { makeCertificate } from '../../worlds/wire/certificates.ts'

test('an address of Redis is read in every form, and refused without quoting it', () => {
  const read = (url: string) => {
    const { kind, hosts, account, sentinelAccount, master, database, tls } = readRedisAddress(url)
    const places = hosts.map(({ host, port }) => `${host}:${port}`).join()
    const who = [account, sentinelAccount].map((one) => `${one.username ?? ''}:${one.passwords()[0] ?? ''}`).join()
    return `${kind} ${places} ${who} ${master} ${database} ${tls !== undefined}`
  }
  for (const [url, expected] of Object.entries({
    'redis://h': 'server h:6379 :,:  0 false',
    'rediss://u%40:p%2Fw@[::1]:7/3': 'server ::1:7 u@:p/w,:  3 true',
    'redis://:p@h/': 'server h:6379 :p,:  0 false',
    'redis+sentinel://u:p@a,b:7/2?master=m&sentinel_user=x&sentinel_password=y':
      'sentinel a:26379,b:7 u:p,x:y m 2 false',
    'rediss+cluster://u:p@a,b:7,[::2]:8': 'cluster a:6379,b:7,::2:8 u:p,:  0 true',
  }))
    assert.equal(read(url), expected, url)
  for (const wrong of [
    '',
    'http://u:hush@h',
    'redis://u:hush@',
    'redis://u:hush@a,b',
    'redis://u:hush@h/x',
    'redis://u:hush@h?hush=1&y=2',
    'redis://u:hush@h?master=m',
    'redis://u:hush%@h',
    'redis://u:hush@h?cacert=/x',
    'redis+sentinel://u:hush@h',
    'redis+cluster://u:hush@h/1',
    'rediss://u:hush@h?cacert=/not/there',
  ]) {
    assert.throws(
      () => readRedisAddress(wrong),
      (error: Error & { code: string }) => error.code === 'setting_invalid' && !/u:hush/.test(error.message),
      wrong,
    )
  }
})

test('Redis is reached over TLS with certificates of both sides, by a user of its ACL', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-tls-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const { cert, key } = makeCertificate('localhost')
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')] as [string, string]
  writeFileSync(certFile, cert)
  writeFileSync(keyFile, key)
  const port = await freePort()
  const files = ['--tls-cert-file', certFile, '--tls-key-file', keyFile, '--tls-ca-cert-file', certFile]
  const redis = await startRedis(t, ['--tls-port', String(port), ...files])
  // The rules that docs/how-to/cluster.md gives the user.
  const rules = ['~gatehouse:*', '+@read', '+@write', '+@scripting', '+@connection', '-@dangerous', '+time']
  await redis.command('ACL', 'SETUSER', 'gate', 'on', '>secret-of-gate', ...rules)
  await redis.command('ACL', 'SETUSER', 'default', 'off')
  const address = `rediss://gate:secret-of-gate@localhost:${port}/0?cacert=${certFile}`
  const counters = new RedisCounters({ url: `${address}&cert=${certFile}&key=${keyFile}` })
  t.after(() => counters.close())
  await counters.check(60_000)
  const limits = [makeLimit('rate', 'k|', 10, 60_000), makeLimit('quota', 'k|', 10, 60_000)]
  assert.equal(await counters.take(limits, { wall: systemClock.wall(), mono: systemClock.mono() }), -1)
  await counters.resetQuota('k|')
  await counters.carry('k', 'other')
  const bare = new RedisCounters({ url: address })
  t.after(() => bare.close())
  await assert.rejects(bare.check(2_000), { code: 'store_away' })
})

test('a password of Redis changes while the counters are used: both are in its file meanwhile', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-password-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'password')
  writeFileSync(file, 'first\n')
  const redis = await startRedis(t)
  await redis.command('ACL', 'SETUSER', 'gate', 'on', '>first', '~*', '+@all')
  const url = `${redis.url.replace('//', '//gate@')}?password_file=${encodeURIComponent(file)}`
  const counters = new RedisCounters({ url })
  t.after(() => counters.close())
  await counters.check(60_000)
  writeFileSync(file, 'second\nfirst\n')
  for (const rule of ['', '>second', '<first']) {
    if (rule !== '') await redis.command('ACL', 'SETUSER', 'gate', rule)
    await redis.command('CLIENT', 'KILL', 'USER', 'gate')
    await eventually('the connection is there again', () =>
      counters.check().then(
        () => true,
        () => false,
      ),
    )
  }
  writeFileSync(file, 'neither\nof them\n')
  await redis.command('CLIENT', 'KILL', 'USER', 'gate')
  await eventually('a wrong one is refused', () => counters.trouble?.code === 'store_refused')
})
