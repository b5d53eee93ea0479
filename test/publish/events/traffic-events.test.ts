import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { fault } from '../../../src/errors/fault.ts'
import type { Api } from '../../../src/model/apis/definition/api.ts'
import { readApi } from '../../../src/model/apis/read/read.ts'
import { silentLog } from '../../../src/model/logs/log.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { openEvent } from '../../../src/publish/events/events.ts'
import { TrafficEvents } from '../../../src/publish/events/traffic-events.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import type { Documents } from '../../../src/store/ports/ports.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'
import { temporaryFolder } from '../../contract/adapters.ts'
import { classic } from '../../worlds/base/definitions.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { SEAL_KEY } from '../../worlds/oauth/notifications.ts'
import { startChild } from '../../worlds/store/child.ts'

const handler = {
  handler_name: 'eh_web_hook_handler',
  handler_meta: { method: 'POST', target_path: 'https://example.org/hook', event_timeout: 10 },
}

function apiTelling(...names: string[]): Api {
  const events = Object.fromEntries(names.map((name) => [name, [handler]]))
  const definition = { ...classic('a', '/a/', 'http://up/'), event_handlers: { events } }
  return readApi({ api_id: 'a', org_id: 'o', name: 'a', format: 'classic', definition })
}

test('changes of hosts and breakers raise events, each host by itself', async (t) => {
  const clock = new FakeClock()
  const store = openMemoryStore({ clock })
  t.after(() => store.close())
  const api = apiTelling('HostDown', 'HostUp', 'BreakerTripped', 'BreakerReset')
  let woken = 0
  const events = new TrafficEvents({
    ...{ documents: store.documents, clock, log: silentLog, sealKey: SEAL_KEY },
    findApi: (id) => (id === 'a' ? api : undefined),
    wakeDeliveries: () => woken++,
  })
  events.tell('HostDown', 'a', { target: 'http://one/?token=hidden' })
  events.tell('HostDown', 'a', { target: 'http://two/' })
  events.tell('HostDown', 'a', { target: 'http://one/?token=hidden' })
  events.tell('HostUp', 'a', { target: 'http://one/?token=hidden' })
  events.tell('BreakerTripped', 'a', { operation: 'GET /x' })
  events.tell('BreakerReset', 'a', { operation: 'GET /x' })
  events.tell('Sunrise', 'a', {})
  events.tell('HostDown', 'b', {})
  await events.close()
  const rows = await store.outbox.due(clock.wall(), 100)
  const told = rows.map((row) => JSON.parse(openEvent(SEAL_KEY, row)!.body) as { event: string; target?: string })
  assert.ok(told.some(({ event, target }) => event === 'HostDown' && target === 'http://one/?token=***'))
  assert.equal(events.reported, 5)
  assert.equal(events.held, 1)
  assert.ok(woken > 0)
})

test('while the store is away events wait, as many as there is room for; then they are written', async (t) => {
  const clock = new FakeClock()
  const store = openMemoryStore({ clock })
  t.after(() => store.close())
  let away = true
  const documents: Documents = {
    ...store.documents,
    commit: (changes, audit) =>
      away ? Promise.reject(fault('store_away')) : Promise.resolve(store.documents.commit(changes, audit)),
    find: (...given) => store.documents.find(...given),
  }
  const api = apiTelling('HostDown')
  const parts = { documents, clock, log: silentLog, sealKey: SEAL_KEY, findApi: () => api, wakeDeliveries: () => {} }
  const events = new TrafficEvents(parts, { waiting: 4 })
  for (let n = 0; n < 6; n++) events.tell('HostDown', 'a', { target: n })
  assert.equal(events.dropped, 2)
  away = false
  await events.close()
  assert.equal(events.reported, 4)
  const late = new TrafficEvents(parts)
  away = true
  late.tell('HostDown', 'a', { target: 'x' })
  await late.close()
  assert.equal(late.dropped, 1, 'what cannot be written at the end is lost, and counted')
})

const KILLS = process.env.GATEHOUSE_DEEP === '1' ? 40 : 3

test(`${KILLS} processes killed while they tell of events: none that was stored is lost`, async (t) => {
  const path = temporaryFolder(t)
  const stored: string[] = []
  for (let round = 0; round < KILLS; round++) {
    const child = startChild('../publish/event-recorder.ts', [path, String(round)])
    await child.line('ready')
    await eventually('some are stored', () => child.lines.some((line) => line.startsWith('stored ')))
    await wait(round * 7)
    child.process.kill('SIGKILL')
    await child.ended
    stored.push(...child.lines.filter((line) => line.startsWith('stored ')).map((line) => line.slice(7)))
  }
  const store = await openStore({ path })
  t.after(() => store.close())
  const found = new Set<string>()
  for (const row of await allRows(store))
    found.add((JSON.parse(openEvent(SEAL_KEY, row)!.body) as { target: string }).target)
  assert.ok(stored.length >= KILLS)
  assert.deepEqual(
    stored.filter((target) => !found.has(target)),
    [],
  )
})

async function allRows({ outbox }: Awaited<ReturnType<typeof openStore>>) {
  const rows = []
  const queues = new Set((await outbox.due(Number.MAX_SAFE_INTEGER, 1000)).map(({ queue }) => queue))
  for (const queue of queues)
    for (let after = 0; ; ) {
      const page = await outbox.list({ queue, dead: false, after, limit: 100 })
      if (page.length === 0) break
      rows.push(...page)
      after = page.at(-1)!.id
    }
  return rows
}
