import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { Fault } from '../../errors/fault.ts'
import { type ApplyCommit, commitApplier } from './apply-commit.ts'
import { type HitRows, hitRows, quotaSaver, type SaveQuotas } from './apply-counts.ts'
import { type SessionRows, sessionRows } from './apply-session.ts'
import { openWritable, refreshIndexes } from './database.ts'
import { storeFault } from './faults.ts'
import type { FromWriter, NumberedWrite, PlainFault, ToWriter, WriteResult, WriterData } from './messages.ts'

/** One transaction holds at most this many changes, or this much text, so that nobody waits long for a group of others. */
const GROUP_CHANGES = 1_000
const GROUP_CHARACTERS = 8 * 1024 * 1024
const GROUP_ROWS = 2_000
const PURGE_ROWS = 500

/**
 * The thread that writes. What arrives while a transaction runs goes into the next one; commits go before hits and
 * quotas, one group of which follows each group of commits, so that neither waits for ever.
 */
class Writer {
  private readonly db: DatabaseSync
  private readonly port: MessagePort
  private readonly apply: ApplyCommit
  private readonly hits: HitRows
  private readonly saveQuotas: SaveQuotas
  private readonly sessions: SessionRows
  private readonly saveState: StatementSync
  private readonly commits: NumberedWrite[] = []
  private readonly counts: NumberedWrite[] = []
  private revision: number
  private countsNext = false
  private closing = false
  private scheduled = false

  constructor(db: DatabaseSync, port: MessagePort) {
    this.db = db
    this.port = port
    this.apply = commitApplier(db)
    this.hits = hitRows(db)
    this.saveQuotas = quotaSaver(db)
    this.sessions = sessionRows(db)
    this.saveState = db.prepare('UPDATE store_state SET revision = ?, last_group = ?')
    const state = db.prepare('SELECT revision, last_group FROM store_state').get()!
    this.revision = state.revision as number
    this.post({ type: 'ready', revision: this.revision, lastGroup: JSON.parse(state.last_group as string) })
    port.on('message', (message: ToWriter) => this.receive(message))
  }

  private receive(message: ToWriter): void {
    if (message.type === 'close') this.closing = true
    else for (const write of message.writes) (write.write.sort === 'commit' ? this.commits : this.counts).push(write)
    this.schedule()
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
    if (this.commits.length + this.counts.length > 0) this.schedule()
    else if (this.closing) this.close()
  }

  private runGroup(group: readonly NumberedWrite[]): void {
    try {
      this.post({ type: 'done', results: this.runTransaction(group) })
    } catch (error) {
      // Whoever brought the group down must not fail the others: a revocation may fit where a new document does not.
      if (group.length > 1) for (const write of group) this.runGroup([write])
      else this.post({ type: 'done', results: [{ number: group[0]!.number, fault: plain(storeFault(error)) }] })
    }
  }

  private runTransaction(group: readonly NumberedWrite[]): WriteResult[] {
    const before = this.revision
    this.db.exec('BEGIN IMMEDIATE')
    try {
      const results = group.map((write) => this.runWrite(write))
      if (this.revision !== before) this.saveRevision(results)
      this.db.exec('COMMIT')
      return results
    } catch (error) {
      this.revision = before
      this.hits.forget()
      // A full disk ends the transaction by itself; a second ROLLBACK would be an error.
      if (this.db.isTransaction) this.db.exec('ROLLBACK')
      throw error
    }
  }

  private runWrite({ number, write }: NumberedWrite): WriteResult {
    switch (write.sort) {
      case 'commit':
        try {
          this.apply(write.commit, this.revision + 1)
        } catch (error) {
          if (error instanceof Fault) return { number, fault: plain(error) }
          throw error
        }
        this.revision += 1
        return { number, value: this.revision }
      case 'hits':
        this.hits.add(write.pack, write.batch)
        return { number, value: write.pack.rows }
      case 'quotas':
        this.saveQuotas(write.rows)
        return { number, value: write.rows.length }
      case 'purge':
        return { number, value: this.sessions.purge(write.now, PURGE_ROWS) }
    }
  }

  private saveRevision(results: readonly WriteResult[]): void {
    const done = results.flatMap((result) => ('value' in result ? [[result.number, result.value]] : []))
    this.saveState.run(this.revision, JSON.stringify(done))
  }

  private close(): void {
    this.db.close()
    this.post({ type: 'closed' })
    this.port.close()
  }

  private post(message: FromWriter): void {
    this.port.postMessage(message)
  }
}

function takeCommits(queue: NumberedWrite[]): NumberedWrite[] {
  let changes = 0
  let characters = 0
  const end = queue.findIndex(({ write }) => {
    if (changes >= GROUP_CHANGES || characters >= GROUP_CHARACTERS) return true
    if (write.sort !== 'commit') return false
    changes += write.commit.changes.length
    for (const change of write.commit.changes) if ('text' in change) characters += change.text.length
    return false
  })
  return queue.splice(0, end === -1 ? queue.length : end)
}

function takeCounts(queue: NumberedWrite[]): NumberedWrite[] {
  let rows = 0
  const end = queue.findIndex(({ write }) => {
    if (rows >= GROUP_ROWS) return true
    if (write.sort === 'hits') rows += write.pack.rows
    if (write.sort === 'quotas') rows += write.rows.length
    return false
  })
  return queue.splice(0, end === -1 ? queue.length : end)
}

function plain(fault: Fault): PlainFault {
  return { code: fault.code, detail: fault.message }
}

function start(port: MessagePort, data: WriterData): void {
  try {
    const db = openWritable(data)
    refreshIndexes(db)
    new Writer(db, port)
  } catch (error) {
    port.postMessage({ type: 'refused', fault: plain(storeFault(error)) } satisfies FromWriter)
    port.close()
  }
}

if (parentPort !== null) start(parentPort, workerData as WriterData)
