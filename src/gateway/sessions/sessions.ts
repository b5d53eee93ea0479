import { hash } from 'node:crypto'
import { Fault } from '../../errors/fault.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { generationOf } from '../../model/keys/key.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import { registeredAt } from '../../model/oauth-clients/oauth-registration.ts'
import { type TokenUser, tokenFactsOf } from '../../model/oauth-clients/oauth-token.ts'
import type { Merged } from '../../model/policies/merge-policies.ts'
import { allowedCertificates } from '../../model/sessions/certificate-binding.ts'
import type { Session } from '../../model/sessions/session.ts'
import { compileAccess } from '../../model/sessions/session-access.ts'
import { sessionAtUse, withUserOfToday } from '../../model/sessions/token-session.ts'
import { hexOf } from '../../model/text/hex.ts'
import { intern } from '../../model/text/intern.ts'
import type { Millis } from '../../model/time/clock.ts'
import type { LegacyKeys } from '../../publish/keys/legacy-keys.ts'
import type { Awaitable, SessionRow, Tokens } from '../../store/ports/ports.ts'
import { makeCallerPlan } from '../apis/plan.ts'
import { policyKey } from '../apis/snapshot.ts'
import type { Clients } from '../oauth/live-clients.ts'
import { type LiveToken, liveToken } from '../oauth/live-token.ts'
import type { Caller, CallerPlan, Chain, Snapshot } from '../server/exchange.ts'
import { Digest, SessionTable } from './session-table.ts'
import type { SharedMerges } from './shared-merges.ts'

/** A client as it was found for a token, and when: see `Clients.generation`. */
interface FoundClient {
  readonly client: OAuthClient | undefined
  readonly generation: number
}

const NOBODY: FoundClient = { client: undefined, generation: 0 }

/** The context of making sessions: the policies of a snapshot, the client of a token, and the user of one of the password grant. */
interface MadeWith {
  readonly snapshot: Snapshot
  readonly merges: SharedMerges
  readonly found: FoundClient
  readonly user?: JsonObject
  readonly isDerived?: true
}

/** The source of a session, reused when its policies change: its row without the store's own columns. */
export type SessionSource = Pick<SessionRow, 'body' | 'orgId' | 'clientId' | 'evictAt'>

/** A session in memory: the stored one with its policies applied, and what was derived from it for each API. */
export class LiveSession implements Caller {
  // The hot fields come first: with thousands of keys in use each cache line costs.
  readonly policyGeneration: number
  /** Its token fields; undefined for a key. */
  readonly token: LiveToken | undefined
  #lastPlan: CallerPlan | undefined
  /** True when its policies cannot be applied, or it is a token of a client that is gone: it then counts as unknown. */
  readonly unusable: boolean
  readonly inactive: boolean
  /** Unix milliseconds, 0 = never. */
  readonly expiresAt: number
  /** Unix milliseconds at which the store forgets it, 0 = never: from then on it counts as unknown, also from memory. */
  readonly evictAt: number
  readonly #orgId: string
  readonly certificates: ReadonlySet<string> | undefined
  readonly keyHash: string
  readonly source: SessionSource
  /** The stored session of its user that it was made with; undefined = none yet. */
  readonly user: JsonObject | undefined
  readonly clientId: string
  /** True for one that is not stored: it was made from the claims of a proof. */
  readonly isDerived: boolean
  readonly merged: Merged | undefined
  readonly alias: string
  readonly policyIds: readonly string[]
  /** Memory that it takes, without what it shares with others; estimated. */
  readonly ownBytes: number
  readonly #session: Session
  readonly #counterId: string
  #registered: { readonly api: object; readonly is: boolean } | undefined
  /** Of all chains that it was used at, once there was a second one. */
  #plans: Map<string, CallerPlan> | undefined

  constructor(source: SessionSource, keyHash: string, made: MadeWith) {
    const { body, orgId, clientId, evictAt } = source
    const { snapshot, merges, found, user } = made
    this.source = source
    this.user = user
    this.#orgId = intern(orgId)
    this.keyHash = keyHash
    this.clientId = clientId
    this.isDerived = made.isDerived === true
    this.token = liveToken(source, found)
    const client = this.token?.client
    const today = user === undefined ? body : withUserOfToday(body, user)
    const session = client === undefined ? (today as Session) : sessionAtUse(today, client)
    this.#session = session
    this.policyGeneration = snapshot.policyGeneration
    const { merged, ownBytes } = merges.merge(session, orgId, snapshot)
    this.ownBytes = ownBytes
    this.merged = merged instanceof Fault ? undefined : merged
    this.unusable = this.merged === undefined || (this.token !== undefined && client === undefined)
    this.alias = session.alias ?? ''
    this.certificates = certificatesOf(source, user)
    this.policyIds = this.merged?.policyIds ?? []
    this.inactive = this.merged?.isInactive ?? false
    this.expiresAt = session.expires !== undefined && session.expires > 0 ? session.expires * 1000 : 0
    this.evictAt = evictAt
    this.#counterId = typeof body.counter_id === 'string' ? body.counter_id : keyHash
  }

  /** True when the session may be used at APIs of this organisation. */
  belongsTo(orgId: string): boolean {
    return this.#orgId === '' || this.#orgId === orgId
  }

  /** True for a token whose client is registered at this API. Answered once for the API that it is used at. */
  isRegisteredAt(api: { readonly apiId: string; readonly orgId: string }, { policies }: Snapshot): boolean {
    if (this.#registered?.api === api) return this.#registered.is
    const client = this.token?.client
    const is = client !== undefined && registeredAt(client, api, (id) => policies.get(policyKey(client.org_id, id)))
    this.#registered = { api, is }
    return is
  }

  /** The access of the session to this chain; derived once, and again only when the API was recompiled. */
  planFor(chain: Chain): CallerPlan {
    const last = this.#lastPlan
    if (last !== undefined && last.chain === chain) return last
    this.#lastPlan = last === undefined ? this.#plan(chain) : this.#planForChain(last, chain)
    return this.#lastPlan
  }

  #planForChain(last: CallerPlan, chain: Chain): CallerPlan {
    this.#plans ??= new Map([[placeOfPlan(last.chain), last]])
    const place = placeOfPlan(chain)
    const known = this.#plans.get(place)
    if (known !== undefined && known.chain === chain) return known
    const plan = this.#plan(chain)
    this.#plans.set(place, plan)
    return plan
  }

  #plan(chain: Chain): CallerPlan {
    const { merged, keyHash, clientId } = this
    const { apiId, skipRateLimit: skipRate, skipQuota, ignoreCase } = chain.api
    const before = chain.apiRate === undefined ? [] : [chain.apiRate]
    const options = { before, skipRate, skipQuota, ignoreCase }
    const access = merged === undefined ? undefined : compileAccess(merged, apiId, this.#counterId, options)
    return makeCallerPlan(chain, access, { keyHash, session: this.#tagged(), clientId })
  }

  get metaData(): JsonObject {
    return this.merged?.metaData ?? {}
  }

  /** The session as records see it: with the tags, metadata and policies that are in force. */
  #tagged(): Session {
    const session = this.#session
    if (this.merged === undefined) return session
    const { tags, metaData, policyIds } = this.merged
    return { ...session, tags: [...tags], meta_data: metaData, apply_policies: [...policyIds] }
  }
}

/** The certificates that a session is bound to: its own, of a token of the password grant also those of its user. */
function certificatesOf({ body, orgId }: SessionSource, user: JsonObject | undefined): ReadonlySet<string> | undefined {
  const own = allowedCertificates(body, orgId)
  const ofUser = user === undefined ? undefined : allowedCertificates(user, orgId)
  return own === undefined || ofUser === undefined ? (own ?? ofUser) : own.intersection(ofUser)
}

/** Versions within one definition have separate chains. */
function placeOfPlan({ api, inlineVersion, version }: Chain): string {
  return inlineVersion ? `${api.apiId}/${version}` : api.apiId
}

/** True for the session of this very user, which may be used now. */
function isStill(session: LiveSession | undefined, { generation }: TokenUser, wall: Millis): session is LiveSession {
  if (session === undefined || session.unusable || session.inactive) return false
  if (generationOf(session.source.body) !== generation) return false
  const { evictAt, expiresAt } = session
  return !(evictAt !== 0 && evictAt <= wall) && !(expiresAt !== 0 && expiresAt <= wall)
}

/** How often a client that keeps changing is asked for again. */
const ASK_AGAIN = 5

/** Bounds of the memory of sessions; the sum of `LiveSession.ownBytes` may be exceeded by that of two sessions. */
interface SessionBounds {
  readonly session_cache_entries: number
  readonly session_cache_bytes: number
}

/** The context of making sessions. */
interface SessionParts {
  readonly merges: SharedMerges
  /** Those of OAuth tokens. */
  readonly clients: Clients
  /** Absent = no key came from an earlier product. */
  readonly legacy: LegacyKeys | undefined
}

/**
 * The sessions that this node has used lately, found by the hash of their key or token; the rest comes from the store.
 * Two generations of a map instead of a list of uses: what was used since the last turn survives it, and a hit costs one look-up.
 */
export class Sessions {
  readonly #tokens: Tokens
  readonly #clients: Clients
  /** Of one generation: half of what may be in memory. */
  readonly #mostEntries: number
  readonly #mostBytes: number
  /** Absent = no key came from an earlier product. */
  readonly #legacy: LegacyKeys | undefined
  readonly #merges: SharedMerges
  #young = new SessionTable<LiveSession>()
  #old = new SessionTable<LiveSession>()
  /** Of the hash that is looked up. */
  readonly #digest = new Digest()
  /** Of the young ones. */
  #bytes = 0
  /** Hashes being read; one that is dropped meanwhile is not kept. */
  readonly #reading = new Map<string, Promise<LiveSession | undefined>>()
  hits = 0
  misses = 0

  constructor(tokens: Tokens, bounds: SessionBounds, { merges, clients, legacy }: SessionParts) {
    this.#tokens = tokens
    this.#merges = merges
    this.#clients = clients
    this.#legacy = legacy
    this.#mostEntries = Math.max(1, Math.floor(bounds.session_cache_entries / 2))
    this.#mostBytes = Math.floor(bounds.session_cache_bytes / 2)
  }

  get size(): number {
    return this.#young.size + this.#old.size
  }

  /**
   * The session of this key or token, undefined when there is none; undefined too for a token whose user is gone, switched off or
   * expired at `wall`, or another one of the same name. @throws Fault `store_away`
   */
  find(
    credential: string,
    snapshot: Snapshot,
    wall: Millis,
  ): LiveSession | undefined | Promise<LiveSession | undefined> {
    const found = this.findByHash(hash('sha256', credential, 'hex'), snapshot, credential)
    if (found instanceof Promise) return found.then((late) => this.#withUser(late, snapshot, wall))
    return found?.token?.user === undefined ? found : this.#withUser(found, snapshot, wall)
  }

  /** The session that a credential was found to be, as it is now; as for `find`. @throws Fault `store_away` */
  findAgain(
    keyHash: string,
    snapshot: Snapshot,
    wall: Millis,
  ): LiveSession | undefined | Promise<LiveSession | undefined> {
    const found = this.findByHash(keyHash, snapshot)
    if (found instanceof Promise) return found.then((late) => this.#withUser(late, snapshot, wall))
    return this.#withUser(found, snapshot, wall)
  }

  #withUser(
    session: LiveSession | undefined,
    snapshot: Snapshot,
    wall: Millis,
  ): LiveSession | undefined | Promise<LiveSession | undefined> {
    const user = session?.token?.user
    if (user === undefined) return session
    const found = this.findByHash(user.hash, snapshot)
    if (found instanceof Promise) return found.then((late) => this.#ofUser(session!, late, snapshot, wall))
    return this.#ofUser(session!, found, snapshot, wall)
  }

  /** The session of a token as its user makes it now; undefined where that may not be used. */
  #ofUser(
    session: LiveSession,
    user: LiveSession | undefined,
    snapshot: Snapshot,
    wall: Millis,
  ): LiveSession | undefined {
    const { source, keyHash, token } = session
    if (!isStill(user, token!.user!, wall)) return undefined
    if (session.user === user.source.body) return session
    const { client, generation } = token!
    const made = { snapshot, merges: this.#merges, found: { client, generation }, user: user.source.body }
    const live = new LiveSession(source, keyHash, made)
    this.#digest.read(keyHash)
    // One that was dropped while the user was read must not come back.
    const isKept = this.#young.find(this.#digest) === session || this.#old.find(this.#digest) === session
    return isKept ? this.#keep(live) : live
  }

  /** As `find`, by the SHA-256 in lower-case hex; what was hashed otherwise by an earlier product is found with the credential alone. */
  findByHash(
    keyHash: string,
    snapshot: Snapshot,
    credential?: string,
  ): LiveSession | undefined | Promise<LiveSession | undefined> {
    this.#digest.read(keyHash)
    return this.#inMemory(snapshot, credential) ?? this.#read(keyHash, snapshot, credential)
  }

  /** The session of the digest that was read last; undefined when it is not in memory. */
  #inMemory(
    snapshot: Snapshot,
    credential: string | undefined,
  ): LiveSession | undefined | Promise<LiveSession | undefined> {
    let live = this.#young.find(this.#digest)
    if (live === undefined) {
      live = this.#old.find(this.#digest)
      if (live === undefined) return undefined
      this.#keep(live)
    }
    this.hits++
    const { token } = live
    const sameClient = token === undefined || token.generation === this.#clients.generation
    if (sameClient && live.policyGeneration === snapshot.policyGeneration) return live
    const made = this.#make(live.source, live.keyHash, snapshot, credential)
    return made instanceof Promise ? this.#readLater(live.keyHash, made) : this.#keep(made)
  }

  /** A session without a stored record: made from the claims of a proof. The caller caches it. */
  derive(source: SessionSource, keyHash: string, snapshot: Snapshot): LiveSession {
    return new LiveSession(source, keyHash, { snapshot, merges: this.#merges, found: NOBODY, isDerived: true })
  }

  /** Forgets a session that was changed or deleted; its next use reads the store. */
  drop(keyHash: string): void {
    this.#digest.read(keyHash)
    this.#bytes -= this.#young.find(this.#digest)?.ownBytes ?? 0
    this.#young.delete(this.#digest)
    this.#old.delete(this.#digest)
    this.#reading.delete(keyHash)
  }

  clear(): void {
    this.#young = new SessionTable<LiveSession>()
    this.#bytes = 0
    this.#old = new SessionTable<LiveSession>()
    this.#reading.clear()
  }

  #read(
    keyHash: string,
    snapshot: Snapshot,
    credential: string | undefined,
  ): LiveSession | undefined | Promise<LiveSession | undefined> {
    this.misses++
    const waiting = this.#reading.get(keyHash)
    if (waiting !== undefined) return waiting
    const row = this.#tokens.getSession(Buffer.from(keyHash, 'hex'))
    if (this.#legacy !== undefined && credential !== undefined && (row === undefined || row instanceof Promise))
      return this.#readLater(keyHash, this.#readLegacy(this.#legacy, { row, keyHash, snapshot, credential }))
    if (row instanceof Promise) {
      return this.#readLater(
        keyHash,
        row.then((late) => late && this.#make(late, keyHash, snapshot, credential)),
      )
    }
    if (row === undefined) return undefined
    const made = this.#make(row, keyHash, snapshot, credential)
    return made instanceof Promise ? this.#readLater(keyHash, made) : this.#keep(made)
  }

  /** The session of what was read, or else of a key that an earlier product hashed in another way. */
  async #readLegacy(
    legacy: LegacyKeys,
    asked: { row: Awaitable<SessionRow | undefined>; keyHash: string; snapshot: Snapshot; credential: string },
  ): Promise<LiveSession | undefined> {
    const { keyHash, snapshot, credential } = asked
    const row = await asked.row
    if (row !== undefined) return this.#make(row, keyHash, snapshot, credential)
    const found = await legacy.find(credential)
    if (found === undefined) return undefined
    // The feed would name only its old place, so it is not kept under the new one.
    if (!found.rehashed) this.#reading.delete(keyHash)
    return this.#make(found.row, found.rehashed ? keyHash : hexOf(found.row.hash), snapshot)
  }

  /** Derives a session from its row; a token also from its client, as this node knows it now. */
  #make(
    row: SessionSource,
    keyHash: string,
    snapshot: Snapshot,
    credential?: string,
  ): LiveSession | Promise<LiveSession> {
    // The rest of a row is for lists: some ten objects less to keep.
    const { body, orgId, clientId, evictAt } = row
    const source = { body, orgId, clientId, evictAt }
    const merges = this.#merges
    const facts = clientId === '' ? undefined : tokenFactsOf(body)
    if (facts === undefined) return new LiveSession(source, keyHash, { snapshot, merges, found: NOBODY })
    const { generation } = this.#clients
    const issuer = { apiId: facts.api_id, orgId }
    const find = () =>
      credential !== undefined && this.#clients.isRetired(credential) ? undefined : this.#clients.find(clientId, issuer)
    const client = find()
    if (client instanceof Promise) return this.#makeLater(source, keyHash, snapshot, { client, generation, find })
    return new LiveSession(source, keyHash, { snapshot, merges, found: { client, generation } })
  }

  /** Asks again for a client that was changed while the store was asked: others may wait for this who came after the change. */
  async #makeLater(
    source: SessionSource,
    keyHash: string,
    snapshot: Snapshot,
    asked: {
      client: Awaitable<OAuthClient | undefined>
      generation: number
      find: () => Awaitable<OAuthClient | undefined>
    },
  ): Promise<LiveSession> {
    let { client, generation } = asked
    for (let again = 0; ; again++) {
      const found = await client
      if (generation === this.#clients.generation || again === ASK_AGAIN)
        return new LiveSession(source, keyHash, {
          snapshot,
          merges: this.#merges,
          found: { client: found, generation },
        })
      generation = this.#clients.generation
      client = asked.find()
    }
  }

  /** Keeps what is being read, unless it is dropped meanwhile: what was read may then be the old state. */
  #readLater(keyHash: string, made: Promise<LiveSession | undefined>): Promise<LiveSession | undefined> {
    const reading: Promise<LiveSession | undefined> = made
      .then((live) => {
        if (live === undefined) return undefined
        return this.#reading.get(keyHash) === reading ? this.#keep(live) : live
      })
      .finally(() => {
        if (this.#reading.get(keyHash) === reading) this.#reading.delete(keyHash)
      })
    this.#reading.set(keyHash, reading)
    return reading
  }

  #keep(live: LiveSession): LiveSession {
    if (this.#young.size >= this.#mostEntries || this.#bytes >= this.#mostBytes) {
      this.#old = this.#young
      // To grow takes a turn of its own for each doubling.
      this.#young = new SessionTable<LiveSession>(this.#old.size)
      this.#bytes = 0
    }
    this.#digest.read(live.keyHash)
    this.#bytes += live.ownBytes - (this.#young.find(this.#digest)?.ownBytes ?? 0)
    this.#young.set(this.#digest, live)
    this.#old.delete(this.#digest)
    return live
  }
}
