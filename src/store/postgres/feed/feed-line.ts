import type { DocumentId } from '../../../model/documents/ids.ts'
import type { Log } from '../../../model/logs/log.ts'
import type { FeedEvent, Revision } from '../../ports/ports.ts'
import type { ThreadFeed } from '../../prepare/feed.ts'
import type { Db } from '../connection/db.ts'

/** Commits of one group as the feed table has them. */
export interface FeedRow {
  readonly first: Revision
  readonly upto: Revision
  /** Random name of the group. */
  readonly writer: string
  readonly events: string
}

type PackedChange = readonly [op: 'put' | 'delete', kind: string, id: string]
type PackedEvent = readonly [changes: readonly PackedChange[], sessions: string]

const HASH_BYTES = 32

/** Events of following revisions as text. */
export function packEvents(events: readonly FeedEvent[]): string {
  const packed = events.map(({ changes, sessions }): PackedEvent => {
    return [changes.map(({ op, kind, id }): PackedChange => [op, kind, id]), Buffer.concat(sessions).toString('base64')]
  })
  return JSON.stringify(packed)
}

/** The events of a row of the feed table. */
function unpackEvents({ first, events }: Pick<FeedRow, 'first' | 'events'>): FeedEvent[] {
  const packed = JSON.parse(events) as PackedEvent[]
  return packed.map(([changes, sessions], i) => {
    const bytes = new Uint8Array(Buffer.from(sessions, 'base64'))
    return {
      revision: first + i,
      changes: changes.map(([op, kind, id]) => ({ op, kind, id: id as DocumentId })),
      sessions: Array.from({ length: bytes.length / HASH_BYTES }, (_, n) =>
        bytes.slice(n * HASH_BYTES, (n + 1) * HASH_BYTES),
      ),
    }
  })
}

/** Groups of commits that are read at once. */
const BATCH = 200

/** The last commit of a store: its revision, and the name of its group; '' where the feed has no row of it. */
interface Head {
  readonly revision: Revision
  readonly writer: string
}

interface FeedLineParts {
  readonly db: Db
  readonly feed: ThreadFeed
  readonly log: Log
  /** How long one reading may take. */
  readonly stallMs: number
}

/** The feed of a store from its last commit on. @throws Fault `store_away` */
export async function openFeedLine(parts: FeedLineParts): Promise<FeedLine> {
  return new FeedLine(parts, await readHead(parts))
}

/**
 * Reports to this process what any process has committed: in the order of revisions, each once, however often and from where
 * it arrives. Each group has a random name: where the store names another group at the last reported revision, or has
 * not come so far, it holds another history (a backup was restored, a lagging standby took over), and everything must be read again.
 */
export class FeedLine {
  private readonly parts: FeedLineParts
  private head: Head
  private running: Promise<void> | undefined
  private again = false
  private closed = false

  constructor(parts: FeedLineParts, head: Head) {
    this.parts = parts
    this.head = head
  }

  /** Revision of the last commit that was reported. */
  get reported(): Revision {
    return this.head.revision
  }

  /**
   * Reports the new ones of these rows, which begin with that of `reported` or before it. Rows after a gap are left for
   * `catchUp`. False when they do not follow on the last reported one: only `catchUp` can say what happened.
   */
  take(rows: readonly FeedRow[]): boolean {
    let isSame = this.head.writer === ''
    for (const { first, upto, writer, events } of rows) {
      if (upto < this.reported) continue
      if (upto === this.reported) {
        if (this.head.writer !== '' && this.head.writer !== writer) return false
        this.head = { revision: upto, writer }
        isSame = true
        continue
      }
      if (!isSame || first <= this.reported) return false
      if (first > this.reported + 1) return true
      for (const event of unpackEvents({ first, events })) {
        if (this.closed) return true
        this.head = { revision: event.revision, writer }
        this.parts.feed.publish(event)
      }
    }
    return true
  }

  /** Reads and tells everything that was committed before the call. @throws Fault `store_away` */
  async catchUp(): Promise<void> {
    if (this.running !== undefined) {
      // A read that is under way may have read the state before.
      this.again = true
      return this.running
    }
    this.running = this.readAll()
    try {
      await this.running
    } finally {
      this.running = undefined
      this.again = false
    }
  }

  /** Tells nothing any more. */
  close(): void {
    this.closed = true
  }

  private async readAll(): Promise<void> {
    const { db, stallMs } = this.parts
    do {
      this.again = false
      while (!this.closed) {
        const from = this.reported
        const read = await db.read<{ readonly head: Revision } & (FeedRow | { readonly upto: null })>(
          `SELECT s.revision AS head, f.* FROM store_state s LEFT JOIN (
            SELECT first, upto, writer, events FROM feed WHERE upto >= $1 ORDER BY upto LIMIT ${BATCH}
          ) f ON true ORDER BY f.upto`,
          [from],
          stallMs,
        )
        const rows = read.filter((row) => row.upto !== null)
        const [oldest] = rows
        if (oldest !== undefined && oldest.first > this.reported && this.head.writer !== '')
          this.skipTo(oldest.first - 1)
        const isSame = (read[0]?.head ?? 0) >= from && this.take(rows)
        if (!isSame) await this.startOver()
        const left = rows.find(({ upto }) => upto > this.reported)
        if (isSame && left !== undefined) {
          this.skipTo(left.first - 1)
          this.take(rows)
        }
        if (rows.length < BATCH) break
      }
    } while (this.again && !this.closed)
  }

  /** The missed commits are deleted already: caches must reload. */
  private skipTo(revision: Revision): void {
    this.head = { revision, writer: '' }
    this.parts.feed.publish({ revision, changes: [], sessions: [], missed: true })
  }

  private async startOver(): Promise<void> {
    const before = this.reported
    this.head = await readHead(this.parts)
    const { revision } = this.head
    this.parts.log.error(
      { revision, revision_before: before },
      'the database holds another history than before (a restored backup, or a standby that lagged); everything is reloaded',
    )
    this.parts.feed.publish({ revision, changes: [], sessions: [], missed: true, wentBack: true })
  }
}

/** @throws Fault `store_away` */
async function readHead({ db, stallMs }: FeedLineParts): Promise<Head> {
  const [head] = await db.read<Head>(
    `SELECT revision, coalesce((SELECT writer FROM feed WHERE upto = revision), '') AS writer FROM store_state`,
    [],
    stallMs,
  )
  return head ?? { revision: 0, writer: '' }
}
