import { hash } from 'node:crypto'
import { Fault } from '../errors/fault.ts'
import { compileGrant } from '../model/grant.ts'
import { type Merged, mergePolicies, policyIdsOf } from '../model/merge-policies.ts'
import type { Policy, Session } from '../model/session.ts'
import type { SessionRow, Tokens } from '../store/ports.ts'
import type { Caller, Chain, Plan, Snapshot } from './exchange.ts'
import { makePlan } from './plan.ts'
import { policyKey } from './snapshot.ts'

/** A session in memory: the stored one with its policies applied, and what was derived from it for each API. */
export class LiveSession implements Caller {
  readonly keyHash: string
  readonly row: SessionRow
  readonly merged: Merged | undefined
  /** True when its policies cannot be applied: the key then counts as unknown. */
  readonly unusable: boolean
  readonly inactive: boolean
  /** Unix milliseconds, 0 = never. */
  readonly expiresAt: number
  /** Unix milliseconds at which the store forgets it, 0 = never: from then on it counts as unknown, also from memory. */
  readonly evictAt: number
  readonly alias: string
  readonly policyIds: readonly string[]
  readonly policyGeneration: number
  readonly #counterId: string
  readonly #plans = new Map<string, Plan>()

  constructor(row: SessionRow, keyHash: string, snapshot: Snapshot) {
    const session = row.body as unknown as Session
    const orgOf = (apiId: string) => snapshot.apis.get(apiId)?.api.orgId
    this.row = row
    this.keyHash = keyHash
    this.policyGeneration = snapshot.policyGeneration
    const merged = mergePolicies(session, policiesOf(session, row.orgId, snapshot), orgOf)
    this.merged = merged instanceof Fault ? undefined : merged
    this.unusable = this.merged === undefined
    this.alias = session.alias ?? ''
    this.policyIds = this.merged?.policyIds ?? []
    this.inactive = this.merged?.isInactive ?? false
    this.expiresAt = session.expires !== undefined && session.expires > 0 ? session.expires * 1000 : 0
    this.evictAt = row.evictAt
    this.#counterId = typeof row.body.counter_id === 'string' ? row.body.counter_id : keyHash
  }

  /** True when the session may be used at APIs of this organisation. */
  belongsTo(orgId: string): boolean {
    return this.row.orgId === '' || this.row.orgId === orgId
  }

  /** What the session may do at this chain; derived once, and again only when the API was compiled anew. */
  planFor(chain: Chain): Plan {
    // Versions within one definition have chains of their own.
    const key = chain.inlineVersion ? `${chain.api.apiId}/${chain.version}` : chain.api.apiId
    const known = this.#plans.get(key)
    if (known !== undefined && known.chain === chain) return known
    const plan = this.#plan(chain)
    this.#plans.set(key, plan)
    return plan
  }

  #plan(chain: Chain): Plan {
    const { merged, keyHash } = this
    const { apiId, skipRateLimit, skipQuota } = chain.api
    const options = { before: chain.apiRate === undefined ? [] : [chain.apiRate], skipRate: skipRateLimit, skipQuota }
    const grant = merged === undefined ? undefined : compileGrant(merged, apiId, this.#counterId, options)
    return makePlan(chain, grant, { keyHash, session: this.#tagged(), clientId: this.row.clientId })
  }

  /** The session as records see it: with the tags, metadata and policies that are in force. */
  #tagged(): Session {
    const session = this.row.body as unknown as Session
    if (this.merged === undefined) return session
    const { tags, metaData, policyIds } = this.merged
    return { ...session, tags: [...tags], meta_data: metaData, apply_policies: [...policyIds] }
  }
}

function policiesOf(session: Session, orgId: string, snapshot: Snapshot): (Policy | undefined)[] {
  return policyIdsOf(session).map((id) => snapshot.policies.get(policyKey(orgId, id)))
}

/**
 * The sessions that this node has used lately, found by the hash of their key or token; the rest comes from the store.
 * Two generations of a map instead of a list of uses: what was used since the last turn survives it, and a hit costs one look-up.
 */
export class Sessions {
  readonly #tokens: Tokens
  readonly #half: number
  #young = new Map<string, LiveSession>()
  #old = new Map<string, LiveSession>()
  /** Hashes being read; one that is dropped meanwhile is not kept. */
  readonly #reading = new Map<string, Promise<LiveSession | undefined>>()
  hits = 0
  misses = 0

  /** `entries` bounds how many sessions stay in memory. */
  constructor(tokens: Tokens, entries: number) {
    this.#tokens = tokens
    this.#half = Math.max(1, Math.floor(entries / 2))
  }

  get size(): number {
    return this.#young.size + this.#old.size
  }

  /** The session of this key or token, undefined when there is none. @throws Fault `store_away` */
  find(credential: string, snapshot: Snapshot): LiveSession | undefined | Promise<LiveSession | undefined> {
    return this.findByHash(hash('sha256', credential, 'hex'), snapshot)
  }

  /** As `find`, by the SHA-256 in lower-case hex. */
  findByHash(keyHash: string, snapshot: Snapshot): LiveSession | undefined | Promise<LiveSession | undefined> {
    let live = this.#young.get(keyHash)
    if (live === undefined) {
      live = this.#old.get(keyHash)
      if (live !== undefined) {
        this.#old.delete(keyHash)
        this.#keep(keyHash, live)
      }
    }
    if (live === undefined) {
      this.misses++
      return this.#read(keyHash, snapshot)
    }
    this.hits++
    if (live.policyGeneration === snapshot.policyGeneration) return live
    return this.#keep(keyHash, new LiveSession(live.row, keyHash, snapshot))
  }

  /** Forgets a session that was changed or deleted; its next use reads the store. */
  drop(keyHash: string): void {
    this.#young.delete(keyHash)
    this.#old.delete(keyHash)
    this.#reading.delete(keyHash)
  }

  clear(): void {
    this.#young.clear()
    this.#old.clear()
    this.#reading.clear()
  }

  #read(keyHash: string, snapshot: Snapshot): LiveSession | undefined | Promise<LiveSession | undefined> {
    const waiting = this.#reading.get(keyHash)
    if (waiting !== undefined) return waiting
    const row = this.#tokens.getSession(Buffer.from(keyHash, 'hex'))
    if (!(row instanceof Promise))
      return row === undefined ? undefined : this.#keep(keyHash, new LiveSession(row, keyHash, snapshot))
    const reading: Promise<LiveSession | undefined> = row
      .then((late) => {
        if (late === undefined) return undefined
        const live = new LiveSession(late, keyHash, snapshot)
        // Dropped while it was read: what was read may be the old state.
        return this.#reading.get(keyHash) === reading ? this.#keep(keyHash, live) : live
      })
      .finally(() => {
        if (this.#reading.get(keyHash) === reading) this.#reading.delete(keyHash)
      })
    this.#reading.set(keyHash, reading)
    return reading
  }

  #keep(keyHash: string, live: LiveSession): LiveSession {
    if (this.#young.size >= this.#half) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(keyHash, live)
    return live
  }
}
