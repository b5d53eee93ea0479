import { drainDelayMs, type RunningProcess, start } from '../compose.ts'
import { toFault } from '../errors/fault.ts'
import type { StopCommand, WorkerCommand, WorkerMessage } from './supervise-worker.ts'

if (process.send === undefined) throw new Error('a gateway worker is started by the server, not by hand')

/** Module state: this file is the program of a worker process. */
let running: RunningProcess | undefined
let stopping = false
let delayMs = 0

process.once('message', (order: WorkerCommand) => {
  delayMs = drainDelayMs(order.loaded)
  process.on('message', ({ stopAfterMs }: StopCommand) => stop(stopAfterMs))
  start(order.loaded, order.roles, order.worker).then(serve, fail)
})
// The parent is gone, even by a SIGKILL: an orphaned worker would hold the port unnoticed.
process.on('disconnect', () => {
  // It has asked for the end before: this is a second signal.
  if (stopping) process.exit(1)
  stop(0)
})
process.on('SIGTERM', () => stop(delayMs))
process.on('SIGINT', () => stop(0))

function serve(started: RunningProcess): void {
  running = started
  tell({ news: 'serving', greeting: started.greeting })
}

function fail(error: unknown): void {
  const { code, message } = toFault(error)
  tell({ news: 'failed', code, message }, () => process.exit(1))
}

/** A process that has not begun to serve has nothing to finish. */
function stop(acceptMs: number): void {
  if (stopping) return
  stopping = true
  if (running === undefined) process.exit(0)
  running.stop(acceptMs).then(
    () => process.exit(0),
    (error) => {
      console.error(`gatehouse: ${toFault(error).message}`)
      process.exit(1)
    },
  )
}

function tell(news: WorkerMessage, onSent: () => void = () => {}): void {
  if (process.connected) process.send?.(news, onSent)
  else onSent()
}
