import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { call } from '../../worlds/base/client.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import {
  type ApisWorld,
  answers,
  at,
  documentOf,
  field,
  flip,
  inspect,
  makeApi,
  save,
  saved,
  startApis,
} from '../../worlds/console/apis-world.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

const SHOP = 'https://shop.example.com'

const part = (page: Page, name: string) => page.getByRole('region', { name: new RegExp(`^${name}`) })
const unfold = (page: Page, name: string) => page.getByRole('button', { name: new RegExp(`^${name}`) }).click()

async function put(page: Page): Promise<void> {
  await save(page)
  await saved(page)
}

/** Types words into a list of them. */
async function list(place: Locator, name: string, words: readonly string[]): Promise<void> {
  for (const word of words) {
    await field(place, name).fill(word)
    await field(place, name).press('Enter')
  }
}

const gatewayOf = async (world: ApisWorld, id: string, ...names: readonly string[]) =>
  at(await documentOf(world, id), 'x-svc-api-gateway', ...names)

test('each setting of the form comes true at the gateway', async (t) => {
  const world = await startApis(t)
  const other = await startOrigin()
  t.after(() => other.close())
  const id = await makeApi(world, 'All settings', '/set/')
  const page = await world.open(world.admin, `/apis/${id}`)
  await part(page, 'General').waitFor()
  await general(world, page, id)
  await upstream(world, page, id, other.url, () => other.seen.length)
  await limits(world, page, id)
  await addresses(world, page)
  await browsers(world, page)
  await recording(world, page, id)
})

async function general(world: ApisWorld, page: Page, id: string): Promise<void> {
  const place = part(page, 'General')
  await flip(place, 'Take the listen path off')
  await flip(place, 'Own domain')
  await field(place, 'Host name').fill('set.example.com')
  await put(page)
  assert.equal((await answers(world, 200, '/set/x', { host: 'set.example.com' })).text, '/set/x')
  await answers(world, 404, '/set/x')
  await flip(place, 'Own domain')
  await flip(place, 'Take the listen path off')
  await flip(place, 'Only on some nodes')
  await list(place, 'Tags of nodes', ['eu', 'edge'])
  await put(page)
  assert.equal((await answers(world, 200, '/set/x')).text, '/x')
  assert.deepEqual(await gatewayOf(world, id, 'server', 'gatewayTags'), { enabled: true, tags: ['eu', 'edge'] })
  for (const name of ['Internal', 'Active']) {
    await flip(place, name)
    await put(page)
    await answers(world, 404, '/set/x')
    await flip(place, name)
    await put(page)
    await answers(world, 200, '/set/x')
  }
  await unfold(page, 'General')
  await place.waitFor({ state: 'hidden' })
}

async function upstream(world: ApisWorld, page: Page, id: string, other: string, seenThere: () => number) {
  const place = part(page, 'Upstream')
  await field(place, /^Upstream address/).fill(`${world.origin.url}/base`)
  await flip(place, 'Keep the host')
  await flip(place, 'Accept any certificate of the service')
  await put(page)
  assert.equal((await answers(world, 200, '/set/x')).text, '/base/x')
  assert.equal(world.origin.seen.at(-1)?.headers.host, new URL(world.gateway).host)
  assert.equal(await gatewayOf(world, id, 'upstream', 'tlsTransport', 'insecureSkipVerify'), true)
  await flip(place, 'Several targets')
  await list(place, 'Targets', [`${world.origin.url} 1`, `${other} 3`])
  await put(page)
  const [here, there] = [world.origin.seen.length, seenThere()]
  await eventually('both of them are asked', async () => {
    await world.through('/set/x')
    return world.origin.seen.length > here && seenThere() > there
  })
  await flip(place, 'Several targets')
  await put(page)
  await unfold(page, 'Upstream')
}

async function limits(world: ApisWorld, page: Page, id: string): Promise<void> {
  await unfold(page, 'Limits')
  const place = part(page, 'Limits')
  await flip(place, 'Leave the rates of keys unchecked')
  await flip(place, 'Leave the quotas of keys unchecked')
  await flip(place, 'Limit the size of requests')
  await field(place, 'Largest body').fill('10')
  await put(page)
  const post = (body: string) => call(world.product.port, '/set/x', { method: 'POST', body })
  await eventually('a large body is refused', async () => (await post('x'.repeat(11))).status === 400)
  assert.equal((await post('x'.repeat(10))).status, 200)
  const everywhere = await gatewayOf(world, id, 'middleware', 'global')
  assert.deepEqual([at(everywhere, 'skipRateLimit'), at(everywhere, 'skipQuota')], [true, true])
  await unfold(page, 'Limits')
}

async function addresses(world: ApisWorld, page: Page): Promise<void> {
  await unfold(page, 'Addresses let in')
  const place = part(page, 'Addresses let in')
  await flip(place, 'Check addresses')
  await list(place, 'Let in only these', ['10.0.0.0/8'])
  await put(page)
  await answers(world, 403, '/set/x')
  await list(place, 'Let in only these', ['127.0.0.0/8'])
  await put(page)
  await answers(world, 200, '/set/x')
  await list(place, 'Keep out these', ['127.0.0.1'])
  await put(page)
  await answers(world, 403, '/set/x')
  await flip(place, 'Check addresses')
  await put(page)
  await answers(world, 200, '/set/x')
  await unfold(page, 'Addresses let in')
}

async function browsers(world: ApisWorld, page: Page): Promise<void> {
  await unfold(page, 'Browsers of other sites')
  const place = part(page, 'Browsers of other sites')
  await flip(place, 'Answer for browsers of other sites')
  await list(place, 'Sites', [SHOP])
  await list(place, 'Methods', ['GET', 'PUT'])
  await list(place, 'Request headers', ['X-Cart'])
  await list(place, 'Response headers', ['X-Total'])
  await flip(place, 'With cookies and credentials')
  await field(place, 'Remember the answer for').fill('77')
  await inspect(page, 'api-settings-cors')
  await put(page)
  const ask = { 'access-control-request-method': 'PUT', 'access-control-request-headers': 'x-cart' }
  const asked = () =>
    call(world.product.port, '/set/x', { method: 'OPTIONS', headers: { origin: SHOP, ...ask, connection: 'close' } })
  await eventually('the gateway answers browsers', async () => {
    const { headers } = await asked()
    return headers['access-control-allow-origin'] === SHOP && headers['access-control-max-age'] === '77'
  })
  assert.equal((await asked()).headers['access-control-allow-credentials'], 'true')
  assert.equal((await world.through('/set/x', { origin: SHOP })).headers['access-control-expose-headers'], 'X-Total')
  await flip(place, 'Let the service answer OPTIONS')
  await put(page)
  await eventually('the service is asked itself', async () => {
    await asked()
    return world.origin.seen.at(-1)?.method === 'OPTIONS'
  })
  await unfold(page, 'Browsers of other sites')
}

async function recording(world: ApisWorld, page: Page, id: string): Promise<void> {
  await unfold(page, 'Recording of traffic')
  const place = part(page, 'Recording of traffic')
  await flip(place, 'Record requests')
  await flip(place, 'Keep requests and responses whole')
  await list(place, 'Headers kept as tags', ['X-Shop'])
  await put(page)
  await world.through('/set/recorded', { 'x-shop': 'corner' })
  const found = async () => {
    const { text } = await world.api('GET', `/api/logs?p=1&start=1&api=${id}`)
    return text.includes('/set/recorded') && text.includes('corner')
  }
  await eventually('the request is kept, with its tag', found)
  await flip(place, 'Record requests')
  await put(page)
  assert.equal(await gatewayOf(world, id, 'middleware', 'global', 'trafficLogs', 'enabled'), false)
}
