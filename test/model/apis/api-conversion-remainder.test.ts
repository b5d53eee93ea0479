import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { preservedMembersOf, restorePreserved, toClassic, toOas } from '../../../src/model/apis/convert/convert.ts'
import { EXTENSION } from '../../../src/model/apis/definition/members.ts'
import { copyTree, getAt, putAt, removeAt } from '../../../src/model/apis/definition/tree.ts'
import { readApi } from '../../../src/model/apis/read/read.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { authToken, classic, oas } from '../../worlds/model/api-samples.ts'

const RUNS = process.env.GATEHOUSE_DEEP === '1' ? 50_000 : 2000

const tree = fc
  .dictionary(fc.constantFrom('a', 'b', 'c/d', '~', '__proto__'), fc.jsonValue({ maxDepth: 4 }), { maxKeys: 4 })
  .map((value) => JSON.parse(JSON.stringify(value)) as JsonObject)

test('what is kept turns any tree into any other', () => {
  fc.assert(
    fc.property(tree, tree, (original, made) => {
      const kept = preservedMembersOf(original, made)
      const copy = copyTree(made)
      assert.deepEqual(restorePreserved(kept, copy), [])
      assert.deepEqual(copy, original)
    }),
    { numRuns: RUNS },
  )
})

test('laying anything over anything throws nothing and pollutes nothing', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom('/a', '/a/0', '/__proto__/x', 'x', '', '/c~1d'), fc.jsonValue()),
      tree,
      (kept, made) => {
        restorePreserved(JSON.parse(JSON.stringify(kept)), copyTree(made))
        assert.equal(({} as JsonObject).x, undefined)
      },
    ),
    { numRuns: RUNS },
  )
})

test('fields with twins are written in the words of the other format, not carried', () => {
  const { document, carried } = toOas(
    classic({
      domain: 'a.example',
      tags: ['x'],
      global_rate_limit: { rate: 1, per: 60 },
      use_keyless: true,
      allowed_ips: ['10.0.0.1'],
    }),
  )
  assert.deepEqual(carried, [])
  const extension = document[EXTENSION] as JsonObject
  assert.deepEqual(getAt(extension, ['upstream', 'rateLimit']), { rate: 1, per: '1m', enabled: true })
  assert.deepEqual(getAt(extension, ['server', 'customDomain']), { name: 'a.example', enabled: true })
  assert.deepEqual(getAt(extension, ['server', 'ipAccessControl']), { allow: ['10.0.0.1'], enabled: true })
})

test('what has no twin is named', () => {
  assert.deepEqual(toOas(classic({ event_handlers: { events: { x: [{}] } }, odd: 1 })).carried.sort(), [
    '/event_handlers',
    '/odd',
  ])
  assert.deepEqual(toClassic(oas({ upstream: { odd: 1 } })).carried, [`/${EXTENSION}/upstream/odd`])
})

const serve = (format: 'classic' | 'oas', definition: JsonObject) =>
  readApi({ api_id: 'i', org_id: 'o', name: 'n', format, definition })

describe('edits after a conversion are heeded', () => {
  const lists = {
    white_list: [{ path: '/a', method: 'GET', odd: 1 }],
    black_list: [
      { path: '/b', method: 'GET' },
      { path: '/all', method: '' },
    ],
  }
  const start = () =>
    toOas(
      classic({
        tags: ['x'],
        odd: 1,
        auth_configs: { authToken: { auth_header_name: 'X-Key' } },
        version_data: {
          not_versioned: true,
          versions: { v1: { name: 'v1', use_extended_paths: true, extended_paths: lists } },
        },
      }),
    ).document

  test('a switch that the classic form left out', () => {
    const document = start()
    putAt(document, [EXTENSION, 'server', 'gatewayTags', 'enabled'], false)
    assert.equal(serve('oas', document).tags, undefined)
    assert.equal(toClassic(document).definition.tags_disabled, true)
    assert.equal(toClassic(document).definition.odd, 1)
  })

  test('another header', () => {
    const document = start()
    putAt(document, [EXTENSION, 'server', 'authentication', 'securitySchemes', 'authToken', 'header', 'name'], 'X-New')
    assert.equal(serve('oas', document).auth?.header, 'x-new')
  })

  test('an operation taken out: what could not be an operation stays', () => {
    const document = start()
    removeAt(document, [EXTENSION, 'middleware', 'operations', 'bGET', 'block'])
    const blocked = serve('oas', document).rules.operations.filter((operation) => operation.block)
    assert.deepEqual(
      blocked.map((operation) => operation.path),
      ['/all'],
    )
  })

  test('authentication turned on where the classic form was open', () => {
    const open = classic({ use_keyless: true, auth_configs: { authToken: {}, jwt: { auth_header_name: '' } } })
    const { document } = toOas(open)
    assert.equal(serve('oas', document).auth, undefined)
    const { components, security, [EXTENSION]: extension } = authToken()
    const edited = { ...document, components: components!, security: security! }
    putAt(edited, [EXTENSION, 'server', 'authentication'], getAt(extension, ['server', 'authentication'])!)
    assert.equal(serve('oas', edited).auth?.header, 'authorization')
  })

  test('versions within a classic definition and rules beside them contradict each other', () => {
    const { document } = toOas(
      classic({ definition: { key: 'v' }, version_data: { not_versioned: false, versions: { a: {}, b: {} } } }),
    )
    assert.deepEqual(Object.keys(serve('oas', document).versioning?.inline ?? {}), ['a', 'b'])
    putAt(document, [EXTENSION, 'middleware', 'global', 'requestSizeLimit'], { enabled: true, value: 1 })
    // Neither may win in silence: the new rule would hold for no version, or the versions would be gone.
    assert.throws(() => serve('oas', document), { code: 'definition_invalid', message: /contradicts/ })
  })

  test('the target of an OpenAPI document, in its classic form', () => {
    const { definition } = toClassic(authToken())
    putAt(definition, ['proxy', 'target_url'], 'http://new/')
    const { document } = toOas(definition)
    assert.equal(getAt(document, [EXTENSION, 'upstream', 'url']), 'http://new/')
    assert.deepEqual(document.components, authToken().components)
  })
})
