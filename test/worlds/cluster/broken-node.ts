// A gateway of a cluster whose store breaks one promise, named by BROKEN: what checks a history must find it out.
import { loadConfig } from '../../../src/config/load.ts'
import { fault } from '../../../src/errors/fault.ts'
import { startGateway } from '../../../src/gateway/server/gateway.ts'
import { silentLog } from '../../../src/model/logs/log.ts'
import { secretBytes } from '../../../src/model/secrets/secret.ts'
import { systemClock } from '../../../src/model/time/clock.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import type { Change, Documents, Feed, Store } from '../../../src/store/ports/ports.ts'
import { openPostgresStore } from '../../../src/store/postgres/connection/open.ts'
import { RedisCounters } from '../../../src/store/redis/counters.ts'

/** Longer than a revocation may take. */
const LATE_MS = 3_000

/** Looks whether a ticket is unused, and uses it up later: not in one step. */
function withoutClaims({ documents, tokens }: Store): Documents {
  const commit: Documents['commit'] = async (changes, audit) => {
    const claims: Change[] = []
    const others: Change[] = []
    for (const change of changes) (change.op === 'claimTicket' ? claims : others).push(change)
    for (const claim of claims) {
      const row = 'hash' in claim ? await tokens.getTicket(claim.hash) : undefined
      if (row === undefined || row.claimedAt !== 0) throw fault('ticket_unusable')
    }
    const revision = await documents.commit(others, audit)
    if (claims.length > 0) await documents.commit(claims, undefined).catch(() => {})
    return revision
  }
  return { ...documents, commit }
}

/** Reports every commit too late. */
function late(feed: Feed): Feed {
  return {
    subscribe: (listener) => feed.subscribe((event) => void setTimeout(() => listener(event), LATE_MS).unref()),
  }
}

const { config } = loadConfig({ env: process.env, cwd: import.meta.dirname })
const counters = new RedisCounters({ url: config.storage.redis_url })
await counters.check()
const whole = await openPostgresStore({ url: config.storage.postgres_url, counters })
const broken = process.env.BROKEN
const store: Store = {
  ...whole,
  ...(broken === 'claims' && { documents: withoutClaims(whole) }),
  ...(broken === 'feed' && { feed: late(whole.feed) }),
  // Each node counts for itself.
  ...(broken === 'counters' && { counters: openMemoryStore().counters }),
}
const gateway = await startGateway({
  ...{ config, store, clock: systemClock, log: silentLog, accessLog: undefined, version: '0.0.0-test' },
  ...{ clustered: true, nodeName: config.gateway.node_name, secrets: () => [config.gateway.secret] },
  ...{ sealKey: secretBytes(config.storage.seal_key), defaultOrg: () => '', dashboard: undefined },
})
process.stdout.write(`gateway    http://127.0.0.1:${gateway.port}\ndata       ${config.storage.path}\n`)
