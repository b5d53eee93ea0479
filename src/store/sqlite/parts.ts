import type { DatabaseSync } from 'node:sqlite'
import type { Clock } from '../../model/clock.ts'
import { wholeNumber } from '../cells.ts'
import type { Audit, Documents, Hits, Outbox, Revision, Tokens } from '../ports.ts'
import type { Records } from '../ports-records.ts'
import { prepareCommit } from '../prepare.ts'
import { prepareAudit } from '../prepare-audit.ts'
import { sqliteHits } from './hits.ts'
import type { Write } from './messages.ts'
import { auditReader } from './read-audit.ts'
import { documentReader } from './read-documents.ts'
import { outboxReader } from './read-outbox.ts'
import { tokenReader } from './read-tokens.ts'
import { sqliteRecords } from './records.ts'
import { inRounds } from './rounds.ts'
import type { UsageLink } from './usage-link.ts'

/** The ports that read on a connection of their own thread and write through the one writer. */
export interface Parts {
  readonly documents: Omit<Documents, 'revision'> & { revision(): Revision }
  readonly audit: Audit
  readonly tokens: Tokens
  readonly outbox: Outbox
  readonly hits: Hits
  readonly records: Records
}

/** Joins reading connections and writer to ports. `write` resolves with the revision of a commit. */
export function makeParts(
  db: DatabaseSync,
  clock: Clock,
  write: (write: Write) => Promise<number>,
  usage: UsageLink,
): Parts {
  return {
    documents: {
      ...documentReader(db),
      commit: async (changes, audit) => write({ sort: 'commit', commit: prepareCommit(changes, audit, clock.wall()) }),
      note: async (entry) => void (await write({ sort: 'note', entry: prepareAudit(entry) })),
    },
    audit: {
      ...auditReader(db),
      purgeAudit: async (before) => inRounds(() => write({ sort: 'purgeAudit', before: wholeNumber(before) })),
    },
    tokens: tokenReader(db, clock),
    outbox: outboxReader(db),
    hits: sqliteHits(db, write, usage),
    records: sqliteRecords(db, write),
  }
}
