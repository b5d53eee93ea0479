import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** A program of this folder in a separate process, and the lines that it has written. */
export interface Child {
  readonly process: ChildProcess
  readonly lines: readonly string[]
  /** Resolves with the first line that begins so, at once when it is there. @throws when the program ends before */
  line(start: string): Promise<string>
  /** Resolves after the end, when all lines have arrived. */
  readonly ended: Promise<void>
}

/** Starts a program of this folder. It writes lines synchronously, so that what it said before a SIGKILL is not lost. */
export function startChild(program: string, args: readonly string[], options: { uid?: number } = {}): Child {
  const child = spawn(process.execPath, [join(import.meta.dirname, program), ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, '../../../node_modules/.cache/gatehouse-test') },
    ...options,
  })
  const lines: string[] = []
  const waiting = new Set<() => void>()
  const reader = createInterface({ input: child.stdout! })
  reader.on('line', (line) => {
    lines.push(line)
    for (const look of waiting) look()
  })
  let over = false
  const ended = Promise.all([once(child, 'close'), once(reader, 'close')]).then(() => {
    over = true
    for (const look of waiting) look()
  })
  return {
    process: child,
    lines,
    ended,
    line: (start) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = lines.find((line) => line.startsWith(start))
          if (found === undefined && !over) return
          waiting.delete(look)
          if (found === undefined) reject(new Error(`${program} ended without saying ${start}`))
          else resolve(found)
        }
        waiting.add(look)
        look()
      }),
  }
}
