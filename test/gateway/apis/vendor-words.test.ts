import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { APIS } from '../../../src/cli/moves/kind-apis.ts'
import { toOwnWords, toVendorWords, vendorWordsIn } from '../../../src/model/apis/definition/vendor-words.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

/** A document and a classic definition that use a word wherever ours can be. */
const oasIn = (word: string, upstream: string): JsonObject => ({
  openapi: '3.0.3',
  info: { title: 'oas', version: '1' },
  paths: {
    '/a': { get: { operationId: 'a', responses: { 200: { description: 'ok' } } } },
    '/b': { get: { operationId: 'b', responses: { 200: { description: 'ok' } } } },
  },
  [`x-${word}-api-gateway`]: {
    info: { id: 'described', name: 'described', state: { active: true } },
    upstream: { url: `${word}://inner/base` },
    server: { listenPath: { value: '/described/', strip: true }, pathMatching: 'contains' },
    middleware: {
      global: { contextVariables: { enabled: true } },
      operations: {
        a: {
          urlRewrite: {
            ...{ enabled: true, pattern: '/a', rewriteTo: `${word}://inner/r/$${word}_context.headers_X_A` },
            triggers: [
              {
                condition: 'any',
                rules: [{ in: 'header', name: 'x-t', pattern: '.' }],
                rewriteTo: `${word}://inner/t/$${word}_context.trigger-0-X-T-0`,
              },
            ],
          },
        },
        b: {
          transformRequestHeaders: { enabled: true, add: [{ name: 'X-Told', value: `$${word}_context.headers_X_A` }] },
          urlRewrite: { enabled: true, pattern: '/b', rewriteTo: upstream },
        },
      },
    },
  },
})
const classicIn = (word: string, api_id = 'classic'): JsonObject => ({
  ...{
    api_id,
    name: api_id,
    active: true,
    use_keyless: true,
    enable_context_vars: true,
    enable_batch_request_support: true,
  },
  proxy: { listen_path: `/${api_id}/`, target_url: `${word}://inner/base`, strip_listen_path: true },
  version_data: {
    not_versioned: true,
    versions: {
      Default: {
        ...{ name: 'Default', use_extended_paths: true },
        extended_paths: {
          url_rewrites: [
            {
              ...{ path: '/a', method: 'GET', match_pattern: '/a' },
              rewrite_to: `${word}://inner/r/$${word}_context.headers_X_A`,
              triggers: [
                {
                  ...{ on: 'any', options: { header_matches: { 'X-T': { match_rx: '.' } } } },
                  rewrite_to: `${word}://inner/t/$${word}_context.trigger-0-X-T-0`,
                },
              ],
            },
          ],
        },
      },
    },
  },
})

/** Members of the same value, those that an answer adds left out. */
function asSent(sent: unknown, shown: unknown): unknown {
  if (Array.isArray(sent)) return sent.map((each, at) => asSent(each, (shown as unknown[] | undefined)?.[at]))
  if (typeof sent !== 'object' || sent === null) return shown
  return Object.fromEntries(
    Object.entries(sent).map(([name, each]) => [name, asSent(each, (shown as JsonObject | undefined)?.[name])]),
  )
}

describe('the word of a vendor', () => {
  const folder = mkdtempSync(join(tmpdir(), 'words-'))
  let origin: Awaited<ReturnType<typeof startOrigin>>
  let gateway: Awaited<ReturnType<typeof startTestGateway>>
  before(async () => {
    origin = await startOrigin()
    writeFileSync(join(folder, 'file.json'), JSON.stringify(classicIn('acme', 'file')))
    const document = oasIn('acme', origin.url)
    const extension = document['x-acme-api-gateway'] as JsonObject
    extension.info = { name: 'fileOas', state: { active: true } }
    extension.server = { listenPath: { value: '/fileOas/', strip: true } }
    writeFileSync(join(folder, 'fileOas.json'), JSON.stringify(document))
    gateway = await startTestGateway({ env: { SVC_COMPAT_VENDORALIASES: 'acme', SVC_GW_APPPATH: folder } })
    const inner = await gateway.svc('POST', '/svc/apis', {
      ...{ api_id: 'inner', name: 'inner', active: true, use_keyless: true, internal: true },
      proxy: { listen_path: '/inner/', target_url: origin.url, strip_listen_path: true },
      version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
    })
    assert.equal(inner.status, 200, inner.text)
    for (const [path, definition] of [
      ['/acme/apis/oas', oasIn('acme', origin.url)],
      ['/acme/apis', classicIn('acme')],
    ] as const) {
      const made = await gateway.svc('POST', path, definition)
      assert.equal(made.status, 200, made.text)
    }
  })
  after(async () => {
    await Promise.all([origin.close(), gateway.close()])
    rmSync(folder, { recursive: true })
  })
  const targetOf = async (path: string, headers: Record<string, string> = {}) => {
    const { status, text } = await gateway.call(path, { headers: { 'x-a': 'v', ...headers } })
    assert.equal(status, 200, `${path}: ${text}`)
    return origin.seen.at(-1)!.target
  }

  for (const api of ['described', 'classic', 'file', 'fileOas'])
    test(`is ours in upstreams, rewrites, triggers and variables of ${api}`, async () => {
      assert.equal(await targetOf(`/${api}/c`), '/base/c')
      assert.equal(await targetOf(`/${api}/a`), '/r/v')
      assert.equal(await targetOf(`/${api}/a`, { 'x-t': 't' }), '/t/t')
    })

  test('is used in answers to those who use it, and ours to the others', async () => {
    for (const [path, inWord] of [
      ['apis/oas/described', (word: string) => oasIn(word, origin.url)],
      ['apis/classic', (word: string) => classicIn(word)],
    ] as const)
      for (const word of ['svc', 'acme']) {
        const shown = JSON.parse((await gateway.svc('GET', `/${word}/${path}`)).text) as JsonObject
        // Variables keep the word that they were written with.
        const sent = JSON.parse(JSON.stringify(inWord(word)).replaceAll('$svc_', '$acme_')) as JsonObject
        assert.deepEqual(asSent(sent, shown), sent)
      }
  })

  test('is used for endpoints below a listen path', async () => {
    const batch = { requests: [{ method: 'GET', headers: {}, body: '', relative_url: 'c' }] }
    for (const word of ['svc', 'acme']) {
      const answer = await gateway.call(`/classic/${word}/batch/`, { method: 'POST', body: JSON.stringify(batch) })
      assert.equal(answer.status, 200, answer.text)
      assert.deepEqual(
        (JSON.parse(answer.text) as { code: number }[]).map(({ code }) => code),
        [200],
      )
    }
  })

  test('names the fields of stored answers, and those by which an upstream asks for it', async () => {
    const api = classicIn('acme', 'stored')
    const made = await gateway.svc('POST', '/acme/apis', {
      ...api,
      proxy: { listen_path: '/stored/', target_url: origin.url, strip_listen_path: true },
      version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
      cache_options: {
        enable_cache: true,
        cache_all_safe_requests: true,
        enable_upstream_cache_control: true,
        cache_timeout: 60,
      },
    })
    assert.equal(made.status, 200, made.text)
    origin.script = ({ target }, response) => {
      const field = new URL(target, origin.url).searchParams.get('set') ?? ''
      response.writeHead(200, field === '' ? {} : { [field]: '1' })
      response.end('stored')
    }
    const fields = (set: string) => `/stored/${set}?set=${set}`
    for (const [path, isStored] of [
      [fields('x-acme-cache-action-set'), true],
      [fields('x-svc-cache-action-set'), true],
      [fields('x-other-cache-action-set'), false],
    ] as const) {
      await gateway.call(path)
      const { headers } = await gateway.call(path)
      for (const word of ['svc', 'acme'])
        assert.equal(headers[`x-${word}-cached-response`], isStored ? '1' : undefined, `${path} ${word}`)
    }
    origin.script = undefined
  })

  test('is used in refusals and warnings', async () => {
    const document = (word: string) => {
      const sent = oasIn(word, origin.url)
      const extension = sent[`x-${word}-api-gateway`] as JsonObject
      extension.server = { listenPath: 7 }
      return sent
    }
    for (const word of ['svc', 'acme']) {
      const refused = await gateway.svc('PUT', `/${word}/apis/oas/described`, document(word))
      assert.equal(refused.status, 400)
      assert.ok(refused.text.includes(`x-${word}-api-gateway.server.listenPath`), refused.text)
      const warned = await gateway.svc('PUT', `/${word}/apis/oas/described`, {
        ...oasIn(word, `/$${word}_context.weather`),
      })
      assert.match(warned.text, new RegExp(`"path":"x-${word}-api-gateway[^"]*b.urlRewrite.rewriteTo"`))
    }
  })

  test('is found in files without a setting, and is none of the schemes of upstreams', () => {
    assert.deepEqual(vendorWordsIn('oas', oasIn('other', 'http://up')), ['other'])
    assert.deepEqual(vendorWordsIn('classic', classicIn('other')), ['other'])
    const [document, classic] = [APIS.normal(oasIn('other', 'http://up')), APIS.normal(classicIn('other'))]
    assert.match(JSON.stringify(document.oas), /"x-svc-api-gateway".*"url":"svc:\/\/inner/)
    assert.match(JSON.stringify(classic.api_definition), /"target_url":"svc:\/\/inner/)
    for (const scheme of ['svc', 'http', 'https', 'h2c'])
      assert.deepEqual(vendorWordsIn('classic', classicIn(scheme)), [])
    for (const [format, sent] of [
      ['oas', oasIn('acme', 'http://up')],
      ['classic', { ...classicIn('acme'), path_matching: 'exact' }],
    ] as const) {
      const { definition, alias } = toOwnWords(format, sent, ['other', 'acme'])
      assert.equal(alias, 'acme')
      assert.deepEqual(toVendorWords(format, definition, alias), sent)
    }
  })
})
