import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { DashboardApi } from '../../src/cli/moves/dashboard.ts'

test('a call that a dashboard refuses until later is made again then, and no other', async (t) => {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url!)
    const isFirst = asked.filter((url) => url === request.url).length === 1
    if (request.url === '/later' && isFirst) response.writeHead(429, { 'retry-after': '1' }).end('{}')
    else response.writeHead(request.url === '/never' ? 429 : 200).end('{"done":true}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const api = new DashboardApi({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, secret: 's' })
  assert.deepEqual(await api.send('POST', '/later', {}), { done: true })
  await assert.rejects(api.send('POST', '/never', {}), { code: 'dashboard_refused' })
  assert.deepEqual(asked, ['/later', '/later', '/never'])
})
