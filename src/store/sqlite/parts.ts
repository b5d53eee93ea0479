import type { DatabaseSync } from 'node:sqlite'
import type { Clock } from '../../model/clock.ts'
import { packHits } from '../hit-pack.ts'
import type { Documents, Hits, Revision, Tokens } from '../ports.ts'
import { prepareCommit } from '../prepare.ts'
import type { Write } from './messages.ts'
import { documentReader } from './read-documents.ts'
import { hitReader } from './read-hits.ts'
import { tokenReader } from './read-tokens.ts'

/** The ports that read on a connection of their own thread and write through the one writer. */
export interface Parts {
  readonly documents: Omit<Documents, 'revision'> & { revision(): Revision }
  readonly tokens: Tokens
  readonly hits: Hits
}

/** Joins reading connection and writer to ports. `write` resolves with the revision of a commit. */
export function makeParts(db: DatabaseSync, clock: Clock, write: (write: Write) => Promise<number>): Parts {
  return {
    documents: {
      ...documentReader(db),
      commit: async (changes, audit) => write({ sort: 'commit', commit: prepareCommit(changes, audit, clock.wall()) }),
    },
    tokens: tokenReader(db, clock),
    hits: {
      async add(rows, batch) {
        if (rows.length > 0) await write({ sort: 'hits', pack: packHits(rows), ...(batch && { batch }) })
      },
      sum: hitReader(db),
    },
  }
}
