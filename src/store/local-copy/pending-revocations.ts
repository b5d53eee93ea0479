import type { FaultCode } from '../../errors/catalog.ts'
import { fault, toFault } from '../../errors/fault.ts'
import type { Log } from '../../model/logs/log.ts'
import { pendingTicket } from '../../model/oauth-clients/oauth-token.ts'
import type { Documents, PendingSession, PendingSessions, SessionRow } from '../ports/ports.ts'
import type { CopyFile } from './file.ts'

const TRY_EVERY_MS = 1_000
/** Stored at once: a store that has just come back has others to answer too. */
const AT_ONCE = 50
/** More than these wait for nothing good: what is beyond is refused. */
const MOST = 50_000
/** Faults that pass. */
const LATER: ReadonlySet<FaultCode> = new Set(['store_away', 'store_full', 'store_read_only', 'write_unconfirmed'])

export interface PendingTokensParts {
  readonly documents: Documents
  readonly copy: CopyFile
  readonly log: Log
  /** Called for a token that may have been revoked before it was stored. */
  readonly revoked: (hash: Uint8Array) => void
}

/** Sessions that were given out while the store was away, on this node alone until it has them. */
export class PendingTokens implements PendingSessions {
  /** True from the first pending token until one of them could be stored. */
  away = false
  private readonly parts: PendingTokensParts
  private readonly waiting = new Map<string, PendingSession>()
  /** Those that are being stored: callers who ask for one share the result. */
  private readonly storing = new Map<string, Promise<boolean>>()
  private timer: NodeJS.Timeout | undefined
  private closed = false

  constructor(parts: PendingTokensParts) {
    this.parts = parts
    for (const pending of parts.copy.pending()) this.waiting.set(nameOf(pending.hash), pending)
    this.away = this.waiting.size > 0
    if (this.away) this.tryLater()
  }

  keep(pending: PendingSession): boolean {
    if (this.waiting.size >= MOST) return false
    this.waiting.set(nameOf(pending.hash), pending)
    this.parts.copy.notePending(pending)
    this.away = true
    this.tryLater()
    return true
  }

  /** The session of this hash while the store does not have it; undefined = the store knows best. */
  async find(hash: Uint8Array): Promise<SessionRow | undefined> {
    const pending = this.waiting.get(nameOf(hash))
    if (pending === undefined) return undefined
    if (!this.away && (await this.store(pending))) return undefined
    return pending.row.evictAt > Date.now() ? { ...pending.row, hash: pending.hash } : undefined
  }

  /** Stores the pending ones of these hashes, before they are changed otherwise. @throws Fault `store_away` */
  async settle(hashes: readonly Uint8Array[]): Promise<void> {
    for (const hash of hashes) {
      const pending = this.waiting.get(nameOf(hash))
      if (pending !== undefined && !(await this.store(pending)))
        throw fault('store_away', 'the token is not stored yet')
    }
  }

  /** True while there may be something to be found. */
  get some(): boolean {
    return this.waiting.size > 0
  }

  close(): void {
    this.closed = true
    clearTimeout(this.timer)
  }

  private tryLater(): void {
    if (this.closed) return
    // Nodes that all come back at one moment do not write at one moment.
    this.timer ??= setTimeout(() => void this.storeAll(), TRY_EVERY_MS * (0.5 + Math.random())).unref()
  }

  /** Until nothing waits, or the store does not take it. */
  private async storeAll(): Promise<void> {
    let count = 0
    for (let isThere = true; isThere && this.waiting.size > 0 && !this.closed; ) {
      const some = [...this.waiting.values()].slice(0, this.away ? 1 : AT_ONCE)
      const stored = await Promise.all(some.map((pending) => this.store(pending)))
      isThere = stored.every(Boolean)
      if (isThere) count += some.length
    }
    if (count > 0) this.parts.log.info({ count }, 'stored the tokens that were issued while the store was away')
    this.timer = undefined
    if (this.waiting.size > 0) this.tryLater()
  }

  /** False when the store does not take it now. */
  private store(pending: PendingSession): Promise<boolean> {
    const name = nameOf(pending.hash)
    const running = this.storing.get(name)
    if (running !== undefined) return running
    const begun = this.storeOne(name, pending).finally(() => this.storing.delete(name))
    this.storing.set(name, begun)
    return begun
  }

  private async storeOne(name: string, { hash, row, apiId }: PendingSession): Promise<boolean> {
    const { documents, copy, log, revoked } = this.parts
    try {
      if (row.evictAt > Date.now()) {
        const ticket = { op: 'putTicket', ...pendingTicket(hash, apiId, row.evictAt), ifAbsent: true } as const
        await documents.commit([ticket, { op: 'putSession', hash, row, ifAbsent: true }], undefined)
        this.away = false
      }
    } catch (error) {
      const { code } = toFault(error)
      if (LATER.has(code)) {
        log.debug({ cause: error }, 'cannot store a pending token yet')
        return false
      }
      this.away = false
      if (code !== 'already_exists') log.error({ cause: error }, 'dropped a pending token that cannot be stored')
      // It was revoked elsewhere, or stored without a confirmation: the store knows.
      revoked(hash)
    }
    this.waiting.delete(name)
    copy.dropPending(hash)
    return true
  }
}

function nameOf(hash: Uint8Array): string {
  return Buffer.from(hash.buffer, hash.byteOffset, hash.length).toString('latin1')
}
