// A process that rotates refresh tokens without end, a commit each, and tells on its output what was acknowledged, until it is
// killed. Each commit: the old refresh token is used, a token and the next refresh token are made, a message is put out.

import { hashKey } from '../../../src/model/secrets/secret.ts'
import type { Change } from '../../../src/store/ports/ports.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'

// A folder, or the address of a PostgreSQL database.
const [place = '', round = '0'] = process.argv.slice(2)
const say = (...words: (string | number)[]) => process.stdout.write(`${words.join(' ')}\n`)
const end = Date.now() + 86_400_000

const { documents } = place.startsWith('postgres:') ? await openDatabase(place) : await openStore({ path: place })
// A test that fails must not leave it behind.
process.stdin.on('end', () => process.exit()).resume()
say('ready', process.pid)

async function openDatabase(url: string) {
  // Only where it is wanted: what it needs takes a moment to load.
  const { openPostgresStore } = await import('../../../src/store/postgres/connection/open.ts')
  return openPostgresStore({ url })
}

async function rotate(lane: string): Promise<never> {
  const family = `${round}-${lane}`
  for (let n = 0; ; n++) {
    const row = {
      sort: 'refresh',
      apiId: 'a',
      clientId: 'c',
      family,
      expiresAt: end,
      keepUntil: end,
      body: { n },
    } as const
    const changes: Change[] = [
      {
        ...{ op: 'putSession', hash: hashKey(`token ${family} ${n}`) },
        row: { body: { n }, orgId: 'o', apiIds: ['a'], policyIds: [], clientId: 'c', evictAt: end, family },
      },
      { op: 'putTicket', hash: hashKey(`refresh ${family} ${n}`), row, ifAbsent: true },
      { op: 'putDelivery', row: { queue: family, sealed: Buffer.from(`${n}`), createdAt: 1 } },
    ]
    const old = hashKey(`refresh ${family} ${n - 1}`)
    if (n > 0) changes.unshift({ op: 'claimTicket', hash: old, sort: 'refresh', now: Date.now() })
    await documents.commit(changes, undefined)
    say('issued', family, n)
  }
}

await Promise.all(['a', 'b', 'c', 'd'].map(rotate))
