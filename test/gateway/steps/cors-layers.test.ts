import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { type Draft, defined } from '../../worlds/base/definitions.ts'
import { sendExactly, VERSIONS, valuesOf } from '../../worlds/gateway/exact-fields.ts'
import { install } from '../../worlds/gateway/module-fixtures.ts'

const APP = 'https://app.example'
const SAID = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Credentials': 'true',
  'Access-Control-Expose-Headers': 'X-Secret',
  Vary: 'Accept',
}
const PAIRS = Object.entries(SAID).map(([name, value]) => ({ name, value }))
const MODULE = `
  const said = ${JSON.stringify(SAID)}
  export const answers = (x: any) => x.answer(200, { headers: said, body: 'module' })
  export const replaces = (answer: any, x: any) => x.answer(200, { headers: said, body: 'module' })
  export const edits = (answer: any) => Object.entries(said).forEach(([name, value]) => answer.headers.set(name, value))
  export const hides = (answer: any) => {
    for (const name of Object.keys(said)) answer.headers.delete(name)
    answer.headers.set('Access-Control-Allow-Origin', '*')
  }
`

const plugin = (list: string, functionName: string): JsonObject => ({
  pluginConfig: { driver: 'typescript' },
  [list]: [{ enabled: true, functionName, path: 'm.ts' }],
})
const overrides = (status: string): JsonObject => ({
  errorOverrides: { enabled: true, value: { [status]: [{ response: { headers: SAID } }] } },
})
const anywhere = (rules: JsonObject): Partial<Draft> => ({
  paths: { '/x': { get: { operationId: 'x', responses: { '200': { description: 'x' } } } } },
  operations: { x: rules },
})
const edits = { transformResponseHeaders: { enabled: true, add: PAIRS } }

/** Each layer that can put a field on an answer, or take one from it. */
const LAYERS: Readonly<Record<string, Partial<Draft> & { readonly more?: JsonObject }>> = {
  api: { global: edits },
  operation: anywhere(edits),
  mock: anywhere({ mockResponse: { enabled: true, code: 200, body: 'mock', headers: PAIRS } }),
  error: { more: overrides('500') },
  refusal: { keyIn: 'X-Key', more: overrides('401') },
  pre: { global: plugin('prePlugins', 'answers') },
  authenticated: { global: plugin('postAuthenticationPlugins', 'answers') },
  post: { global: plugin('postPlugins', 'answers') },
  replaced: { global: plugin('responsePlugins', 'replaces') },
  edited: { global: plugin('responsePlugins', 'edits') },
  hidden: { global: plugin('responsePlugins', 'hides') },
}

test('no layer of an answer says which origins may read it where CORS is on', async (t) => {
  const at = await install(t)
  at.write('m.ts', MODULE)
  at.origin.script = (_request, response) => response.writeHead(500, SAID).end('{}')
  const rules = { cors: { enabled: true, allowedOrigins: [APP], allowCredentials: true } }
  const publish = async (draft: Draft, more: JsonObject = {}) => {
    const definition = defined(draft)
    Object.assign(definition['x-svc-api-gateway'] as JsonObject, more)
    const made = await at.publish(definition)
    assert.equal(made.status, 200, made.text)
  }
  for (const [layer, { more, ...draft }] of Object.entries(LAYERS)) {
    const { url } = at.origin
    await publish({ ...draft, id: `off-${layer}`, url }, more)
    await publish({ ...draft, id: `on-${layer}`, url, global: { ...draft.global, ...rules } }, more)
    await publish({ id: `to-${layer}`, url: `svc://off-${layer}/`, global: rules })
    for (const version of VERSIONS)
      for (const from of [APP, 'https://evil.example']) {
        const ask = (id: string) =>
          sendExactly(at.gateway.port, version, { path: `/${id}-${layer}/x`, fields: [['Origin', from]] })
        assert.deepEqual(valuesOf(await ask('off'), 'access-control-allow-origin'), ['*'], `${layer} says something`)
        for (const id of ['on', 'to']) {
          const answer = await ask(id)
          const what = `${id}-${layer} ${version} ${from} ${JSON.stringify(answer.fields)}`
          const allowed = from === APP
          assert.deepEqual(valuesOf(answer, 'access-control-allow-origin'), allowed ? [APP] : [], what)
          assert.deepEqual(valuesOf(answer, 'access-control-allow-credentials'), allowed ? ['true'] : [], what)
          assert.deepEqual(valuesOf(answer, 'access-control-expose-headers'), [], what)
          assert.match(valuesOf(answer, 'vary').join(', '), /\bOrigin\b/i, what)
        }
      }
  }
})
