import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fillIds, slugOf, summaryOf } from '../../../src/model/apis/definition/fill-ids.ts'
import { EXTENSION } from '../../../src/model/apis/definition/members.ts'
import { copyTree, getAt } from '../../../src/model/apis/definition/tree.ts'
import { toOwnWords, toVendorWords } from '../../../src/model/apis/definition/vendor-words.ts'
import {
  exportOas,
  type ImportOptions,
  importOas,
  patchOas,
  withServer,
} from '../../../src/model/apis/openapi/import.ts'
import { readApi } from '../../../src/model/apis/read/read.ts'
import type { Json, JsonObject } from '../../../src/model/json/json.ts'
import { authToken, classic, oas } from '../../worlds/model/api-samples.ts'

const PLAIN: JsonObject = {
  openapi: '3.1.0',
  info: { title: 'Pets', version: '2' },
  servers: [{ url: 'https://{host}/v{n}', variables: { host: { default: 'pets.example' }, n: { default: '2' } } }],
  paths: { '/pets': { get: { operationId: 'list' }, post: {} } },
  components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } } },
  security: [{ key: [] }],
}

const at = (document: JsonObject, ...path: string[]): Json | undefined => getAt(document, [EXTENSION, ...path])

describe('import of a plain document', () => {
  test('fills the extension with what an import means', () => {
    const before = copyTree(PLAIN)
    const document = importOas(PLAIN)
    assert.deepEqual(document, {
      ...PLAIN,
      [EXTENSION]: {
        info: { name: 'Pets', state: { active: true, internal: false } },
        upstream: { url: 'https://pets.example/v2' },
        server: { listenPath: { value: '/', strip: true } },
        middleware: { global: { contextVariables: { enabled: true }, trafficLogs: { enabled: true } } },
      },
    })
    assert.deepEqual(PLAIN, before)
    const filled = fillIds('oas', document, { orgId: 'o' })
    const api = readApi({ ...filled, format: 'oas' })
    assert.equal(api.auth, undefined)
    assert.deepEqual(api.record, { tagHeaders: [], detailed: false })
  })

  test('turns on checks and mocks where an operation is described well enough', () => {
    const paths = {
      '/pets': {
        parameters: [{ name: 'q', in: 'query' }],
        get: { operationId: 'list', responses: { 200: { $ref: '#/components/responses/l' } } },
      },
      '/other': {
        post: { operationId: 'make', requestBody: { content: {} }, responses: { 204: { description: 'done' } } },
        get: { operationId: 'bare', responses: { 200: { description: 'ok', content: { 'text/csv': {} } } } },
      },
    }
    const components = {
      responses: { l: { description: 'ok', content: { 'application/json': { schema: { type: 'array' } } } } },
    }
    const document = importOas({ ...PLAIN, components, paths }, { validateRequest: true, mockResponse: true })
    assert.deepEqual(at(document, 'middleware', 'operations'), {
      list: {
        validateRequest: { enabled: true },
        mockResponse: { fromOASExamples: { enabled: true }, enabled: true },
      },
      make: {
        validateRequest: { enabled: true },
        mockResponse: { fromOASExamples: { enabled: true }, enabled: true },
      },
    })
    readApi({ ...fillIds('oas', document, { orgId: 'o' }), format: 'oas' })
    const off = patchOas(document, { ...PLAIN, components, paths }, { validateRequest: false, mockResponse: false })
    assert.deepEqual(at(off, 'middleware', 'operations', 'make'), {
      validateRequest: { enabled: false },
      mockResponse: { fromOASExamples: { enabled: true }, enabled: false },
    })
    assert.deepEqual(at(off, 'middleware', 'operations', 'list', 'mockResponse'), {
      fromOASExamples: { enabled: true },
      enabled: false,
    })
  })

  test('takes every option', () => {
    const options = {
      upstreamURL: 'http://u/',
      listenPath: '/p/',
      customDomain: 'p.example',
      apiID: 'abc',
      authentication: true,
      allowList: true,
    }
    const document = importOas(PLAIN, options)
    assert.equal(at(document, 'upstream', 'url'), 'http://u/')
    assert.equal(at(document, 'server', 'listenPath', 'value'), '/p/')
    assert.deepEqual(at(document, 'server', 'customDomain'), { enabled: true, name: 'p.example' })
    assert.equal(at(document, 'info', 'id'), 'abc')
    assert.deepEqual(at(document, 'server', 'authentication'), {
      enabled: true,
      securitySchemes: { key: { enabled: true } },
    })
    assert.deepEqual(at(document, 'middleware', 'operations'), {
      list: { allow: { enabled: true } },
      petsPOST: { allow: { enabled: true } },
    })
    const api = readApi({ ...fillIds('oas', document, { orgId: 'o' }), format: 'oas' })
    assert.equal(api.auth?.header, 'x-key')
    assert.equal(api.rules.operations.filter((operation) => operation.allow).length, 2)
  })

  const refused: readonly [name: string, document: JsonObject, options: ImportOptions, says: RegExp, code?: string][] =
    [
      ['a document with the extension', authToken(), {}, /^x-svc-api-gateway: must not be in the document/],
      ['a document without servers', { ...PLAIN, servers: [] }, {}, /^servers: is missing/],
      ['a relative server', { ...PLAIN, servers: [{ url: '/v1' }] }, {}, /^servers\[0\]\.url: must be an absolute URL/],
      ['a variable without a default', { ...PLAIN, servers: [{ url: 'http://{x}/' }] }, {}, /^servers\[0\]\.url/],
      ['an upstream that is none', PLAIN, { upstreamURL: 'up' }, /upstream\.url: must be an absolute URL/],
      ['a listen path that is none', PLAIN, { listenPath: 'x' }, /server\.listenPath\.value: must begin/],
      [
        'authentication without a requirement',
        { ...PLAIN, security: [] },
        { authentication: true },
        /^security: must name/,
      ],
      [
        'authentication that operations alone require',
        {
          ...PLAIN,
          ...{ security: undefined, paths: { '/a': { get: { security: [{ key: [] }], responses: {} } } } },
        } as unknown as JsonObject,
        { authentication: true },
        /^security: must name .*; GET \/a names one for itself/,
      ],
      [
        'authentication without its scheme',
        { ...PLAIN, components: {} },
        { authentication: true },
        /^security: "key" is not declared/,
      ],
      ['what is no OpenAPI', { info: {} }, {}, /openapi: is missing/],
      ['Swagger 2.0', { swagger: '2.0' }, {}, /swagger: is Swagger 2\.0: convert it/],
    ]
  for (const [name, document, options, says, code] of refused) {
    test(`refuses ${name}`, () => {
      assert.throws(() => importOas(document, options), { code: code ?? 'definition_invalid', message: says })
    })
  }
})

describe('a new document in the place of a stored one', () => {
  const stored = oas({
    document: {
      paths: {
        '/a': { get: { operationId: 'getA' }, put: { operationId: 'putA' } },
        '/b': { get: { operationId: 'getB' } },
      },
    },
    info: { id: 'i', dbId: 'd', orgId: 'o' },
    middleware: {
      operations: {
        getA: { allow: { enabled: true } },
        putA: { block: { enabled: true } },
        getB: { rateLimit: { enabled: true, rate: 1, per: '1s' } },
      },
    },
  })
  const incoming = {
    openapi: '3.0.3',
    info: { title: 'New', version: '9' },
    paths: {
      '/moved': { get: { operationId: 'getA' } },
      '/a': { put: { operationId: 'renamed' }, get: { operationId: 'fresh' } },
      '/b': { get: {} },
    },
  }

  test('rules follow the id of their operation, else its method and path', () => {
    const before = copyTree(stored)
    const document = patchOas(stored, incoming)
    assert.deepEqual(at(document, 'middleware', 'operations'), {
      getA: { allow: { enabled: true } },
      renamed: { block: { enabled: true } },
      getB: { rateLimit: { enabled: true, rate: 1, per: '1s' } },
    })
    assert.equal(getAt(document, ['paths', '/b', 'get', 'operationId']), 'getB')
    assert.deepEqual(at(document, 'info'), at(stored, 'info'))
    assert.equal(getAt(document, ['info', 'title']), 'New')
    assert.deepEqual(stored, before)
    readApi({ api_id: 'i', org_id: 'o', name: 'n', format: 'oas', definition: document })
  })

  test('rules of operations that are gone go with them', () => {
    const document = patchOas(stored, { ...incoming, paths: {} })
    assert.deepEqual(at(document, 'middleware', 'operations'), {})
  })

  test('options change the extension; an extension in the new document is refused', () => {
    const document = patchOas(stored, incoming, { listenPath: '/new/', authentication: false })
    assert.equal(at(document, 'server', 'listenPath', 'value'), '/new/')
    assert.equal(at(document, 'server', 'authentication', 'enabled'), false)
    assert.throws(() => patchOas(stored, stored), { code: 'definition_invalid' })
  })
})

test('export leaves the extension out for the public', () => {
  const document = authToken()
  assert.deepEqual(exportOas(document), document)
  assert.equal(EXTENSION in exportOas(document, { mode: 'public' }), false)
  assert.equal(EXTENSION in document, true)
})

test('the own address comes first among the servers, once', () => {
  const servers = (document: JsonObject) => withServer(document, 'https://gw/p/').servers
  assert.deepEqual(servers({}), [{ url: 'https://gw/p/' }])
  assert.deepEqual(servers({ servers: [{ url: 'http://up' }, { url: 'https://gw/p/' }] }), [
    { url: 'https://gw/p/' },
    { url: 'http://up' },
  ])
})

describe('the extension under a vendor name', () => {
  const { [EXTENSION]: extension, ...rest } = authToken()
  const theirs: JsonObject = { ...rest, 'x-acme-api-gateway': extension!, last: 1 }

  test('is taken and given back, members in their order', () => {
    const { definition: document, alias } = toOwnWords('oas', theirs, ['other', 'acme'])
    assert.equal(alias, 'acme')
    const { server, ...parts } = extension as JsonObject
    const written = { ...parts, server: { ...(server as JsonObject), pathMatching: 'contains' } }
    assert.deepEqual(document[EXTENSION], written)
    assert.deepEqual(Object.keys(toVendorWords('oas', document, alias)), Object.keys(theirs))
    assert.deepEqual(toVendorWords('oas', document, alias), { ...theirs, 'x-acme-api-gateway': written })
    assert.deepEqual(toOwnWords('oas', toVendorWords('oas', document, alias), ['acme']).definition, document)
  })

  test('is left alone when nobody asked for it', () => {
    assert.deepEqual(toOwnWords('oas', theirs, []), { definition: theirs, alias: undefined, warnings: [] })
    assert.equal(toVendorWords('oas', theirs, undefined), theirs)
  })

  test('is refused beside ours', () => {
    assert.throws(() => toOwnWords('oas', { ...theirs, [EXTENSION]: {} }, ['acme']), { code: 'definition_invalid' })
  })
})

describe('ids', () => {
  test('are made where there are none', () => {
    const definition = classic({ name: 'Über Orders!' })
    const filled = fillIds('classic', definition, { orgId: 'org' })
    assert.match(String(filled.definition.api_id), /^[0-9a-f]{32}$/)
    assert.match(String(filled.definition.id), /^[0-9a-f]{24}$/)
    assert.equal(filled.api_id, filled.definition.api_id)
    assert.equal(filled.org_id, 'org')
    assert.equal(filled.definition.org_id, 'org')
    assert.equal(filled.definition.slug, 'u-ber-orders')
    assert.equal('api_id' in definition, false)
    const document = oas({})
    const other = fillIds('oas', document, { orgId: 'org' })
    assert.match(String(at(other.definition, 'info', 'id')), /^[0-9a-f]{32}$/)
    assert.match(String(at(other.definition, 'info', 'dbId')), /^[0-9a-f]{24}$/)
    assert.equal(at(other.definition, 'info', 'orgId'), 'org')
    assert.equal(at(document, 'info', 'id'), undefined)
  })

  test('are kept where there are', () => {
    const ids = { id: 'd', api_id: 'a', org_id: 'x', slug: 's' }
    assert.deepEqual(fillIds('classic', classic(ids), { orgId: 'org' }).definition, classic(ids))
    const document = oas({ info: { id: 'a', dbId: 'd', orgId: 'x' } })
    assert.deepEqual(fillIds('oas', document, { orgId: 'org' }), {
      api_id: 'a',
      org_id: 'x',
      name: 'Orders',
      definition: document,
    })
  })

  test('can be asked of what nobody has checked', () => {
    for (const bad of [{}, { name: 1, id: [] }, { [EXTENSION]: [] }, { [EXTENSION]: { info: 3 } }] as JsonObject[]) {
      fillIds('classic', bad, { orgId: '' })
      const { definition } = fillIds('oas', bad, { orgId: '' })
      if (isBroken(bad)) assert.deepEqual(definition, bad)
      summaryOf({ api_id: 'a', org_id: '', name: '', format: 'oas', definition })
    }
  })

  test('a slug always holds something', () => {
    assert.equal(slugOf('Orders API v2'), 'orders-api-v2')
    assert.match(slugOf('注文'), /^[0-9a-f]{12}$/)
  })
})

function isBroken(document: JsonObject): boolean {
  const extension = document[EXTENSION]
  return Array.isArray(extension) || at(document, 'info') === 3
}

test('summaries of both formats', () => {
  const common = { api_id: 'a', org_id: 'o', name: 'n' }
  assert.deepEqual(summaryOf({ ...common, format: 'classic', definition: classic({ domain: 'A.b' }) }), {
    api_id: 'a',
    name: 'n',
    active: true,
    listenPath: '/orders/',
    domain: 'a.b',
    upstreams: ['http://up:8080/'],
  })
  const definition = oas({ server: { customDomain: { enabled: false, name: 'a.b' } } })
  assert.deepEqual(summaryOf({ ...common, format: 'oas', definition }), {
    api_id: 'a',
    name: 'n',
    active: true,
    listenPath: '/orders/',
    domain: '',
    upstreams: ['http://up:8080/'],
  })
})
