import { setTimeout as delay } from 'node:timers/promises'
import type { RecordQuery, RecordRow, Records } from '../../store/ports/records.ts'

const POLL_MS = 500
const HEARTBEAT_MS = 15_000
const BATCH_ROWS = 200
/** A client that comes back gets at most so many of those that it has missed. */
const MISSED_ROWS = 1000

export interface TailParts {
  readonly records: Pick<Records, 'after' | 'last'>
  /** The present visibility of the client; undefined when it sees nothing any more. Read before each look. */
  readonly query: () => Promise<RecordQuery | undefined>
  readonly show: (row: RecordRow) => object
  /** Id of the last record that the client has seen; undefined = it begins now. */
  readonly lastSeen: number | undefined
  /** Longest life in milliseconds. */
  readonly lifeMs: number
  /** Ends the tail: the dashboard closes. */
  readonly closing: AbortSignal | undefined
}

/** New records as server-sent events, as pieces of text, until the client leaves or may see them no longer. */
export function tailEvents(parts: TailParts, onEnd: () => void): AsyncIterable<string> {
  return {
    [Symbol.asyncIterator]() {
      const left = new AbortController()
      const signal = parts.closing === undefined ? left.signal : AbortSignal.any([left.signal, parts.closing])
      const events = eventsOf(parts, signal)
      let ended = false
      const end = () => {
        if (!ended) onEnd()
        ended = true
        left.abort()
      }
      return {
        async next() {
          try {
            const next = await events.next()
            if (next.done) end()
            return next
          } catch (error) {
            end()
            throw error
          }
        },
        async return() {
          // Wakes its waiters first.
          end()
          return events.return(undefined)
        },
      }
    },
  }
}

async function* eventsOf(parts: TailParts, signal: AbortSignal): AsyncGenerator<string, undefined> {
  const { records } = parts
  const newest = await records.last()
  let last = parts.lastSeen === undefined ? newest : Math.max(parts.lastSeen, newest - MISSED_ROWS)
  const endsAt = performance.now() + parts.lifeMs
  let heartbeatAt = performance.now() + HEARTBEAT_MS
  yield 'retry: 3000\n\n'
  while (!signal.aborted) {
    const query = await parts.query()
    if (query === undefined) return undefined
    const upTo = await records.last()
    const rows = await records.after({ ...query, after: last, limit: BATCH_ROWS })
    last = rows.length < BATCH_ROWS ? Math.max(upTo, rows.at(-1)?.id ?? 0, last) : rows.at(-1)!.id
    if (rows.length > 0) {
      yield rows.map((row) => `id: ${row.id}\nevent: record\ndata: ${JSON.stringify(parts.show(row))}\n\n`).join('')
      heartbeatAt = performance.now() + HEARTBEAT_MS
      if (rows.length === BATCH_ROWS) continue
    }
    const now = performance.now()
    if (now >= endsAt) return undefined
    if (now >= heartbeatAt) {
      yield ': still here\n\n'
      heartbeatAt = now + HEARTBEAT_MS
    }
    await delay(POLL_MS, undefined, { signal }).catch(() => {})
  }
  return undefined
}
