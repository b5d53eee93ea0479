import type { FeedEvent } from '../../ports/ports.ts'
import { hashBytes, latin1 } from '../../prepare/cells.ts'

const HASH_BYTES = 32

/** Events as they cross threads: a message of few texts and numbers costs a fraction of one with an object for each. */
export interface EventPack {
  /** Revision and number of sessions of each event, in turn. */
  readonly numbers: readonly number[]
  /** Hashes of all sessions, in the order of the events, as one string of bytes. */
  readonly hashes: string
  /** The document changes of the events, by their place; events without any are left out. */
  readonly changes: readonly (readonly [place: number, changes: FeedEvent['changes']])[]
}

/** Packs events for another thread. */
export function packEvents(events: readonly FeedEvent[]): EventPack {
  const numbers: number[] = []
  const changes: [number, FeedEvent['changes']][] = []
  let hashes = ''
  for (const [place, event] of events.entries()) {
    numbers.push(event.revision, event.sessions.length)
    if (event.changes.length > 0) changes.push([place, event.changes])
    for (const hash of event.sessions) hashes += latin1(hash)
  }
  return { numbers, hashes, changes }
}

/** The events as they were packed. */
export function unpackEvents({ numbers, hashes, changes }: EventPack): FeedEvent[] {
  const changesAt = new Map(changes)
  const events: FeedEvent[] = []
  let at = 0
  for (let i = 0; i < numbers.length; i += 2) {
    const sessions: Uint8Array[] = []
    for (let n = numbers[i + 1]!; n > 0; n--) {
      sessions.push(hashBytes(hashes.slice(at, at + HASH_BYTES)))
      at += HASH_BYTES
    }
    events.push({ revision: numbers[i]!, changes: changesAt.get(i / 2) ?? [], sessions })
  }
  return events
}
