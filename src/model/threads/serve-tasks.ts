import { parentPort } from 'node:worker_threads'
import type { TaskReport } from './task-thread.ts'

const MOST_REASON = 300

/** The thread's side of a `TaskThread`: does each task with `work` and reports what came of it. */
export function serveTasks<Task>(work: (task: Task) => unknown): void {
  // Libraries write what they think of hostile input to the console, a line for each byte.
  for (const name of ['log', 'info', 'warn', 'error'] as const) console[name] = () => {}
  const report = (said: TaskReport) => parentPort?.postMessage(said)
  parentPort?.on('message', async (task: Task) => {
    try {
      report({ done: await work(task) })
    } catch (error) {
      report({ reason: (error instanceof Error ? error.message : String(error)).slice(0, MOST_REASON) })
    }
  })
  report({ ready: true })
}
