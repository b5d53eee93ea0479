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

const part = (page: Page, name: string) => page.getByRole('region', { name: new RegExp(`^${name}(?! TLS)`) })
const unfold = (page: Page, name: string) => page.getByRole('button', { name: new RegExp(`^${name}(?! TLS)`) }).click()

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
  await flip(place, 'Strip listen path')
  await flip(place, 'Custom domain')
  await field(place, 'Host name').fill('set.example.com')
  await put(page)
  assert.equal((await answers(world, 200, '/set/x', { host: 'set.example.com' })).text, '/set/x')
  await answers(world, 404, '/set/x')
  await flip(place, 'Custom domain')
  await flip(place, 'Strip listen path')
  await flip(place, 'Limit to tagged nodes')
  await list(place, 'Node tags', ['eu', 'edge'])
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
  await field(place, /^Upstream URL/).fill(`${world.origin.url}/base`)
  await flip(place, 'Preserve host header')
  await flip(place, 'Skip TLS verification')
  await put(page)
  assert.equal((await answers(world, 200, '/set/x')).text, '/base/x')
  assert.equal(world.origin.seen.at(-1)?.headers.host, new URL(world.gateway).host)
  assert.equal(await gatewayOf(world, id, 'upstream', 'tlsTransport', 'insecureSkipVerify'), true)
  await flip(place, 'Load balancing')
  await list(place, 'Targets', [`${world.origin.url} 1`, `${other} 3`])
  await put(page)
  const [here, there] = [world.origin.seen.length, seenThere()]
  await eventually('both of them are asked', async () => {
    await world.through('/set/x')
    return world.origin.seen.length > here && seenThere() > there
  })
  await flip(place, 'Load balancing')
  await put(page)
  await unfold(page, 'Upstream')
}

async function limits(world: ApisWorld, page: Page, id: string): Promise<void> {
  await unfold(page, 'Limits')
  const place = part(page, 'Limits')
  await flip(place, 'Ignore key rate limits')
  await flip(place, 'Ignore key quotas')
  await flip(place, 'Limit request size')
  await field(place, 'Maximum body size').fill('10')
  await put(page)
  const post = (body: string) => call(world.product.port, '/set/x', { method: 'POST', body })
  await eventually('a large body is refused', async () => (await post('x'.repeat(11))).status === 400)
  assert.equal((await post('x'.repeat(10))).status, 200)
  const everywhere = await gatewayOf(world, id, 'middleware', 'global')
  assert.deepEqual([at(everywhere, 'skipRateLimit'), at(everywhere, 'skipQuota')], [true, true])
  await unfold(page, 'Limits')
}

async function addresses(world: ApisWorld, page: Page): Promise<void> {
  await unfold(page, 'IP access')
  const place = part(page, 'IP access')
  await flip(place, 'Restrict by IP address')
  await list(place, 'Allow list', ['10.0.0.0/8'])
  await put(page)
  await answers(world, 403, '/set/x')
  await list(place, 'Allow list', ['127.0.0.0/8'])
  await put(page)
  await answers(world, 200, '/set/x')
  await list(place, 'Block list', ['127.0.0.1'])
  await put(page)
  await answers(world, 403, '/set/x')
  await flip(place, 'Restrict by IP address')
  await put(page)
  await answers(world, 200, '/set/x')
  await unfold(page, 'IP access')
}

async function browsers(world: ApisWorld, page: Page): Promise<void> {
  await unfold(page, 'CORS')
  const place = part(page, 'CORS')
  await flip(place, 'Enable CORS')
  await list(place, 'Allowed origins', [SHOP])
  await list(place, 'Allowed methods', ['GET', 'PUT'])
  await list(place, 'Allowed headers', ['X-Cart'])
  await list(place, 'Exposed headers', ['X-Total'])
  await flip(place, 'Allow credentials')
  await field(place, 'Max age').fill('77')
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
  await flip(place, 'Pass OPTIONS to the upstream')
  await put(page)
  await eventually('the service is asked itself', async () => {
    await asked()
    return world.origin.seen.at(-1)?.method === 'OPTIONS'
  })
  await unfold(page, 'CORS')
}

async function recording(world: ApisWorld, page: Page, id: string): Promise<void> {
  await unfold(page, 'Logging')
  const place = part(page, 'Logging')
  await flip(place, 'Record requests')
  await flip(place, 'Record full requests and responses')
  await list(place, 'Tag headers', ['X-Shop'])
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
