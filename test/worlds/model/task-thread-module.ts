import { threadId } from 'node:worker_threads'
import { serveTasks } from '../../../src/model/threads/task-thread.ts'

const held: unknown[] = []

serveTasks<string>((task) => {
  if (task === 'endless') for (;;);
  if (task === 'huge') for (;;) held.push(new Array(100_000).fill(task))
  if (task === 'exit') process.exit(1)
  if (task === 'refused') throw new Error('no')
  if (task === 'chatty') console.error('x'.repeat(100_000))
  if (task === 'which') return String(threadId)
  return task.toUpperCase()
})
