import type { Log } from '../../../model/logs/log.ts'
import type { WriterLink } from './link.ts'

const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 30_000
/** A writer that has worked for so long had no standing fault: the next wait is the first one again. */
const SETTLED_MS = 60_000

/**
 * Starts the writer again whenever it ends: after a second, then after twice as long each time, up to 30 s.
 * Answers the function that stops it.
 */
export function keepWriter(link: WriterLink, log: Log): () => void {
  let waitMs = FIRST_WAIT_MS
  let timer: NodeJS.Timeout | undefined
  let startedAt = performance.now()

  const again = () => {
    if (performance.now() - startedAt > SETTLED_MS) waitMs = FIRST_WAIT_MS
    timer = setTimeout(restart, waitMs)
    timer.unref()
    waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)
  }
  const restart = () => {
    timer = undefined
    startedAt = performance.now()
    link.start().then(
      () => log.warn({}, 'the store accepts writes again'),
      (error) => {
        log.error({ err: error }, 'cannot restart the store writer')
        again()
      },
    )
  }
  const stopListening = link.onEnd((cause) => {
    log.error(
      { err: cause, cause: cause.cause },
      'the store writer ended; reads go on, writes are refused until it is back',
    )
    again()
  })
  return () => {
    stopListening()
    clearTimeout(timer)
  }
}
