import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { openStore } from '../../../../src/store/sqlite/connection/open.ts'
import { temporaryFolder } from '../../../contract/adapters.ts'
import { call as send } from '../../../worlds/base/client.ts'
import { keyWorld, refusal } from '../../../worlds/dashboard/key-world.ts'
import { standing } from '../../../worlds/portal/developer-world.ts'

const DAYS = '1/1/2024/2/1/2024'
const SQL = [
  "x' OR 1=1; DROP TABLE document; --",
  '1); DELETE FROM hit; --',
  '" UNION SELECT body FROM document --',
  '%',
]
const READ = /^\/api\/(usage|activity|errors|logs|uptime|portal)\b/
const RANGE = '{fromDay}/{fromMonth}/{fromYear}/{toDay}/{toMonth}/{toYear}'

test('SQL in any parameter or path of portal, analytics and logs is text, or refused by name', async (t) => {
  const store = await openStore({ path: temporaryFolder(t) })
  t.after(() => store.close())
  const world = await keyWorld(t, { store })
  await world.api('orders')
  await world.policy('gold', ['orders'])
  const developer = { email: 'ada@example.test', password: 'correct horse battery' }
  const id = (await world.asked(200, 'POST', '/api/portal/developers', world.root, developer)).Message
  await world.asked(200, 'POST', `/api/portal/developers/${id}/keys`, world.root, { policy_id: 'gold' })
  const before = await standing(store)
  let asked = 0
  const ask = async (path: string) => {
    // The harness fails at 500 and above, and at anything that is neither declared nor the envelope.
    const { status, text } = await world.call('GET', path, { as: world.root })
    assert.ok(status === 200 || (status >= 400 && status < 500), `${path}: ${status}`)
    assert.ok(!text.includes('ada@example.test'), path)
    asked++
  }
  for (const route of world.dashboard.routes) {
    // The live tail has no end.
    if (route.method !== 'GET' || !READ.test(route.path) || route.path.endsWith('/live')) continue
    for (const sql of SQL) {
      const word = encodeURIComponent(sql)
      const filled = route.path.replace(RANGE, DAYS).replaceAll(/\{[^}]+\}/g, word)
      if (filled.includes(word)) await ask(filled)
      for (const name of Object.keys(route.query ?? {})) {
        const time = route.path.startsWith('/api/logs') && name !== 'start' ? 'start=0&' : ''
        // A part of the address is what it is: '%' is in none.
        await ask(`${filled}?${time}${name}=${word}${word}`)
      }
    }
  }
  assert.ok(asked > 500, `${asked} calls`)
  assert.equal(await standing(store), before)
})

test('thousands of keys in one path are refused by name, whatever their number', async (t) => {
  const { port, root } = await keyWorld(t)
  const hashes = Array.from({ length: 5000 }, (_, i) => createHash('sha256').update(`${i}`).digest('hex'))
  const ask = async (count: number) => {
    const path = `/api/activity/keys/aggregate/${hashes.slice(0, count).join(',')},/${DAYS}`
    return refusal(await send(port, path, { method: 'GET', headers: { authorization: root.key } }))
  }
  assert.deepEqual(await ask(1001), [400, 'No more than 1000 keys can be asked for at once'])
  // Longer than any head that is read.
  assert.deepEqual(await ask(5000), [431, 'Request Header Fields Too Large'])
})
