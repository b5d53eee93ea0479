import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { stringify } from 'yaml'
import { eventually } from '../../worlds/base/eventually.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { turnsOf } from '../../worlds/base/turns.ts'
import { largeDefinitions } from '../../worlds/model/large-definitions.ts'

test('a reload reads long files, JSON and YAML, in turns, and says of each what became of it', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-files-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const gateway = await startTestGateway({ env: { SVC_GW_APPPATH: folder } })
  t.after(() => gateway.close())
  const { triggers } = largeDefinitions('http://127.0.0.1:1')
  assert.ok(triggers)
  const text = JSON.stringify(triggers)
  const long = '#'.repeat(1 << 18)
  writeFileSync(join(folder, 'first.json'), text)
  writeFileSync(join(folder, 'second.yaml'), `${stringify(JSON.parse(text.replaceAll('large3', 'other')))}${long}\n`)
  writeFileSync(join(folder, 'third.yaml'), `a: 1\nb: [\n${long}\n`)
  writeFileSync(join(folder, 'fourth.yaml'), `a: 1\nbig: 12345678901234567890\n${long}\n`)
  const states = async () => {
    const { json } = await gateway.svc('GET', '/svc/node')
    const { apis } = json as { apis: Record<string, string>[] }
    return apis.map(({ name, state, reason }) => [name, state, /line \d+|2\^53/.exec(String(reason))?.[0]]).sort()
  }
  const { longestMs, totalMs } = await turnsOf(async () => {
    await gateway.svc('GET', '/svc/reload?block=true')
    // A busy machine takes longer than a call waits.
    await eventually('all files are read', async () => (await states()).length === 4)
  })
  t.diagnostic(`${longestMs} of ${totalMs} ms`)
  assert.ok(longestMs < totalMs / 2, `${longestMs} of ${totalMs} ms in one turn`)
  assert.deepEqual(await states(), [
    ['fourth.yaml', 'failed', '2^53'],
    ['large3', 'loaded', undefined],
    ['other', 'loaded', undefined],
    ['third.yaml', 'failed', 'line 4'],
  ])
})
