import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { fault } from '../../../errors/fault.ts'
import type { Hit } from '../../../model/analytics/hit.ts'
import { serveThread } from '../../../model/threads/thread-rpc.ts'
import { openReadable } from '../connection/database.ts'
import { AnswerRows, type UsageReader, usageReader } from './read-usage.ts'
import type { UsageAnswer, UsageAsk } from './usage-link.ts'

/** Answers that are handed out at the same time; beyond, the oldest is lost. */
const MOST_OPENED = 50

/** Answers one question after the other on a connection of this thread. */
function serve(port: MessagePort, file: string): void {
  const reader = usageReader(openReadable(file))
  const opened = new Map<number, AnswerRows>()
  serveThread(port, (ask: UsageAsk, number) => answer(reader, opened, ask, number))
}

function answer(reader: UsageReader, opened: Map<number, AnswerRows>, ask: UsageAsk, number: number): UsageAnswer {
  switch (ask.sort) {
    case 'page':
      return reader.page(ask.query, ask.journal)
    case 'open': {
      const { query, journal } = ask
      if (opened.size >= MOST_OPENED) opened.delete(opened.keys().next().value!)
      opened.set(number, new AnswerRows(reader, query, journal))
      return number
    }
    case 'next': {
      const rows = nextRows(opened.get(ask.of))
      if (rows === undefined) opened.delete(ask.of)
      return rows
    }
    case 'drop':
      opened.delete(ask.of)
      return undefined
  }
}

/** @throws Fault `store_away` when the answer was settled by a thread that has ended since */
function nextRows(one: AnswerRows | undefined): Hit[] | undefined {
  if (one === undefined) throw fault('store_away', 'the rows of an answer were lost')
  return one.next()
}

if (parentPort !== null) serve(parentPort, workerData as string)
