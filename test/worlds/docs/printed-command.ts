import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { TestContext } from 'node:test'

/** Starts a printed command that runs until it is stopped. Returns what the first group of `ready` finds in its output. */
export function startPrintedCommand(t: TestContext, command: string, cwd: string, ready: RegExp): Promise<string> {
  const child = spawn('sh', ['-c', `exec ${command}`], { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  t.after(async () => {
    const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined
    child.kill('SIGTERM')
    await ended
  })
  let text = ''
  return new Promise((resolve, reject) => {
    const look = (chunk: Buffer) => {
      text += chunk
      const found = ready.exec(text)
      if (found !== null) resolve(found[1]!)
    }
    child.stdout.on('data', look)
    child.stderr.on('data', look)
    child.on('exit', (code) => reject(new Error(`${command} ended with ${code}: ${text}`)))
  })
}
