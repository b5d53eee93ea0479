import assert from 'node:assert/strict'
import { utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Geography } from '../../../src/gateway/record/geography.ts'
import type { Log } from '../../../src/model/logs/log.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import { temporaryFolder } from '../../contract/adapters.ts'
import { defined } from '../../worlds/base/definitions.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { writeMmdb } from '../../worlds/gateway/mmdb.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

const BERLIN = {
  country: { iso_code: 'DE' },
  city: { geoname_id: 2950159, names: { en: 'Berlin', de: 'Berlin' } },
  location: { latitude: 52.5, longitude: 13.4, time_zone: 'Europe/Berlin' },
}
const ENTRIES = [
  ['203.0.113.0/24', BERLIN],
  ['198.51.100.0/25', { registered_country: { iso_code: 'FR' } }],
  ['2001:db8:0:0:0:0:0:0/32', { country: { iso_code: 'JP' } }],
  ['192.0.2.0/24', { country: { iso_code: '<script>' }, city: 7, location: { latitude: 'x' } }],
] as const

function quiet(): { log: Log; said: string[] } {
  const said: string[] = []
  const note = (_fields: object, message: string) => void said.push(message)
  return { said, log: { debug: note, info: note, warn: note, error: note } }
}

test('an address has the place that the file says, and none where the file says nothing of use', async (t) => {
  const file = join(temporaryFolder(t), 'city.mmdb')
  writeFileSync(file, writeMmdb(ENTRIES))
  const geography = new Geography(file, quiet().log)
  t.after(() => geography.close())
  assert.equal(geography.countryOf('203.0.113.9'), '')
  await geography.look()
  assert.deepEqual(geography.placeOf('203.0.113.9'), {
    ...{ country: 'DE', city: 2950159, city_name: 'Berlin', latitude: 52.5, longitude: 13.4 },
    time_zone: 'Europe/Berlin',
  })
  const countries = {
    '203.0.113.9': 'DE',
    '198.51.100.1': 'FR',
    '198.51.100.200': '',
    '2001:db8::1': 'JP',
    '::ffff:203.0.113.9': 'DE',
    '192.0.2.1': '',
    '127.0.0.1': '',
    'no address': '',
    '': '',
  }
  for (const [address, country] of Object.entries(countries)) {
    assert.equal(geography.countryOf(address), country, address)
    assert.equal(geography.countryOf(address), country, `${address} again`)
  }
})

test('a changed file is reloaded; a missing or damaged one is reported and ignored', async (t) => {
  const file = join(temporaryFolder(t), 'city.mmdb')
  const { log, said } = quiet()
  const geography = new Geography(file, log)
  t.after(() => geography.close())
  await geography.look()
  assert.deepEqual(said, ['cannot read the GeoIP database'])
  writeFileSync(file, writeMmdb(ENTRIES))
  await geography.look()
  assert.equal(geography.countryOf('203.0.113.9'), 'DE')
  writeFileSync(file, writeMmdb([['203.0.113.0/24', { country: { iso_code: 'AT' } }]]))
  utimesSync(file, 1, 1)
  await geography.look()
  assert.equal(geography.countryOf('203.0.113.9'), 'AT')
  writeFileSync(file, 'no database')
  await geography.look()
  await geography.look()
  assert.equal(geography.countryOf('203.0.113.9'), 'AT')
  assert.equal(said.filter((line) => line.includes('cannot read')).length, 2)
})

test('more addresses than are remembered are all answered right', async (t) => {
  const file = join(temporaryFolder(t), 'city.mmdb')
  writeFileSync(file, writeMmdb([['10.0.0.0/9', { country: { iso_code: 'DE' } }]]))
  const geography = new Geography(file, quiet().log)
  t.after(() => geography.close())
  await geography.look()
  for (let i = 0; i < 30_000; i++) {
    const address = `10.${i & 255}.${(i >> 8) & 255}.1`
    assert.equal(geography.countryOf(address), (i & 255) < 128 ? 'DE' : '', address)
  }
})

test('hits have countries, records the place, and a key a bounded number of countries', async (t) => {
  const file = join(temporaryFolder(t), 'city.mmdb')
  const many = Array.from({ length: 40 }, (_, i) => {
    const code = String.fromCharCode(65 + (i % 26)) + String.fromCharCode(65 + Math.floor(i / 26))
    return [`10.${i}.0.0/16`, { country: { iso_code: code } }] as const
  })
  writeFileSync(file, writeMmdb([...ENTRIES, ...many]))
  const origin = await startOrigin()
  const store = openMemoryStore()
  const env = { SVC_ANALYTICS_GEOIP_FILE: file, SVC_GW_TRUSTEDPROXIES: '127.0.0.1' }
  const gateway = await startTestGateway({ store, env })
  t.after(async () => {
    await gateway.close()
    await origin.close()
    await store.close()
  })
  await gateway.svc('POST', '/svc/apis/oas', defined({ id: 'open', url: origin.url }))
  await gateway.svc('POST', '/svc/apis/oas', defined({ id: 'k', url: origin.url, keyIn: 'X-Key' }))
  const made = await gateway.svc('POST', '/svc/keys', { access_rights: { k: { api_id: 'k', versions: ['Default'] } } })
  const key = (made.json as { key: string }).key
  const from = (address: string, headers: Record<string, string> = {}) => ({
    headers: { 'x-forwarded-for': address, ...headers },
  })
  for (const address of ['203.0.113.1', '203.0.113.2', '198.51.100.1', '8.8.8.8'])
    assert.equal((await gateway.call('/open/x', from(address))).status, 200)
  for (let i = 0; i < 40; i++) await gateway.call('/k/x', from(`10.${i}.0.1`, { 'x-key': key }))
  await gateway.gateway.stop()
  const hits = await store.hits.sum({ fromHour: 0, toHour: 1e6, limit: 1000 })
  const open = hits.filter(({ apiId }) => apiId === 'open').map(({ country, count }) => `${country} ${count}`)
  assert.deepEqual(open.sort(), [' 1', 'DE 2', 'FR 1'])
  const keyed = hits.filter(({ apiId }) => apiId === 'k')
  assert.equal(
    keyed.reduce((sum, { count }) => sum + count, 0),
    40,
  )
  assert.equal(keyed.length, 17)
  assert.equal(keyed.find(({ country }) => country === '')?.count, 24)
  const { rows } = await store.records.list({ apiId: 'open', limit: 10 })
  const places = rows.map(({ fields }) => [fields.ip_address, (fields.geo as { country: string }).country]).sort()
  assert.deepEqual(places, [
    ['198.51.100.1', 'FR'],
    ['203.0.113.1', 'DE'],
    ['203.0.113.2', 'DE'],
    ['8.8.8.8', ''],
  ])
})
