import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answering, defined, rights } from '../worlds/base/definitions.ts'
import { eventually } from '../worlds/base/eventually.ts'
import { done, liveAt } from '../worlds/cluster/acts.ts'
import { startCluster } from '../worlds/cluster/nodes.ts'
import { startOrigin } from '../worlds/servers/origin.ts'
import { keepDatabase } from '../worlds/servers/postgres.ts'

test('gateways serve what a restored database holds, without a restart', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const cluster = await startCluster(t)
  const nodes = [
    await cluster.start('gateway', { SVC_GW_NODENAME: 'one' }),
    await cluster.start('gateway', { SVC_GW_NODENAME: 'two' }),
  ]
  const [one, two] = nodes as [(typeof nodes)[0], (typeof nodes)[0]]
  const orders = (edit: string) =>
    defined({ id: 'orders', url: origin.url, keyIn: 'authorization', global: answering('x-edit', edit) })
  const newKey = async () =>
    String((await done(one.svc('POST', '/svc/keys/create', { access_rights: rights('orders') }))).key)
  const open = (path: string, status: number, key = '') => liveAt(nodes, path, status, { authorization: key })
  const shows = (edit: string, key: string) =>
    eventually(`edit ${edit} is in force`, async () => {
      const answers = await Promise.all(nodes.map((node) => node.call('/orders/x', { authorization: key })))
      return answers.every(({ headers }) => headers['x-edit'] === edit)
    })

  await done(one.svc('POST', '/svc/apis/oas', orders('first')))
  const kept = await newKey()
  await open('/orders/x', 200, kept)
  const restore = await keepDatabase(cluster.postgres.url())
  await done(one.svc('PUT', '/svc/apis/oas/orders', orders('lost')))
  await done(one.svc('POST', '/svc/apis/oas', defined({ id: 'later', url: origin.url })))
  const lost = await newKey()
  await open('/orders/x', 200, lost)
  await open('/later/x', 200)
  await shows('lost', kept)

  await restore()
  // The edit that was lost and this one have the same revision.
  await done(two.svc('PUT', '/svc/apis/oas/orders', orders('second')))
  await shows('second', kept)
  await open('/later/x', 404)
  await open('/orders/x', 403, lost)
  await done(two.svc('DELETE', `/svc/keys/${kept}`))
  await open('/orders/x', 403, kept)
  await open('/orders/x', 200, await newKey())
  for (const node of nodes) {
    assert.match(node.output(), /"level":50[^\n]*holds another history/)
    assert.match((await node.svc('GET', '/metrics')).text, /^svc_store_rollbacks_total [1-9]/m)
    assert.equal((await node.call('/ready')).status, 200)
  }
})
