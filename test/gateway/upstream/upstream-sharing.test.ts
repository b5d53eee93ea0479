import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defined } from '../../worlds/base/definitions.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { balanced, origins } from '../../worlds/gateway/upstream-fixtures.ts'

/** Ways in which an API can name the same origin. */
const WAYS = {
  plain: () => ({}),
  balanced: (url: string) => ({ loadBalancing: balanced([url]) }),
  cared: (url: string) => ({ loadBalancing: balanced([url]), retries: { enabled: true, attempts: 1 } }),
}

test('a connection to an upstream carries requests of one organisation alone', async (t) => {
  const [origin] = await origins(t, 1)
  const orgsOn = new Map<number, Set<string>>()
  origin!.script = ({ target }, response, { socket }) => {
    const port = socket.remotePort!
    orgsOn.set(port, (orgsOn.get(port) ?? new Set()).add(target.split('/')[1]!))
    response.end('ok')
  }
  const gateway = await startTestGateway({})
  t.after(() => gateway.close())
  const orgs = ['one', 'two', 'three']
  for (const org of orgs) {
    for (const [way, upstream] of Object.entries(WAYS)) {
      const url = `${origin!.url}/${org}`
      const definition = defined({ id: `${org}-${way}`, url, info: { orgId: org }, upstream: upstream(url) })
      assert.equal((await gateway.svc('POST', '/svc/apis/oas', definition)).status, 200)
    }
  }
  for (let round = 0; round < 3; round++) {
    for (const way of Object.keys(WAYS)) {
      for (const org of orgs) {
        for (const method of ['GET', 'POST', 'DELETE']) {
          assert.equal((await gateway.call(`/${org}-${way}/x`, { method })).status, 200)
        }
      }
    }
  }
  assert.equal(origin!.seen.length, 81)
  assert.deepEqual(
    [...orgsOn.values()].map((seen) => seen.size),
    [...orgsOn.values()].map(() => 1),
  )
  assert.ok(orgsOn.size < 20, 'within an organisation they are shared')
})
