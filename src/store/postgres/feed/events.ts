import type { DocumentId } from '../../../model/documents/ids.ts'
import type { FeedEvent, Revision } from '../../ports/ports.ts'

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
export function unpackEvents({ first, events }: Pick<FeedRow, 'first' | 'events'>): FeedEvent[] {
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
