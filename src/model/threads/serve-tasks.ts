import { parentPort } from 'node:worker_threads'
import type { TaskQuestion } from './task-thread.ts'
import { serveThread } from './thread-rpc.ts'

const MOST_REASON = 300

/** The thread's side of a `TaskThread`: does each task with `work` and answers with its result, or with the reason of its failure. */
export function serveTasks<Task>(work: (task: Task) => unknown): void {
  // Libraries write what they think of hostile input to the console, a line for each byte.
  for (const name of ['log', 'info', 'warn', 'error'] as const) console[name] = () => {}
  serveThread<TaskQuestion<Task>, unknown>(parentPort!, async (question) => {
    if ('ready' in question) return undefined
    try {
      return await work(question.task)
    } catch (error) {
      throw new Error((error instanceof Error ? error.message : String(error)).slice(0, MOST_REASON))
    }
  })
}
