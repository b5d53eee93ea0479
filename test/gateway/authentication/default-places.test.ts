import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toOas } from '../../../src/model/apis/convert/convert.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { spread } from '../../worlds/base/spread.ts'
import { classicApi, rightsOn } from '../../worlds/gateway/admin-fixtures.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

const FLAGS = [false, true] as const
const NAMES = ['', 'X-Key'] as const

interface Places {
  readonly header: string
  readonly off: boolean
  readonly used: boolean
  readonly name: string
}
const ALL: readonly Places[] = NAMES.flatMap((header) =>
  FLAGS.flatMap((off) => FLAGS.flatMap((used) => ['', 'k'].map((name) => ({ header, off, used, name })))),
)

const WHERE = (['query', 'cookie'] as const).flatMap((place, turn) =>
  spread([...ALL.entries()], turn, 2).map(([at, places]) => ({ place, at, places })),
)

/** Where the gateway before reads a credential: a place without a name has that of the header, where one is read. */
function isRead({ header, off, used, name }: Places, place: 'header' | 'elsewhere', asked: string): boolean {
  const own = header || 'Authorization'
  if (place === 'header') return !off && asked === own
  return used && asked === (name || (off ? 'Authorization' : own))
}

test('a parameter or cookie without a name has that of the header, where one is read', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  const ids = WHERE.flatMap(({ place, at }) => [`${place}${at}`, `o${place}${at}`])
  for (const { place, at, places } of WHERE) {
    const { header, off, used, name } = places
    const [use, named] = place === 'query' ? ['use_param', 'param_name'] : ['use_cookie', 'cookie_name']
    const authToken = { auth_header_name: header, disable_header: off, [use]: used, [named]: name }
    const define = (id: string): JsonObject =>
      classicApi(id, `/${id}/`, {
        ...{ api_id: id, use_keyless: false, use_standard_auth: true, auth_configs: { authToken } },
        proxy: { listen_path: `/${id}/`, target_url: origin.url, strip_listen_path: true },
      })
    for (const [path, document] of [
      ['/svc/apis', define(`${place}${at}`)],
      ['/svc/apis/oas', toOas(define(`o${place}${at}`)).document],
    ] as const) {
      const saved = await gateway.svc('POST', path, document)
      assert.equal(saved.status, 200, saved.text)
    }
  }
  const { key } = (await gateway.svc('POST', '/svc/keys/create', { access_rights: rightsOn(...ids) }))
    .json as JsonObject
  for (const { place, at, places } of WHERE)
    for (const id of [`${place}${at}`, `o${place}${at}`])
      for (const asked of ['Authorization', 'X-Key', 'k']) {
        const where = `${id} ${JSON.stringify(places)} ${asked}`
        const inHeader = await gateway.call(`/${id}/x`, { headers: { [asked]: String(key) } })
        assert.equal(inHeader.status === 200, isRead(places, 'header', asked), `${where} header ${inHeader.status}`)
        const query = place === 'query' ? `?${asked}=${key}` : ''
        const headers = place === 'cookie' ? { cookie: `${asked}=${key}` } : {}
        const { status } = await gateway.call(`/${id}/x${query}`, { headers })
        assert.equal(status === 200, isRead(places, 'elsewhere', asked), `${where} ${place} ${status}`)
      }
})

test('in a definition of a vendor the declared name of an API key counts, and a change is told', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await startTestGateway({ env: { SVC_COMPAT_VENDORALIASES: 'inc' } })
  t.after(() => gateway.close())
  const cases = (['header', 'query', 'cookie'] as const).flatMap((place) =>
    [undefined, '', 'X-Key', 'X-Other'].flatMap((own) => ['inc', 'svc'].map((word) => ({ place, own, word }))),
  )
  for (const [at, { place, own, word }] of cases.entries()) {
    const saved = await gateway.svc('POST', `/${word}/apis/oas`, {
      ...{ openapi: '3.0.3', info: { title: 'd', version: '1' }, paths: {} },
      components: { securitySchemes: { key: { type: 'apiKey', in: place, name: 'X-Key' } } },
      security: [{ key: [] }],
      [`x-${word}-api-gateway`]: {
        info: { id: `d${at}`, name: `d${at}`, state: { active: true } },
        upstream: { url: origin.url },
        server: {
          listenPath: { value: `/d${at}/`, strip: true },
          authentication: {
            enabled: true,
            securitySchemes: {
              key: { enabled: true, [place]: { enabled: true, ...(own !== undefined && { name: own }) } },
            },
          },
        },
      },
    })
    assert.equal(saved.status, 200, saved.text)
    const isChanged = word === 'inc' && own === 'X-Other'
    assert.equal(/is now \\"X-Key\\"/.test(saved.text), isChanged, saved.text)
  }
  const ids = cases.map((_, at) => `d${at}`)
  const { key } = (await gateway.svc('POST', '/svc/keys/create', { access_rights: rightsOn(...ids) }))
    .json as JsonObject
  for (const [at, { place, own, word }] of cases.entries())
    for (const asked of ['X-Key', 'X-Other']) {
      const query = place === 'query' ? `?${asked}=${key}` : ''
      const headers: Record<string, string> =
        place === 'cookie' ? { cookie: `${asked}=${key}` } : place === 'header' ? { [asked]: String(key) } : {}
      const { status } = await gateway.call(`/d${at}/x${query}`, { headers })
      const isRead = asked === (word === 'svc' && own === 'X-Other' ? 'X-Other' : 'X-Key')
      assert.equal(status, isRead ? 200 : 401, `${place} ${own} ${word} ${asked}`)
    }
})
