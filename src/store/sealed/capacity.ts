import { randomBytes } from 'node:crypto'
import type { FaultCode } from '../../errors/catalog.ts'
import { toFault } from '../../errors/fault.ts'
import { endsWithin } from '../../runtime/bounded-wait.ts'
import type { Awaitable, Change, Documents } from '../ports/ports.ts'

/** Between two probes. */
const PROBE_EVERY_MS = 1000
/** Health calls answer within a second. */
const ANSWER_MS = 500
/** Of what is written on trial. */
const MOST_BYTES = 1_000_000
/** Refusals that are the store's. */
const REFUSALS: ReadonlySet<FaultCode> = new Set(['store_full', 'store_read_only', 'store_away'])

/**
 * Notes whether a store takes what it is to keep. What is small may still fit where something larger was refused: a refusal counts until
 * something as large is taken. While it counts, a question causes a trial write, at most one a second, so that the answer follows the
 * store without a write of others.
 */
export class StoreCapacity {
  readonly #documents: Documents
  /** Of the largest write that was refused and not followed by one as large that was taken; 0 = none. */
  #refusedBytes = 0
  #why: FaultCode = 'store_full'
  #nextProbeAt = 0
  #probing: Promise<void> | undefined

  constructor(documents: Documents) {
    this.#documents = documents
  }

  /** Passes on what a write comes to. */
  async note<Done>(changes: readonly Change[], write: Awaitable<Done>): Promise<Done> {
    try {
      const done = await write
      if (this.#refusedBytes > 0) this.#taken(bytesOf(changes))
      return done
    } catch (error) {
      const { code } = toFault(error)
      if (REFUSALS.has(code)) this.#refused(code, bytesOf(changes))
      throw error
    }
  }

  /** Why it does not; undefined where it does. */
  async refusal(): Promise<FaultCode | undefined> {
    const probing = this.#look()
    if (probing !== undefined) await endsWithin(probing, ANSWER_MS)
    return this.#refusedBytes > 0 ? this.#why : undefined
  }

  /** The same without waiting for the trial write. */
  lastRefusal(): FaultCode | undefined {
    void this.#look()
    return this.#refusedBytes > 0 ? this.#why : undefined
  }

  /** The trial write, where one is due. */
  #look(): Promise<void> | undefined {
    if (this.#refusedBytes === 0 || performance.now() < this.#nextProbeAt) return undefined
    this.#probing ??= this.#probe()
    return this.#probing
  }

  #taken(bytes: number): void {
    if (bytes >= this.#refusedBytes) this.#refusedBytes = 0
    // A sign that there is room again.
    else this.#nextProbeAt = 0
  }

  #refused(why: FaultCode, bytes: number): void {
    this.#why = why
    this.#refusedBytes = Math.max(bytes, this.#refusedBytes)
    this.#nextProbeAt = performance.now() + PROBE_EVERY_MS
  }

  async #probe(): Promise<void> {
    const hash = randomBytes(32)
    const expiresAt = Date.now() + PROBE_EVERY_MS
    const body = { trial: 'x'.repeat(this.#refusedBytes) }
    const row = { sort: 'proof', apiId: '', clientId: '', family: '', expiresAt, keepUntil: expiresAt, body } as const
    try {
      await this.#documents.commit([{ op: 'putTicket', hash, row, ifAbsent: true }], undefined)
      this.#refusedBytes = 0
      await this.#documents.commit([{ op: 'deleteTicket', hash }], undefined)
    } catch {
      this.#nextProbeAt = performance.now() + PROBE_EVERY_MS
    } finally {
      this.#probing = undefined
    }
  }
}

function bytesOf(changes: readonly Change[]): number {
  let bytes = 1
  for (const change of changes) {
    if ('body' in change) bytes += JSON.stringify(change.body).length
    else if ('row' in change && 'body' in change.row) bytes += JSON.stringify(change.row.body).length
  }
  return Math.min(bytes, MOST_BYTES)
}
