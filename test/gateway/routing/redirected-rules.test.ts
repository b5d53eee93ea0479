import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PATH_MATCHINGS } from '../../../src/model/apis/definition/api.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { defined } from '../../worlds/base/definitions.ts'
import { install } from '../../worlds/gateway/module-fixtures.ts'

const operation = (operationId: string): JsonObject => ({
  get: { operationId, responses: { 200: { description: 'ok' } } },
})
const rewriting = (rewriteTo: string) => ({ urlRewrite: { enabled: true, pattern: '.*', rewriteTo } })

/** Paths of the front, and where each leads behind it: to a path of another API, or of the front itself. */
const WAYS = {
  other: (word: string) => `svc://behind/${word}`,
  self: (word: string) => `svc://self/${word}`,
}

for (const pathMatching of PATH_MATCHINGS) {
  test(`rules hold for the path that a request is led to: ${pathMatching}`, async (t) => {
    const at = await install(t)
    at.write('m.ts', `export function lead(x: any) { if (x.path === '/module') x.path = '/secret' }`)
    const server = { pathMatching }
    const leading = Object.entries(WAYS).flatMap(([way, to]) =>
      ['secret', 'moved', 'open'].map((word) => [`${way}-${word}`, to(word)] as const),
    )
    const rules = { secret: { block: { enabled: true } }, moved: rewriting('/new') }
    const paths = { '/secret': operation('secret'), '/moved': operation('moved') }
    const front = defined({
      id: 'front',
      url: at.origin.url,
      server,
      paths: { ...paths, ...Object.fromEntries(leading.map(([name]) => [`/${name}`, operation(name)])) },
      operations: { ...rules, ...Object.fromEntries(leading.map(([name, to]) => [name, rewriting(to)])) },
      global: {
        pluginConfig: { driver: 'typescript' },
        prePlugins: [{ enabled: true, functionName: 'lead', path: 'm.ts' }],
      },
    })
    const behind = defined({ id: 'behind', url: at.origin.url, server, paths, operations: rules })
    for (const document of [behind, front]) {
      const { status, text } = await at.publish(document)
      assert.equal(status, 200, text)
    }
    for (const way of Object.keys(WAYS)) {
      const call = (word: string) => at.gateway.call(`/front/${way}-${word}`)
      assert.equal((await call('secret')).status, 403, `${way}: blocked behind`)
      assert.equal((await call('moved')).status, 200)
      assert.equal(at.origin.seen.at(-1)!.target, '/new', `${way}: rewritten behind`)
      assert.equal((await call('open')).status, 200)
      assert.equal(at.origin.seen.at(-1)!.target, '/open', `${way}: no rule of the path that it came with`)
    }
    assert.equal((await at.gateway.call('/front/module')).status, 403, 'led there by a module')
  })
}
