import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { importCommand } from '../../src/cli/import/import-command.ts'
import type { Containing } from '../../src/model/apis/definition/api.ts'
import type { JsonObject } from '../../src/model/json/json.ts'
import { compilePattern } from '../../src/model/patterns/pattern.ts'
import { explicitPaths } from '../../src/model/sessions/explicit-paths.ts'
import { readIncumbent } from '../../src/process/import-source.ts'
import { classic } from '../worlds/base/definitions.ts'
import { folderFor, runLine, startEnvironment } from '../worlds/flows/moves-world.ts'

/** True where the gateway before finds a path of `allowed_urls` in a request, as it documents its settings. */
function findsThere(url: string, matching: Containing, listenPath: string, path: string): boolean {
  const [prefix, suffix] = [matching === 'begins' || matching === 'whole', matching === 'ends' || matching === 'whole']
  const [opened, closed] = [url.split('{').length, url.split('}').length]
  let text = opened > 1 && opened === closed ? url.replace(/\{[^}]+\}/g, '([^/]+)') : url
  text = text.replaceAll('/*/', '/[^/]+/').replaceAll('/*', '/.*')
  if (prefix && text.startsWith('/')) text = `^${text}`
  if (suffix && !text.endsWith('$')) text += '$'
  if (!prefix) return new RegExp(text).test(path)
  const below = path.startsWith(listenPath) ? path.slice(listenPath.length) : path
  if (/^[$^]*$/.test(text)) return false
  return [below.startsWith('/') ? below : `/${below}`, path].some((each) => new RegExp(text).test(each))
}

test('paths of rights find the requests that they found by prefix and suffix matching', () => {
  const piece = fc.constantFrom('/', '/a', '/b', '/*', '/*/', '/{id}', 'a', '(a|b)', '$')
  const url = fc
    .tuple(fc.constantFrom('', '^', '/'), fc.array(piece, { maxLength: 4 }))
    .map(([start, pieces]) => start + pieces.join(''))
  const tail = fc.array(fc.constantFrom('a', 'b', 'ab'), { maxLength: 4 }).map((parts) => parts.join('/'))
  const listenPath = fc.constantFrom('/', '/a/', '/a.b/', '/a/b/')
  const matching = fc.constantFrom<Containing>('contains', 'begins', 'ends', 'whole')
  fc.assert(
    fc.property(url, tail, listenPath, matching, (given, rest, listens, how) => {
      const right = { x: { allowed_urls: [{ url: given, methods: ['GET'] }] } }
      const { x } = explicitPaths(right, { matching: how, listenPathOf: () => listens }).rights as typeof right
      const [path, made] = [`${listens}${rest}`, x.allowed_urls[0]!.url]
      assert.equal(
        compilePattern(made).test(path),
        findsThere(given, how, listens, path),
        `${given} is ${made} at ${path}`,
      )
    }),
    { numRuns: 5_000 },
  )
})

test('an import writes the paths of policies out, and callers are let in as before', async (t) => {
  const folder = folderFor(t)
  const allowed_urls = [{ url: '/get', methods: ['GET'] }]
  const access_rights = { books: { api_id: 'books', api_name: 'books', versions: ['Default'], allowed_urls } }
  const files: Readonly<Record<string, JsonObject>> = {
    'api.json': classic('books', '/books/', 'http://upstream.test/', {
      ...{ use_keyless: false, auth: { auth_header_name: 'Authorization' } },
    }),
    'policy.json': { id: 'reader', name: 'Reader', active: true, rate: 10, per: 1, access_rights },
  }
  for (const [name, body] of Object.entries(files)) writeFileSync(join(folder, name), JSON.stringify(body))
  const world = await startEnvironment(t)
  const where = ['-d', `http://127.0.0.1:${world.dashboard.port}/`, '-s', world.admin.key, '--definitions', folder]
  const take = (...more: string[]) =>
    runLine(['import', ...where, '--path-matching', 'whole', ...more], {}, [importCommand(readIncumbent)])
  assert.match((await take()).out, /paths of the right on API books \(allowed_urls\) are written out/)
  assert.equal((await take('--yes')).status, 0)
  const policy = JSON.stringify(await world.ask('GET', '/api/portal/policies/reader'))
  assert.ok(policy.includes(JSON.stringify('^(?:/books)?/get$')), policy)
})
