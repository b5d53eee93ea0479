import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { connect as connectHttp2 } from 'node:http2'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { defined } from '../../worlds/base/definitions.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { classicApi, rightsOn } from '../../worlds/gateway/admin-fixtures.ts'
import { VERSIONS, type Version } from '../../worlds/gateway/exact-fields.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'
import { Client, statusOf } from '../../worlds/wire/raw.ts'

const SECRET = 'the secret that ann signs with'
const DATE = new Date(1_700_000_000_000).toUTCString()

type Ask = (target: string, headers?: Record<string, string>) => Promise<number>

async function asker(t: TestContext, port: number, version: Version): Promise<Ask> {
  if (version === '1.1') {
    const client = await Client.connect(port)
    t.after(() => client.destroy())
    return async (target, headers = {}) => {
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
      return statusOf(await client.ask(`GET ${target} HTTP/1.1\r\nHost: h.test\r\n${lines.join('')}\r\n`, 'GET'))
    }
  }
  const session = connectHttp2(`http://127.0.0.1:${port}`)
  t.after(() => session.destroy())
  return (target, headers = {}) =>
    new Promise((resolve, reject) => {
      const stream = session.request({ ':path': target, ':authority': 'h.test', ...headers }, { endStream: true })
      stream.on('response', (fields) => resolve(Number(fields[':status'])))
      stream.on('error', reject)
      stream.resume()
    })
}

const LETTERS = ['a', 'Z', '0', '-', '.', '_', '~', '!', '$', '&', "'", '(', ')', '*', '+', ',', ';', '=', ':', '@']
/** Left bare, or made an escape, by the serialiser of WHATWG URL. */
const BARE = ['|', '[', ']', '{', '}', '^', '`', '"', '<', '>', ' ', 'é', '日', '😀']
const IN_PATH = fc.constantFrom(
  ...LETTERS,
  ...BARE,
  '/',
  '//',
  '%79',
  '%7e',
  '%C3%A9',
  '%c3%a9',
  '%20',
  '/./',
  '/x/../',
  '\x01',
  '\x7f',
)
const IN_QUERY = fc.constantFrom(
  ...LETTERS,
  ...BARE,
  '/',
  '?',
  '\\',
  '%',
  '%7',
  '%zz',
  '%79',
  '%c3',
  '%2f',
  '..',
  'a=b&',
  '\0',
  '%00',
  '\x01',
  '\x7f',
)
const reference = fc
  .tuple(fc.array(IN_PATH, { maxLength: 12 }), fc.option(fc.array(IN_QUERY, { maxLength: 12 })))
  .map(([path, query]) => `${path.join('')}${query === null ? '' : `?${query.join('')}`}`)

/** A path as an upstream gets it: as the URL has it, with escapes for bytes that no path holds bare, never two slashes first. */
function forwarded(path: string): string {
  return path
    .replace(/[[\]{}|^`]/g, encodeURIComponent)
    .replace('^', '%5E')
    .replace(/^\/+/, '/')
}

for (const version of VERSIONS) {
  test(`over HTTP/${version} every URL of a browser is served, and goes on as it was sent`, async (t) => {
    const origin = await startOrigin()
    t.after(() => origin.close())
    const gateway = await startTestGateway()
    t.after(() => gateway.close())
    const rewritten = (pattern: string, rewriteTo: string) => ({
      paths: { '/*': { get: { operationId: 'all', responses: { 200: { description: 'ok' } } } } },
      operations: { all: { urlRewrite: { enabled: true, pattern, rewriteTo } } },
    })
    const whole = { listenPath: { value: '/whole/', strip: false } }
    for (const api of [
      defined({ id: 'strip', url: origin.url, server: { batchProcessing: { enabled: true } } }),
      defined({ id: 'whole', url: origin.url, server: whole }),
      defined({ id: 'rewrite', url: origin.url, ...rewritten('^/?[^?]*(\\?.*)?$', '/w$1') }),
      defined({ id: 'placed', url: origin.url, ...rewritten('\\?(.*)$', '/p/$1') }),
      defined({ id: 'inner', url: 'svc://strip' }),
    ]) {
      const made = await gateway.svc('POST', '/svc/apis/oas', api)
      assert.equal(made.status, 200, made.text)
    }
    const signed = classicApi('H', '/signed/', {
      ...{ api_id: 'h', use_keyless: false, enable_signature_checking: true, hmac_allowed_clock_skew: -1 },
      proxy: { listen_path: '/signed/', target_url: origin.url, strip_listen_path: true },
    })
    assert.equal((await gateway.svc('POST', '/svc/apis', signed)).status, 200)
    const key = { access_rights: rightsOn('h'), hmac_enabled: true, hmac_string: SECRET }
    const keyId = String(((await gateway.svc('POST', '/svc/keys/create', key)).json as { key: string }).key)
    const signature = (target: string) => {
      const text = `(request-target): get ${target}\ndate: ${DATE}`
      const value = createHmac('sha256', SECRET).update(text).digest('base64')
      const covers = 'headers="(request-target) date"'
      return {
        date: DATE,
        authorization: `Signature keyId="${keyId}",algorithm="hmac-sha256",${covers},signature="${value}"`,
      }
    }
    const ask = await asker(t, gateway.port, version)
    const seen = async (target: string, headers?: Record<string, string>) => {
      const before = origin.seen.length
      const status = await ask(target, headers)
      assert.equal(status, 200, target)
      assert.equal(origin.seen.length, before + 1, target)
      return origin.seen.at(-1)!.target
    }
    await fc.assert(
      fc.asyncProperty(reference, async (text) => {
        const urlAt = (api: string) => new URL(`http://h.test/${api}/${text}`)
        const url = urlAt('strip')
        // Below the listen path, and without a segment that only looks like one of dots.
        fc.pre(url.pathname.startsWith('/strip/') && !/\/\.{1,2};/.test(url.pathname))
        const search = url.href.slice(url.origin.length + url.pathname.length)
        const rest = url.pathname.slice('/strip'.length)
        assert.equal(await seen(`/strip${rest}${search}`), forwarded(rest) + search)
        assert.equal(await seen(`/whole${rest}${search}`), forwarded(`/whole${rest}`) + search)
        assert.equal(await seen(`/inner${rest}${search}`), forwarded(rest) + search)
        const target = `/signed${rest}${search}`
        assert.equal(await seen(target, signature(target)), forwarded(rest) + search)
        assert.equal(await seen(`/rewrite${rest}${search}`), `/w${search}`)
        const query = search.slice(1).split('?')[0]!
        if (!/\\|%2f|(?:^|\/)\.{1,2}(?:[/;]|$)|%c3|%00/.test(query)) {
          const place = query.replace(
            /[[\]{}|^`]|%(?![0-9a-f]{2})/gi,
            (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
          )
          if (search.length > 1) assert.equal(await seen(`/placed/x?${query}`), `/p/${place}`)
        }
        // No path holds a NUL, whatever it is made of.
        if (/%00/.test(query)) assert.equal(await ask(`/placed/x?${query}`), 400)
      }),
      {
        numRuns: process.env.GATEHOUSE_DEEP === '1' ? 2000 : 60,
        examples: [
          ['a|b[1]{2}^`?c|d[1]{2}^`\\%'],
          ['//a//b/%79/%c3%a9/%C3%A9?x=%'],
          ['https://cdn.test/a.png?w=1|2'],
          ['?a=b%00&c\0=d'],
          ['?'],
        ],
      },
    )
  })
}

test('a part of a batch is asked with the URL that a browser would write', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  const api = defined({ id: 'b', url: origin.url, server: { batchProcessing: { enabled: true } } })
  assert.equal((await gateway.svc('POST', '/svc/apis/oas', api)).status, 200)
  await fc.assert(
    fc.asyncProperty(reference, fc.boolean(), async (text, serialised) => {
      const url = new URL(`http://h.test/b/${text}`)
      fc.pre(url.pathname.startsWith('/b/') && !/\/\.{1,2};/.test(url.pathname))
      const search = url.href.slice(url.origin.length + url.pathname.length)
      const rest = url.pathname.slice('/b/'.length)
      // JSON may hold characters that a URL has as escapes, but no blanks.
      const written = serialised || /[ "<>\p{Cc}]/u.test(text) ? `${rest}${search}` : text
      const body = JSON.stringify({ requests: [{ method: 'GET', relative_url: written }] })
      const answer = await gateway.call('/b/svc/batch/', { method: 'POST', body })
      assert.equal((answer.json as { code: number }[])[0]?.code, 200, written)
      if (serialised) assert.equal(origin.seen.at(-1)!.target, forwarded(`/${rest}`) + search)
    }),
    {
      numRuns: process.env.GATEHOUSE_DEEP === '1' ? 2000 : 60,
      examples: [
        ['é/日?ö=ü', false],
        ['a|b?c|[d]%', true],
      ],
    },
  )
})

test('stored answers are apart by the spelling that the upstream gets', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  origin.script = ({ target }, response) => {
    response.writeHead(200, { 'cache-control': 'max-age=60' })
    response.end(target)
  }
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  const global = { cache: { enabled: true, timeout: 60, cacheAllSafeRequests: true } }
  const whole = { listenPath: { value: '/whole/', strip: false } }
  for (const api of [
    defined({ id: 'strip', url: origin.url, global }),
    defined({ id: 'whole', url: origin.url, global, server: whole }),
  ])
    assert.equal((await gateway.svc('POST', '/svc/apis/oas', api)).status, 200)
  const spellings = ['x/y', 'x/%79', 'x//y', '%78/y', 'x/y?', 'x/y?a=%7e', 'x/y?a=~', 'x/y?a=%7E', '%c3%a9', '%C3%A9']
  for (const version of VERSIONS) {
    const ask = await asker(t, gateway.port, version)
    for (const [api, before] of [
      ['strip', ''],
      ['whole', '/whole'],
    ]) {
      for (const spelling of spellings) {
        for (let times = 0; times < 2; times++) assert.equal(await ask(`/${api}/${spelling}`), 200)
        // Dot segments are resolved, so this is the same to the upstream too.
        assert.equal(await ask(`/${api}/./z/../${spelling}`), 200)
      }
      const asked = origin.seen.splice(0).map(({ target }) => target)
      const wanted = version === '1.1' ? spellings.map((spelling) => `${before}/${spelling}`) : []
      assert.deepEqual(asked, wanted, `each once, and over HTTP/${version} from what is stored`)
    }
  }
})
