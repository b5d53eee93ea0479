import { type Agent, request } from 'node:http'

/** The turns of the event loop that some work took, by processor time of this thread: other programs add nothing to it. */
export interface Turns {
  readonly count: number
  readonly longestMs: number
  readonly totalMs: number
}

/** Does some work, and says how it shared the event loop. */
export async function turnsOf(work: () => Promise<unknown>): Promise<Turns> {
  let [count, longestMs, totalMs] = [0, 0, 0]
  let isDone = false
  let before = process.threadCpuUsage()
  const note = () => {
    const { user, system } = process.threadCpuUsage(before)
    const spentMs = (user + system) / 1000
    count++
    totalMs += spentMs
    longestMs = Math.max(longestMs, spentMs)
    before = process.threadCpuUsage()
    if (!isDone) setImmediate(note)
  }
  setImmediate(note)
  try {
    await work()
  } finally {
    isDone = true
  }
  note()
  return { count, longestMs, totalMs }
}

/** Makes a GET and throws the answer away as it comes: its status and how many bytes it had. */
export function drainGet(
  port: number,
  path: string,
  { headers, agent }: { readonly headers: Readonly<Record<string, string>>; readonly agent?: Agent },
): Promise<{ readonly status: number; readonly bytes: number }> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, headers, agent: agent ?? false }, (response) => {
      let bytes = 0
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
      })
      response.on('error', reject)
      response.on('end', () => resolve({ status: response.statusCode ?? 0, bytes }))
    })
    sent.on('error', reject)
    sent.end()
  })
}
