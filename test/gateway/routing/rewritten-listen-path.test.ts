import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toOas } from '../../../src/model/apis/convert/convert.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

/** Patterns and what they lead to. */
const REWRITES = [
  ['(.*)', '$1/more'],
  ['(.*)', '/v2$1'],
  ['/k(.*)', '/in/z$1'],
  ['/k(.*)', 'in/z$1'],
  ['/k(.*)', '/inner/z$1'],
  ['/k(.*)', '/in'],
  ['/k(.*)', '/in/'],
  ['/k(.*)', '/in?q=1'],
  ['/k(.*)', '{{up}}/in/abs$1'],
  ['/k(.*)', '/a/in/z'],
  ['^/in/k(.*)$', '/in/in/z$1'],
  ['^/in(/k.*)$', '/in$1'],
  ['/k(.*)', '/IN/z'],
  ['/k(.*)', '/in//z'],
  ['/k(.*)', '/in/%20z'],
] as const
const ASKED = ['/k', '/k/1?x=2', '/k/in/k']

interface Served {
  readonly strips: boolean
  readonly base: string
}

/** The path that reaches the upstream where the gateway before took the listen path off whatever a rewrite had made. */
function expected([pattern, to]: readonly [string, string], asked: string, { strips, base }: Served): string {
  const found = new RegExp(pattern).exec(`/in${asked}`)!
  const made = to.replaceAll(/\$(\d)/g, (_, group) => found[Number(group)] ?? '')
  const isElsewhere = made.startsWith('{{up}}')
  const [path = '', ...query] = made.replace('{{up}}', '').split('?')
  const bare = strips && path.startsWith('/in/') ? path.slice('/in/'.length) : path
  const rest = bare.startsWith('/') ? bare : `/${bare}`
  // A target with a path takes no slash more where there is no rest.
  const whole = isElsewhere ? rest : rest === '/' && base !== '' ? base : base + rest
  return [whole, ...query].join('?')
}

test('what a rewrite leads to loses the listen path where the path of the request does', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  for (const strips of [true, false])
    for (const base of ['', '/base'])
      for (const [at, [match_pattern, to]] of REWRITES.entries()) {
        const rule = { path: '/k', method: 'GET', match_pattern, rewrite_to: to.replace('{{up}}', origin.url) }
        const version = { name: 'Default', use_extended_paths: true, extended_paths: { url_rewrites: [rule] } }
        const classic: JsonObject = {
          ...{ api_id: 'in', name: 'in', active: true, use_keyless: true, path_matching: 'contains' },
          version_data: { not_versioned: true, versions: { Default: version } },
          proxy: { listen_path: '/in/', target_url: origin.url + base, strip_listen_path: strips },
        }
        const isConverted = at % 2 === 1
        const saved = await gateway.svc(
          'POST',
          isConverted ? '/svc/apis/oas' : '/svc/apis',
          isConverted ? toOas(classic).document : classic,
        )
        assert.equal(saved.status, 200, saved.text)
        for (const asked of ASKED) {
          await gateway.call(`/in${asked}`)
          const wanted = expected([match_pattern, to], asked, { strips, base })
          assert.equal(origin.seen.at(-1)?.target, wanted, `${match_pattern} to ${to} ${asked} strip ${strips} ${base}`)
        }
        await gateway.svc('DELETE', `/svc/apis/${isConverted ? 'oas/' : ''}in`)
      }
})
