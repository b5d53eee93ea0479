import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { call } from '../../worlds/base/client.ts'
import { startTestDashboard } from '../../worlds/dashboard/harness.ts'

const DIST = join(import.meta.dirname, '../../../console/dist')
const HTML = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const MOST_FIRST_BYTES = 160_000

async function dashboard(t: TestContext) {
  const { port, close } = await startTestDashboard()
  t.after(close)
  return (path: string, headers: Record<string, string> = {}, method = 'GET') => call(port, path, { method, headers })
}

/** Names of the files that a page or script names without waiting to be asked for them. */
function staticImports(text: string): string[] {
  const pattern = /(?:\bimport|\bfrom)\s*["']\.\/([\w.-]+\.js)["']/g
  return [...text.matchAll(pattern)].map(([, name]) => name!)
}

test('every address that is no call serves the page, with its own nonce and a strict policy', async (t) => {
  const get = await dashboard(t)
  const nonces = new Set<string>()
  for (const path of ['/', '/apis', '/apis/x?tab=keys', '/apis/%2e%2e/%2e%2e', '/reset-password', '/a/b/c', '/🙂']) {
    const { status, headers, text } = await get(encodeURI(decodeURI(path)), HTML)
    assert.equal(status, 200, path)
    assert.match(String(headers['content-type']), /^text\/html/)
    assert.equal(headers['cache-control'], 'no-store')
    const policy = new Map(
      String(headers['content-security-policy'])
        .split('; ')
        .map((rule): [string, string] => [rule.split(' ')[0]!, rule]),
    )
    const nonce = /'nonce-([^']+)'/.exec(policy.get('script-src') ?? '')?.[1] ?? ''
    assert.match(nonce, /^[\w+/]{22}==$/)
    nonces.add(nonce)
    assert.equal(policy.get('default-src'), "default-src 'none'")
    assert.equal(policy.get('frame-ancestors'), "frame-ancestors 'none'")
    assert.ok(!/unsafe|https?:|\*/.test([...policy.values()].join()), 'nothing is allowed from elsewhere')
    assert.ok(!text.includes('__NONCE__'))
    assert.ok(!/<script(?![^>]*nonce=")/.test(text), 'every script carries the nonce')
    assert.ok(text.includes(`nonce="${nonce}"`))
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.equal(headers['x-frame-options'], 'DENY')
  }
  assert.equal(nonces.size, 7, 'a nonce is used once')
})

test('what is a call, or is not asked for by a browser, is refused as JSON', async (t) => {
  const get = await dashboard(t)
  for (const path of ['/api/nothing', '/api', '/admin/x', '/portal/x', '/auth/x', '/svc/x', '/console/assets/x.js']) {
    const { status, headers, text } = await get(path, HTML)
    assert.ok(status >= 400 && status < 500, `${path} ${status}`)
    assert.match(String(headers['content-type']), /^application\/json/, path)
    assert.ok(!text.includes('<script'), path)
  }
  const plain = await get('/apis', { accept: 'application/json' })
  assert.equal(plain.status, 404)
  assert.equal((plain.json as JsonObject).Status, 'Error')
  assert.equal((await get('/apis', HTML, 'POST')).status, 404)
})

test('HEAD is answered as GET is, without the page', async (t) => {
  const get = await dashboard(t)
  const [script] = firstFiles()
  const file = await get(`/console/assets/${script}`, {}, 'HEAD')
  assert.deepEqual([file.status, file.text], [200, ''])
  assert.ok(Number(file.headers['content-length']) > 0)
  const page = await get('/apis', HTML, 'HEAD')
  assert.deepEqual([page.status, page.text], [200, ''])
  assert.match(String(page.headers['content-type']), /^text\/html/)
})

test('files come compressed to whoever takes that, and are kept for good', async (t) => {
  const get = await dashboard(t)
  const [script] = firstFiles()
  const path = `/console/assets/${script}`
  const plain = readFileSync(join(DIST, 'assets', script!))
  for (const [encoding, ending, open] of [
    ['br', '.br', brotliDecompressSync],
    ['gzip', '.gz', gunzipSync],
  ] as const) {
    const { status, headers } = await get(path, { 'accept-encoding': encoding })
    assert.deepEqual([status, headers['content-encoding']], [200, encoding])
    assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable')
    assert.match(String(headers.vary), /accept-encoding/i)
    const stored = readFileSync(join(DIST, 'assets', script! + ending))
    assert.equal(Number(headers['content-length']), stored.length)
    assert.ok(open(stored).equals(plain))
  }
  const whole = await get(path)
  assert.equal(whole.headers['content-encoding'], undefined)
  assert.match(String(whole.headers['content-type']), /javascript/)
  assert.equal((await get('/console/mark.svg')).headers['cache-control'], 'no-cache')
})

test('no path leads out of the folder of the console', async (t) => {
  const get = await dashboard(t)
  const climbs = ['../', '..%2f', '%2e%2e/', '%2e%2e%2f', '..%5c', '....//', '..%252f', '%c0%ae%c0%ae/', './/../']
  for (const climb of climbs)
    for (const from of ['/console/', '/console/assets/', '/console//assets/'])
      for (const depth of [1, 2, 3, 4]) {
        const path = `${from}${climb.repeat(depth)}package.json`
        const { status, text } = await get(path, HTML)
        assert.ok(!text.includes('"gatehouse"'), `${path} ${status}`)
        assert.ok(status < 500, `${path} ${status}`)
      }
  for (const path of ['/console/', '/console/assets', '/console/assets/', '/console/%00', '/console/.built']) {
    const { text, status } = await get(path, HTML)
    assert.ok(status >= 400 && status < 500, `${path} ${status}`)
    assert.ok(!text.includes('assets/'), 'no list of files')
  }
})

test('the first load is below 250 kB of compressed script', (t) => {
  const files = firstFiles()
  const bytes = files.reduce((sum, name) => sum + gzipSync(readFileSync(join(DIST, 'assets', name))).length, 0)
  t.diagnostic(`${bytes} bytes of script in ${files.length} files, gzip`)
  assert.ok(bytes < MOST_FIRST_BYTES, `${bytes} bytes: ${files.join(', ')}`)
})

/** Scripts that a browser needs before the page is there: those that it names, and what these import. */
function firstFiles(): readonly string[] {
  const index = join(DIST, 'index.html')
  assert.ok(existsSync(index), 'the console is not built: run the tests by `npm test`')
  const page = readFileSync(index, 'utf8')
  const found = new Set([...page.matchAll(/\/console\/assets\/([\w.-]+\.js)/g)].map(([, name]) => name!))
  assert.ok(found.size > 0)
  for (const name of found)
    for (const next of staticImports(readFileSync(join(DIST, 'assets', name), 'utf8'))) found.add(next)
  return [...found]
}
