// Loaded before the server where its parent may go without a word: npm passes no SIGTERM on, and a killed launcher cannot.
// Without this the server would keep the port.
import { isMainThread } from 'node:worker_threads'

const POLL_MS = 500

if (isMainThread) {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, POLL_MS)
  timer.unref()
}
