import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { fault } from '../../../errors/fault.ts'
import type { Hit } from '../../../model/analytics/hit.ts'
import { serveThread } from '../../../model/threads/thread-rpc.ts'
import { USAGE_BATCH } from '../../hits/usage-rows.ts'
import type { UsageQuery } from '../../ports/ports.ts'
import { openReadable } from '../connection/database.ts'
import { type UsageReader, usageReader } from './read-usage.ts'
import type { UsageAnswer, UsageAsk } from './usage-link.ts'

/** Rows of an answer that is being handed out. */
interface Opened {
  readonly query: UsageQuery
  readonly names: readonly Hit[]
  readonly journal: boolean
  at: number
}

/** Of one answer. */
const MOST_BATCHES = 20

/** Answers that are handed out at the same time; beyond, the oldest is lost. */
const MOST_OPENED = 50

/** Answers one question after the other on a connection of this thread. */
function serve(port: MessagePort, file: string): void {
  const reader = usageReader(openReadable(file))
  const opened = new Map<number, Opened>()
  serveThread(port, (ask: UsageAsk, number) => answer(reader, opened, ask, number))
}

function answer(reader: UsageReader, opened: Map<number, Opened>, ask: UsageAsk, number: number): UsageAnswer {
  switch (ask.sort) {
    case 'page':
      return reader.page(ask.query, ask.journal)
    case 'open': {
      const { query, journal } = ask
      if (opened.size >= MOST_OPENED) opened.delete(opened.keys().next().value!)
      opened.set(number, { query, journal, names: reader.names(query, journal), at: 0 })
      return number
    }
    case 'next': {
      const rows = nextRows(reader, opened.get(ask.of))
      if (rows === undefined) opened.delete(ask.of)
      return rows
    }
    case 'drop':
      opened.delete(ask.of)
      return undefined
  }
}

/** @throws Fault `store_away` when the answer was settled by a thread that has ended since */
function nextRows(reader: UsageReader, one: Opened | undefined): Hit[] | undefined {
  if (one === undefined) throw fault('store_away', 'the rows of an answer were lost')
  const { query, names, journal, at } = one
  if (at >= names.length) return undefined
  // Each batch looks through all that the rows are made of: so many batches, however many rows, and the time grows with their number alone.
  const size = Math.max(USAGE_BATCH, Math.ceil(names.length / MOST_BATCHES))
  one.at += size
  return reader.numbers(query, names.slice(at, at + size), journal)
}

if (parentPort !== null) serve(parentPort, workerData as string)
