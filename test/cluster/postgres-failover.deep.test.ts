import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startPostgres } from '../../scripts/servers.mjs'
import { defined, rights } from '../worlds/base/definitions.ts'
import { eventually } from '../worlds/base/eventually.ts'
import { done, liveAt } from '../worlds/cluster/acts.ts'
import { startCluster } from '../worlds/cluster/nodes.ts'
import { startOrigin } from '../worlds/servers/origin.ts'
import { runSql, urlOfHosts } from '../worlds/servers/postgres.ts'

/** Of Debian: what the development dependency has of 18 makes no standby. */
const VERSION = 15

test('nodes go on with a standby that was promoted, without a restart', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const cluster = await startCluster(t)
  const primary = await startPostgres({ version: VERSION })
  t.after(() => primary.stop())
  const standby = await startPostgres({ version: VERSION, standbyOf: primary })
  t.after(() => standby.stop())
  // The standby first: it takes no writes yet.
  const env = { SVC_STORAGE_POSTGRESURL: urlOfHosts([standby, primary]) }
  const nodes = [await cluster.start('gateway', env), await cluster.start('gateway', env)]
  const [one, two] = nodes as [(typeof nodes)[0], (typeof nodes)[0]]
  const create = () => one.svc('POST', '/svc/keys/create', { access_rights: rights('orders') })
  await done(one.svc('POST', '/svc/apis/oas', defined({ id: 'orders', url: origin.url, keyIn: 'authorization' })))
  const key = String((await done(create())).key)
  await liveAt(nodes, '/orders/x', 200, { authorization: key })
  const replayed = async () => {
    const [sent] = await runSql<{ at: string }>(primary.url(), 'SELECT pg_current_wal_flush_lsn() AS at')
    const [{ is }] = (await runSql<{ is: boolean }>(
      standby.url(),
      'SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn AS is',
      [sent!.at],
    )) as [{ is: boolean }]
    return is
  }
  // A session that is read before the notice of its key is dropped by it: an API is served only after all notices before its own.
  await done(one.svc('POST', '/svc/apis/oas', defined({ id: 'later', url: origin.url, keyIn: 'authorization' })))
  await liveAt(nodes, '/later/x', 401)
  await liveAt(nodes, '/orders/x', 200, { authorization: key })
  await eventually('the standby has all', replayed)

  await primary.halt('SIGKILL')
  const traffic = { stopped: false, answered: 0, refused: new Map<string, number>() }
  const calls = (async () => {
    while (!traffic.stopped) {
      const answers = await Promise.all(nodes.map((node) => node.call('/orders/x', { authorization: key })))
      traffic.answered += answers.length
      for (const { status, text } of answers.filter((answer) => answer.status !== 200))
        traffic.refused.set(`${status} ${text}`, (traffic.refused.get(`${status} ${text}`) ?? 0) + 1)
    }
  })()
  const refused = await create()
  assert.equal(refused.status, 503, refused.text)
  const promotedAt = performance.now()
  await runSql(standby.url(), 'SELECT pg_promote()')
  let made: Awaited<ReturnType<typeof create>> | undefined
  await eventually('a key is created at the new primary', async () => {
    made = await create()
    return made.status === 200
  })
  t.diagnostic(`writes ${Math.round(performance.now() - promotedAt)} ms after the promotion`)
  const after = String((made!.json as { key: string }).key)
  await liveAt(nodes, '/orders/x', 200, { authorization: after })
  await done(
    two.svc('DELETE', `/svc/keys/${key}`).then(async (answer) => {
      traffic.stopped = true
      return answer
    }),
  )
  await calls
  await liveAt(nodes, '/orders/x', 403, { authorization: key })
  assert.ok(traffic.answered > 0)
  assert.deepEqual(
    [...traffic.refused].filter(([answer]) => !answer.startsWith('403')),
    [],
  )
})
