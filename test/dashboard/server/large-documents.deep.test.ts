import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Route } from '../../../src/dashboard/routes/route.ts'
import { newDocumentId } from '../../../src/model/documents/ids.ts'
import { DOCUMENT_KINDS } from '../../../src/model/documents/kinds.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'
import { callOf } from '../../worlds/access-matrix/matrix-rows.ts'
import { startWorld, type World } from '../../worlds/access-matrix/matrix-world.ts'
import { drainGet, turnsOf } from '../../worlds/base/turns.ts'
import { ADMIN_SECRET } from '../../worlds/dashboard/harness.ts'

/** Documents of each kind, each with a member that makes it large. */
const COPIES = 20
/** A turn may cost so many times what it costs to read one document from text, and to write it twice; all copies cost far more. */
const MOST_TIMES = 9
/** Members that tell documents of a kind apart. */
const UNIQUE =
  /^(?:id|api_id|client_id|cert_id|name|slug|email|email_address|cname|owner_slug|ID|title|fingerprint|key|domain)$/
/** Their secrets are sealed for the document that has them, by its publisher. */
const SEALED = new Set(['hook', 'oauth_client', 'user'])
/** Never ends. */
const SKIPPED = new Set(['GET /api/logs/live'])

const LARGE: JsonObject = Object.fromEntries(
  Array.from({ length: 10_000 }, (_, index) => [`m${index}`, { text: `text ${index}`, list: [index, 'x'.repeat(20)] }]),
)

/** A world in whose store each kind has many large documents, and the audit log many entries about them. */
async function largeWorld(t: TestContext): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-large-'))
  const store = await openStore({ path: folder })
  const world = await startWorld({ store })
  t.after(async () => {
    await world.close()
    await store.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const { documents, tokens } = world.parts
  const audited = { ...{ actor: 'a', action: 'x', orgId: world.orgId, at: world.clock.wall() }, detail: {} }
  for (const kind of Object.keys(DOCUMENT_KINDS)) {
    const [sample] = (await documents.list(kind, { limit: 1 })).rows
    if (sample === undefined || SEALED.has(kind)) continue
    for (let copy = 0; copy < COPIES; copy++) {
      const members = Object.entries(sample.body)
      const copied = members.map(([name, value]) => [name, UNIQUE.test(name) && value ? `${value}-${copy}` : value])
      const body = { ...Object.fromEntries(copied), zz_large: LARGE }
      // Of some kinds there is one in an organisation.
      const put = { ...{ op: 'put' as const, kind, id: newDocumentId() }, body }
      await documents.commit([put], kind === 'policy' ? audited : undefined).catch(() => {})
    }
  }
  const [session] = (await tokens.listSessions({ only: 'keys', limit: 1 })).rows
  for (let copy = 0; copy < COPIES; copy++) {
    const row = { ...session!, body: { ...session!.body, zz_large: LARGE } }
    await documents.commit([{ op: 'putSession', hash: hashKey(`copy ${copy}`), row }], undefined)
  }
  return world
}

/** Processor time of reading a document from its text and writing it twice, the cheapest of some. */
function costOfOne(): number {
  const text = JSON.stringify({ zz_large: LARGE })
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < 10; round++) {
    const before = process.threadCpuUsage()
    const value = JSON.parse(text)
    JSON.stringify(value)
    JSON.stringify(value)
    const { user, system } = process.threadCpuUsage(before)
    least = Math.min(least, (user + system) / 1000)
  }
  return least
}

/** The ways to ask for all that a route shows. */
function pathsOf({ path, query = {} }: Route): string[] {
  const all = 'facts' in query ? ['p=-1', 'p=-1&facts=1'] : ['p=-1']
  const ways = [
    ...('p' in query ? all : []),
    ...('download' in query ? ['download=true', 'download=true&type=csv'] : []),
  ]
  return [path, ...ways.map((way) => `${path}?${way}`)]
}

test('no list, export or search works on more than a few large documents in one turn', async (t) => {
  const world = await largeWorld(t)
  const one = costOfOne()
  const wrong: string[] = []
  let large = 0
  for (const kind of ['admin', 'unbounded reader'] as const) {
    for (const route of world.dashboard.routes) {
      // Calls about one thing are no lists.
      if (route.method !== 'GET' || route.path.includes('{') || SKIPPED.has(callOf(route))) continue
      const as = await world.actor(kind, { who: 'apis', names: [] })
      const credential = typeof as === 'object' ? as.key : ''
      const headers = {
        authorization: credential,
        ...(route.access === 'installation' && { 'admin-auth': ADMIN_SECRET }),
      }
      for (const path of pathsOf(route)) {
        const seen: number[] = []
        let bytes = 0
        // A collection of garbage may fall into any turn, but not into the same one each time.
        for (let round = 0; round < 4; round++) {
          const { longestMs } = await turnsOf(async () => {
            bytes = (await drainGet(world.port, path, { headers })).bytes
          })
          seen.push(Math.round(longestMs / one))
          if (longestMs <= MOST_TIMES * one) break
        }
        if (bytes > 1_000_000) large++
        if (seen.length === 4) wrong.push(`${kind} ${path}: ${bytes} bytes, a turn costs ${seen.join(', ')} times one`)
      }
    }
  }
  t.diagnostic(`${large} large answers; one document costs ${one.toFixed(1)} ms`)
  assert.ok(large > 20, String(large))
  assert.deepEqual(wrong, [])
})
