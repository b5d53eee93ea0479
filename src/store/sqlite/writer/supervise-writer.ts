import type { Log } from '../../../model/logs/log.ts'
import { type End, type Started, Supervisor } from '../../../runtime/supervisor.ts'
import type { WriterLink } from './link.ts'

const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 30_000
/** A writer that has worked for so long had no lasting fault: the next wait is the first one again. */
const SETTLED_MS = 60_000

/**
 * Starts the writer, which runs now, again whenever it ends: after a second, then after twice as long each time, up to 30 s.
 * Answers the function that stops it; the writer itself is its owner's to close.
 */
export function superviseWriter(link: WriterLink, log: Log): () => void {
  let isFirst = true
  const supervisor = new Supervisor<void>({
    begin() {
      const start = isFirst ? Promise.resolve() : link.start()
      isFirst = false
      return followed(link, start)
    },
    report(report) {
      if (report.event === 'started again') log.warn({}, 'the store accepts writes again')
      else if (report.event === 'not started') log.error({ err: report.error }, 'cannot restart the store writer')
    },
    ...{ firstWaitMs: FIRST_WAIT_MS, mostWaitMs: LONGEST_WAIT_MS, stopWithinMs: 0, settledAfterMs: SETTLED_MS },
    isBackground: true,
  })
  const stopListening = link.onEnd((cause) => {
    log.error(
      { err: cause, cause: cause.cause },
      'the store writer ended; reads work, writes are refused until it is back',
    )
  })
  void supervisor.start()
  return () => {
    stopListening()
    void supervisor.stop()
  }
}

/** Its end is that of the writer, or that nobody asks any more. */
function followed(link: WriterLink, ready: Promise<void>): Started<void> {
  let settle: (end: End) => void = () => {}
  const ended = new Promise<End>((resolve) => {
    settle = resolve
  })
  const stopListening = link.onEnd((cause) => end(cause))
  const end = (cause?: unknown) => {
    stopListening()
    settle({ how: 'it ended', kind: 'failed', cause })
  }
  return { ready, ended, stop: () => end(), kill: () => end() }
}
