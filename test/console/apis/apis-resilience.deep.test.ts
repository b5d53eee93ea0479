import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import {
  type ApisWorld,
  at,
  choose,
  field,
  flip,
  inspect,
  makeApi,
  saved,
  startApis,
} from '../../worlds/console/apis-world.ts'
import {
  add,
  change,
  emptied,
  list,
  makeClassic,
  put,
  refused,
  secureOrigin,
  takeOut,
  targetStates,
  through,
  toldOf,
  unfolded,
} from '../../worlds/console/resilience-world.ts'
import { startDns } from '../../worlds/gateway/dns.ts'
import { type Origin, startOrigin } from '../../worlds/servers/origin.ts'
import { makeCertificate } from '../../worlds/wire/certificates.ts'

const REFUSED = [/status of 4\d\d/]
const SERVER = makeCertificate('up.example')
const GATEWAY = makeCertificate('the gateway')

test('answers are kept as the form says, and let go of', async (t) => {
  const world = await startApis(t)
  const id = await makeApi(world, 'Kept', '/kept/')
  const page = await world.open(world.admin, `/apis/${id}`, REFUSED)
  const isStored = async (headers = {}) =>
    (await world.through('/kept/x', headers)).headers['x-svc-cached-response'] === '1'
  const place = await unfolded(page, 'Response cache')
  const kind = place.getByRole('combobox', { name: /^Cache responses/ })
  assert.equal(await kind.inputValue(), 'Never, even if operations enable it')
  await choose(page, kind, 'For all operations')
  await field(place, /^TTL/).fill('600')
  await list(place, /^Cached statuses/, ['200', '4O4'])
  await list(place, /^Vary by request headers/, ['X-Lang'])
  await refused(page, place, /must be/)
  await inspect(page, 'cache-refused')
  await emptied(place, /^Cached statuses/)
  await list(place, /^Cached statuses/, ['200', '404'])
  await put(page)
  await eventually('the second answer is a kept one', () => isStored())
  const asked = world.origin.seen.length
  assert.equal(await isStored(), true)
  assert.equal(world.origin.seen.length, asked)
  assert.equal(await isStored({ 'x-lang': 'de' }), false, 'another language is another answer')
  await place.getByRole('button', { name: 'Purge cache' }).click()
  await saved(page, 'Cache purged')
  assert.equal(await isStored(), false)
  assert.equal(await isStored(), true)

  await flip(place, 'Use upstream cache headers')
  await field(place, /^TTL header/).fill('X-Keep')
  await field(place, /^Serve stale while revalidating/).fill('5')
  await field(place, /^Serve stale on error/).fill('50')
  await flip(place, 'Share responses between callers')
  await flip(place, 'Cache responses that set cookies')
  await inspect(page, 'cache')
  await put(page)
  assert.deepEqual(await toldOf(world, id, 'middleware', 'global', 'cache'), {
    ...{ enabled: true, cacheAllSafeRequests: true, timeout: 600, cacheResponseCodes: [200, 404] },
    ...{ cacheByHeaders: ['X-Lang'], enableUpstreamCacheControl: true, controlTTLHeaderName: 'X-Keep' },
    ...{ shareBetweenKeys: true, storeSetCookie: true, staleWhileRevalidate: 5, staleIfError: 50 },
  })
  assert.equal(await isStored(), false)
  assert.equal(await isStored(), false, 'the service says nothing, so nothing is kept')
  world.origin.script = (_request, response) => response.writeHead(200, { 'x-keep': '600', 'set-cookie': 'a=b' }).end()
  assert.equal(await isStored(), false)
  assert.equal(await isStored(), true)
  await choose(page, kind, 'Never, even if operations enable it')
  await put(page)
  assert.equal(await isStored(), false)
  assert.equal(await isStored(), false)
})

test('targets are checked and left out, and calls asked once more, as the form says', async (t) => {
  const world = await startApis(t)
  const second = await startOrigin()
  t.after(() => second.close())
  const id = await makeApi(world, 'Cared', '/cared/')
  const page = await world.open(world.admin, `/apis/${id}`, REFUSED)
  second.script = (_request, response) => response.end('second')
  const upstream = await unfolded(page, 'Upstream')
  await flip(upstream, 'Load balancing')
  await list(upstream, 'Targets', [world.origin.url, second.url])
  await checks(world, page, id, second)
  await ejection(world, page, id)
  await retries(world, page, id)
})

async function checks(world: ApisWorld, page: Page, id: string, second: Origin): Promise<void> {
  const place = await unfolded(page, 'Health and retries')
  await flip(place, 'Check targets')
  await place.getByText('No checks yet.').waitFor()
  await add(page, place, 'Add check', 'Check', async (dialog) => {
    await field(dialog, /^Path or URL/).fill('health')
    await choose(page, dialog.getByRole('combobox', { name: /^Method/ }), 'POST')
    await list(dialog, /^Healthy statuses/, ['200'])
    await field(dialog, /^Timeout/).fill('60')
    await list(dialog, /^Request headers/, ['X-Check: yes, really'])
    await field(dialog, /^Request body/).fill('are you well?')
    await inspect(page, 'health-check')
  })
  await field(place, /^Interval/).fill('0.1')
  await field(place, /^Interval while down/).fill('0.1')
  await field(place, /^Unhealthy threshold/).fill('1')
  await field(place, /^Healthy threshold/).fill('1')
  await flip(place, 'Skip unhealthy targets')
  await refused(page, place, /must be a path that begins with/)
  await inspect(page, 'health-refused')
  await change(page, place, { name: 'POST health', title: 'Check' }, async (dialog) => {
    await dialog.getByText(/must be a path that begins with/).waitFor()
    await field(dialog, /^Path or URL/).fill('/health')
  })
  world.origin.script = ({ target }, response) => response.writeHead(target === '/health' ? 500 : 200).end('first')
  await put(page)
  const port = String(world.origin.port)
  await eventually('the first target is down', async () => (await targetStates(world, id))[port] === 'down')
  for (let call = 0; call < 4; call++) assert.equal((await world.through('/cared/x')).text, 'second')
  const check = second.seen.find(({ target }) => target === '/health')
  assert.deepEqual([check?.method, check?.body, check?.headers['x-check']], ['POST', 'are you well?', 'yes, really'])
  await inspect(page, 'health')
  await takeOut(place, 'POST /health')
  await place.getByRole('button', { name: 'Add check', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await put(page)
  await through(world, 'the first is asked again', '/cared/x', ({ text }) => text === 'first')
  await flip(place, 'Check targets')
}

async function ejection(world: ApisWorld, page: Page, id: string): Promise<void> {
  const place = await unfolded(page, 'Health and retries')
  await flip(place, 'Eject failing targets')
  await field(place, /^Failures until ejection/).fill('2')
  await field(place, /^Base ejection time/).fill('600')
  await field(place, /^Maximum ejection time/).fill('1200')
  await field(place, /^Maximum ejected share/).fill('50')
  await put(page)
  world.origin.script = (_request, response) => response.writeHead(500).end('first')
  const port = String(world.origin.port)
  await eventually('the first target is left out', async () => {
    await world.through('/cared/x')
    return (await targetStates(world, id))[port] === 'ejected'
  })
  for (let call = 0; call < 4; call++) assert.equal((await world.through('/cared/x')).text, 'second')
  await flip(place, 'Eject failing targets')
}

async function retries(world: ApisWorld, page: Page, id: string): Promise<void> {
  const place = await unfolded(page, 'Health and retries')
  await flip(place, 'Retry failed requests')
  await field(place, /^Maximum retries/).fill('11')
  await list(place, /^Retry on statuses/, ['500'])
  await field(place, /^Retry budget \(percent\)/).fill('100')
  await field(place, /^Minimum retries per second/).fill('100')
  await refused(page, place, /must be at most 10/)
  await field(place, /^Maximum retries/).fill('1')
  await inspect(page, 'retries')
  await put(page)
  assert.deepEqual(await toldOf(world, id, 'upstream', 'retries'), {
    ...{ enabled: true, attempts: 1, statuses: [500], budgetPercent: 100, minPerSecond: 100 },
  })
  const before = world.origin.seen.length
  for (let call = 0; call < 4; call++) assert.equal((await world.through('/cared/x')).text, 'second')
  assert.ok(world.origin.seen.length > before, 'the first was asked, and its answer thrown away')
}

test('targets come from DNS, and both sides show who they are', async (t) => {
  const secure = await secureOrigin(t, SERVER)
  const dns = await startDns(t, undefined)
  const world = await startApis(t, { SVC_GW_DNSSERVERS: dns.address, SVC_GW_UPSTREAMKEEPMS: '0' })
  dns.records = [{ name: 'localhost', port: world.origin.port }]
  const id = await makeApi(world, 'Secured', '/sec/')
  const page = await world.open(world.admin, `/apis/${id}`, REFUSED)
  const upstream = await unfolded(page, 'Upstream')
  await field(upstream, /^Upstream URL/).fill('http://orders.example/base')
  await flip(upstream, 'DNS service discovery')
  await field(upstream, /^SRV record name/).fill('no name')
  await field(upstream, /^Refresh interval/).fill('1')
  await refused(page, upstream, /must be a DNS name/)
  await field(upstream, /^SRV record name/).fill('_http._tcp.orders.example')
  await put(page)
  await through(world, 'DNS names the target', '/sec/x', ({ text }) => text === '/base/x')

  await flip(upstream, 'DNS service discovery')
  await field(upstream, /^Upstream URL/).fill(secure.url)
  await flip(upstream, 'Skip TLS verification')
  const shownId = await storeCertificate(world)
  const place = await unfolded(page, 'Upstream TLS')
  await flip(place, 'Client certificate (mTLS)')
  await place.getByText('No client certificate.').waitFor()
  await add(page, place, 'Add certificate', 'Certificate', async (dialog) => {
    await field(dialog, /^Host/).fill('other.example')
    await choose(page, dialog.getByRole('combobox', { name: /^Certificate/ }), 'the gateway')
    await inspect(page, 'shown-certificate')
  })
  await flip(place, 'Public key pinning')
  await place.getByText('No pinned keys.').waitFor()
  await add(page, place, 'Add pin', 'Pin', (dialog) => list(dialog, /^Key hashes/, ['abc']))
  await refused(page, place, /must hold SHA-256 hashes/)
  await inspect(page, 'pins-refused')
  await change(page, place, { name: 'Every host (*)', title: 'Pin' }, async (dialog) => {
    await field(dialog, /^Host/).fill('127.0.0.1')
    await emptied(dialog, /^Key hashes/)
    await list(dialog, /^Key hashes/, [GATEWAY.fingerprint])
  })
  await put(page)
  await through(world, 'the key of another is no key of the service', '/sec/x', ({ status }) => status === 502)
  assert.deepEqual(secure.seen, [], 'nothing was sent')
  await change(page, place, { name: '127.0.0.1', title: 'Pin' }, (dialog) =>
    list(dialog, /^Key hashes/, [SERVER.fingerprint]),
  )
  await put(page)
  await through(world, 'one of both keys is enough', '/sec/x', ({ status }) => status === 200)
  assert.equal(secure.seen.at(-1), '', 'that certificate is for another host')
  await change(page, place, { name: 'other.example', title: 'Certificate' }, (dialog) =>
    field(dialog, /^Host/).fill('*'),
  )
  await inspect(page, 'certificates-upstream')
  await put(page)
  await eventually('the certificate is shown', async () => {
    await world.through('/sec/x')
    return secure.seen.at(-1) === GATEWAY.fingerprint
  })
  assert.deepEqual(await toldOf(world, id, 'upstream', 'mutualTLS', 'domainToCertificates'), [
    { domain: '*', certificate: shownId },
  ])
  await takeOut(place, 'Every host (*)')
  await takeOut(place, '127.0.0.1')
  await put(page)
  await eventually('no certificate is shown', async () => {
    await world.through('/sec/x')
    return secure.seen.at(-1) === ''
  })
})

/** Stores the certificate of the gateway with its key. Answers its id. */
async function storeCertificate(world: ApisWorld): Promise<string> {
  const body = new FormData()
  body.append('file', new Blob([`${GATEWAY.cert}${GATEWAY.key}`]), 'gateway.pem')
  const headers = { authorization: world.admin.key }
  const made = await fetch(`${world.base}/api/certs`, { method: 'POST', headers, body })
  assert.equal(made.status, 200)
  return ((await made.json()) as { id: string }).id
}

test('a classic definition is set up by the same form, and a reader changes nothing', async (t) => {
  const world = await startApis(t)
  const id = await makeClassic(world, 'Older', '/older/')
  const page = await world.open(world.admin, `/apis/${id}`, REFUSED)
  const cache = await unfolded(page, 'Response cache')
  await choose(page, cache.getByRole('combobox', { name: /^Cache responses/ }), 'For all operations')
  await field(cache, /^TTL/).fill('600')
  const care = await unfolded(page, 'Health and retries')
  await flip(care, 'Check targets')
  await add(page, care, 'Add check', 'Check', (dialog) => field(dialog, /^Timeout/).fill('60'))
  await field(care, /^Interval/).fill('0.1')
  await flip(care, 'Retry failed requests')
  const shown = await unfolded(page, 'Upstream TLS')
  await add(page, shown, 'Add pin', 'Pin', (dialog) =>
    list(dialog, /^Key hashes/, [SERVER.fingerprint, GATEWAY.fingerprint]),
  )
  await inspect(page, 'care-classic')
  await put(page)
  await eventually('the second answer is a kept one', async () => {
    return (await world.through('/older/x')).headers['x-svc-cached-response'] === '1'
  })
  await eventually('the target is checked', () => world.origin.seen.some(({ target }) => target === '/health'))
  const { api_definition: stored } = (await world.api('GET', `/api/apis/${id}`)).json as { api_definition: JsonObject }
  assert.deepEqual(at(stored, 'cache_options'), {
    ...{ enable_cache: true, cache_all_safe_requests: true, cache_timeout: 600 },
  })
  assert.deepEqual(at(stored, 'uptime_tests', 'check_list'), [{ url: '/health', timeout: 60_000_000_000 }])
  assert.deepEqual(at(stored, 'pinned_public_keys'), { '*': `${SERVER.fingerprint},${GATEWAY.fingerprint}` })
  assert.equal(at(stored, 'proxy', 'retries', 'enabled'), true)
  await reader(world, id)
})

async function reader(world: ApisWorld, id: string): Promise<void> {
  const page = await world.open(world.reader, `/apis/${id}`)
  await page.getByText('Read only').waitFor()
  const care = await unfolded(page, 'Health and retries')
  assert.ok(await care.getByRole('switch', { name: /^Check targets/ }).isDisabled())
  assert.ok(await field(care, /^Interval/).isDisabled())
  await care.getByRole('button', { name: 'GET /health' }).click()
  const dialog = page.getByRole('dialog', { name: 'Check', exact: true })
  assert.ok(await field(dialog, /^Path or URL/).isDisabled())
  assert.equal(await dialog.getByRole('button', { name: /^(Add|Apply)$/ }).count(), 0)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  const cache = await unfolded(page, 'Response cache')
  assert.ok(await cache.getByRole('combobox', { name: /^Cache responses/ }).isDisabled())
  for (const name of [/^Add /, /^Remove /, /^Purge cache/, /^Save/])
    assert.equal(await page.getByRole('button', { name }).count(), 0, String(name))
  await inspect(page, 'care-reader')
}
