import { toFault } from '../../errors/fault.ts'
import { textOf } from '../../model/apis/definition/members.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { type Limit, makeLimit } from '../../model/limits/limit.ts'
import type { Log } from '../../model/logs/log.ts'
import { type GatewayCommand, gatewayCommandOf } from '../../model/nodes/node.ts'
import type { Policy, Session } from '../../model/sessions/session.ts'
import { hexOf } from '../../model/text/hex.ts'
import type { PausedWork } from '../../model/threads/paused-work.ts'
import { MOST_SECONDS } from '../../model/time/calendar.ts'
import type { OwnKeys } from '../../oauth/signing-keys/own-keys.ts'
import { inTurns } from '../../runtime/turns.ts'
import type { Documents, Feed, FeedEvent, StoredDocument } from '../../store/ports/ports.ts'
import type { OrgLimits, Snapshot } from '../server/exchange.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { ApiCatalogue, Definition, ReadDefinition } from './catalogue.ts'
import { type ApiState, policyKey, toPolicy } from './snapshot.ts'

/** The sources of the live configuration. */
export interface LiveParts {
  readonly documents: Documents
  readonly feed: Feed
  readonly catalogue: ApiCatalogue
  readonly sessions: Sessions
  /** Receives the signing keys of tokens. */
  readonly ownKeys: Pick<OwnKeys, 'take'>
  /** Applies a gateway command; undefined: commands were missed, reset everything they could have affected. */
  readonly applyCommand: (order: GatewayCommand | undefined) => void
  readonly log: Log
}

/** By document id. */
type PolicyMap = Map<string, { key: string; policy: Policy }>
type OrgMap = Map<string, { orgId: string; limits: OrgLimits }>

const TAKEN_OVER: ReadonlySet<string> = new Set(['api', 'policy', 'org_session', 'order', 'oauth_key'])
const RETRY_FIRST_MS = 250
const RETRY_MOST_MS = 30_000
const SPREAD_MS = 500

/**
 * Keeps this node's snapshot in step with the store: loads everything once, then takes over only what the feed names.
 * With a store that answers at once a commit is in force before its promise resolves.
 */
export class LiveConfig {
  readonly #parts: LiveParts
  #policies: PolicyMap = new Map()
  #orgs: OrgMap = new Map()
  readonly #waiting: FeedEvent[] = []
  /** Called whenever the node has nothing left to take over. */
  readonly #idle: (() => void)[] = []
  readonly #followers: (() => void)[] = []
  readonly #watchers: (() => void)[] = []
  #unsubscribe: (() => void) | undefined
  #busy = false
  /** False after the store went back: what is in force cannot be compared with what is stored by revision. */
  #compares = true
  #retryMs = RETRY_FIRST_MS
  #retryTimer: NodeJS.Timeout | undefined
  snapshot: Snapshot
  /** True once everything stored was loaded. */
  ready = false
  /** True while a change could not be read from the store. */
  behind = false
  reloads = 0
  /** How often the store went back to another history. */
  rollbacks = 0
  lastReloadMs = 0
  /** Of the store, as last read or announced. */
  storedRevision = 0

  constructor(parts: LiveParts) {
    this.#parts = parts
    this.snapshot = {
      revision: 0,
      router: parts.catalogue.router,
      territories: parts.catalogue,
      apis: parts.catalogue.apis,
      policies: new Map(),
      policyGeneration: 0,
      orgs: new Map(),
    }
  }

  /** Loads every policy, organisation limit and API, and follows the feed from then on. @throws Fault `store_away` */
  async start(): Promise<void> {
    this.#unsubscribe ??= this.#parts.feed.subscribe((event) => this.#onEvent(event))
    await this.reload()
    this.ready = true
  }

  /** Reloads everything and takes over what differs. Events that come meanwhile wait. @throws Fault `store_away` */
  async reload(): Promise<void> {
    while (this.#busy) await new Promise<void>((resolve) => this.#idle.push(resolve))
    this.#busy = true
    const compares = this.#compares
    this.#compares = true
    try {
      const startedAt = performance.now()
      const revision = await this.#parts.documents.revision()
      this.storedRevision = revision
      await this.#reloadPolicies()
      await this.#reloadKeys()
      await this.#reloadApis(compares)
      this.#parts.sessions.clear()
      this.behind = false
      this.snapshot = { ...this.snapshot, revision }
      this.#publish(revision, true)
      this.#measure(startedAt)
      this.#seen()
    } catch (error) {
      this.#compares &&= compares
      throw error
    } finally {
      this.#free()
    }
  }

  /** Resolves once this node serves what was committed under `revision`. */
  async settled(revision: number): Promise<void> {
    while (this.snapshot.revision < revision) await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  /** Makes the snapshot follow the catalogue after definitions were changed elsewhere (files). */
  refresh(): void {
    this.#publish(this.snapshot.revision, false)
    this.#seen()
  }

  /** Calls the follower after every change of the APIs in force, wherever it came from. */
  onApis(follower: () => void): void {
    this.#followers.push(follower)
  }

  /** Calls the watcher whenever definitions were looked at, also those that changed nothing of what is in force. */
  onDefinitions(watcher: () => void): void {
    this.#watchers.push(watcher)
  }

  close(): void {
    this.#followers.length = 0
    this.#watchers.length = 0
    this.#unsubscribe?.()
    clearTimeout(this.#retryTimer)
    this.#parts.catalogue.close()
  }

  async #reloadPolicies(): Promise<void> {
    const { documents } = this.#parts
    const policies: PolicyMap = new Map()
    for await (const batch of documents.scan('policy')) for (const document of batch) takePolicy(policies, document)
    const orgs: OrgMap = new Map()
    for await (const batch of documents.scan('org_session')) for (const document of batch) takeOrg(orgs, document)
    // Only once all of them are read: a store that fails half-way must not cost the others their policies.
    this.#policies = policies
    this.#orgs = orgs
  }

  async #reloadKeys(): Promise<void> {
    for await (const batch of this.#parts.documents.scan('oauth_key'))
      for (const document of batch) this.#takeKeys(document)
  }

  #takeKeys(document: StoredDocument | undefined): void {
    if (document !== undefined) this.#parts.ownKeys.take(document)
  }

  async #reloadApis(compares: boolean): Promise<void> {
    const { catalogue, documents } = this.#parts
    const first = !this.ready
    const found = new Set<string>()
    const definitions: Definition[] = []
    for await (const batch of documents.scan('api')) {
      for (const { id, body, revision } of batch) {
        found.add(id)
        if (first) {
          const [since, activeSince] = [textOf(body, 'place_since'), textOf(body, 'active_since')]
          definitions.push({ source: id, document: body, revision, since, activeSince })
        } else if (!compares || catalogue.revisionOf(id) !== revision)
          this.#warn(catalogue.take(await inTurns(catalogue.reading(definitionIn({ id, body, revision })))))
      }
    }
    if (first) catalogue.fill(definitions)
    else
      for (const source of catalogue.sources(''))
        if (!source.startsWith('file:') && !found.has(source)) catalogue.remove(source)
    for (const state of catalogue.states()) this.#warn(state)
  }

  #onEvent(event: FeedEvent): void {
    this.storedRevision = event.revision
    // At once, even during another change: a revoked credential must not be used again.
    for (const hash of event.sessions) this.#parts.sessions.drop(hexOf(hash))
    if (event.missed) {
      if (event.wentBack) this.#forgetRevisions(event.revision)
      this.#rereadAll()
      return
    }
    if (this.#busy) {
      this.#waiting.push(event)
      return
    }
    const done = this.#apply(event)
    if (done === undefined) {
      for (const wake of this.#idle.splice(0)) wake()
      return
    }
    this.#busy = true
    done.then(() => this.#free())
  }

  /** An object of another history may have the revision of the one that is in force. */
  #forgetRevisions(revision: number): void {
    this.rollbacks++
    this.#compares = false
    this.snapshot = { ...this.snapshot, revision }
  }

  /** Changes were made that nobody can name any more. Nodes that all come back at one moment do not ask at one moment. */
  #rereadAll(): void {
    this.#parts.sessions.clear()
    this.#parts.applyCommand(undefined)
    this.behind = true
    this.#tryAgainIn(Math.random() * SPREAD_MS)
  }

  #free(): void {
    this.#busy = false
    while (!this.#busy) {
      const event = this.#waiting.shift()
      if (event === undefined) break
      this.#onEvent(event)
    }
    for (const wake of this.#idle.splice(0)) wake()
  }

  #measure(startedAt: number): void {
    this.reloads++
    this.lastReloadMs = performance.now() - startedAt
  }

  /** Applies at once when the store answers at once; else resolves when applied. Never rejects. */
  #apply(event: FeedEvent): Promise<void> | undefined {
    const kinds = event.changes.filter(({ kind }) => TAKEN_OVER.has(kind))
    if (kinds.length === 0) {
      this.snapshot = { ...this.snapshot, revision: Math.max(this.snapshot.revision, event.revision) }
      return undefined
    }
    const startedAt = performance.now()
    const finish = (read: readonly (ReadDefinition | StoredDocument | undefined)[]) => {
      let policies = false
      kinds.forEach(({ kind, id }, index) => {
        const found = read[index]
        const document = found !== undefined && 'entry' in found ? undefined : found
        if (found !== undefined && 'entry' in found) this.#warn(this.#parts.catalogue.take(found))
        else if (kind === 'api') this.#parts.catalogue.remove(id)
        else if (kind === 'order') this.#applyCommand(document)
        else if (kind === 'oauth_key') this.#takeKeys(document)
        else {
          policies = true
          this.#changeOther(kind, id, document)
        }
      })
      this.#publish(event.revision, policies)
      this.#measure(startedAt)
      if (kinds.some(({ kind }) => kind === 'api')) this.#seen()
    }
    try {
      const read = kinds.map(({ op, kind, id }) => (op === 'delete' ? undefined : this.#parts.documents.get(kind, id)))
      const compiled = read.some((each) => each instanceof Promise)
        ? Promise.all(read).then((documents) => inTurns(this.#reading(documents)))
        : inTurns(this.#reading(read as (StoredDocument | undefined)[]))
      if (compiled instanceof Promise) return compiled.then(finish).catch((error) => this.#fallBehind(error))
      finish(compiled)
      return undefined
    } catch (error) {
      this.#fallBehind(error)
      return undefined
    }
  }

  /** A commit could not be read: the node serves what it has, and reads everything again a little later. */
  #fallBehind(error: unknown): void {
    this.behind = true
    this.#parts.log.error(
      { fault: toFault(error).code },
      'a change could not be read from the store; serving what was loaded before',
    )
    this.#tryAgainIn(this.#retryMs)
    this.#retryMs = Math.min(this.#retryMs * 2, RETRY_MOST_MS)
  }

  #tryAgainIn(waitMs: number): void {
    if (this.#retryTimer !== undefined) return
    this.#retryTimer = setTimeout(() => {
      this.#retryTimer = undefined
      this.reload().then(
        () => {
          this.#retryMs = RETRY_FIRST_MS
        },
        (again) => this.#fallBehind(again),
      )
    }, waitMs).unref()
  }

  #seen(): void {
    for (const watch of this.#watchers) watch()
  }

  #applyCommand(document: StoredDocument | undefined): void {
    const order = document && gatewayCommandOf(document.body)
    if (order !== undefined) this.#parts.applyCommand(order)
  }

  /** Reads the definitions among the documents of one commit, all of them before any is in force. */
  *#reading(
    documents: readonly (StoredDocument | undefined)[],
  ): PausedWork<(ReadDefinition | StoredDocument | undefined)[]> {
    const read: (ReadDefinition | StoredDocument | undefined)[] = []
    for (const each of documents) {
      const isApi = each !== undefined && isOfKind(each, 'api')
      read.push(isApi ? yield* this.#parts.catalogue.reading(definitionIn(each)) : each)
    }
    return read
  }

  #warn({ apiId, name, state, reason }: ApiState): void {
    if (reason === '') return
    const what = state === 'loaded' ? 'has rules without effect' : 'is not served as stored'
    this.#parts.log.warn({ api_id: apiId, state }, `API "${name}" ${what}: ${reason}`)
  }

  #changeOther(kind: string, id: string, document: StoredDocument | undefined): void {
    const map: Map<string, unknown> = kind === 'policy' ? this.#policies : this.#orgs
    map.delete(id)
    if (document === undefined) return
    if (isOfKind(document, 'policy')) takePolicy(this.#policies, document)
    else takeOrg(this.#orgs, document)
  }

  #publish(revision: number, policiesChanged: boolean): void {
    const { catalogue } = this.#parts
    for (const state of catalogue.takeDisplaced()) this.#warn(state)
    const before = this.snapshot
    this.snapshot = {
      revision: Math.max(before.revision, revision),
      router: catalogue.router,
      territories: catalogue,
      apis: catalogue.apis,
      policies: policiesChanged ? byEitherId(this.#policies) : before.policies,
      policyGeneration: policiesChanged ? before.policyGeneration + 1 : before.policyGeneration,
      orgs: policiesChanged
        ? new Map([...this.#orgs.values()].map(({ orgId, limits }) => [orgId, limits]))
        : before.orgs,
    }
    if (before.apis !== this.snapshot.apis) for (const follow of this.#followers) follow()
  }
}

function definitionIn({ id, body, revision }: Pick<StoredDocument<'api'>, 'id' | 'body' | 'revision'>) {
  return { source: id, document: body, revision, since: textOf(body, 'place_since') }
}

function isOfKind<K extends string>(document: StoredDocument, kind: K): document is StoredDocument<K> {
  return document.kind === kind
}

function takePolicy(into: PolicyMap, document: StoredDocument<'policy'>): void {
  const policy = toPolicy(document.body)
  into.set(document.id, { key: policyKey(policy.org_id ?? '', policy.id ?? document.id), policy })
}

/** Policies by `policyKey` of their id, and of their storage id: definitions and claims of tokens may name either. */
function byEitherId(policies: PolicyMap): Map<string, Policy> {
  const found = new Map<string, Policy>()
  for (const [id, { policy }] of policies) found.set(policyKey(policy.org_id ?? '', id), policy)
  // The id of one that is the storage id of another means the first.
  for (const { key, policy } of policies.values()) found.set(key, policy)
  return found
}

function takeOrg(into: OrgMap, document: StoredDocument): void {
  const orgId = String(document.body.org_id ?? '')
  into.set(document.id, { orgId, limits: orgLimits(orgId, document.body) })
}

function orgLimits(orgId: string, body: JsonObject): OrgLimits {
  const session = body as Session
  const limits: Limit[] = []
  const { rate = 0, per = 0, quota_max: quota = 0, quota_renewal_rate: renewal = 0 } = session
  const ms = (seconds: number) => Math.min(Math.max(0, seconds), MOST_SECONDS) * 1000
  if (rate > 0 && per > 0) limits.push(makeLimit('rate', `org|${orgId}`, rate, ms(per), 'organisation'))
  if (quota > 0) limits.push(makeLimit('quota', `org|${orgId}`, quota, ms(renewal), 'organisation'))
  return { inactive: session.is_inactive ?? false, limits }
}
