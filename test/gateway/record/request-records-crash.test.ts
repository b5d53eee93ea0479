import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { openReadable } from '../../../src/store/sqlite/connection/database.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'
import { temporaryFolder } from '../../contract/adapters.ts'
import { call } from '../../worlds/base/client.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { TEST_SECRET } from '../../worlds/base/harness.ts'
import { startChild } from '../../worlds/store/child.ts'

const KILLS = process.env.GATEHOUSE_DEEP === '1' ? 15 : 2

test(`${KILLS} gateways killed while they record lose no acknowledged record and add none`, async (t) => {
  const path = temporaryFolder(t)
  let [told, sent] = [0, 0]
  for (let round = 0; round < KILLS; round++) {
    const child = startChild('../gateway/recording-gateway.ts', [path])
    const port = Number((await child.line('ready')).slice('ready '.length))
    const stored = async () => {
      const { text } = await call(port, '/metrics', { headers: { 'x-svc-authorization': TEST_SECRET } })
      return Number(/^svc_records_stored_total (\d+)$/m.exec(text)?.[1])
    }
    let [seen, running] = [0, true]
    const traffic = (async () => {
      while (running) {
        sent++
        const post = { method: 'POST', body: `{"number":${sent},"password":"hidden"}` }
        await call(port, `/open/${sent}`, post).catch(() => {})
      }
    })()
    await eventually('some are stored', async () => {
      seen = await stored()
      return seen > 0
    })
    await wait(randomInt(300))
    seen = await stored()
    child.process.kill('SIGKILL')
    running = false
    await Promise.all([child.ended, traffic])
    told += seen
  }
  const store = await openStore({ path })
  t.after(() => store.close())
  const paths = new Set<string>()
  let rows = 0
  for await (const batch of store.records.scan({})) {
    for (const { path: seen, detail, status } of batch) {
      rows++
      paths.add(seen)
      // On a busy machine the upstream may have closed an idle connection under a request.
      if (status !== 200) continue
      assert.match(
        Buffer.from(detail!.request).toString(),
        new RegExp(`^POST ${seen} [\\s\\S]*{"number":${seen.slice(6)},"password":"\\*\\*\\*"}$`),
      )
      assert.match(Buffer.from(detail!.response).toString(), /\{"ok":true\}$/)
    }
  }
  assert.equal(paths.size, rows, 'none twice')
  assert.ok(rows >= told && rows <= sent, `${rows} rows, ${told} told, ${sent} sent`)
  const db = openReadable(join(path, 'gatehouse.db'))
  t.after(() => db.close())
  assert.equal(db.prepare('PRAGMA integrity_check').get()!.integrity_check, 'ok')
  assert.equal(db.prepare('SELECT count(*) AS n FROM record_detail').get()!.n, rows)
})
