import type { DatabaseSync } from 'node:sqlite'
import type { Clock } from '../../../model/time/clock.ts'
import type { Audit, Documents, Hits, Outbox, Revision, Tokens } from '../../ports/ports.ts'
import type { Records } from '../../ports/records.ts'
import { wholeNumber } from '../../prepare/cells.ts'
import { prepareCommit } from '../../prepare/prepare.ts'
import { prepareAudit } from '../../prepare/prepare-audit.ts'
import { auditReader } from '../audit/read-audit.ts'
import { documentReader } from '../documents/read-documents.ts'
import { sqliteHits } from '../hits/hits.ts'
import type { UsageLink } from '../hits/usage-link.ts'
import { sqliteRecords } from '../records/records.ts'
import { outboxReader } from '../tokens/outbox.ts'
import { tokenReader } from '../tokens/read-tokens.ts'
import { runInSlices } from './maintenance-schedule.ts'
import type { Write } from './messages.ts'

/** The ports that read on a connection of their thread and write through the one writer. */
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
      purgeAudit: async (before) => runInSlices(() => write({ sort: 'purgeAudit', before: wholeNumber(before) })),
    },
    tokens: tokenReader(db, clock),
    outbox: outboxReader(db),
    hits: sqliteHits(db, write, usage),
    records: sqliteRecords(db, write),
  }
}
