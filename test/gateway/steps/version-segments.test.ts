import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

/** Versions by their names, those that the pattern does not describe among them. */
const VERSIONS = {
  v1: { name: 'v1' },
  beta: { name: 'beta', use_extended_paths: true, extended_paths: { black_list: [{ path: '/x', method: 'GET' }] } },
  old: { name: 'old', expires: '2006-01-02 15:04' },
}
type Answer = readonly [status: number, path?: string]

/** A name is that of its version whatever the pattern, which says what is stripped and what falls back. */
function expected(asked: string, strips: boolean, falls: boolean): Answer {
  if (asked === 'beta' || asked === 'old') return [403]
  if (asked === 'v1') return [200, strips ? '/x' : '/v1/x']
  if (!falls) return [404]
  return [200, strips && asked === 'v9' ? '/x' : `/${asked}/x`]
}

test('a segment that names a version is that version, though it does not fit the pattern', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  for (const strips of [true, false])
    for (const falls of [true, false]) {
      const saved = await gateway.svc('POST', '/svc/apis', {
        ...{ api_id: 'seg', name: 'seg', active: true, use_keyless: true },
        definition: {
          ...{ location: 'url', strip_versioning_data: strips, fallback_to_default: falls },
          url_versioning_pattern: '^v\\d+$',
        },
        version_data: { not_versioned: false, default_version: 'v1', versions: VERSIONS },
        proxy: { listen_path: '/seg/', target_url: origin.url, strip_listen_path: true },
      })
      assert.equal(saved.status, 200, saved.text)
      for (const asked of ['v1', 'beta', 'old', 'v9', 'other']) {
        const { status } = await gateway.call(`/seg/${asked}/x`)
        const [wanted, path] = expected(asked, strips, falls)
        const where = `${asked} strip ${strips} fallback ${falls}`
        assert.equal(status, wanted, where)
        if (path !== undefined) assert.equal(origin.seen.at(-1)?.target, path, where)
      }
      assert.equal((await gateway.svc('DELETE', '/svc/apis/seg')).status, 200)
    }
})
