import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { CATALOG, type FaultCode } from '../../src/errors/catalog.ts'
import { CAUSES } from '../../src/errors/causes.ts'
import { REQUEST_EXAMPLES } from '../../src/gateway/admin-openapi/request-examples.ts'
import { isObject, type JsonObject } from '../../src/model/json/json.ts'
import { startTestGateway } from '../worlds/base/harness.ts'
import { startTestDashboard } from '../worlds/dashboard/harness.ts'

type Operations = Record<string, Record<string, JsonObject>>

const documentOf = (file: string) =>
  JSON.parse(readFileSync(join(import.meta.dirname, '../../docs/generated', file), 'utf8')) as JsonObject

const FILES = ['svc-openapi.json', 'openapi.json']

/** Every body and successful answer in JSON or a form: where it is, and its example. */
function contents(
  document: JsonObject,
): { readonly at: string; readonly pointer: string; readonly example: unknown }[] {
  return Object.entries(document.paths as Operations).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, { requestBody, responses }]) => {
      const holders: [string, JsonObject][] = [
        ...(isObject(requestBody ?? null) ? [['requestBody', requestBody as JsonObject] as [string, JsonObject]] : []),
        ...Object.entries(responses as Record<string, JsonObject>)
          .filter(([status]) => status.startsWith('2'))
          .map(([status, response]): [string, JsonObject] => [`responses/${status}`, response]),
      ]
      return holders.flatMap(([holder, { content }]) =>
        Object.entries((content ?? {}) as Record<string, JsonObject>)
          .filter(([type]) => /json|urlencoded/.test(type))
          .map(([type, { example }]) => {
            const words = ['paths', path, method, ...holder.split('/'), 'content', type, 'schema']
            const pointer = words
              .map((word) => encodeURIComponent(word.replaceAll('~', '~0').replaceAll('/', '~1')))
              .join('/')
            return { at: `${method.toUpperCase()} ${path} ${holder}`, pointer, example }
          }),
      )
    }),
  )
}

for (const file of FILES)
  test(`every call of ${file} has a description, and examples that fit its schemas`, () => {
    const document = documentOf(file)
    const ajv = new Ajv({ strict: false, allErrors: true })
    addFormats.default(ajv)
    ajv.addFormat('binary', true)
    ajv.addSchema(document, 'document')
    const all = contents(document)
    assert.ok(all.length > 60)
    const flaws = all.flatMap(({ at, pointer, example }) => {
      if (example === undefined) return [`${at}: no example`]
      const check = ajv.compile({ $ref: `document#/${pointer}` })
      return check(example) ? [] : [`${at}: ${ajv.errorsText(check.errors)}`]
    })
    assert.deepEqual(flaws, [])
    const short = Object.entries(document.paths as Operations).flatMap(([path, item]) =>
      Object.entries(item).flatMap(([method, { description, summary }]) => {
        const words = String(description).replace(/(?:Needs|For) [^.]*\.\s*$/, '')
        return words.length < 10 || words === summary
          ? [`${method.toUpperCase()} ${path}: "${String(description)}"`]
          : []
      }),
    )
    assert.deepEqual(short, [])
  })

test('every error has a cause and a cure', () => {
  for (const code of Object.keys(CATALOG) as FaultCode[])
    for (const text of CAUSES[code]) assert.match(text, /^[\p{Lu}`].+\.$/u, code)
})

/** A word for each placeholder of a path, by the name of the operation where it is not one of the examples. */
const PLACES: Readonly<Record<string, string>> = { id: 'gold', org: '5e9d9544a1dcd60001d0ed20', cid: 'bookkeeper' }
const API_OF: Readonly<Record<string, string>> = { updateApi: 'orders' }

test('the gateway takes the example of every call, in the order of the table', async (t) => {
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  const paths = documentOf('svc-openapi.json').paths as Operations
  const calls = new Map(
    Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(
        ([method, { operationId }]) => [String(operationId), { method: method.toUpperCase(), path }] as const,
      ),
    ),
  )
  let key = ''
  let hash = ''
  const sent: string[] = []
  for (const [id, body] of Object.entries(REQUEST_EXAMPLES)) {
    const { method, path } = calls.get(id)!
    const own = id === 'createCustomKey' ? 'a-key-of-another-system' : key
    const places = { ...PLACES, key: own, hash, api: API_OF[id] ?? 'ledger' }
    const filled = path.replace(/\{(\w+)\}/g, (_all, name: string) => places[name as keyof typeof places])
    const query = id === 'importOpenapiApi' ? '?listenPath=/weather/' : ''
    const { status, text, json } = await gateway.svc(method, `${filled}${query}`, body)
    assert.equal(status, 200, `${id}: ${text}`)
    if (id === 'createKey') ({ key, key_hash: hash } = json as { key: string; key_hash: string })
    sent.push(id)
  }
  const withBody = [...calls].filter(([, { method, path }]) => 'requestBody' in paths[path]![method.toLowerCase()]!)
  assert.deepEqual(
    withBody.map(([id]) => id).filter((id) => !sent.includes(id)),
    ['createCertificate'],
  )
})

test('the dashboard serves the document of the gateway, and a page that reads both', async (t) => {
  const { adminDocument, dashboard } = await startWithDocument(t)
  const served = await dashboard.call('GET', '/api/svc-openapi.json')
  assert.deepEqual(served.json, adminDocument)
  const page = (await dashboard.call('GET', '/api/docs')).text
  assert.match(page, /\/api\/openapi\.json[\s\S]*\/api\/svc-openapi\.json[\s\S]*showDeveloperTools&quot;:&quot;never/)
})

async function startWithDocument(t: TestContext) {
  const dashboard = await startTestDashboard()
  t.after(() => dashboard.close())
  const { info, ...rest } = documentOf('svc-openapi.json')
  const adminDocument = { ...rest, info: { ...(info as JsonObject), version: '0.0.0-test' } }
  return { adminDocument, dashboard }
}
