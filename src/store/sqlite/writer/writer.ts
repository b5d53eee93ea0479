import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { Fault } from '../../../errors/fault.ts'
import { plainFault } from '../../../model/threads/thread-rpc.ts'
import type { FreezeLevel } from '../../ports/transfer.ts'
import type { PreparedChange, PreparedCommit } from '../../prepare/prepare.ts'
import { type AuditRows, auditRows } from '../audit/apply-audit.ts'
import { openWritable, refreshIndexes } from '../connection/database.ts'
import { storeFault } from '../connection/faults.ts'
import { freezeReader, frozenFault } from '../connection/freeze.ts'
import { fillRollUps } from '../hits/hit-tables.ts'
import { ThreadEndGuard } from '../hits/thread-end-guard.ts'
import { type CountWrite, CountWriter, weightOf } from '../hits/write-counts.ts'
import { type RecordRows, recordRows } from '../records/apply-records.ts'
import { sessionRows } from '../tokens/apply-session.ts'
import { ticketRows } from '../tokens/apply-ticket.ts'
import { deliveryRows } from '../tokens/outbox.ts'
import { type ApplyCommit, commitApplier } from './apply-commit.ts'
import { type Purge, purger } from './maintenance-schedule.ts'
import {
  type CommittedWrite,
  type FromWriter,
  type NumberedWrite,
  packResults,
  type ToWriter,
  type WriteResult,
  type WriterStart,
} from './messages.ts'

/** One transaction holds at most this many changes, or this much text, so that nobody waits long for a group of others. */
const GROUP_CHANGES = 1_000
const GROUP_CHARACTERS = 8 * 1024 * 1024
const GROUP_ROWS = 2_000

/**
 * The thread that writes. What arrives while a transaction runs goes into the next one; commits go before hits and
 * quotas, one group of which follows each group of commits, so that neither waits for ever. Between two groups a piece of
 * the journals is rolled up into its table.
 */
class Writer {
  private readonly db: DatabaseSync
  private readonly port: MessagePort
  private readonly apply: ApplyCommit
  private readonly audit: AuditRows
  private readonly records: RecordRows
  private readonly countWriter: CountWriter
  private readonly purge: Purge
  private readonly saveState: StatementSync
  private readonly freezeLevel: () => FreezeLevel
  private readonly commits: NumberedWrite[] = []
  private readonly counts: NumberedWrite[] = []
  private revision: number
  private countsNext = false
  private closing = false
  private scheduled = false

  constructor(db: DatabaseSync, port: MessagePort, uncut: ThreadEndGuard) {
    this.db = db
    this.port = port
    const sessions = sessionRows(db)
    const tickets = ticketRows(db)
    this.audit = auditRows(db, uncut)
    this.records = recordRows(db)
    const deliveries = deliveryRows(db)
    this.apply = commitApplier(db, { sessions, tickets, deliveries, audit: this.audit })
    this.purge = purger(sessions, tickets, deliveries)
    this.countWriter = new CountWriter(db, () => this.schedule())
    this.freezeLevel = freezeReader(db)
    this.saveState = db.prepare('UPDATE store_state SET revision = ?, last_group = ?')
    const state = db.prepare('SELECT revision, last_group FROM store_state').get()!
    this.revision = state.revision as number
    this.post({ type: 'ready', revision: this.revision, lastGroup: JSON.parse(state.last_group as string) })
    port.on('message', (message: ToWriter) => this.receive(message))
    this.schedule()
  }

  private receive(message: ToWriter): void {
    if (message.type === 'close') this.closing = true
    else for (const write of message.writes) this.accept(write)
    this.schedule()
  }

  private accept(write: NumberedWrite): void {
    if (write.write.sort === 'foldHits') this.countWriter.ask(write.number)
    else if (write.write.sort === 'commit') this.commits.push(write)
    else this.counts.push(write)
  }

  /** After the events that are waiting, so that all messages that have arrived make one group. */
  private schedule(): void {
    if (this.scheduled) return
    this.scheduled = true
    setImmediate(() => {
      this.scheduled = false
      this.turn()
    })
  }

  private turn(): void {
    const countsFirst = this.counts.length > 0 && (this.countsNext || this.commits.length === 0)
    const group = countsFirst ? takeCounts(this.counts) : takeCommits(this.commits)
    this.countsNext = !countsFirst
    if (group.length > 0) this.runGroup(group)
    this.fold()
    if (this.commits.length + this.counts.length > 0) this.schedule()
    // Rows that are left in the journals are safe there, but every caller gets an answer.
    else if (this.closing && !this.countWriter.asked) this.close()
    else if (this.countWriter.busy) this.schedule()
  }

  private fold(): void {
    const answers = this.countWriter.step()
    if (answers.length === 0) return
    const results = answers.map(({ number, fault }): WriteResult => {
      return fault === undefined ? { number, value: 0 } : { number, fault: plainFault(fault) }
    })
    this.post({ type: 'done', results: packResults(results) })
  }

  private runGroup(group: readonly NumberedWrite[]): void {
    try {
      this.post({ type: 'done', results: packResults(this.runTransaction(group)) })
    } catch (error) {
      // One failing commit must not fail the rest of its group: a revocation may fit where a new document does not.
      if (group.length > 1) for (const write of group) this.runGroup([write])
      else this.post({ type: 'done', results: [{ number: group[0]!.number, fault: plainFault(storeFault(error)) }] })
    }
  }

  private runTransaction(group: readonly NumberedWrite[]): WriteResult[] {
    const before = this.revision
    this.db.exec('BEGIN IMMEDIATE')
    try {
      const level = this.freezeLevel()
      const results = group.map((write) => (isFrozen(write, level) ? refused(write) : this.runWrite(write)))
      if (this.revision !== before) this.saveRevision(results)
      this.db.exec('COMMIT')
      return results
    } catch (error) {
      this.revision = before
      this.countWriter.forget()
      // A full disk ends the transaction by itself; a second ROLLBACK would be an error.
      if (this.db.isTransaction) this.db.exec('ROLLBACK')
      throw error
    }
  }

  private runWrite({ number, write }: NumberedWrite): WriteResult {
    switch (write.sort) {
      case 'commit':
        return this.runCommit(number, write.commit)
      case 'purge':
        return { number, value: this.purge(write.now) }
      case 'note':
        this.audit.add(write.entry, this.revision, [])
        return { number, value: 1 }
      case 'purgeHits':
        return { number, value: this.countWriter.purgeHits(write.beforeDay) }
      case 'purgeMinutes':
        return { number, value: this.countWriter.purgeMinutes(write.beforeMinute) }
      case 'rollUpHits':
        return { number, value: this.countWriter.rollUpHits(write.beforeDay) }
      case 'purgeAudit':
        return { number, value: this.audit.purge(write.before) }
      case 'records':
        this.records.add(write.rows, write.drops)
        return { number, value: write.rows.length }
      case 'purgeRecords':
        return { number, value: this.records.purge(write.before, write.keep) }
      default:
        return { number, value: this.countWriter.run(write as CountWrite) }
    }
  }

  private runCommit(number: number, commit: PreparedCommit): WriteResult {
    try {
      const ended = this.apply(commit, this.revision + 1)
      this.revision += 1
      return { number, value: this.revision, ...(ended.length > 0 && { ended }) }
    } catch (error) {
      if (error instanceof Fault) return { number, fault: plainFault(error) }
      throw error
    }
  }

  private saveRevision(results: readonly WriteResult[]): void {
    const done = results.flatMap((result) => ('value' in result ? [committed(result)] : []))
    this.saveState.run(this.revision, JSON.stringify(done))
  }

  private close(): void {
    this.countWriter.close()
    this.db.close()
    this.post({ type: 'closed' })
    this.port.close()
  }

  private post(message: FromWriter): void {
    this.port.postMessage(message)
  }
}

/** A transfer that stops commits first leaves counts of requests the time to come in. */
function isFrozen({ write }: NumberedWrite, level: FreezeLevel): boolean {
  return level === 'all' || (level === 'commits' && (write.sort === 'commit' || write.sort === 'note'))
}

function refused({ number }: NumberedWrite): WriteResult {
  return { number, fault: plainFault(frozenFault()) }
}

function takeCommits(queue: NumberedWrite[]): NumberedWrite[] {
  let changes = 0
  let characters = 0
  const end = queue.findIndex(({ write }) => {
    if (changes >= GROUP_CHANGES || characters >= GROUP_CHARACTERS) return true
    if (write.sort !== 'commit') return false
    changes += write.commit.changes.length
    for (const change of write.commit.changes) characters += charactersOf(change)
    return false
  })
  return queue.splice(0, end === -1 ? queue.length : end)
}

function charactersOf(change: PreparedChange): number {
  if (change.op === 'putSession') return change.row.text.length
  return 'text' in change ? change.text.length : 0
}

function takeCounts(queue: NumberedWrite[]): NumberedWrite[] {
  let rows = 0
  const end = queue.findIndex(({ write }) => {
    if (rows >= GROUP_ROWS) return true
    rows += weightOf(write)
    return false
  })
  return queue.splice(0, end === -1 ? queue.length : end)
}

function committed({ number, value, ended }: Extract<WriteResult, { value: number }>): CommittedWrite {
  return ended === undefined ? [number, value] : [number, value, ended]
}

function start(port: MessagePort, data: WriterStart): void {
  try {
    const db = openWritable(data)
    refreshIndexes(db)
    fillRollUps(db)
    new Writer(db, port, new ThreadEndGuard(data.uncut))
  } catch (error) {
    port.postMessage({ type: 'refused', fault: plainFault(storeFault(error)) } satisfies FromWriter)
    port.close()
  }
}

if (parentPort !== null) start(parentPort, workerData as WriterStart)
