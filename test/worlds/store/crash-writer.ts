// A process that writes without end and tells on its output what was acknowledged, until it is killed.
import { setImmediate } from 'node:timers/promises'
import { NO_DIMENSIONS } from '../../../src/model/analytics/dimensions.ts'
import { type Hit, HOUR_MS, LATENCY_BOUNDS_MS, type Latency } from '../../../src/model/analytics/hit.ts'
import { SampleBlock } from '../../../src/model/analytics/hit-samples.ts'
import { newDocumentId } from '../../../src/model/documents/ids.ts'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'

const [path = '', round = '0'] = process.argv.slice(2)
const say = (...words: (string | number)[]) => process.stdout.write(`${words.join(' ')}\n`)
const audit = { actor: 'a', action: 'b', orgId: 'o', at: 1, detail: {} }
const session = { body: {}, orgId: 'o', apiIds: ['a', round], policyIds: ['p'], clientId: '', evictAt: 0 }
const DIMENSIONS = {
  ...{ ...NO_DIMENSIONS, orgId: 'o', apiId: 'a' },
}
const latency = (): Latency => ({ sumMs: 1, minMs: 1, maxMs: 1, buckets: LATENCY_BOUNDS_MS.map(() => 0).concat(1) })

const store = await openStore({ path })
const { documents, hits } = store
// A test that fails must not leave it behind.
process.stdin.on('end', () => process.exit()).resume()
say('ready', process.pid)

/** Writes one document again and again: each acknowledged number must be found, or a later one. */
async function counter(name: string): Promise<never> {
  const id = documents.find('api', 'api_id', name)
  const own = (await id)?.id ?? newDocumentId()
  for (let n = 1; ; n++) {
    const body = { api_id: name, org_id: 'o', name: `round ${round}`, round: Number(round), n }
    const revision = await documents.commit([{ op: 'put', kind: 'api', id: own, body }], audit)
    say('counter', name, round, n, revision)
  }
}

/** Makes a document and a session in one commit: never one without the other. */
async function pairs(name: string): Promise<never> {
  for (let n = 0; ; n++) {
    const key = `${name}-${round}-${n}`
    const body = { id: key, org_id: 'o', name: key }
    const revision = await documents.commit(
      [
        { op: 'put', kind: 'policy', id: newDocumentId(), body },
        { op: 'putSession', hash: hashKey(key), row: session, ifAbsent: true },
      ],
      audit,
    )
    say('pair', key, revision)
  }
}

async function counts(): Promise<never> {
  while (true) {
    const row: Hit = {
      ...DIMENSIONS,
      hour: 1,
      ...{ status: 200, count: 1, success: 1, error: 0, lastAt: 1, total: latency(), upstream: latency() },
    }
    await hits.add([row, row])
    say('hits', 2)
  }
}

/** Records requests one by one, and has them rolled up again and again. */
async function samples(): Promise<never> {
  const keys = Array.from({ length: 50 }, (_, i) => ({ ...DIMENSIONS, keyHash: `${i}` }))
  const numbers = await hits.number(keys)
  const block = new SampleBlock(numbers.length)
  block.begin(20 * HOUR_MS)
  for (const number of numbers) block.add(number, 200, 1, 1, 20 * HOUR_MS)
  while (true) {
    await hits.append([block.samples])
    say('samples', numbers.length)
  }
}

async function sums(): Promise<never> {
  while (true) {
    await hits.sum({ fromHour: 20, toHour: 20, by: [], limit: 1 })
    // With nothing to work in it answers at once, and would let nothing else happen in this process.
    await setImmediate()
  }
}

await Promise.all([
  samples(),
  sums(),
  counter('one'),
  counter('two'),
  pairs('x'),
  pairs('y'),
  pairs('z'),
  counts(),
  counts(),
])
