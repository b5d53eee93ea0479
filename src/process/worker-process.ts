import { type RunningProcess, start } from '../compose.ts'
import { toFault } from '../errors/fault.ts'
import type { WorkerCommand, WorkerNews } from './keep-worker.ts'

if (process.send === undefined) throw new Error('a gateway worker is started by the server, not by hand')

let running: RunningProcess | undefined
let stopping = false

process.once('message', (order: WorkerCommand) => {
  process.on('message', (word) => {
    if (word === 'stop') stop()
  })
  start(order.loaded, order.roles, order.worker).then(serve, fail)
})
// The parent is gone, even by a SIGKILL: an orphaned worker would hold the port unnoticed.
process.on('disconnect', stop)
process.on('SIGTERM', stop)
process.on('SIGINT', stop)

function serve(started: RunningProcess): void {
  running = started
  tell({ news: 'serving', greeting: started.greeting })
}

function fail(error: unknown): void {
  const { code, message } = toFault(error)
  tell({ news: 'failed', code, message }, () => process.exit(1))
}

/** What has not begun to serve has nothing to finish. */
function stop(): void {
  if (stopping) return
  stopping = true
  if (running === undefined) process.exit(0)
  running.stop().then(
    () => process.exit(0),
    (error) => {
      console.error(`gatehouse: ${toFault(error).message}`)
      process.exit(1)
    },
  )
}

function tell(news: WorkerNews, told: () => void = () => {}): void {
  if (process.connected) process.send?.(news, told)
  else told()
}
