import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { classic, defined } from '../../worlds/base/definitions.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { type Pairs, sendExactly, VERSIONS } from '../../worlds/gateway/exact-fields.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

const PUBLIC = 'public'
const PRIVATE = 'private'

/** Classic APIs with rules within, and OpenAPI ones whose versions are other APIs, by a header and by a query parameter. */
async function world(t: TestContext, allowUnderscores: boolean) {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gate = await startTestGateway({ env: { SVC_GW_ALLOWUNDERSCOREFIELDS: String(allowUnderscores) } })
  t.after(() => gate.close())
  const made = async (path: string, body: object) => {
    const answer = await gate.svc('POST', path, body)
    assert.equal(answer.status, 200, answer.text)
  }
  const internal = { state: { active: true, internal: true } }
  await made('/svc/apis/oas', defined({ id: 'pub', url: origin.url, info: internal }))
  await made('/svc/apis/oas', defined({ id: 'priv', url: origin.url, info: internal }))
  const versions = [
    { name: PUBLIC, id: 'pub' },
    { name: PRIVATE, id: 'priv' },
  ]
  const places = [
    ['header', 'x_ver'],
    ['header', 'X-Ver'],
    ['url-param', 'ver'],
  ] as const
  for (const [at, [location, key]] of places.entries()) {
    for (const strip of [true, false]) {
      const versioning = {
        enabled: true,
        name: 'base',
        default: 'self',
        location,
        key,
        versions,
        stripVersioningData: strip,
      }
      await made('/svc/apis/oas', defined({ id: `oas${at}${strip}`, url: origin.url, info: { versioning } }))
      const open = { use_extended_paths: true, extended_paths: {} }
      const more = {
        use_keyless: true,
        definition: { location, key, strip_versioning_data: strip },
        version_data: {
          ...{ not_versioned: false, default_version: PUBLIC },
          versions: { [PUBLIC]: { name: PUBLIC, ...open }, [PRIVATE]: { name: PRIVATE, ...open } },
        },
      }
      await made('/svc/apis', classic(`classic${at}${strip}`, `/classic${at}${strip}/`, origin.url, more))
    }
  }
  const ids = places.flatMap(([location, key], at) =>
    ['oas', 'classic'].flatMap((form) => [true, false].map((strip) => ({ id: `${form}${at}${strip}`, location, key }))),
  )
  return { gate, origin, ids }
}

for (const allowUnderscores of [false, true]) {
  test(`a version is named once, underscores ${allowUnderscores ? 'allowed' : 'dropped'}`, async (t) => {
    const { gate, origin, ids } = await world(t, allowUnderscores)
    for (const http of VERSIONS) {
      for (const { id, location, key } of ids) {
        const status = async (...names: Pairs) => {
          const query = names.map(([name, value]) => `${name}=${value}`).join('&')
          const request =
            location === 'url-param' ? { path: `/${id}/x?${query}`, fields: [] } : { path: `/${id}/x`, fields: names }
          return (await sendExactly(gate.port, http, request)).status
        }
        const label = `${id} HTTP/${http}`
        assert.equal(await status(), 200, label)
        assert.equal(await status([key, PUBLIC]), 200, label)
        assert.equal(await status([key, 'none']), 404, label)
        const before = origin.seen.length
        const same =
          location === 'url-param' ? ['ver', 'v%65r', '%76er', '+ver', 'ver[]', 'ver%5B%5D'] : [key, key.toUpperCase()]
        // Of a header both spellings are one, as far as they are seen.
        const others = location === 'header' && (allowUnderscores || key === 'x_ver') ? ['x-ver', 'x_ver'] : []
        for (const name of [...same, ...others]) {
          for (const value of [PUBLIC, PRIVATE, 'none', '', 'p%75blic']) {
            assert.equal(await status([key, PUBLIC], [name, value]), 400, `${label} ${name}=${value} behind`)
            assert.equal(await status([name, value], [key, PUBLIC]), 400, `${label} ${name}=${value} before`)
          }
        }
        for (const name of location === 'header' ? ['X.Ver', 'x~ver'] : ['[ver]', '%5Bver%5D', 'ver]', 'VER'])
          assert.equal(await status([key, PUBLIC], [name, PRIVATE]), 400, `${label} ${name}`)
        assert.equal(origin.seen.length, before)
      }
    }
  })
}
